"""Showing compactions: the queue, the history, and the latest results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.transactions.compactions import state_word
from metastored.service.transactions.state import requested_table
from metastored.store.transactions import compactions
from metastored.store.transactions.compactions import CompactionRow
from metastored.wire.generated.common import CompactionInfoStruct
from metastored.wire.generated.compaction import (
    GetLatestCommittedCompactionInfoRequest,
    GetLatestCommittedCompactionInfoResponse,
    ShowCompactRequest,
    ShowCompactResponse,
    ShowCompactResponseElement,
)


@method
def show_compact(ctx: Context, rqst: ShowCompactRequest) -> ShowCompactResponse:
    """The queue and the history, filtered and in the requested order."""
    compaction_rows: Iterable[CompactionRow] = compactions.all(ctx.reader())
    filters = {
        "id": rqst.id if rqst.id and rqst.id > 0 else None,
        "db": rqst.dbName,
        "tbl": rqst.tbName,
        "part": rqst.partName,
        "type": rqst.type,
        "state": rqst.state,
        "pool": rqst.poolName,
    }
    for name, value in filters.items():
        if value is not None:
            compaction_rows = [row for row in compaction_rows if getattr(row, name) == value]
    rows = _ordered(ctx, list(compaction_rows), rqst.order)
    if rqst.limit and rqst.limit > 0:
        rows = rows[: rqst.limit]
    return ShowCompactResponse(compacts=tuple(_shown(ctx, row) for row in rows))


_COLUMNS: Final = {
    "CC_ID": "id",
    "CC_DATABASE": "db",
    "CC_TABLE": "tbl",
    "CC_PARTITION": "part",
    "CC_STATE": "state",
    "CC_TYPE": "type",
    "CC_WORKER_ID": "worker_id",
    "CC_WORKER_VERSION": "worker_version",
    "CC_INITIATOR_ID": "initiator_id",
    "CC_INITIATOR_VERSION": "initiator_version",
    "CC_START": "start",
    "CC_END": "end",
    "CC_RUN_AS": "run_as",
    "CC_HADOOP_JOB_ID": "hadoop_job_id",
    "CC_ERROR_MESSAGE": "error_message",
    "CC_ENQUEUE_TIME": "enqueue_time",
    "CC_CLEANER_START": "cleaner_start",
    "CC_POOL_NAME": "pool",
    "CC_TXN_ID": "txn_id",
    "CC_NEXT_TXN_ID": "next_txn_id",
    "CC_COMMIT_TIME": "commit_time",
    "CC_HIGHEST_WRITE_ID": "highest_write_id",
}
"""Hive's clients name columns of its own database as the sort order."""


def _ordered(ctx: Context, rows: list[CompactionRow], order: str | None) -> list[CompactionRow]:
    if order and order.strip():
        for column, descending in reversed(_order_of(order)):
            rows.sort(key=lambda row, name=column: _sortable(getattr(row, name)), reverse=descending)  # type: ignore[misc]
        return rows
    if ctx.generation < Generation.HIVE_4_0:
        return sorted(rows, key=lambda row: (row.state not in compactions.QUEUED, row.id))
    return sorted(
        rows,
        key=lambda row: (-max(row.end or 0, row.start or 0, row.commit_time or 0), row.enqueue_time or 0, row.id),
    )


def _order_of(order: str) -> list[tuple[str, bool]]:
    keys = []
    for item in order.split(","):
        column, _, direction = item.strip().partition(" ")
        name = _COLUMNS.get(column.strip('"`').upper())
        if name is None or direction.strip().lower() not in ("", "asc", "desc"):
            raise MetaException(
                f"compactions cannot be ordered by {item.strip()}: name a column such as CC_ID, or CC_ID desc"
            )
        keys.append((name, direction.strip().lower() == "desc"))
    return keys


def _sortable(value: Any) -> tuple[bool, Any]:
    return value is not None, value if value is not None else 0


def _shown(ctx: Context, row: CompactionRow) -> ShowCompactResponseElement:
    early = ctx.generation < Generation.HIVE_4_0
    return ShowCompactResponseElement(
        dbname=row.db,
        tablename=row.tbl,
        partitionname=row.part,
        type=row.type,
        state=state_word(ctx, row.state),
        workerid=row.worker_id,
        start=row.start,
        runAs=row.run_as,
        hightestTxnId=None if early else row.highest_write_id or 0,
        endTime=row.end,
        hadoopJobId=row.hadoop_job_id,
        id=row.id,
        errorMessage=row.error_message,
        enqueueTime=row.enqueue_time,
        workerVersion=row.worker_version,
        initiatorId=row.initiator_id,
        initiatorVersion=row.initiator_version,
        cleanerStart=row.cleaner_start,
        poolName=row.pool or "default",
        nextTxnId=row.next_txn_id or 0,
        txnId=row.txn_id or 0,
        commitTime=row.commit_time or 0,
        hightestWriteId=row.highest_write_id,
    )


@method
def get_latest_committed_compaction_info(
    ctx: Context, rqst: GetLatestCommittedCompactionInfoRequest
) -> GetLatestCommittedCompactionInfoResponse:
    """The latest compaction whose result can be read, of the table and each of its partitions."""
    if rqst.dbname is None or rqst.tablename is None:
        raise MetaException("Database name and table name cannot be null.")
    parts, last = rqst.partitionnames or (), rqst.lastCompactionId
    by_partition: dict[str | None, CompactionRow] = {}
    for row in compactions.of_table(ctx.reader(), requested_table(ctx, rqst.dbname, rqst.tablename)):
        if row.state not in (compactions.SUCCEEDED, compactions.READY):
            continue
        if (not parts or row.part in parts) and (last is None or row.id > last):
            by_partition[row.part] = row
    latest = sorted(by_partition.values(), key=lambda row: row.id, reverse=True)
    return GetLatestCommittedCompactionInfoResponse(
        compactions=tuple(
            CompactionInfoStruct(id=row.id, dbname=row.db, tablename=row.tbl, partitionname=row.part, type=row.type)
            for row in latest
        )
    )
