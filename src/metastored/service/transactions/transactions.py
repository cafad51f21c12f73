"""Transactions: opening, committing and aborting them, keeping them alive, and the lists of those that are open.

A commit is checked while no other transaction opens or commits, so the first committer wins. A transaction that was
committed can be committed again, and an aborted one aborted again: clients repeat calls whose replies were lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from metastored.errors import MetaException, TxnAbortedException
from metastored.hive.generation import Generation
from metastored.hive.transactions.snapshots import encode_bits
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context, Encoded
from metastored.service.core.internal import internal_error
from metastored.service.core.serving import method, short
from metastored.service.transactions import repl_params
from metastored.service.transactions.state import (
    MAX_SEED,
    NO_REASON,
    REASONS,
    REPLAYED,
    WRITE_CONFLICT,
    abort,
    millis,
    not_open,
    record_end,
    requested_table,
    require_open,
)
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import compactions, components, ended, transactions
from metastored.store.transactions.components import Collision, Component
from metastored.store.transactions.transactions import TxnState, Unfinished
from metastored.wire.generated.common import DataOperationType, WriteEventInfo
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AbortTxnsRequest,
    AddDynamicPartitions,
    CommitTxnRequest,
    GetOpenTxnsInfoResponse,
    GetOpenTxnsRequest,
    HeartbeatTxnRangeRequest,
    HeartbeatTxnRangeResponse,
    OpenTxnRequest,
    OpenTxnsResponse,
    ReplayedTxnsForPolicyResult,
    SeedTxnIdRequest,
    TxnInfo,
    TxnType,
)

MAX_OPENED: Final = 1000
"""Transactions that one call opens at most (hive.txn.max.open.batch)."""

MAX_RANGE: Final = 1_000_000
"""The most transactions that one heartbeat may name: each missing one is listed in the reply."""

FEW: Final = 100
"""Unfinished transactions that are listed on the event loop."""

OPERATIONS: Final = {
    DataOperationType.SELECT: components.SELECT,
    DataOperationType.INSERT: components.INSERT,
    DataOperationType.UPDATE: components.UPDATE,
    DataOperationType.DELETE: components.DELETE,
}
"""Hive's letters for the operations of a transaction on a table."""

_COMPACTING = (TxnType.COMPACTION, TxnType.REBALANCE_COMPACTION)


# --- opening --------------------------------------------------------------------------------------------------------


@method
def open_txns(ctx: Context, rqst: OpenTxnRequest) -> OpenTxnsResponse:
    count = rqst.num_txns or 0
    if count == 0 and ctx.generation < Generation.HIVE_3_1:
        return OpenTxnsResponse(txn_ids=())
    if count <= 0:
        raise MetaException(f"Invalid input for number of txns: {count}")
    policy, sources = rqst.replPolicy, rqst.replSrcTxnIds or ()
    kind = rqst.txn_type or TxnType.DEFAULT
    if policy is not None and ctx.generation < Generation.HIVE_4_0:
        kind = TxnType.REPL_CREATED
    replayed = kind == TxnType.REPL_CREATED
    if replayed and (policy is None or len(sources) != count):
        raise internal_error("open_txns")

    def opening(tx: Transaction) -> list[int]:
        if replayed and policy is not None:
            known = transactions.replicated(tx, policy, sources)
            if known:
                # The event that opens them was processed before.
                return [known[source] for source in sorted(known)]
        ids = transactions.open(
            tx,
            min(count, MAX_OPENED),
            type=kind,
            user=rqst.user or "",
            host=rqst.hostname or "",
            now=millis(ctx.service),
            opener=ctx.user or "",
        )
        if replayed and policy is not None:
            transactions.replicate(tx, policy, zip(sources, ids, strict=False))
        if kind != TxnType.READ_ONLY and not (policy is not None and kind == TxnType.DEFAULT):
            record(ctx, tx, "OPEN_TXN", parts=[("first", b"%d" % ids[0]), ("last", b"%d" % ids[-1])])
        return ids

    return OpenTxnsResponse(txn_ids=tuple(ctx.database.run(opening)))


@method
def seed_txn_id(ctx: Context, rqst: SeedTxnIdRequest) -> None:
    """The next transaction gets this id, because files of an attached table contain higher ones."""
    next_id = rqst.seedTxnId or 0
    if next_id > MAX_SEED:
        raise MetaException(
            f"Invalid txnId seed {next_id}; at most {MAX_SEED} is accepted, so that there are ids after it"
        )

    def seed(tx: Transaction) -> None:
        highest = transactions.high_water_mark(tx, locked=True)
        if highest >= next_id:
            raise MetaException(f"Invalid txnId seed {next_id}, the highWaterMark is {highest}")
        transactions.seed(tx, next_id - 1)

    ctx.database.run(seed)


# --- which are open ---------------------------------------------------------------------------------------------


@method
def get_open_txns(ctx: Context) -> Encoded:
    return _open_txns(ctx, (TxnType.READ_ONLY,))


@method
def get_open_txns_req(ctx: Context, getOpenTxnsRequest: GetOpenTxnsRequest) -> Encoded:
    return _open_txns(ctx, getOpenTxnsRequest.excludeTxnTypes or ())


@short(get_open_txns)
def _few_open_txns(ctx: Context) -> Encoded | None:
    with ctx.reading() as tx:
        highest = transactions.high_water_mark(tx)
        unfinished = transactions.unfinished(tx, at_most=FEW + 1)
    return None if len(unfinished) > FEW else _exceptions(ctx, highest, unfinished, (TxnType.READ_ONLY,))


def _open_txns(ctx: Context, left_out: Collection[int]) -> Encoded:
    with ctx.reading() as tx:
        highest = transactions.high_water_mark(tx)
        unfinished = transactions.unfinished(tx)
    return _exceptions(ctx, highest, unfinished, left_out)


def _exceptions(
    ctx: Context, highest: int, unfinished: Sequence[tuple[int, int, int]], left_out: Collection[int]
) -> Encoded:
    """The list of exceptions of a snapshot. Clients of 2.3 expect a set, later ones a list with the aborted marked."""
    lowest = next((id for id, state, _ in unfinished if state == TxnState.OPEN), None)
    listed = [(id, state) for id, state, kind in unfinished if kind not in left_out]
    aborted = None
    if ctx.generation >= Generation.HIVE_3_1:
        aborted = encode_bits([at for at, (_, state) in enumerate(listed) if state == TxnState.ABORTED.value])
    return Encoded(rows.open_transactions(highest, [id for id, _ in listed], lowest, aborted))


@method
def get_open_txns_info(ctx: Context) -> GetOpenTxnsInfoResponse:
    with ctx.reading() as tx:
        highest = transactions.high_water_mark(tx)
        unfinished = transactions.rows(tx)
    infos = tuple(
        TxnInfo(
            id=row.id,
            state=row.state,
            user=row.user_name,
            hostname=row.host,
            # Hive ignores the client's value.
            agentInfo="Unknown",
            startedTime=row.started,
            lastHeartbeatTime=row.heartbeat,
        )
        for row in unfinished
    )
    return GetOpenTxnsInfoResponse(txn_high_water_mark=highest, open_txns=infos)


@method
def get_replayed_txns_for_policy(ctx: Context, policyName: str | None) -> ReplayedTxnsForPolicyResult:
    mappings = transactions.replicated_by(ctx.reader(), policyName or "")
    return ReplayedTxnsForPolicyResult(
        replTxnMapEntry={str(source): str(target) for source, target in sorted(mappings.items())}
    )


@method
def get_latest_txnid_in_conflict(ctx: Context, txnId: int | None) -> int:
    return components.latest_collision(ctx.reader(), txnId or 0)


# --- keeping them alive -----------------------------------------------------------------------------------------


@method
def heartbeat_txn_range(ctx: Context, txns: HeartbeatTxnRangeRequest) -> HeartbeatTxnRangeResponse:
    low, high = txns.min or 0, txns.max or 0
    if high - low >= MAX_RANGE:
        raise MetaException(f"a heartbeat for {high - low + 1} transactions is refused; at most {MAX_RANGE} at once")
    now = millis(ctx.service)

    def beat(tx: Transaction) -> dict[int, int] | None:
        if transactions.heartbeat_range(tx, low, high, now) == high - low + 1:
            return None
        return transactions.in_range(tx, low, high)

    states = ctx.database.run(beat)
    if states is None:
        return HeartbeatTxnRangeResponse(aborted=frozenset(), nosuch=frozenset())
    aborted = frozenset(id for id, state in states.items() if state == TxnState.ABORTED)
    missing = (id for id in range(low, high + 1) if states.get(id, TxnState.COMMITTED) == TxnState.COMMITTED)
    return HeartbeatTxnRangeResponse(aborted=aborted, nosuch=frozenset(missing))


# --- the tables they write to
# --------------------------------------------------------------------------------------------


@method
def add_dynamic_partitions(ctx: Context, rqst: AddDynamicPartitions) -> None:
    """Records the partitions that a transaction wrote to, once the client knows them."""
    txn_id = rqst.txnid or 0
    table = requested_table(ctx, rqst.dbname, rqst.tablename)
    kind = rqst.operationType if rqst.operationType is not None else DataOperationType.UPDATE
    op = OPERATIONS.get(kind)
    if op is None:
        raise internal_error("add_dynamic_partitions")

    def add(tx: Transaction) -> None:
        require_open(tx, txn_id)
        components.forget_table_component(tx, txn_id, table)
        parts = rqst.partitionnames or ()
        components.add(tx, [Component(txn_id, *table, part, op, rqst.writeid) for part in parts])

    ctx.database.run(add)


# --- ending ---------------------------------------------------------------------------------------------------------


@method
def commit_txn(ctx: Context, rqst: CommitTxnRequest) -> None:
    replayed = _replays(rqst.replPolicy, rqst.txn_type)

    def commit(tx: Transaction) -> str | None:
        txn_id = _local_id(tx, rqst.txnid or 0, rqst.replPolicy) if replayed else rqst.txnid or 0
        if txn_id is None:
            return None
        txn = transactions.lock(tx, txn_id)
        if txn is None or txn.state == TxnState.ABORTED:
            raise not_open(txn, txn_id)
        if txn.state == TxnState.COMMITTED:
            return None
        repl_params.apply(tx, rqst)
        collided = None if replayed else _complete(ctx, tx, txn, rqst)
        if collided is not None:
            return collided
        if replayed:
            _complete_replayed(ctx, tx, txn_id, rqst.writeEventInfos or ())
            transactions.forget_replicated(tx, [txn_id])
        transactions.finish(tx, [txn_id], TxnState.COMMITTED, millis(ctx.service))
        ended.forget(tx, [txn_id])
        if not (rqst.replPolicy is not None and rqst.txn_type == TxnType.DEFAULT):
            record_end(ctx, tx, "COMMIT_TXN", [txn])
            if txn.type in _COMPACTING:
                _record_compaction(ctx, tx, txn_id)
        return None

    collided = ctx.database.run(commit)
    if collided is not None:
        # Raised only now, because an error raised within a transaction rolls it back, and the abort must stay.
        raise TxnAbortedException(collided)


def _replays(policy: str | None, kind: int | None) -> bool:
    """Whether a call is replicated from another metastore. Clients before 4.0 show it by the policy alone."""
    return policy is not None and kind in (None, TxnType.REPL_CREATED)


def _local_id(tx: Transaction, source: int, policy: str | None) -> int | None:
    """The id here of another metastore's transaction; None if it was ended before, or is unknown."""
    return transactions.replicated(tx, policy or "", [source]).get(source)


def _complete(ctx: Context, tx: Transaction, txn: Unfinished, rqst: CommitTxnRequest) -> str | None:
    """Records the tables of a transaction for compactions; returns the conflict, if any, for which it was aborted."""
    now = millis(ctx.service)
    if txn.type == TxnType.SOFT_DELETE or txn.type in _COMPACTING:
        compactions.committed(tx, txn.id, transactions.high_water_mark(tx, locked=True), now)
    done = components.ops(tx, txn.id)
    if not done:
        return None
    changes = not done.isdisjoint((components.UPDATE, components.DELETE))
    if changes and txn.type not in _COMPACTING:
        commit_id = transactions.high_water_mark(tx, locked=True)
        if _is_optimistic(ctx, rqst):
            deletes = ctx.generation >= Generation.HIVE_4_0
            collided = components.collision(tx, txn.id, deletes=deletes)
            if collided is not None:
                abort(ctx.service, tx, [txn.id], WRITE_CONFLICT)
                record_end(ctx, tx, "ABORT_TXN", [txn])
                return _conflict(txn.id, commit_id, collided)
        components.record(tx, txn.id, commit_id)
    components.complete(tx, txn.id, update_delete=changes, time=now)
    return None


def _is_optimistic(ctx: Context, rqst: CommitTxnRequest) -> bool:
    """Whether writers share their locks, so that conflicts are detected only at commit. Before 4.0 they always do."""
    if rqst.exclWriteEnabled is None:
        return ctx.generation < Generation.HIVE_4_0
    return not rqst.exclWriteEnabled


def _complete_replayed(ctx: Context, tx: Transaction, txn_id: int, written: tuple[WriteEventInfo, ...]) -> None:
    """Records the tables that the transaction wrote to, according to the other metastore."""
    rows = [
        Component(
            txn_id,
            *requested_table(ctx, info.database, info.table),
            info.partition or None,
            components.INSERT,
            info.writeId,
        )
        for info in written
    ]
    components.add_completed(tx, rows, update_delete=False, time=millis(ctx.service))


def _record_compaction(ctx: Context, tx: Transaction, txn_id: int) -> None:
    compaction = compactions.of_txn(tx, txn_id)
    if compaction is not None:
        parts = [("txn", b"%d" % txn_id), ("compaction", b"%d" % compaction.id), ("type", b"%d" % compaction.type)]
        if compaction.part is not None:
            parts.append(("partition", compaction.part.encode()))
        where = ctx.name(compaction.db, None if compaction.cat == "hive" else compaction.cat)
        record(ctx, tx, "COMMIT_COMPACTION_EVENT", where, compaction.tbl, parts)


def _conflict(txn_id: int, commit_id: int, collision: Collision) -> str:
    what = "/".join(name for name in (collision.db, collision.tbl, collision.part) if name is not None)
    return (
        f"Aborting [txnid:{txn_id},{commit_id}] due to a write conflict on {what}"
        f" committed by [txnid:{collision.txn_id},{collision.commit_id}] {collision.own_op}/{collision.other_op}"
    )


@method
def abort_txn(ctx: Context, rqst: AbortTxnRequest) -> None:
    replayed = _replays(rqst.replPolicy, rqst.txn_type)
    reason = REPLAYED if replayed else REASONS.get(rqst.errorCode or 0, NO_REASON)

    def aborting(tx: Transaction) -> None:
        txn_id = _local_id(tx, rqst.txnid or 0, rqst.replPolicy) if replayed else rqst.txnid or 0
        if txn_id is None:
            return
        txn = transactions.lock(tx, txn_id)
        if txn is None or txn.state == TxnState.COMMITTED:
            raise not_open(txn, txn_id)
        if txn.state == TxnState.OPEN:
            abort(ctx.service, tx, [txn_id], reason)
            if not (rqst.replPolicy is not None and rqst.txn_type == TxnType.DEFAULT):
                record_end(ctx, tx, "ABORT_TXN", [txn])

    ctx.database.run(aborting)


@method
def abort_txns(ctx: Context, rqst: AbortTxnsRequest) -> None:
    """The transactions among them that are open; the others do not matter."""
    ids = rqst.txn_ids or ()
    reason = REASONS.get(rqst.errorCode or 0, NO_REASON)

    def aborting(tx: Transaction) -> None:
        txns_by_id = transactions.lock_many(tx, ids)
        opened = [txn for _, txn in sorted(txns_by_id.items()) if txn.state == TxnState.OPEN]
        if opened:
            abort(ctx.service, tx, [txn.id for txn in opened], reason)
            record_end(ctx, tx, "ABORT_TXN", opened)

    ctx.database.run(aborting)
