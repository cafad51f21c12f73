"""The connections of snapshots: a bounded number, each with one transaction at a time, kept open for the next one.

Which statement begins a snapshot is the database's own: see `sqlite.py` and `postgresql.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from metastored.errors import StoreError

__all__ = ["SNAPSHOT_LIMIT", "SnapshotConnections"]

SNAPSHOT_LIMIT = 8
"""How many snapshots a process may have open at once: each holds a connection and keeps old rows alive."""

SNAPSHOT_WAIT = 30.0
"""Seconds to wait for another snapshot to close before giving up."""


class Connection(Protocol):
    """What both drivers have."""

    def execute(self, statement: Any, /) -> Any: ...

    def close(self) -> None: ...


C = TypeVar("C", bound=Connection)


class SnapshotConnections(Generic[C]):
    """The connections of one database. Any thread may use them."""

    def __init__(self, connect: Callable[[], C], begin: Callable[[C], None], refused: type[Exception]) -> None:
        """`begin` begins a snapshot, and raises StoreError. `refused` is the driver's error."""
        self._connect = connect
        self._begin = begin
        self._refused = refused
        self._slots = threading.BoundedSemaphore(SNAPSHOT_LIMIT)
        self._guard = threading.Lock()
        self._idle: list[C] = []
        self._closed = False

    def take(self) -> C:
        """A connection with a snapshot, which `give_back` ends. Waits until there is one; raises StoreError."""
        if not self._slots.acquire(timeout=SNAPSHOT_WAIT):
            raise StoreError(
                f"{SNAPSHOT_LIMIT} long replies are being read already and none ended "
                f"in {SNAPSHOT_WAIT:.0f} s; try again"
            )
        try:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = self._connect()
            try:
                self._begin(connection)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            self._slots.release()
            raise
        return connection

    def give_back(self, connection: C) -> None:
        """Ends the snapshot of a connection."""
        keep = False
        try:
            connection.execute("ROLLBACK")
            with self._guard:
                keep = not self._closed
                if keep:
                    self._idle.append(connection)
        except self._refused:
            keep = False
        finally:
            self._slots.release()
        if not keep:
            connection.close()

    def drop_idle(self) -> None:
        """Closes the connections that have no snapshot."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """The same for good: those with a snapshot are closed when they are given back."""
        self._closed = True
        self.drop_idle()
