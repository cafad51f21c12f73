"""A cache of computed values. Each entry carries the version of the data it was computed from.

The version is read before the value is computed, or in the same snapshot, so an entry is never newer than it claims. A
lookup with another version is a miss. Any thread may use the cache. It is bounded in entries and in bytes. It never
copies a value, so values are immutable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

MEGABYTE: Final = 1024 * 1024

V = TypeVar("V")


class VersionedCache(Generic[V]):
    """The last value of each key."""

    def __init__(self, most: int, most_bytes: int) -> None:
        """At most `most` entries, of `most_bytes` together; then all are evicted."""
        self._most: Final = most
        self._most_bytes: Final = most_bytes
        self._entries: dict[Hashable, tuple[Any, int, V]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: Any, compute: Callable[[], tuple[V, int]]) -> V:
        """The value of a key in one version. On a miss `compute` returns it with the size of the entry in bytes."""
        known = self.known(key, version)
        if known is not None:
            return known
        value, size = compute()
        self.keep(key, version, value, size)
        return value

    def known(self, key: Hashable, version: Any) -> V | None:
        """The value of a key in one version; None on a miss."""
        entry = self._entries.get(key)
        return entry[2] if entry is not None and entry[0] == version else None

    def keep(self, key: Hashable, version: Any, value: V, size: int) -> None:
        """Stores the value of a key in one version, an entry of `size` bytes, unless it is too large."""
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self._size -= before[1]
            if size > self._most_bytes:
                return
            if self._size + size > self._most_bytes or len(self._entries) >= self._most:
                self._entries, self._size = {}, 0
            self._entries[key] = (version, size, value)
            self._size += size
