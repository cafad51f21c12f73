"""A clock that all servers of one database agree on: the time of the database.

Heartbeats are written by one server and judged by another. If each took its own clock, one whose clock jumps ahead
would end the transactions and locks of all others, and the heartbeats of one that is behind would come too late. So the
time is asked of the database now and then, and counted on by a clock that nobody sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

Clock = Callable[[], float]
"""Seconds since the epoch."""


def elapsed() -> float:
    """Seconds since some moment, also those in which the machine slept, where the system counts them."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if kind is None else time.clock_gettime(kind)


class DatabaseClock:
    """The clock of a database, read by `read`, which may raise StoreError. Used by several threads."""

    def __init__(self, read: Clock, elapsed: Clock = elapsed) -> None:
        self._read: Final = read
        self._elapsed: Final = elapsed
        self._offset = 0.0
        self.set()

    def __call__(self) -> float:
        return self._offset + self._elapsed()

    def set(self) -> None:
        """Asks the database."""
        before = self._elapsed()
        now = self._read()
        self._offset = now - (before + self._elapsed()) / 2
