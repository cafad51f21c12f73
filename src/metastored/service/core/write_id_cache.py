"""A cache of the write ids of tables, bounded in ids. A counter's stamp tells whether an entry is stale."""

from __future__ import annotations

import threading
from typing import Final

from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import write_ids
from metastored.store.transactions.write_ids import Counter

MOST_IDS: Final = 100_000


class CachedWriteIds:
    """The write ids of one table, as they were read from the database."""

    __slots__ = ("highest_deleted", "highest_txn", "pairs", "txns")

    def __init__(self, pairs: list[tuple[int, int]], following: int) -> None:
        """`following`: the next id."""
        self.pairs: Final = pairs
        """(transaction, write id), by write id."""
        self.txns: Final = frozenset([txn for txn, _ in pairs])
        self.highest_txn: Final = max(self.txns, default=0)
        self.highest_deleted: Final = _highest_gap([write_id for _, write_id in pairs], following)
        """The highest id whose row was deleted, as every reader sees it; lower ids may still have rows."""


def _highest_gap(ids: list[int], following: int) -> int:
    if ids and following - ids[0] == len(ids):
        return ids[0] - 1  # The usual case: no gap.
    gap = following - 1
    for write_id in reversed(ids):
        if write_id != gap:
            break
        gap -= 1
    return gap


NONE: Final = CachedWriteIds([], 1)


class WriteIdCache:
    """Cached write ids by their counters. Any thread may use it."""

    def __init__(self, limit: int = MOST_IDS) -> None:
        self._limit = limit
        self._ids = 0
        self._entries: dict[int, tuple[Counter, CachedWriteIds]] = {}
        self._lock = threading.Lock()

    def read(self, tx: Transaction, counter: Counter) -> CachedWriteIds:
        """The write ids of a counter that was read in the same transaction."""
        entry = self._entries.get(counter.id)
        if entry is not None and entry[0] == counter:
            return entry[1]
        ids = CachedWriteIds(write_ids.all(tx, counter), counter.next)
        self._store(counter, ids)
        return ids

    def _store(self, counter: Counter, ids: CachedWriteIds) -> None:
        cost = len(ids.pairs) + 1
        with self._lock:
            before = self._entries.pop(counter.id, None)
            if before is not None:
                self._ids -= len(before[1].pairs) + 1
            if self._ids + cost > self._limit:
                self._entries, self._ids = {}, 0
            if cost <= self._limit:
                self._entries[counter.id] = (counter, ids)
                self._ids += cost
