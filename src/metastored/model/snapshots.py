"""Snapshots from the replies of a metastore: the transactions and the write ids that a reader sees. Pure."""

from __future__ import annotations

from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.wire.generated.transactions import GetOpenTxnsResponse, GetValidWriteIdsResponse


def seen_transactions(response: GetOpenTxnsResponse, own: int | None = None) -> ValidTxnList:
    """From get_open_txns. With a transaction of its own, the list ends at it and does not exclude it."""
    listed = sorted(response.open_txns or ())
    return ValidTxnList.of_reply(response.txn_high_water_mark or 0, listed, response.abortedBits or b"", own)


def seen_write_ids(response: GetValidWriteIdsResponse) -> dict[str, ValidWriteIdList]:
    """From get_valid_write_ids, by the full names of the tables."""
    return {
        each.fullTableName or "": ValidWriteIdList.of_reply(
            each.fullTableName or "",
            each.writeIdHighWaterMark or 0,
            each.invalidWriteIds or (),
            each.minOpenWriteId,
            each.abortedBits or b"",
            each.validTxnList,
        )
        for each in response.tblValidWriteIds or ()
    }
