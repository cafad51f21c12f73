"""The queue of compactions: requested, taken by a worker, ended.

Workers and cleaners are other programs; the queue is what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from metastored.errors import MetaException, NoSuchCompactionException
from metastored.hive.generation import Generation
from metastored.service.core.context import Context
from metastored.service.core.internal import internal_error
from metastored.service.core.serving import method
from metastored.service.transactions.state import millis, requested_table, require_open
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import compactions, components, write_ids
from metastored.store.transactions.compactions import CompactionRow
from metastored.store.transactions.components import Component
from metastored.wire.generated.common import CompactionInfoStruct, CompactionType
from metastored.wire.generated.compaction import (
    AbortCompactionRequest,
    AbortCompactionResponseElement,
    AbortCompactResponse,
    CompactionMetricsDataRequest,
    CompactionMetricsDataStruct,
    CompactionRequest,
    CompactionResponse,
    FindNextCompactRequest,
    OptionalCompactionInfoStruct,
)

POOL_TIMEOUT: Final = 12 * 3_600_000
"""Milliseconds after which any worker may take a compaction of another pool (hive.compactor.worker.pool.timeout)."""

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


def state_word(ctx: Context, letter: str) -> str:
    """Hive's word for a state; before 4.0 a compaction that could not begin was `attempted`."""
    if letter == compactions.DID_NOT_INITIATE and ctx.generation < Generation.HIVE_4_0:
        return "attempted"
    return STATES[letter]


# --- requesting one ----------------------------------------------------------------------------------------------


@method
def compact(ctx: Context, rqst: CompactionRequest) -> None:
    compact2(ctx, rqst)


@method
def compact2(ctx: Context, rqst: CompactionRequest) -> CompactionResponse:
    return ctx.database.run(lambda tx: enqueue(ctx, tx, rqst))


def enqueue(ctx: Context, tx: Transaction, rqst: CompactionRequest) -> CompactionResponse:
    """Puts a compaction into the queue, unless one of the same table or partition waits or runs."""
    if rqst.type not in CompactionType.NAMES or (ctx.accepts < Generation.HIVE_4_0 and rqst.type not in _OLD_TYPES):
        raise MetaException(f"Unexpected compaction type {CompactionType.NAMES.get(rqst.type or 0, rqst.type)}")
    table = requested_table(ctx, rqst.dbname, rqst.tablename)
    compactions.take_turn(tx)
    counter = write_ids.counter(tx, table)
    highest = 0 if counter is None else counter.next - 1
    for row in compactions.of_table(tx, table):
        if row.part == rqst.partitionname and _stands_in_the_way(ctx, row, highest):
            if ctx.generation < Generation.HIVE_4_0:
                return CompactionResponse(id=row.id, state=state_word(ctx, row.state), accepted=False)
            text = f"Compaction is already scheduled with state='{STATES[row.state]}' and id={row.id}"
            return CompactionResponse(id=-1, state="refused", accepted=False, errormessage=text)
    id = _insert(ctx, tx, rqst, compactions.INITIATED)
    return CompactionResponse(id=id, state=STATES[compactions.INITIATED], accepted=True)


def _stands_in_the_way(ctx: Context, row: CompactionRow, highest: int) -> bool:
    if row.state in (compactions.INITIATED, compactions.WORKING):
        return True
    # Nothing was written since then: another compaction would have nothing to do.
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
        *requested_table(ctx, rqst.dbname, rqst.tablename),
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
    """A map as workers read it: the number of entries, then each key and value after its length."""
    items = (f"{len(key)}:{key}{len(value)}:{value}" for key, value in properties.items())
    return f"{len(properties)}:{''.join(items)}"


@method
def submit_for_cleanup(ctx: Context, o1: CompactionRequest, o2: int | None, o3: int | None) -> bool:
    """Files up to write id `o2` are to be removed after transaction `o3`: a table or partition was dropped softly."""
    ctx.database.run(lambda tx: _insert(ctx, tx, o1, compactions.READY, o2, o3))
    return True


# --- working on one ---------------------------------------------------------------------------------------------


@method
def find_next_compact(ctx: Context, workerId: str | None) -> OptionalCompactionInfoStruct:
    return _take_next(ctx, workerId, None, None)


@method
def find_next_compact2(ctx: Context, rqst: FindNextCompactRequest | None) -> OptionalCompactionInfoStruct:
    if rqst is None:
        raise MetaException("FindNextCompactRequest is null")
    return _take_next(ctx, rqst.workerId, rqst.workerVersion, rqst.poolName)


def _take_next(ctx: Context, worker: str | None, version: str | None, pool: str | None) -> OptionalCompactionInfoStruct:
    """The oldest one that waits in the worker's pool.

    A worker without a pool takes those of no pool, or that wait too long.
    """
    pool_name = pool.strip() if pool else None

    def take(tx: Transaction) -> CompactionRow | None:
        now = millis(ctx.service)
        for row in compactions.initiated(tx):
            waits_long = row.enqueue_time is not None and row.enqueue_time < now - POOL_TIMEOUT
            if row.pool == pool_name if pool_name else row.pool is None or waits_long:
                compactions.begin(tx, row.id, worker, version, now)
                return row._replace(state=compactions.WORKING, worker_id=worker, worker_version=version, start=now)
        return None

    taken = ctx.database.run(take)
    return OptionalCompactionInfoStruct(ci=None if taken is None else info_of(taken))


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
    """Changes exactly one compaction of the queue."""

    def work(tx: Transaction) -> None:
        changed = change(tx)
        if changed != 1:
            raise MetaException(f"The update count was {changed} which is not the expected. Rolling back.")

    ctx.database.run(work)


@method
def update_compactor_state(ctx: Context, cr: CompactionInfoStruct, txn_id: int | None) -> None:
    """Stores a worker's results: the highest write id it compacts, the user, and the transaction."""
    txn = txn_id if txn_id and txn_id > 0 else None
    table = requested_table(ctx, cr.dbname, cr.tablename)

    def change(tx: Transaction) -> int:
        if txn is not None:
            require_open(tx, txn)
            # So that cleaners find its files if it is aborted.
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


@method
def set_hadoop_jobid(ctx: Context, jobId: str | None, cq_id: int | None) -> None:
    _one(ctx, lambda tx: compactions.set_job(tx, cq_id or 0, jobId))


# --- how one ends -----------------------------------------------------------------------------------------------


@method
def mark_compacted(ctx: Context, cr: CompactionInfoStruct) -> None:
    _one(ctx, lambda tx: compactions.compacted(tx, cr.id or 0))


@method
def mark_cleaned(ctx: Context, cr: CompactionInfoStruct) -> None:
    """The old files have been removed: their records are deleted too."""
    id, table = cr.id or 0, requested_table(ctx, cr.dbname, cr.tablename)
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


@method
def mark_failed(ctx: Context, cr: CompactionInfoStruct) -> None:
    _end(ctx, cr, compactions.FAILED if cr.id else compactions.DID_NOT_INITIATE, "mark_failed")


@method
def mark_refused(ctx: Context, cr: CompactionInfoStruct) -> None:
    _end(ctx, cr, compactions.REFUSED, "mark_refused")


def _end(ctx: Context, cr: CompactionInfoStruct, state: str, method: str) -> None:
    """Moves a compaction from the queue to the history; one that was never in the queue gets a new entry."""

    def end(tx: Transaction) -> None:
        now = millis(ctx.service)
        if cr.id:
            if compactions.end(tx, cr.id, state, now, cr.errorMessage) != 1:
                raise internal_error(method)
            return
        row = CompactionRow(
            compactions.take_id(tx),
            *requested_table(ctx, cr.dbname, cr.tablename),
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


@method
def abort_Compactions(ctx: Context, rqst: AbortCompactionRequest) -> AbortCompactResponse:
    """Removes compactions from the queue that no worker has taken yet."""
    ids = rqst.compactionIds or ()
    if not ids:
        raise NoSuchCompactionException("Compaction ids missing in request. No compactions to abort")

    def aborting(tx: Transaction) -> dict[int, AbortCompactionResponseElement]:
        compactions.lock_many(tx, ids)
        compaction_rows = compactions.find_many(tx, ids)
        return {id: _abort(ctx, tx, id, compaction_rows.get(id)) for id in ids}

    return AbortCompactResponse(abortedcompacts=ctx.database.run(aborting))


def _abort(ctx: Context, tx: Transaction, id: int, row: CompactionRow | None) -> AbortCompactionResponseElement:
    if row is None:
        text = "No Such Compaction Id Available"
        return AbortCompactionResponseElement(compactionId=id, status="Error", message=text)
    if row.state != compactions.INITIATED:
        # Hive uses the name of its program's constant here.
        word = STATES[row.state]
        text = f"Error while aborting compaction as compaction is in state-{word}"
        return AbortCompactionResponseElement(compactionId=id, status="Error", message=text)
    reason = "Compaction Aborted by Abort Comapction request."
    compactions.end(tx, id, compactions.ABORTED, millis(ctx.service), reason)
    return AbortCompactionResponseElement(compactionId=id, status="Success", message="Successfully aborted compaction")


# --- metrics ------------------------------------------------------------------------------------------------------


@method
def update_compaction_metrics_data(ctx: Context, data: CompactionMetricsDataStruct) -> bool:
    """Stores how many deltas an object has, while they are too many."""
    table, kind, value = requested_table(ctx, data.dbname, data.tblname), data.type or 0, data.metricvalue or 0

    def update(tx: Transaction) -> None:
        if value >= (data.threshold or 0):
            compactions.set_metric(tx, table, data.partitionname, kind, value)
        else:
            compactions.remove_metric(tx, table, data.partitionname, kind)

    ctx.database.run(update)
    return True


@method
def remove_compaction_metrics_data(ctx: Context, request: CompactionMetricsDataRequest) -> None:
    table = requested_table(ctx, request.dbName, request.tblName)
    ctx.database.run(lambda tx: compactions.remove_metric(tx, table, request.partitionName, request.type or 0))
