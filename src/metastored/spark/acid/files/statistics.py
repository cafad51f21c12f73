"""Basic statistics of tables and partitions after a write, as Hive's own writers keep them.

The server does not notice writes of rows, and engines may compute `count(*)` from `numRows` while COLUMN_STATS_ACCURATE
says that it is accurate: every writer has to change both. `numFiles` and `totalSize` are those of the files that the
writer's snapshot sees. The number of rows is accurate if it was so before, or if all rows are of this write. Statistics
of columns are not computed here, and therefore no longer marked as accurate.

Only the parameters of the statistics are changed (`client.change_table`): the write does not undo what others change in
the definition. The statistics carry the write id: readers whose snapshot does not have it, or after an abort, do not
use them. Servers before Hive 4 have no calls for this: their clients do not use statistics of transactional tables.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from metastored.client._sync.acid import Write
from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, PermissionDenied
from metastored.hive.names import make_part_name
from metastored.hive.statistics.basic import (
    KEEP_STATISTICS,
    NUM_FILES,
    NUM_ROWS,
    RAW_DATA_SIZE,
    STATS_GENERATED,
    TASK,
    TOTAL_SIZE,
    Parameters,
    are_basic_stats_accurate,
    clear_basic_state,
    set_basic_state,
)
from metastored.hive.transactions.resolution import data_files, resolve
from metastored.spark.acid.tables import AcidTable, partitions_by_name
from metastored.spark.files import files_of, in_threads, list_location
from metastored.wire.generated.common import Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

log = logging.getLogger("metastored.acid")

AS_SENT: Final = {**KEEP_STATISTICS, STATS_GENERATED: TASK}
"""Tells the server to store the statistics as they are sent, and not to count the files itself."""


class RowCounts(NamedTuple):
    """The rows of a table or partition that a statement has added and deleted."""

    inserted: int = 0
    deleted: int = 0

    def __add__(self, other: RowCounts) -> RowCounts:  # type: ignore[override]
        return RowCounts(self.inserted + other.inserted, self.deleted + other.deleted)


class Visible(NamedTuple):
    """The files of a table or partition that the writer sees."""

    files: int
    size: int
    only_own: bool
    """Whether all rows are of this statement."""


def after_write(parameters: Parameters, accurate: bool, visible: Visible, rows: RowCounts | None) -> dict[str, str]:
    """The parameters of a table or partition after a write. Pure.

    `accurate` is whether the old number of rows was right at the writer's snapshot. `rows` is None where they were not
    counted, as in files of other formats than ORC.
    """
    changed = clear_basic_state(parameters) | {NUM_FILES: str(visible.files), TOTAL_SIZE: str(visible.size)}
    changed.pop(RAW_DATA_SIZE, None)
    before = changed.pop(NUM_ROWS, "")
    if rows is None:
        return changed
    if visible.only_own:
        return set_basic_state({**changed, NUM_ROWS: str(rows.inserted)})
    if not before.isdigit():
        return changed
    changed[NUM_ROWS] = str(max(0, int(before) + rows.inserted - rows.deleted))
    return set_basic_state(changed) if accurate else changed


def record(
    spark: Any,
    client: Client,
    table: AcidTable,
    write: Write,
    rows: Mapping[tuple[str, ...], RowCounts | None],
    first: bool,
) -> None:
    """Changes the statistics of the table, or of the partitions that a statement has written to.

    `first` is whether it is the first statement of its transaction on this table.
    """
    method = "alter_partitions_req" if table.key_names else "alter_table_req"
    if not rows or client.capabilities.lacks(method):
        return
    recorder = _Recorder(spark, client, table, write, first)
    try:
        if table.key_names:
            recorder.partitions(rows)
        else:
            recorder.table(rows[()])
    except ApplicationError as error:
        if error.type != ApplicationError.UNKNOWN_METHOD:
            raise
        client.capabilities.learned(method, False)


class _Recorder:
    def __init__(self, spark: Any, client: Client, table: AcidTable, write: Write, first: bool) -> None:
        self._spark = spark
        self._client = client
        self._table = table
        self._write = write
        self._first = first

    def table(self, rows: RowCounts | None) -> None:
        # The directory is listed before the table is read: only the call that changes the table is between both.
        visible = self._visible(self._table.location)
        seen: list[Table | Partition] = []

        def changed(now: Table) -> Table:
            seen[:] = [now]
            return replace(now, parameters=self._changed(now, visible, rows))

        try:
            self._client.change_table(
                self._table.name, changed, environment=AS_SENT, write=(self._write.write_id, str(self._write.snapshot))
            )
        except PermissionDenied as error:
            self._refused(error, seen)

    def partitions(self, rows: Mapping[tuple[str, ...], RowCounts | None]) -> None:
        names = {values: make_part_name(self._table.key_names, values) for values in rows}
        structs = list(partitions_by_name(self._client, self._table, sorted(names.values())))
        places = {
            tuple(each.values or ()): (each.sd.location if each.sd is not None else None) or "" for each in structs
        }
        visible = dict(zip(places, in_threads(self._visible, list(places.values())), strict=True))
        seen: list[Table | Partition] = []

        def changed(now: Partition) -> Partition:
            seen.append(now)
            values = tuple(now.values or ())
            return replace(now, parameters=self._changed(now, visible[values], rows[values]))

        try:
            self._client.change_partitions(
                self._table.name,
                [names[values] for values in places],
                changed,
                environment=AS_SENT,
                write=(self._write.write_id, str(self._write.snapshot)),
            )
        except PermissionDenied as error:
            self._refused(error, seen)

    def _changed(self, now: Table | Partition, visible: Visible, rows: RowCounts | None) -> dict[str, str]:
        return after_write(now.parameters or {}, self._is_accurate(now), visible, rows)

    def _is_accurate(self, now: Table | Partition) -> bool:
        if not are_basic_stats_accurate(now.parameters or {}):
            return False
        write_id = now.writeId or 0
        return write_id < 1 or self._write.snapshot.is_valid(write_id)

    def _visible(self, location: str) -> Visible:
        listing = list_location(files_of(self._spark, location), location)
        resolved = resolve(listing, self._write.snapshot, self._write.visible)
        directories = (*resolved.data, *resolved.delete_deltas)
        files = [file for each in directories for file in data_files(listing.directories[each.name])]
        files += resolved.originals
        own = all(each.high == self._write.write_id and each.low in (0, each.high) for each in directories)
        only_own = self._first and own and not resolved.originals
        return Visible(len(files), sum(file.size for file in files), only_own)

    def _refused(self, error: PermissionDenied, objects: Iterable[Table | Partition]) -> None:
        """A writer of rows may have no right to alter the table. Wrong statistics must not be left as accurate."""
        if any(self._is_accurate(each) for each in objects):
            raise PermissionDenied(
                f"{self._table.name} was not written: its stored statistics are accurate and would be wrong, and only "
                f"who may alter the table can change them ({error})"
            ) from error
        log.info("the statistics of %s are not updated: %s", self._table.name, error)
