"""The write ids of tables, as they were read last. A counter's stamp tells whether they are still the same.

It never holds more than so many ids.
"""

from __future__ import annotations

import threading
from typing import Final

from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import write_ids
from metastored.store.transactions.write_ids import Counter

MOST_IDS: Final = 100_000


class KnownWriteIds:
    """The write ids of one table that are remembered."""

    __slots__ = ("highest_forgotten", "highest_txn", "pairs", "txns")

    def __init__(self, pairs: list[tuple[int, int]], following: int) -> None:
        """`following`: the id that comes next."""
        self.pairs: Final = pairs
        """(transaction, write id), by write id."""
        self.txns: Final = frozenset([txn for txn, _ in pairs])
        self.highest_txn: Final = max(self.txns, default=0)
        self.highest_forgotten: Final = _highest_gap([write_id for _, write_id in pairs], following)
        """The highest that is not remembered any more, as everybody sees it; it may be above others that are."""


def _highest_gap(ids: list[int], following: int) -> int:
    if ids and following - ids[0] == len(ids):
        return ids[0] - 1  # As most are: without a gap.
    gap = following - 1
    for write_id in reversed(ids):
        if write_id != gap:
            break
        gap -= 1
    return gap


NONE: Final = KnownWriteIds([], 1)


class WriteIdCache:
    """Write ids by their counters. Any thread may use it."""

    def __init__(self, limit: int = MOST_IDS) -> None:
        self._limit = limit
        self._ids = 0
        self._kept: dict[int, tuple[Counter, KnownWriteIds]] = {}
        self._lock = threading.Lock()

    def read(self, tx: Transaction, counter: Counter) -> KnownWriteIds:
        """Those of a counter that was read in the same transaction."""
        kept = self._kept.get(counter.id)
        if kept is not None and kept[0] == counter:
            return kept[1]
        known = KnownWriteIds(write_ids.all(tx, counter), counter.next)
        self._keep(counter, known)
        return known

    def _keep(self, counter: Counter, known: KnownWriteIds) -> None:
        cost = len(known.pairs) + 1
        with self._lock:
            before = self._kept.pop(counter.id, None)
            if before is not None:
                self._ids -= len(before[1].pairs) + 1
            if self._ids + cost > self._limit:
                self._kept, self._ids = {}, 0
            if cost <= self._limit:
                self._kept[counter.id] = (counter, known)
                self._ids += cost
