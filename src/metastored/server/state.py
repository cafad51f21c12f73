"""The state of a worker: its connections and streams, the time of the last sweep, the load of the other workers.

There is no timer for a call or a connection. Once a second every connection checks its timeouts. This module never
reads or writes a socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from mmap import mmap
from time import monotonic
from typing import Final, Protocol

from metastored.config import Settings
from metastored.gate.tallies import Tallies
from metastored.server.budget import Budget

MEGABYTE: Final = 1024 * 1024

SWEEP: Final = 1.0
"""Seconds between two looks at the clock: how exact idle and slow time-outs are."""
SLOWEST: Final = 64 * 1024
"""Bytes a second: a long message gets more time than a short one, but not more than this takes."""
SLOWEST_READER: Final = 16 * 1024
"""Bytes a second that a peer must read of its reply, on average, after the request timeout."""
STANDSTILL: Final = 10.0
"""Seconds for which a peer may read nothing of its reply while calls of other peers wait for memory."""
MAX_STREAMS: Final = 8
"""Long replies that may hold a database snapshot at the same time."""


class Connection(Protocol):
    """The interface of a connection for the server."""

    def sweep(self, now: float) -> None:
        """Ends the connection when it has waited too long."""
        ...

    def drain(self) -> None:
        """Ends the connection as soon as no call is in flight."""
        ...

    def abort(self) -> None:
        """Ends it at once."""
        ...


class Shares:
    """How many connections each worker has, in memory that all of them see. A worker writes only its own number."""

    def __init__(self, workers: int) -> None:
        self._counts = memoryview(mmap(-1, workers * 4)).cast("i")
        for slot in range(workers):
            self.leave(slot)

    def put(self, slot: int, count: int) -> None:
        self._counts[slot] = count

    def leave(self, slot: int) -> None:
        """The worker of this slot is not serving (any more)."""
        self._counts[slot] = -1

    def is_ahead(self, slot: int) -> bool:
        """Whether another worker that serves has fewer connections."""
        mine = self._counts[slot]
        return any(0 <= count < mine for count in self._counts)


@dataclass(slots=True)
class ServerState:
    """One worker's."""

    shares: Shares = field(default_factory=lambda: Shares(1))
    slot: int = 0
    """This worker's place in `shares`."""
    tallies: Tallies | None = None
    """The counters of all workers, if there is an HTTP port to read them."""
    connections: set[Connection] = field(default_factory=set)
    silent: int = 0
    """Accepted sockets that have not sent anything yet."""
    streams: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_STREAMS))
    replies: Budget = field(default_factory=lambda: Budget(256 * MEGABYTE))
    """Bytes of replies in memory: in the buffers of connections that do not read them, or being transcoded."""
    spooled: Budget = field(default_factory=lambda: Budget(4096 * MEGABYTE))
    """Bytes of long replies in temporary files."""
    open_streams: int = 0
    """Long replies that hold a snapshot now."""
    now: float = field(default_factory=monotonic)
    """The time of the last sweep: exact enough for time-outs, and free."""
    draining: bool = False
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server drains and the last connection is closed."""

    def limit(self, settings: Settings) -> None:
        """Sets the limits of this worker."""
        self.replies.most = settings.reply_megabytes * MEGABYTE
        self.spooled.most = settings.spool_megabytes * MEGABYTE // settings.workers

    def count(self, silent: int = 0) -> int:
        """Publishes the number of this worker's sockets, after a change of the number that have sent nothing yet."""
        self.silent += silent
        total = len(self.connections) + self.silent
        self.shares.put(self.slot, total)
        return total

    def add(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.count()

    def discard(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.count()
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
