"""How many rows a statement has changed: from the tails of the files that it has written, without a second job.

A file says how many rows were added, or deleted; an updated row is one of each. A merge with clauses of all three kinds
needs one more number, the updated rows, which Spark counts while it writes. Insert-only tables may have files of any
format, whose rows are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from metastored.spark.acid.files.statistics import RowCounts


class Changed(NamedTuple):
    """The numbers of rows that a statement has inserted, updated and deleted; None where they are not known."""

    inserted: int | None = 0
    updated: int | None = 0
    deleted: int | None = 0

    @property
    def affected(self) -> int | None:
        """All of them; None if one is not known."""
        numbers = (self.inserted, self.updated, self.deleted)
        return None if None in numbers else sum(each or 0 for each in numbers)


UNKNOWN = Changed(None, None, None)


def of_insert(rows: Iterable[RowCounts | None]) -> Changed:
    """The rows of an INSERT."""
    total = _total(rows)
    return UNKNOWN._replace(updated=0, deleted=0) if total is None else Changed(inserted=total.inserted)


def of_update(rows: Iterable[RowCounts | None]) -> Changed:
    total = _total(rows)
    return UNKNOWN if total is None else Changed(updated=total.deleted)


def of_delete(rows: Iterable[RowCounts | None]) -> Changed:
    total = _total(rows)
    return UNKNOWN if total is None else Changed(deleted=total.deleted)


def of_merge(
    rows: Iterable[RowCounts | None], inserts: bool, updates: bool, deletes: bool, updated: int | None
) -> Changed:
    """The rows of a merge, by the kinds of its clauses. `updated` is what Spark has counted, if all three are there.

    The tasks of a failed executor count twice in Spark: a number that does not fit the files is dropped.
    """
    total = _total(rows)
    if total is None:
        return UNKNOWN
    if not updates:
        updated = 0
    elif not deletes:
        updated = total.deleted
    elif not inserts:
        updated = total.inserted
    if updated is None or updated > min(total.inserted, total.deleted):
        return UNKNOWN
    return Changed(total.inserted - updated, updated, total.deleted - updated)


def _total(rows: Iterable[RowCounts | None]) -> RowCounts | None:
    total = RowCounts()
    for each in rows:
        if each is None:
            return None
        total += each
    return total


class UpdateCounter:
    """Counts the updated rows of a merge while Spark writes them."""

    def __init__(self) -> None:
        self._observations: list[Any] = []

    def observe(self, rows: Any, which: str, updates: Iterable[int]) -> Any:
        """The same rows, of which those with these numbers in a column are counted when they are read."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        observation = Observation()
        self._observations.append(observation)
        return rows.observe(observation, F.count_if(F.col(which).isin(list(updates))).alias("updated"))

    @property
    def updated(self) -> int:
        """The number after the write."""
        return sum(each.get["updated"] for each in self._observations)
