"""A dictionary for caches: it holds a fixed number of entries, and one more evicts all.

For caches whose entries are quickly made again, and which are read far more often than they are full: reading is that
of a plain dictionary, without the order that `lru_cache` maintains. It never expires an entry, and it has no lock:
threads that write at once may evict more than they need.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["BoundedDict"]

_K = TypeVar("_K")
_V = TypeVar("_V")


class BoundedDict(dict[_K, _V]):
    """A dictionary that is emptied before an entry would be one too many. Entries are added by `d[key] = value`."""

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: _K, value: _V) -> None:
        if len(self) >= self.most and key not in self:
            self.clear()
        super().__setitem__(key, value)
