"""Snapshots as clients send them, read once: whoever begins before the next transaction ends sends the same long text.

A text and what it means never change, so nothing is ever outdated here. It never holds more than so many ids.
"""

from __future__ import annotations

import threading
from typing import Final

from skep.errors import MetaException
from skep.hive.snapshots import SnapshotSyntaxError, ValidTxnList

MOST_IDS: Final = 100_000


class Seen:
    """The transactions that a reader sees, with those that it does not see as sets."""

    __slots__ = ("aborted", "high_watermark", "open", "snapshot")

    def __init__(self, snapshot: ValidTxnList) -> None:
        self.snapshot = snapshot
        self.high_watermark = snapshot.high_watermark
        self.open = frozenset(snapshot.open)
        self.aborted = frozenset(snapshot.aborted)

    def __len__(self) -> int:
        return len(self.open) + len(self.aborted)


class SeenMemo:
    """Snapshots by their text. Any thread may use it."""

    def __init__(self, limit: int = MOST_IDS) -> None:
        self._limit = limit
        self._ids = 0
        self._kept: dict[str, Seen] = {}
        self._lock = threading.Lock()

    def read(self, text: str) -> Seen:
        known = self._kept.get(text)
        if known is not None:
            return known
        try:
            seen = Seen(ValidTxnList.parse(text))
        except SnapshotSyntaxError as error:
            raise MetaException(f"a list of valid transactions cannot be read: {error}") from None
        # A run of ids is written as two: the text says nothing of what it costs to keep.
        cost = len(seen) + 1
        if cost <= self._limit:
            with self._lock:
                if self._ids + cost > self._limit:
                    self._kept, self._ids = {}, 0
                self._kept[text] = seen
                self._ids += cost
        return seen
