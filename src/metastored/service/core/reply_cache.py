"""A cache of encoded replies. Each entry carries the version of the data it was made from.

The version is read before the reply is made, so an entry is never newer than it claims. A lookup with another version
is a miss. Any thread may use the cache. It is bounded in bytes and in entries.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from metastored.wire import binary
from metastored.wire.methods import METHODS

MOST_BYTES: Final = 8 * 1024 * 1024
MOST: Final = 64


class ReplyCache:
    """The last reply to each request."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, Hashable], tuple[Any, int, bytes]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get(self, method: str, request: Hashable, version: Any, length: int, compute: Callable[[], object]) -> bytes:
        """The encoded reply to a request; `compute` is called on a miss.

        `length` is the size of request and version in bytes.
        """
        entry = self._entries.get((method, request))
        if entry is not None and entry[0] == version:
            return entry[2]
        reply = binary.encode_result(METHODS[method], compute())
        self._store((method, request), (version, length + len(reply), reply))
        return reply

    def _store(self, key: tuple[str, Hashable], entry: tuple[Any, int, bytes]) -> None:
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self._size -= before[1]
            if self._size + entry[1] > MOST_BYTES or len(self._entries) >= MOST:
                self._entries, self._size = {}, 0
            if entry[1] <= MOST_BYTES:
                self._entries[key] = entry
                self._size += entry[1]
