"""The rows of locks, one for each component of a request.

`hive/transactions/locks.py` decides which conflict. A request for locks first takes an id, or locks the row of the id's
counter: so requests are checked one after another, and each sees all older ones. Releasing locks needs no order.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from metastored.hive.transactions.locks import Lock, LockState, LockType
from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.transactions.names import named


class LockRow(NamedTuple):
    """A lock with the data of its client; times are milliseconds, 0 where the transaction's heartbeat counts."""

    lock: Lock
    heartbeat: int
    acquired: int | None
    user_name: str
    host: str
    agent: str | None
    blocked_ext: int | None
    blocked_int: int | None


class Held(NamedTuple):
    """A lock and its last heartbeat."""

    lock: Lock
    heartbeat: int


_l, _counter, _r = schema.locks.c, schema.counters.c, schema.rebuild_locks.c
_COUNTER = _counter.name == sa.literal_column(f"'{schema.LOCK_COUNTER}'")
_THIS = _l.ext_id == sa.bindparam("ext_id")
_LOCK = (_l.ext_id, _l.int_id, _l.txn_id, _l.cat, _l.db, _l.tbl, _l.part, _l.state, _l.type)
_WAITING = _l.state == sa.literal_column(str(LockState.WAITING.value))
_NO_TXN = _l.txn_id == sa.literal_column("0")
_COLUMNS = (
    *("ext_id", "int_id", "txn_id", "cat", "db", "tbl", "part", "state", "type"),
    *("heartbeat", "acquired", "user_name", "host", "agent", "blocked_ext", "blocked_int", "opened_by"),
)

_TAKE = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.literal_column("1"))
    .where(_COUNTER)
    .returning(_counter.value)
)
_WAIT = Statement(sa.select(_counter.value).where(_COUNTER).with_for_update())
_INSERT = Statement(sa.insert(schema.locks).values(bound(*_COLUMNS)), positions=_COLUMNS)
_OPENER = Statement(sa.select(sa.func.coalesce(_l.opened_by, _l.user_name)).where(_THIS).distinct())
_OF_REQUEST = Statement(sa.select(*_LOCK).where(_THIS).order_by(_l.int_id))
_IN_DATABASE = sa.and_(_l.cat == sa.bindparam("cat"), _l.db == sa.bindparam("db"))
_HELD_IN_TABLE = Statement(
    sa.select(*_LOCK, _l.heartbeat).where(_IN_DATABASE, sa.or_(_l.tbl == sa.bindparam("tbl"), _l.tbl.is_(None)))
)
_HELD_IN_DATABASE = Statement(sa.select(*_LOCK, _l.heartbeat).where(_IN_DATABASE))
_ACQUIRE = Statement(
    sa.update(schema.locks)
    .values(
        **bound("heartbeat", "acquired"),
        state=sa.literal_column(str(LockState.ACQUIRED.value)),
        blocked_ext=sa.null(),
        blocked_int=sa.null(),
    )
    .where(_THIS)
)
_BLOCK = Statement(
    sa.update(schema.locks)
    .values(bound("blocked_ext", "blocked_int"))
    .where(_THIS, _l.int_id == sa.bindparam("int_id_"))
)
_HEARTBEAT = Statement(sa.update(schema.locks).values(bound("heartbeat")).where(_THIS))
_UNLOCK = Statement(sa.delete(schema.locks).where(_THIS, sa.or_(_NO_TXN, _WAITING)))
_SILENT = Statement(
    sa.delete(schema.locks)
    .where(in_list(_l.ext_id, "ext_ids"), _NO_TXN, _l.heartbeat < sa.bindparam("before"))
    .returning(_l.ext_id)
)
_DELETE_OF_TXNS = Statement(sa.delete(schema.locks).where(in_list(_l.txn_id, "txns")))
_STALE = Statement(sa.delete(schema.locks).where(_NO_TXN, _l.heartbeat < sa.bindparam("before")))
_SHOWN = sa.select(*_LOCK, _l.heartbeat, _l.acquired, _l.user_name, _l.host, _l.agent, _l.blocked_ext, _l.blocked_int)
_ALL = Statement(_SHOWN)
_IN = Statement(_SHOWN.where(_IN_DATABASE))

_NAMED = sa.and_(_r.cat == sa.bindparam("cat"), _r.db == sa.bindparam("db"), _r.tbl == sa.bindparam("tbl"))
_REBUILDING = Statement(sa.select(_r.txn_id).where(_NAMED))
_REBUILD = Statement(sa.insert(schema.rebuild_locks).values(bound("cat", "db", "tbl", "txn_id", "heartbeat")))
_REBUILD_HEARTBEAT = Statement(
    sa.update(schema.rebuild_locks).values(bound("heartbeat")).where(_NAMED, _r.txn_id == sa.bindparam("txn"))
)
_REBUILT = Statement(sa.delete(schema.rebuild_locks).where(in_list(_r.txn_id, "txns")))
_STALE_REBUILDS = Statement(
    sa.delete(schema.rebuild_locks).where(
        _r.heartbeat < sa.bindparam("before"),
        ~sa.exists().where(schema.txns.c.id == _r.txn_id, schema.txns.c.state == sa.literal_column("3")),
    )
)


def _lock(row: Row) -> Lock:
    return Lock._make((*row[:7], LockState(row[7]), LockType(row[8])))


def take_id(tx: Transaction) -> int:
    """The id of a new request. Other requests for locks wait until the end of this transaction."""
    row = tx.one(_TAKE)
    assert row is not None  # the counter is part of the schema
    id: int = row[0]
    return id


def take_turn(tx: Transaction) -> None:
    """Keeps other requests from being checked until this transaction ends."""
    tx.one(_WAIT)


def insert(
    tx: Transaction,
    components: Sequence[Lock],
    *,
    heartbeat: int,
    acquired: int | None,
    user: str,
    host: str,
    agent: str | None,
    blocked: tuple[Lock, Lock] | None,
    opener: str,
) -> None:
    """Adds a request's locks in their states; `blocked` is one of them and the lock it waits for."""
    rows = []
    for lock in components:
        by = blocked[1] if blocked is not None and blocked[0] is lock else None
        ids = (None, None) if by is None else (by.ext_id, by.int_id)
        states = (lock.state.value, lock.type.value)
        rows.append((*lock[:7], *states, heartbeat, acquired, user, host, agent, *ids, opener))
    tx.many(_INSERT, rows)


def of_request(tx: Transaction, ext_id: int) -> list[Lock]:
    """The components of one request, in their order."""
    return list(map(_lock, tx.all(_OF_REQUEST, ext_id=ext_id)))


def opener(tx: Transaction, ext_id: int) -> str | None:
    """The caller who made a request; None if it has no locks."""
    row = tx.one(_OPENER, ext_id=ext_id)
    return None if row is None else str(row[0])


def near(tx: Transaction, components: Sequence[Lock]) -> list[Held]:
    """All locks that could conflict with these by their names."""
    held_locks: dict[tuple[int, int], Held] = {}
    objects = {(lock.catalog, lock.database, lock.table) for lock in components}
    databases = {(cat, db) for cat, db, tbl in objects if tbl is None}
    for cat, db in databases:
        _collect(held_locks, tx.all(_HELD_IN_DATABASE, cat=cat, db=db))
    for cat, db, tbl in objects:
        if (cat, db) not in databases:
            _collect(held_locks, tx.all(_HELD_IN_TABLE, cat=cat, db=db, tbl=tbl))
    return list(held_locks.values())


def _collect(held_locks: dict[tuple[int, int], Held], rows: list[Row]) -> None:
    for row in rows:
        held_locks[row[0], row[1]] = Held(_lock(row), row[9])


def acquire(tx: Transaction, ext_id: int, *, heartbeat: int, now: int) -> None:
    """Marks all locks of a request as acquired."""
    tx.run(_ACQUIRE, ext_id=ext_id, heartbeat=heartbeat, acquired=now)


def block(tx: Transaction, lock: Lock, by: Lock) -> None:
    """Records which lock a lock waits for."""
    tx.run(_BLOCK, ext_id=lock.ext_id, int_id_=lock.int_id, blocked_ext=by.ext_id, blocked_int=by.int_id)


def heartbeat(tx: Transaction, ext_id: int, now: int) -> bool:
    """Records a heartbeat of a request; returns False if it does not exist."""
    return tx.run(_HEARTBEAT, ext_id=ext_id, heartbeat=now) > 0


def unlock(tx: Transaction, ext_id: int) -> bool:
    """Releases a request's locks, unless a transaction holds them; returns whether there were any."""
    return tx.run(_UNLOCK, ext_id=ext_id) > 0


def delete_silent(tx: Transaction, ext_ids: Collection[int], before: int) -> set[int]:
    """Releases those of these requests without a transaction that had no heartbeat since a time; returns their ids."""
    return {id for (id,) in tx.all(_SILENT, ext_ids=tx.list(list(ext_ids)), before=before)}


def delete_of_txns(tx: Transaction, txns: Sequence[int]) -> None:
    """Releases all locks that these transactions hold or wait for."""
    ids = tx.list(txns)
    tx.run(_DELETE_OF_TXNS, txns=ids)
    tx.run(_REBUILT, txns=ids)


def delete_stale(tx: Transaction, before: int) -> int:
    """Releases the locks without a transaction that had no heartbeat since a time."""
    return tx.run(_STALE, before=before)


def shown(tx: Transaction, cat: str | None, db: str | None) -> list[LockRow]:
    """All locks, or those in a database."""
    rows = tx.all(_ALL) if cat is None or db is None else tx.all(_IN, cat=cat, db=db)
    return [LockRow(_lock(row), *row[9:]) for row in rows]


# --- rebuilding a materialized view: one at a time, apart from the other locks --------------------------------------


def rebuild(tx: Transaction, view: TableName, txn_id: int, now: int) -> bool:
    """Takes the lock to rebuild a view; returns False if another has it."""
    if tx.one(_REBUILDING, **named(view)) is not None:
        return False
    tx.run(_REBUILD, **named(view), txn_id=txn_id, heartbeat=now)
    return True


def rebuild_heartbeat(tx: Transaction, view: TableName, txn_id: int, now: int) -> bool:
    """Records a heartbeat of the rebuild of a view; returns False if it has lost the lock."""
    return tx.run(_REBUILD_HEARTBEAT, **named(view), txn=txn_id, heartbeat=now) > 0


def delete_stale_rebuilds(tx: Transaction, before: int) -> int:
    """Releases the rebuild locks without a heartbeat since a time whose transactions have ended."""
    return tx.run(_STALE_REBUILDS, before=before)
