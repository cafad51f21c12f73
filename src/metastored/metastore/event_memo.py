"""Events as they were rendered last, for the next client that follows the log: rows are never altered, so neither are
these. It never holds more than so many bytes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

LIMIT: Final = 16 * 1024 * 1024

Rendered = tuple[bytes, ...]
"""An event's bytes in pieces. Events of one table share the long ones."""


class EventMemo:
    """What was rendered, by the event's number and the dialect. Any thread may use it."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._kept: dict[tuple[int, int], Rendered] = {}
        self._counted: set[int] = set()
        """Which pieces the size has in it already; they are kept, so no other can have their place."""
        self._lock = threading.Lock()

    def get(self, number: int, dialect: int) -> Rendered | None:
        return self._kept.get((number, dialect))

    def keep(self, dialect: int, events: Mapping[int, Rendered]) -> None:
        """Keeps events by their numbers."""
        with self._lock:
            pieces = {id(piece): len(piece) for event in events.values() for piece in event}
            size = sum(pieces.values()) - sum(pieces[each] for each in pieces.keys() & self._counted)
            if self._size + size > self._limit:
                # Who follows the log has moved on from what was kept first; to drop all is as good as to choose.
                self._kept, self._size, self._counted = {}, 0, set()
                size = sum(pieces.values())
            if size <= self._limit:
                self._kept.update({(number, dialect): event for number, event in events.items()})
                self._size += size
                self._counted.update(pieces)
