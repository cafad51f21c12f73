"""Events as they were rendered last, for the next client that follows the log: rows are never altered, so neither are
these. It never holds more than so many bytes."""

from __future__ import annotations

import threading
from typing import Final

LIMIT: Final = 16 * 1024 * 1024


class EventMemo:
    """Bytes by the event's id and the dialect it was rendered in. Any thread may use it."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._kept: dict[tuple[int, int], bytes] = {}
        self._lock = threading.Lock()

    def get(self, id: int, dialect: int) -> bytes | None:
        return self._kept.get((id, dialect))

    def keep(self, id: int, dialect: int, event: bytes) -> None:
        with self._lock:
            if self._size + len(event) > self._limit:
                # Who follows the log has moved on from what was kept first; to drop all is as good as to choose.
                self._kept, self._size = {}, 0
            if len(event) <= self._limit:
                self._kept[id, dialect] = event
                self._size += len(event)
