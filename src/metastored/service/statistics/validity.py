"""Whether stored statistics of a transactional table are valid in a reader's snapshot, and the checks of writers.

Only clients since Hive 4 send a snapshot. Statistics carry the write id of their writer, in the row of their table or
partition; a reader whose snapshot does not contain that write must not use them. Pure except for reading partitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from metastored.errors import MetaException
from metastored.hive.statistics.basic import (
    COLUMN_STATS_ACCURATE,
    Parameters,
    are_basic_stats_accurate,
    clear_basic_state,
)
from metastored.hive.transactions.snapshots import SnapshotSyntaxError, ValidWriteIdList
from metastored.model.acid import is_transactional
from metastored.service.core import rows
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partitions
from metastored.wire.generated.common import Table


class Writer(NamedTuple):
    """The writer of statistics: a write id, and the snapshot in which it was taken."""

    write_id: int
    snapshot: str | None


NO_WRITER: Final = Writer(0, None)
"""A caller that has no snapshot."""


def _parsed(snapshot: str) -> ValidWriteIdList:
    try:
        return ValidWriteIdList.parse(snapshot)
    except SnapshotSyntaxError as error:
        raise MetaException(str(error)) from None


def _holds(parameters: Parameters, write_id: int, snapshot: str) -> bool:
    if write_id < 1:
        return True
    return are_basic_stats_accurate(parameters) and _parsed(snapshot).is_valid(write_id)


def of_table(table: Table, write_id: int, snapshot: str | None) -> bool | None:
    """Whether the statistics of a table are valid; None when the reader has no snapshot."""
    if snapshot is None:
        return None
    return not is_transactional(table.parameters) or _holds(table.parameters or {}, write_id, snapshot)


def of_partitions(
    tx: Transaction, table: Table, table_id: int, names: Iterable[str], snapshot: str | None
) -> bool | None:
    """As `of_table`, for all of these partitions together."""
    if snapshot is None or not is_transactional(table.parameters):
        return of_table(table, -1, snapshot)
    for row in partitions.find_many(tx, table_id, list(names)):
        parameters = rows.partition_own(row.body).parameters or {}
        if not _holds(parameters, row.write_id, snapshot):
            return False
    return True


def checked(full_name: str, before: Parameters, after: dict[str, str], write_id: int, writer: Writer) -> dict[str, str]:
    """The parameters that a writer sets on a transactional table or partition.

    Statistics that another write, not in its snapshot, could have changed are marked as not accurate.
    """
    if writer.snapshot is None or writer.write_id < 1:
        if are_basic_stats_accurate(after):
            raise MetaException(
                f"Cannot change stats state for a transactional table {full_name} without providing the"
                f" transactional write state for verification (new write ID {writer.write_id}, valid write IDs"
                f" {_or_null(writer.snapshot)}; current state {_or_null(before.get(COLUMN_STATS_ACCURATE))}; new"
                f" state {after.get(COLUMN_STATS_ACCURATE)}"
            )
        return after
    snapshot = _parsed(writer.snapshot)
    if write_id < 1 or snapshot.is_valid(write_id) or snapshot.is_aborted(write_id):
        return after
    return clear_basic_state(after)


def checked_on_alter(
    table: Table, before: Parameters, after: dict[str, str], write_id: int, writer: Writer
) -> dict[str, str]:
    """As `checked`, for parameters that an alter sets. Without a snapshot they stay as they are.

    `table` is the table, or that of the partition. Two writers may have read the same number of rows at the same time:
    the second one to store its own does not see the first one's write.
    """
    if writer.snapshot is None or writer.write_id < 1 or not is_transactional(table.parameters):
        return after
    return checked(f"{table.dbName}.{table.tableName}", before, after, write_id, writer)


def _or_null(value: str | None) -> str:
    return "null" if value is None else value
