"""A cache of values made from replies of the metastore, bounded by bytes; the least recently used are evicted first.

Its keys are the bytes of replies that were read for the present request, so an entry is never stale: after any change,
by whichever protocol, the bytes are others. It has no lock: only the event loop's thread uses it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from metastored.wire.message import REPLY, Reply

__all__ = ["MAX_CACHED", "MAX_ENTRY", "ResponseCache", "body_of_result"]

V = TypeVar("V")

MAX_CACHED: Final = 16 * 1024 * 1024
"""Bytes of all entries of one cache of a worker."""
MAX_ENTRY: Final = 2 * 1024 * 1024


class ResponseCache(Generic[V]):
    """Values by their keys."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> V | None:
        """The value of a key; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Stores a value of a size in bytes, with its key, unless it is too long or there already."""
        if size > MAX_ENTRY or key in self._entries:
            return
        self._entries[key] = value, size
        self._bytes += size
        while self._bytes > MAX_CACHED:
            _, (_, evicted) = self._entries.popitem(last=False)
            self._bytes -= evicted


def body_of_result(reply: Reply) -> bytes | None:
    """The bytes of a result; None for a reply that is an error or not in memory."""
    if reply.kind != REPLY or reply.error is not None or not isinstance(reply.body, bytes):
        return None
    return reply.body
