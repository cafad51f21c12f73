"""How far a transactional table's write ids have come, on its way: readers see no file that lies beyond.

This is what Hive's own replication does: the target is told how far the source is and which writes were aborted. It
can be told once, before anybody writes there.
"""

from __future__ import annotations

from typing import Final

from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.model.names import DatabaseName, TableName
from metastored.transfer.ends import Ends
from metastored.transfer.reading import Reader
from metastored.transfer.report import Action
from metastored.wire.generated.transactions import GetValidWriteIdsRequest, ReplTblWriteIdStateRequest

NO_WRITE_IDS: Final = (
    "has no write ids of tables, which came with Hive 3: of transactional tables only the metadata is copied. "
    "Rewrite them as other tables before the switch"
)
IN_OTHER_CATALOGS: Final = (
    "there are transactional tables in other catalogs than hive: their write ids are not copied, "
    "since Hive's calls for them name no catalog"
)


def copy_write_ids(ends: Ends, home: DatabaseName, name: str, *, is_new: bool) -> None:
    target = ends.catalogs.home(home)
    if home.catalog or target.catalog:
        ends.tally.note(IN_OTHER_CATALOGS)
        return
    of = home.table(name)
    for reader in (ends.source, ends.target):
        if not reader.client.capabilities.has_acid_transactions():
            ends.tally.note(f"{reader.name} {NO_WRITE_IDS}")
            return
    wanted = write_ids_of(ends.source, of)
    if wanted.open:
        ends.tally.note(f"{of} is being written to at the source: its write ids are copied by a run when it is not")
        return
    there = 0 if is_new and not ends.writes else write_ids_of(ends.target, of).high_watermark
    if wanted.high_watermark == there:
        return
    fields = [f"write ids are at {wanted.high_watermark} in the source and at {there} in the target"]
    if there and ends.writes:
        ends.tally.note(f"{of} has been written to at both ends: {fields[0]}, and cannot be changed any more")
        return
    ends.settle("write id", str(of), Action.ALTER, lambda: _put(ends, of, wanted), fields)


def write_ids_of(reader: Reader, of: TableName) -> ValidWriteIdList:
    """What a reader that begins now would see of a table."""
    api = reader.client.api
    seen = api.get_open_txns()
    snapshot = ValidTxnList.of_reply(
        seen.txn_high_water_mark or 0, tuple(sorted(seen.open_txns or ())), seen.abortedBits or b""
    )
    full_name = f"{of.database}.{of.table}"
    asked = GetValidWriteIdsRequest(fullTableNames=(full_name,), validTxnList=str(snapshot))
    found = (api.get_valid_write_ids(asked).tblValidWriteIds or ())[0]
    return ValidWriteIdList.of_reply(
        full_name,
        found.writeIdHighWaterMark or 0,
        found.invalidWriteIds or (),
        found.minOpenWriteId,
        found.abortedBits or b"",
    )


def _put(ends: Ends, of: TableName, wanted: ValidWriteIdList) -> None:
    state = ReplTblWriteIdStateRequest(
        validWriteIdlist=str(wanted), user="metastored", hostName="metastored", dbName=of.database, tableName=of.table
    )
    ends.target.client.api.repl_tbl_writeid_state(state)
