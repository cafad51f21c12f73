"""The rows of locks, one for each component of a request.

`hive/transactions/locks.py` decides which conflict. A request for locks first takes an id, or locks the row of the id's
counter: so requests are checked one after another, and each sees all older ones. Releasing locks needs no order.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from metastored.hive.transactions.locks import Lock, LockState, LockType
from metastored.model.names import TableName
from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.stored import LOCK_COUNTER
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.transactions.names import NAMED, named
from metastored.store.transactions.transactions import TxnState


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


_COUNTER = f"name = '{LOCK_COUNTER}'"
_LOCK = "ext_id, int_id, txn_id, cat, db, tbl, part, state, type"
_SHOWN = f"{_LOCK}, heartbeat, acquired, user_name, host, agent, blocked_ext, blocked_int"
_COLUMNS = (
    *("ext_id", "int_id", "txn_id", "cat", "db", "tbl", "part", "state", "type"),
    *("heartbeat", "acquired", "user_name", "host", "agent", "blocked_ext", "blocked_int", "opened_by"),
)

_TAKE = Statement(f"UPDATE counters SET value = value + 1 WHERE {_COUNTER} RETURNING value")
_WAIT = Statement(f"SELECT value FROM counters WHERE {_COUNTER} FOR UPDATE")
_INSERT = Statement(insert_into("locks", *_COLUMNS), positions=_COLUMNS)
_OPENER = Statement("SELECT DISTINCT coalesce(opened_by, user_name) FROM locks WHERE ext_id = :ext_id")
_OF_REQUEST = Statement(f"SELECT {_LOCK} FROM locks WHERE ext_id = :ext_id ORDER BY int_id")
_HELD_IN_TABLE = Statement(
    f"SELECT {_LOCK}, heartbeat FROM locks WHERE cat = :cat AND db = :db AND (tbl = :tbl OR tbl IS NULL)"
)
_HELD_IN_DATABASE = Statement(f"SELECT {_LOCK}, heartbeat FROM locks WHERE cat = :cat AND db = :db")
_ACQUIRE = Statement(
    f"""
    UPDATE locks SET state = {LockState.ACQUIRED.value}, heartbeat = :heartbeat, acquired = :acquired,
        blocked_ext = NULL, blocked_int = NULL
    WHERE ext_id = :ext_id
    """
)
_BLOCK = Statement(
    """
    UPDATE locks SET blocked_ext = :blocked_ext, blocked_int = :blocked_int
    WHERE ext_id = :ext_id AND int_id = :int_id_
    """
)
_HEARTBEAT = Statement("UPDATE locks SET heartbeat = :heartbeat WHERE ext_id = :ext_id")
_UNLOCK = Statement(f"DELETE FROM locks WHERE ext_id = :ext_id AND (txn_id = 0 OR state = {LockState.WAITING.value})")
_SILENT = Statement(
    "DELETE FROM locks WHERE ext_id IN :ext_ids AND txn_id = 0 AND heartbeat < :before RETURNING ext_id"
)
_STALE = Statement("DELETE FROM locks WHERE txn_id = 0 AND heartbeat < :before")
_ALL = Statement(f"SELECT {_SHOWN} FROM locks")
_IN = Statement(f"SELECT {_SHOWN} FROM locks WHERE cat = :cat AND db = :db")

_REBUILDING = Statement(f"SELECT txn_id FROM rebuild_locks WHERE {NAMED}")
_REBUILD = Statement(insert_into("rebuild_locks", "cat", "db", "tbl", "txn_id", "heartbeat"))
_REBUILD_HEARTBEAT = Statement(f"UPDATE rebuild_locks SET heartbeat = :heartbeat WHERE {NAMED} AND txn_id = :txn")
_STALE_REBUILDS = Statement(
    f"""
    DELETE FROM rebuild_locks
    WHERE heartbeat < :before AND NOT EXISTS (
        SELECT * FROM txns WHERE txns.id = rebuild_locks.txn_id AND txns.state = {TxnState.OPEN.value}
    )
    """
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
