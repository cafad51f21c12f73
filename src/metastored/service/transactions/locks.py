"""Locks: acquiring, waiting, releasing, showing them.

All components of a request are granted together or none is. Requests are checked one after another, by the rules in
`hive/transactions/locks.py`. A holder without a heartbeat for too long loses its locks at the latest when another
client waits for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from metastored.errors import NoSuchLockException, TxnOpenException
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.hive.transactions.locks import Lock, LockState, LockType, first_blocked, rank
from metastored.model.names import TableName
from metastored.service.core.context import Context
from metastored.service.core.internal import internal_error
from metastored.service.core.serving import method
from metastored.service.transactions.state import (
    TIMEOUT,
    abort_stale,
    keep_alive,
    millis,
    record_end,
    require_open,
)
from metastored.service.transactions.transactions import OPERATIONS
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import components, locks, write_ids
from metastored.store.transactions.components import Component
from metastored.store.transactions.locks import Held, LockRow
from metastored.store.transactions.transactions import Unfinished
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockMaterializationRebuildRequest,
    LockRequest,
    LockResponse,
    ShowLocksRequest,
    ShowLocksResponse,
    ShowLocksResponseElement,
    UnlockRequest,
)

NEWEST: Final = 2**63 - 1
"""The id of a request that is younger than all others."""
_CHANGES = (DataOperationType.UPDATE, DataOperationType.DELETE)


# --- acquiring --------------------------------------------------------------------------------------------------------


@method
def lock(ctx: Context, rqst: LockRequest) -> LockResponse:
    if not rqst.component:
        raise internal_error("lock")
    txn_id = rqst.txnid or 0
    components = rqst.component
    targets = [_target(ctx, number, component) for number, component in enumerate(components, 1)]

    def ask(tx: Transaction) -> LockResponse:
        now = millis(ctx.service)
        if txn_id:
            require_open(tx, txn_id)
            _note_written(tx, txn_id, _written(targets, components))
        ext_id = locks.take_id(tx)
        requested = [target._replace(ext_id=ext_id, txn_id=txn_id) for target in targets]
        blocked, ended = _judge(ctx, tx, requested)
        if blocked is None:
            state, error = LockState.ACQUIRED, None
        else:
            state, error = _refusal(rqst, *blocked) if txn_id else (LockState.WAITING, None)
        if state is not LockState.NOT_ACQUIRED:
            placed = [component._replace(state=state) for component in requested]
            waits = None if blocked is None else (placed[blocked[0].int_id - 1], blocked[1])
            locks.insert(
                tx,
                placed,
                # A transaction's own heartbeat counts for its locks.
                heartbeat=0 if txn_id else now,
                acquired=now if blocked is None else None,
                user=rqst.user or "",
                host=rqst.hostname or "",
                agent=rqst.agentInfo,
                blocked=waits,
                opener=ctx.user or "",
            )
        record_end(ctx, tx, "ABORT_TXN", ended)
        return LockResponse(lockid=ext_id, state=state, errorMessage=error)

    return ctx.database.run(ask)


def _target(ctx: Context, number: int, component: LockComponent) -> Lock:
    """The lock that a component requests, before its request has an id."""
    if component.type not in list(LockType):
        raise internal_error("lock")
    catalog = component.catName if component.catName not in (None, DEFAULT_CATALOG) else None
    where = ctx.name(component.dbname, catalog)
    table = None if component.tablename is None else normalize(component.tablename)
    part = _partition(component.partitionname)
    return Lock(0, number, 0, *where, table, part, LockState.WAITING, LockType(component.type))


def _partition(name: str | None) -> str | None:
    """Keys of a partition's name are case-insensitive; its values are not."""
    if name is None:
        return None
    pairs = (level.partition("=") for level in name.split("/"))
    return "/".join(f"{key.lower()}{equals}{value}" for key, equals, value in pairs)


def _judge(
    ctx: Context, tx: Transaction, requested: Sequence[Lock]
) -> tuple[tuple[Lock, Lock] | None, list[Unfinished]]:
    """The lock that has to wait and the lock it waits for, if any; and the transactions that timed out."""
    near = locks.near(tx, requested)
    ended: list[Unfinished] = []
    blocked = first_blocked(requested, (held.lock for held in near), ctx.generation)
    if blocked is not None:
        gone, ended = _expired(ctx, tx, blocked[1], near)
        if gone:
            remaining = [held.lock for held in near if held.lock.ext_id not in gone]
            blocked = first_blocked(requested, remaining, ctx.generation)
    return (None if blocked is None else (blocked[0], blocked[1][0])), ended


def in_the_way(ctx: Context, tx: Transaction, table: TableName) -> Lock | None:
    """The lock for which an exclusive lock on a table would wait; None if it would be granted.

    Requests of other clients are granted only after the transaction ends.
    """
    locks.take_turn(tx)
    wanted = Lock(NEWEST, 1, 0, *table, None, LockState.WAITING, LockType.EXCLUSIVE)
    blocked, ended = _judge(ctx, tx, [wanted])
    record_end(ctx, tx, "ABORT_TXN", ended)
    return None if blocked is None else blocked[1]


def _expired(
    ctx: Context, tx: Transaction, blockers: list[Lock], near: list[Held]
) -> tuple[set[int], list[Unfinished]]:
    """Releases the locks of clients without a heartbeat for too long; returns the requests that were removed."""
    before = millis(ctx.service) - TIMEOUT
    ended: list[Unfinished] = []
    txns = {blocker.txn_id for blocker in blockers if blocker.txn_id}
    if txns:
        ended = abort_stale(ctx, tx, sorted(txns))
    ids = {txn.id for txn in ended}
    silent = {held.lock.ext_id for held in near if not held.lock.txn_id and held.heartbeat < before}
    if silent:
        silent = locks.delete_silent(tx, silent, before)
    return silent | {held.lock.ext_id for held in near if held.lock.txn_id in ids}, ended


def _refusal(rqst: LockRequest, requested: Lock, by: Lock) -> tuple[LockState, str | None]:
    """Whether the client waits, or prefers an error at once."""
    if rqst.exclusiveCTAS:
        text = f"Failed to initiate a concurrent CTAS operation with the same table name, lockInfo : {by}"
        return LockState.NOT_ACQUIRED, text
    if rqst.zeroWaitReadEnabled and requested.type is LockType.SHARED_READ:
        return LockState.NOT_ACQUIRED, f"Unable to acquire read lock due to an existing exclusive lock {{{by}}}"
    return LockState.WAITING, None


def _written(targets: list[Lock], requested: Sequence[LockComponent]) -> list[tuple[Lock, str]]:
    """The objects that a transaction writes to by these components, with Hive's letter for the operation.

    Partitions that are known only later are represented by their table: once, and as an update if any of them is
    updated.
    """
    dynamic_changes = {
        (target.catalog, target.database, target.table)
        for target, component in zip(targets, requested, strict=True)
        if component.isDynamicPartitionWrite and component.operationType in _CHANGES
    }
    noted: list[tuple[Lock, str]] = []
    tables = set()
    for target, component in zip(targets, requested, strict=True):
        if component.isTransactional is False:
            continue
        kind = component.operationType
        if kind in (DataOperationType.SELECT, DataOperationType.NO_TXN):
            continue
        if kind not in OPERATIONS:
            raise internal_error("lock")
        key = (target.catalog, target.database, target.table)
        if component.isDynamicPartitionWrite:
            if key not in tables:
                op = components.UPDATE if key in dynamic_changes else components.INSERT
                noted.append((target._replace(partition=None), op))
        else:
            noted.append((target, OPERATIONS[kind]))
        tables.add(key)
    return noted


def _note_written(tx: Transaction, txn_id: int, written: list[tuple[Lock, str]]) -> None:
    if not written:
        return
    ids = {(item.cat, item.db, item.tbl): item.write_id for item in write_ids.of_txn(tx, txn_id)}
    rows = [
        Component(
            txn_id,
            target.catalog,
            target.database,
            target.table,
            target.partition,
            op,
            ids.get((target.catalog, target.database, target.table or "")),
        )
        for target, op in written
    ]
    components.add(tx, rows)


# --- waiting ----------------------------------------------------------------------------------------------------


@method
def check_lock(ctx: Context, rqst: CheckLockRequest) -> LockResponse:
    """Whether a request holds its locks now. The call counts as a heartbeat."""
    ext_id = rqst.lockid or 0

    def check(tx: Transaction) -> LockResponse:
        now = millis(ctx.service)
        requested = locks.of_request(tx, ext_id)
        if not requested:
            raise NoSuchLockException(f"No such lock lockid:{ext_id}")
        txn_id = requested[0].txn_id
        if txn_id:
            keep_alive(tx, txn_id, now)
        else:
            keep_locks(tx, ext_id, now)
        if all(component.state is LockState.ACQUIRED for component in requested):
            return LockResponse(lockid=ext_id, state=LockState.ACQUIRED)
        locks.take_turn(tx)
        blocked, ended = _judge(ctx, tx, requested)
        if blocked is None:
            locks.acquire(tx, ext_id, heartbeat=0 if txn_id else now, now=now)
        else:
            locks.block(tx, *blocked)
        record_end(ctx, tx, "ABORT_TXN", ended)
        state = LockState.ACQUIRED if blocked is None else LockState.WAITING
        return LockResponse(lockid=ext_id, state=state)

    return ctx.database.run(check)


def keep_locks(tx: Transaction, ext_id: int, now: int) -> None:
    """Records a heartbeat of a lock request."""
    if not locks.heartbeat(tx, ext_id, now):
        raise NoSuchLockException(f"No such lock: lockid:{ext_id}")


@method
def heartbeat(ctx: Context, ids: HeartbeatRequest) -> None:
    """A heartbeat of a transaction, a lock request, or both."""
    now = millis(ctx.service)

    def beat(tx: Transaction) -> None:
        if ids.txnid:
            keep_alive(tx, ids.txnid, now)
        if ids.lockid:
            keep_locks(tx, ids.lockid, now)

    ctx.database.run(beat)


@method
def unlock(ctx: Context, rqst: UnlockRequest) -> None:
    """Releases locks, or stops waiting. A transaction keeps its locks until it ends."""
    ext_id = rqst.lockid or 0

    def give_back(tx: Transaction) -> None:
        if locks.unlock(tx, ext_id):
            return
        components = locks.of_request(tx, ext_id)
        if components:
            raise TxnOpenException(f"Unlocking locks associated with transaction not permitted.  {components[0]}")

    ctx.database.run(give_back)


# --- showing ------------------------------------------------------------------------------------------------------


@method
def show_locks(ctx: Context, rqst: ShowLocksRequest) -> ShowLocksResponse:
    """All locks, held ones first; or those of a database, table, partition or transaction."""
    catalog = database = None
    if rqst.dbname:
        catalog_name = rqst.catname if rqst.catname not in (None, DEFAULT_CATALOG) else None
        catalog, database = ctx.name(rqst.dbname, catalog_name)
    table = normalize(rqst.tablename) if rqst.tablename else None
    part = _partition(rqst.partname or None)
    lock_rows = [
        row
        for row in locks.shown(ctx.reader(), catalog, database)
        if (table is None or row.lock.table == table)
        and (part is None or row.lock.partition == part)
        and (not rqst.txnid or row.lock.txn_id == rqst.txnid)
    ]
    return ShowLocksResponse(locks=tuple(_shown(row) for row in sorted(lock_rows, key=lambda row: rank(row.lock))))


def _shown(row: LockRow) -> ShowLocksResponseElement:
    lock = row.lock
    return ShowLocksResponseElement(
        lockid=lock.ext_id,
        dbname=lock.database,
        tablename=lock.table,
        partname=lock.partition,
        state=lock.state,
        type=lock.type,
        txnid=lock.txn_id,
        lastheartbeat=row.heartbeat,
        acquiredat=row.acquired,
        user=row.user_name,
        hostname=row.host,
        agentInfo=row.agent,
        blockedByExtId=row.blocked_ext,
        blockedByIntId=row.blocked_int,
        lockIdInternal=lock.int_id,
        catname=lock.catalog,
    )


# --- rebuilding a materialized view -----------------------------------------------------------------------------


@method
def get_lock_materialization_rebuild(
    ctx: Context, dbName: str | None, tableName: str | None, txnId: int | None
) -> LockResponse:
    return _rebuild(ctx, _view(ctx, dbName, tableName), txnId or 0)


@method
def get_lock_materialization_rebuild_req(ctx: Context, req: LockMaterializationRebuildRequest) -> LockResponse:
    return _rebuild(ctx, _view(ctx, req.dbName, req.tableName, req.catName), req.txnId or 0)


@method
def heartbeat_lock_materialization_rebuild(
    ctx: Context, dbName: str | None, tableName: str | None, txnId: int | None
) -> bool:
    return _keep_rebuilding(ctx, _view(ctx, dbName, tableName), txnId or 0)


@method
def heartbeat_lock_materialization_rebuild_req(ctx: Context, req: LockMaterializationRebuildRequest) -> bool:
    return _keep_rebuilding(ctx, _view(ctx, req.dbName, req.tableName, req.catName), req.txnId or 0)


def _view(ctx: Context, database: str | None, table: str | None, catalog: str | None = None) -> TableName:
    return ctx.name(database, catalog).table(normalize(table or ""))


def _rebuild(ctx: Context, view: TableName, txn_id: int) -> LockResponse:
    now = millis(ctx.service)
    got = ctx.database.run(lambda tx: locks.rebuild(tx, view, txn_id, now))
    return LockResponse(lockid=txn_id, state=LockState.ACQUIRED if got else LockState.NOT_ACQUIRED)


def _keep_rebuilding(ctx: Context, view: TableName, txn_id: int) -> bool:
    now = millis(ctx.service)
    return ctx.database.run(lambda tx: locks.rebuild_heartbeat(tx, view, txn_id, now))
