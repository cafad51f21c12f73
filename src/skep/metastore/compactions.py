"""The queue of compactions: who asks for one, who takes it, how it ends, and what is shown of it.

Workers and cleaners are other programs; here is only what they tell each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from skep.errors import MetaException, NoSuchCompactionException
from skep.hive.generation import Generation
from skep.metastore.context import Context
from skep.metastore.txn_state import internal_error, millis, require_open, table_name
from skep.store import compactions, components, write_ids
from skep.store.compactions import CompactionRow
from skep.store.components import Component
from skep.store.transaction import Transaction
from skep.wire.generated.common import CompactionInfoStruct, CompactionType
from skep.wire.generated.compaction import (
    AbortCompactionRequest,
    AbortCompactionResponseElement,
    AbortCompactResponse,
    CompactionMetricsDataRequest,
    CompactionMetricsDataStruct,
    CompactionRequest,
    CompactionResponse,
    FindNextCompactRequest,
    GetLatestCommittedCompactionInfoRequest,
    GetLatestCommittedCompactionInfoResponse,
    OptionalCompactionInfoStruct,
    ShowCompactRequest,
    ShowCompactResponse,
    ShowCompactResponseElement,
)

POOL_TIMEOUT: Final = 12 * 3_600_000
"""Milliseconds after which any worker may take what was meant for a pool (hive.compactor.worker.pool.timeout)."""

STATES: Final = {
    compactions.INITIATED: "initiated",
    compactions.WORKING: "working",
    compactions.READY: "ready for cleaning",
    compactions.SUCCEEDED: "succeeded",
    compactions.FAILED: "failed",
    compactions.DID_NOT_INITIATE: "did not initiate",
    compactions.REFUSED: "refused",
    compactions.ABORTED: "aborted",
}
_OLD_TYPES = (CompactionType.MINOR, CompactionType.MAJOR)


def _state(ctx: Context, letter: str) -> str:
    """Hive's word for a state; before 4.0 a compaction that could not begin was `attempted`."""
    if letter == compactions.DID_NOT_INITIATE and ctx.generation < Generation.HIVE_4_0:
        return "attempted"
    return STATES[letter]


# --- asking for one -----------------------------------------------------------------------------------------------


def compact(ctx: Context, rqst: CompactionRequest) -> None:
    compact2(ctx, rqst)


def compact2(ctx: Context, rqst: CompactionRequest) -> CompactionResponse:
    return ctx.database.run(lambda tx: enqueue(ctx, tx, rqst))


def enqueue(ctx: Context, tx: Transaction, rqst: CompactionRequest) -> CompactionResponse:
    """Puts a compaction into the queue, unless one of the same table or partition waits or runs."""
    if rqst.type not in CompactionType.NAMES or (ctx.generation < Generation.HIVE_4_0 and rqst.type not in _OLD_TYPES):
        raise MetaException(f"Unexpected compaction type {CompactionType.NAMES.get(rqst.type or 0, rqst.type)}")
    table = table_name(ctx, rqst.dbname, rqst.tablename)
    compactions.take_turn(tx)
    highest = (write_ids.next_id(tx, table) or 1) - 1
    for row in compactions.of_table(tx, table):
        if row.part == rqst.partitionname and _stands_in_the_way(ctx, row, highest):
            if ctx.generation < Generation.HIVE_4_0:
                return CompactionResponse(id=row.id, state=_state(ctx, row.state), accepted=False)
            text = f"Compaction is already scheduled with state='{STATES[row.state]}' and id={row.id}"
            return CompactionResponse(id=-1, state="refused", accepted=False, errormessage=text)
    id = _insert(ctx, tx, rqst, compactions.INITIATED)
    return CompactionResponse(id=id, state=STATES[compactions.INITIATED], accepted=True)


def _stands_in_the_way(ctx: Context, row: CompactionRow, highest: int) -> bool:
    if row.state in (compactions.INITIATED, compactions.WORKING):
        return True
    # Nothing was written since: another one would find nothing to do.
    fresh = row.state == compactions.READY and row.highest_write_id == highest
    return fresh and ctx.generation >= Generation.HIVE_4_0


def _insert(
    ctx: Context,
    tx: Transaction,
    rqst: CompactionRequest,
    state: str,
    highest_write_id: int | None = None,
    txn_id: int | None = None,
) -> int:
    id = compactions.take_id(tx)
    row = CompactionRow(
        id,
        *table_name(ctx, rqst.dbname, rqst.tablename),
        rqst.partitionname,
        state,
        rqst.type or CompactionType.MINOR,
        properties=None if rqst.properties is None else counted_text(rqst.properties),
        initiator_id=rqst.initiatorId,
        initiator_version=rqst.initiatorVersion,
        run_as=rqst.runas,
        highest_write_id=highest_write_id,
        enqueue_time=millis(ctx.service),
        txn_id=txn_id,
        pool=rqst.poolName,
        buckets=rqst.numberOfBuckets,
        order_by=rqst.orderByClause,
    )
    compactions.insert(tx, row)
    return id


def counted_text(properties: dict[str, str]) -> str:
    """A map as workers read it: how many entries, then each key and value behind its length."""
    items = (f"{len(key)}:{key}{len(value)}:{value}" for key, value in properties.items())
    return f"{len(properties)}:{''.join(items)}"


def submit_for_cleanup(ctx: Context, o1: CompactionRequest, o2: int | None, o3: int | None) -> bool:
    """Files up to write id `o2` are to be removed after transaction `o3`: a table or partition was dropped softly."""
    ctx.database.run(lambda tx: _insert(ctx, tx, o1, compactions.READY, o2, o3))
    return True


# --- working on one ---------------------------------------------------------------------------------------------


def find_next_compact(ctx: Context, workerId: str | None) -> OptionalCompactionInfoStruct:
    return _take_next(ctx, workerId, None, None)


def find_next_compact2(ctx: Context, rqst: FindNextCompactRequest | None) -> OptionalCompactionInfoStruct:
    if rqst is None:
        raise MetaException("FindNextCompactRequest is null")
    return _take_next(ctx, rqst.workerId, rqst.workerVersion, rqst.poolName)


def _take_next(ctx: Context, worker: str | None, version: str | None, pool: str | None) -> OptionalCompactionInfoStruct:
    """The oldest that waits in the worker's pool. One without a pool takes what waits in none, or too long in one."""
    wanted = pool.strip() if pool else None

    def take(tx: Transaction) -> CompactionRow | None:
        now = millis(ctx.service)
        for row in compactions.initiated(tx):
            waits_long = row.enqueue_time is not None and row.enqueue_time < now - POOL_TIMEOUT
            if row.pool == wanted if wanted else row.pool is None or waits_long:
                compactions.begin(tx, row.id, worker, version, now)
                return row._replace(state=compactions.WORKING, worker_id=worker, worker_version=version, start=now)
        return None

    found = ctx.database.run(take)
    return OptionalCompactionInfoStruct(ci=None if found is None else info_of(found))


def info_of(row: CompactionRow) -> CompactionInfoStruct:
    return CompactionInfoStruct(
        id=row.id,
        dbname=row.db,
        tablename=row.tbl,
        partitionname=row.part,
        type=row.type,
        runas=row.run_as,
        properties=row.properties,
        toomanyaborts=False,
        state=row.state,
        workerId=row.worker_id,
        start=row.start or 0,
        highestWriteId=row.highest_write_id or 0,
        errorMessage=row.error_message,
        hasoldabort=False,
        enqueueTime=row.enqueue_time or 0,
        retryRetention=row.retry_retention,
        poolname=row.pool,
        numberOfBuckets=row.buckets or 0,
        orderByClause=row.order_by,
    )


def _one(ctx: Context, change: Callable[[Transaction], int]) -> None:
    """A change of exactly one compaction of the queue."""

    def work(tx: Transaction) -> None:
        changed = change(tx)
        if changed != 1:
            raise MetaException(f"The update count was {changed} which is not the expected. Rolling back.")

    ctx.database.run(work)


def update_compactor_state(ctx: Context, cr: CompactionInfoStruct, txn_id: int | None) -> None:
    """What a worker found out: up to which write id it compacts, as whom, and in which transaction."""
    txn = txn_id if txn_id and txn_id > 0 else None
    table = table_name(ctx, cr.dbname, cr.tablename)

    def change(tx: Transaction) -> int:
        if txn is not None:
            require_open(tx, txn)
            # So that cleaners find what it wrote, should it be aborted.
            op = components.COMPACT
            components.add(tx, [Component(txn, *table, cr.partitionname, op, cr.highestWriteId)])
        return compactions.progress(
            tx,
            cr.id or 0,
            highest_write_id=None if txn is None else cr.highestWriteId,
            run_as=cr.runas,
            txn_id=txn,
            type=cr.type or CompactionType.MINOR,
        )

    _one(ctx, change)


def set_hadoop_jobid(ctx: Context, jobId: str | None, cq_id: int | None) -> None:
    _one(ctx, lambda tx: compactions.set_job(tx, cq_id or 0, jobId))


# --- how one ends -----------------------------------------------------------------------------------------------


def mark_compacted(ctx: Context, cr: CompactionInfoStruct) -> None:
    _one(ctx, lambda tx: compactions.compacted(tx, cr.id or 0))


def mark_cleaned(ctx: Context, cr: CompactionInfoStruct) -> None:
    """The old files are removed: what told of them goes too."""
    id, table = cr.id or 0, table_name(ctx, cr.dbname, cr.tablename)
    aborts_only = cr.type == CompactionType.ABORT_TXN_CLEANUP

    def clean(tx: Transaction) -> None:
        if id and compactions.lock(tx, id) is None:
            return
        if aborts_only:
            compactions.delete(tx, [id])
            components.clean_aborted(tx, table, cr.partitionname, cr.highestWriteId)
            return
        compactions.end(tx, id, compactions.SUCCEEDED, millis(ctx.service), None)
        compactions.delete_of_type(tx, table, cr.partitionname, CompactionType.ABORT_TXN_CLEANUP)
        components.clean(tx, table, cr.partitionname, cr.highestWriteId)

    ctx.database.run(clean)


def mark_failed(ctx: Context, cr: CompactionInfoStruct) -> None:
    _end(ctx, cr, compactions.FAILED if cr.id else compactions.DID_NOT_INITIATE, "mark_failed")


def mark_refused(ctx: Context, cr: CompactionInfoStruct) -> None:
    _end(ctx, cr, compactions.REFUSED, "mark_refused")


def _end(ctx: Context, cr: CompactionInfoStruct, state: str, method: str) -> None:
    """From the queue to the history; what never was in the queue gets an entry of its own."""

    def end(tx: Transaction) -> None:
        now = millis(ctx.service)
        if cr.id:
            if compactions.end(tx, cr.id, state, now, cr.errorMessage) != 1:
                raise internal_error(method)
            return
        row = CompactionRow(
            compactions.take_id(tx),
            *table_name(ctx, cr.dbname, cr.tablename),
            cr.partitionname,
            state,
            cr.type or CompactionType.MINOR,
            properties=cr.properties,
            start=now,
            end=now,
            run_as=cr.runas,
            highest_write_id=cr.highestWriteId,
            error_message=cr.errorMessage,
            enqueue_time=cr.enqueueTime,
            pool=cr.poolname,
        )
        compactions.insert(tx, row)

    ctx.database.run(end)


def abort_Compactions(ctx: Context, rqst: AbortCompactionRequest) -> AbortCompactResponse:
    """Takes compactions out of the queue that no worker has taken yet."""
    ids = rqst.compactionIds or ()
    if not ids:
        raise NoSuchCompactionException("Compaction ids missing in request. No compactions to abort")

    def aborting(tx: Transaction) -> dict[int, AbortCompactionResponseElement]:
        compactions.lock_many(tx, ids)
        found = compactions.find_many(tx, ids)
        return {id: _abort(ctx, tx, id, found.get(id)) for id in ids}

    return AbortCompactResponse(abortedcompacts=ctx.database.run(aborting))


def _abort(ctx: Context, tx: Transaction, id: int, row: CompactionRow | None) -> AbortCompactionResponseElement:
    if row is None:
        text = "No Such Compaction Id Available"
        return AbortCompactionResponseElement(compactionId=id, status="Error", message=text)
    if row.state != compactions.INITIATED:
        # Hive's word here is the constant of its program.
        word = STATES[row.state]
        text = f"Error while aborting compaction as compaction is in state-{word}"
        return AbortCompactionResponseElement(compactionId=id, status="Error", message=text)
    reason = "Compaction Aborted by Abort Comapction request."
    compactions.end(tx, id, compactions.ABORTED, millis(ctx.service), reason)
    return AbortCompactionResponseElement(compactionId=id, status="Success", message="Successfully aborted compaction")


# --- showing ------------------------------------------------------------------------------------------------------


def show_compact(ctx: Context, rqst: ShowCompactRequest) -> ShowCompactResponse:
    """The queue and the history, filtered and in the order that the client wants."""
    found: Iterable[CompactionRow] = compactions.all(ctx.reader())
    wanted = {
        "id": rqst.id if rqst.id and rqst.id > 0 else None,
        "db": rqst.dbName,
        "tbl": rqst.tbName,
        "part": rqst.partName,
        "type": rqst.type,
        "state": rqst.state,
        "pool": rqst.poolName,
    }
    for name, value in wanted.items():
        if value is not None:
            found = [row for row in found if getattr(row, name) == value]
    rows = _ordered(ctx, list(found), rqst.order)
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
"""Hive's clients name columns of its own database by which they want the answer sorted."""


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
    found = []
    for item in order.split(","):
        column, _, direction = item.strip().partition(" ")
        name = _COLUMNS.get(column.strip('"`').upper())
        if name is None or direction.strip().lower() not in ("", "asc", "desc"):
            raise MetaException(
                f"compactions cannot be ordered by {item.strip()}: name a column such as CC_ID, or CC_ID desc"
            )
        found.append((name, direction.strip().lower() == "desc"))
    return found


def _sortable(value: Any) -> tuple[bool, Any]:
    return value is not None, value if value is not None else 0


def _shown(ctx: Context, row: CompactionRow) -> ShowCompactResponseElement:
    early = ctx.generation < Generation.HIVE_4_0
    return ShowCompactResponseElement(
        dbname=row.db,
        tablename=row.tbl,
        partitionname=row.part,
        type=row.type,
        state=_state(ctx, row.state),
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


def get_latest_committed_compaction_info(
    ctx: Context, rqst: GetLatestCommittedCompactionInfoRequest
) -> GetLatestCommittedCompactionInfoResponse:
    """Of the table and each of its partitions, the latest compaction whose result can be read."""
    if rqst.dbname is None or rqst.tablename is None:
        raise MetaException("Database name and table name cannot be null.")
    parts, last = rqst.partitionnames or (), rqst.lastCompactionId
    found: dict[str | None, CompactionRow] = {}
    for row in compactions.of_table(ctx.reader(), table_name(ctx, rqst.dbname, rqst.tablename)):
        if row.state not in (compactions.SUCCEEDED, compactions.READY):
            continue
        if (not parts or row.part in parts) and (last is None or row.id > last):
            found[row.part] = row
    latest = sorted(found.values(), key=lambda row: row.id, reverse=True)
    return GetLatestCommittedCompactionInfoResponse(
        compactions=tuple(
            CompactionInfoStruct(id=row.id, dbname=row.db, tablename=row.tbl, partitionname=row.part, type=row.type)
            for row in latest
        )
    )


# --- metrics ------------------------------------------------------------------------------------------------------


def update_compaction_metrics_data(ctx: Context, data: CompactionMetricsDataStruct) -> bool:
    """Remembers how many deltas something has, while they are too many."""
    table, kind, value = table_name(ctx, data.dbname, data.tblname), data.type or 0, data.metricvalue or 0

    def update(tx: Transaction) -> None:
        if value >= (data.threshold or 0):
            compactions.set_metric(tx, table, data.partitionname, kind, value)
        else:
            compactions.remove_metric(tx, table, data.partitionname, kind)

    ctx.database.run(update)
    return True


def remove_compaction_metrics_data(ctx: Context, request: CompactionMetricsDataRequest) -> None:
    table = table_name(ctx, request.dbName, request.tblName)
    ctx.database.run(lambda tx: compactions.remove_metric(tx, table, request.partitionName, request.type or 0))
