"""What a worker knows about itself while it runs: its connections, its streams, the time of the last sweep.

There is no timer for a call or a connection. Once a second every connection is asked to look at the clock. It never
reads or writes a socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Protocol

SWEEP: Final = 1.0
"""Seconds between two looks at the clock: how exact idle and slow time-outs are."""
MAX_STREAMS: Final = 8
"""Long replies that may hold a database snapshot at the same time."""


class Connection(Protocol):
    """What the server does to a connection from outside."""

    def sweep(self, now: float) -> None:
        """Ends the connection when it has waited too long."""
        ...

    def drain(self) -> None:
        """Ends the connection as soon as no call is in flight."""
        ...

    def abort(self) -> None:
        """Ends it at once."""
        ...


@dataclass(slots=True)
class ServerState:
    """One worker's."""

    connections: set[Connection] = field(default_factory=set)
    streams: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_STREAMS))
    now: float = field(default_factory=monotonic)
    """The time of the last sweep: exact enough for time-outs, and free."""
    draining: bool = False
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server drains and the last connection has gone."""

    def add(self, connection: Connection) -> None:
        self.connections.add(connection)

    def discard(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if self.draining and not self.connections:
            self.empty.set()

    def sweep(self) -> None:
        self.now = monotonic()
        for connection in tuple(self.connections):
            connection.sweep(self.now)

    def drain(self) -> None:
        self.draining = True
        for connection in tuple(self.connections):
            connection.drain()
        if not self.connections:
            self.empty.set()
