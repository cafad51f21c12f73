"""Copies the write ids of transactional tables: readers ignore files above the high watermark.

This is what Hive's own replication does: the high watermark and the aborted write ids of the source are set in the
target. This is possible once, before the first write to the target table.
"""

from __future__ import annotations

from typing import Final

from metastored.client._sync.locks import snapshot
from metastored.hive.transactions.snapshots import ValidWriteIdList
from metastored.model.names import DatabaseName, TableName
from metastored.transfer.ends import Ends
from metastored.transfer.reading import Reader
from metastored.transfer.report import Action
from metastored.wire.generated.transactions import ReplTblWriteIdStateRequest

NO_WRITE_IDS: Final = (
    "has no write ids of tables, which came with Hive 3: of transactional tables only the metadata is copied. "
    "Rewrite them as other tables before the switch"
)
IN_OTHER_CATALOGS: Final = (
    "there are transactional tables in other catalogs than hive: their write ids are not copied, "
    "since Hive's calls for them name no catalog"
)


def copy_write_ids(ends: Ends, db: DatabaseName, name: str, *, is_new: bool) -> None:
    target = ends.catalogs.target_database(db)
    if db.catalog or target.catalog:
        ends.tally.note(IN_OTHER_CATALOGS)
        return
    table = db.table(name)
    for reader in (ends.source, ends.target):
        if not reader.client.capabilities.has_acid_transactions():
            ends.tally.note(f"{reader.name} {NO_WRITE_IDS}")
            return
    write_ids = write_ids_of(ends.source, table)
    if write_ids.open:
        ends.tally.note(f"{table} is being written to at the source: run the copy again when the writes have ended")
        return
    there = 0 if is_new and not ends.writes else write_ids_of(ends.target, table).high_watermark
    if write_ids.high_watermark == there:
        return
    fields = [f"write ids are at {write_ids.high_watermark} in the source and at {there} in the target"]
    if there and ends.writes:
        ends.tally.note(f"{table} has been written to at both ends: {fields[0]}, and cannot be changed any more")
        return
    ends.settle("write id", str(table), Action.ALTER, lambda: _put(ends, table, write_ids), fields)


def write_ids_of(reader: Reader, table: TableName) -> ValidWriteIdList:
    """The valid write ids of a table for a reader that begins now."""
    full_name = f"{table.database}.{table.table}".lower()
    _, write_ids = snapshot(reader.client.api, [full_name])
    return write_ids[full_name]


def _put(ends: Ends, table: TableName, write_ids: ValidWriteIdList) -> None:
    state = ReplTblWriteIdStateRequest(
        validWriteIdlist=str(write_ids),
        user="metastored",
        hostName="metastored",
        dbName=table.database,
        tableName=table.table,
    )
    ends.target.client.api.repl_tbl_writeid_state(state)
