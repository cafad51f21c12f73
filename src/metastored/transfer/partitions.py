"""Copies the partitions of one table page by page: the next page is read while the last one is written.

At most the names of all partitions and two pages of partitions are in memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

from metastored.hive.names import make_part_name
from metastored.model.names import DatabaseName, TableName
from metastored.transfer.differences import partition_differences
from metastored.transfer.ends import Ends
from metastored.transfer.reading import Reader, Statistics, Values
from metastored.transfer.report import Action
from metastored.transfer.tables import changed_statistics, columns_of
from metastored.transfer.writing import PageChange, PartitionStatistics
from metastored.wire.generated.common import Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

PAGE: Final = 1000
"""Partitions read in one call and written in one transaction."""


class Page(NamedTuple):
    """One page of partitions of the source or the target."""

    names: Sequence[str]
    partitions: dict[Values, Partition]
    statistics: dict[str, Statistics]


class PartitionCopy:
    """The partitions of one table."""

    def __init__(self, ends: Ends, db: DatabaseName, table: Table, *, is_new: bool) -> None:
        self._ends = ends
        self._source = db.table(table.tableName or "")
        self._target = ends.catalogs.target_database(db).table(table.tableName or "")
        self._keys = tuple(key.name or "" for key in table.partitionKeys or ())
        self._columns = columns_of(table) if ends.selection.has("statistics") else []
        self._is_new = is_new
        self._catalog = ends.catalogs.target(db.catalog_field)

    def run(self, key: str) -> None:
        """Copies them; `key` is the table's in the journal."""
        ends = self._ends
        names = ends.source.partition_names(self._source)
        ends.tally.count("partition", len(names))
        reached = ends.journal.reached(key)
        start = bisect_right(names, reached) if reached is not None else 0
        ends.tally.display.table(str(self._target), len(names))
        ends.tally.display.partitions(start)
        if self._is_new and not ends.writes:
            ends.tally.added_partitions(str(self._target), names)
            ends.tally.partitions_done(str(self._target))
            ends.tally.display.partitions(len(names))
            return
        for page in self._pages(names, start):
            self._settle(page)
            if ends.writes:
                ends.journal.reach(key, page.names[-1])
            ends.tally.display.partitions(len(page.names))
        if ends.includes_extra and not self._is_new:
            self._drop(_only_in(ends.target.partition_names(self._target), names))
        ends.tally.partitions_done(str(self._target))

    def _pages(self, names: Sequence[str], start: int) -> Iterator[Page]:
        """Each page of the source, the next one read while this one is used."""
        chunks = (names[at : at + PAGE] for at in range(start, len(names), PAGE))
        with ThreadPoolExecutor(1, "metastored-read-ahead") as ahead:
            waiting: Future[Page] | None = None
            for chunk in chunks:
                before, waiting = waiting, ahead.submit(self._page, self._ends.source, self._source, chunk)
                if before is not None:
                    yield before.result()
            if waiting is not None:
                yield waiting.result()

    def _page(self, reader: Reader, table: TableName, names: Sequence[str]) -> Page:
        return Page(names, reader.partitions(table, names), reader.partition_statistics(table, names, self._columns))

    def _settle(self, page: Page) -> None:
        ends, table = self._ends, str(self._target)
        there = Page((), {}, {}) if self._is_new else self._page(ends.target, self._target, page.names)
        added: list[Partition] = []
        altered: list[Partition] = []
        statistics: list[PartitionStatistics] = []
        changes: list[tuple[str, list[str]]] = []
        for values, source in page.partitions.items():
            part = replace(source, catName=self._catalog, privileges=None, isStatsCompliant=None, colStats=None)
            name = make_part_name(self._keys, values)
            mine, theirs = page.statistics.get(name, {}), there.statistics.get(name, {})
            new, dropped_statistics, lines = changed_statistics(mine, theirs) if mine or theirs else ([], [], [])
            if new or dropped_statistics:
                statistics.append(PartitionStatistics(name, part, new, dropped_statistics))
            old = there.partitions.get(values)
            if old is None:
                added.append(part)
                continue
            fields = partition_differences(part, old, ends.writer.stamped)
            if fields:
                altered.append(part)
            if fields or lines:
                changes.append((name, fields + lines))
        if ends.writes and (added or altered or statistics):
            ends.writer.put_partitions(PageChange(self._target, added, altered, statistics))
        if added:
            ends.tally.added_partitions(table, [make_part_name(self._keys, part.values or ()) for part in added])
        for name, fields in changes:
            ends.tally.partition(table, name, Action.ALTER, fields)

    def _drop(self, names: Sequence[str]) -> None:
        for at in range(0, len(names), PAGE):
            chunk = names[at : at + PAGE]
            if self._ends.writes:
                self._ends.writer.drop_partitions(self._target, chunk)
            for name in chunk:
                self._ends.tally.partition(str(self._target), name, Action.DROP)


def _only_in(target: Sequence[str], source: Sequence[str]) -> list[str]:
    """The names that exist only in the target."""
    known = set(source)
    return [name for name in target if name not in known]
