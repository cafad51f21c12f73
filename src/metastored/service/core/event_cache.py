"""A cache of rendered events, for the next client that follows the log. It never holds more than a number of bytes.

Rows of events are never changed, so an entry is never stale.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

LIMIT: Final = 16 * 1024 * 1024


class EventCache:
    """Rendered events by number and dialect. Any thread may use it."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._entries: dict[tuple[int, int], bytes] = {}
        self._lock = threading.Lock()

    def get(self, number: int, dialect: int) -> bytes | None:
        return self._entries.get((number, dialect))

    def put(self, dialect: int, events: Mapping[int, bytes]) -> None:
        """Adds events by their numbers. At the limit all entries are evicted: readers of the log have moved on."""
        size = sum(map(len, events.values()))
        with self._lock:
            if self._size + size > self._limit:
                self._entries, self._size = {}, 0
            if size <= self._limit:
                self._entries.update({(number, dialect): event for number, event in events.items()})
                self._size += size
