"""The rows of transactions: open, aborted, and their heartbeats. Outcomes are decided elsewhere.

Ids are taken from a counter whose row stays locked until the commit. So no id becomes visible before a lower one, and a
high-water mark that a reader sees never passes a transaction that it cannot see yet. A change of a transaction locks
its row first; a committed one keeps its row for a while, so that a second commit is recognised.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from metastored.store.engine.statements import Statement, column_list, insert_into
from metastored.store.engine.stored import TXN_COUNTER
from metastored.store.engine.transaction import Transaction


class TxnState(IntEnum):
    """The numbers of Thrift's TxnState."""

    COMMITTED = 1
    ABORTED = 2
    OPEN = 3


class TxnRow(NamedTuple):
    """A transaction that is open or was aborted; times are milliseconds."""

    id: int
    state: int
    type: int
    user_name: str
    host: str
    started: int
    heartbeat: int


class Unfinished(NamedTuple):
    """The columns that decide about a transaction."""

    id: int
    state: int
    type: int


_UNFINISHED = f"state <> {TxnState.COMMITTED.value}"
"""In exactly the words of the partial index."""
_OPEN = f"state = {TxnState.OPEN.value}"
_COUNTER = f"name = '{TXN_COUNTER}'"

_TAKE = Statement(f"UPDATE counters SET value = value + :count WHERE {_COUNTER} RETURNING value")
_SEED = Statement(f"UPDATE counters SET value = :value WHERE {_COUNTER}")
_HIGH_WATER = Statement(f"SELECT value FROM counters WHERE {_COUNTER}")
_HIGH_WATER_LOCKED = Statement(f"SELECT value FROM counters WHERE {_COUNTER} FOR UPDATE")
_MIN_OPEN = Statement(f"SELECT min(id) FROM txns WHERE {_UNFINISHED} AND {_OPEN}")
_INSERTED = ("id", "state", "type", "user_name", "host", "started", "heartbeat", "min_open", "opened_by")
_INSERT = Statement(insert_into("txns", *_INSERTED), positions=_INSERTED)
_UNFINISHED_IDS = Statement(f"SELECT id, state, type FROM txns WHERE {_UNFINISHED} ORDER BY id")
_FIRST_UNFINISHED = Statement(f"SELECT id, state, type FROM txns WHERE {_UNFINISHED} ORDER BY id LIMIT :limit")
_UNFINISHED_ROWS = Statement(f"SELECT {column_list(*TxnRow._fields)} FROM txns WHERE {_UNFINISHED} ORDER BY id")
_FIND = Statement("SELECT id, state, type FROM txns WHERE id = :id")
_LOCK = Statement("SELECT id, state, type FROM txns WHERE id = :id FOR UPDATE")
_LOCK_MANY = Statement("SELECT id, state, type FROM txns WHERE id IN :ids ORDER BY id FOR UPDATE")
_FINISH = Statement(f"UPDATE txns SET state = :state, ended = :ended, reason = :reason WHERE id IN :ids AND {_OPEN}")
_HEARTBEAT = Statement(f"UPDATE txns SET heartbeat = :heartbeat WHERE id = :id AND {_OPEN}")
_HEARTBEAT_RANGE = Statement(
    f"UPDATE txns SET heartbeat = :heartbeat WHERE id >= :low AND id <= :high AND {_UNFINISHED} AND {_OPEN}"
)
_IN_RANGE = Statement("SELECT id, state, type FROM txns WHERE id >= :low AND id <= :high")
_IS_STALE = f"""
    {_UNFINISHED} AND {_OPEN}
    AND heartbeat < CASE WHEN type = :lasting_type THEN CAST(:lasting AS BIGINT) ELSE CAST(:before AS BIGINT) END
"""
# A row that is locked now is just getting a heartbeat.
_STALE = Statement(f"SELECT id, state, type FROM txns WHERE {_IS_STALE} ORDER BY id FOR UPDATE SKIP LOCKED")
_STALE_OF = Statement(
    f"SELECT id, state, type FROM txns WHERE id IN :ids AND {_IS_STALE} ORDER BY id FOR UPDATE SKIP LOCKED"
)
_OPENERS = Statement("SELECT id, coalesce(opened_by, user_name) FROM txns WHERE id IN :ids")
_OPENERS_BETWEEN = Statement(
    f"""
    SELECT DISTINCT coalesce(opened_by, user_name) FROM txns
    WHERE id >= :low AND id <= :high AND {_UNFINISHED} AND {_OPEN}
    """
)
_MIN_SEEN = Statement(f"SELECT min(min_open) FROM txns WHERE {_UNFINISHED} AND {_OPEN}")
_MIN_UNFINISHED = Statement(f"SELECT min(id) FROM txns WHERE {_UNFINISHED}")
_PURGE = Statement(
    """
    DELETE FROM txns
    WHERE ended < :before AND NOT EXISTS (SELECT * FROM txn_components c WHERE c.txn_id = txns.id)
    """
)

_REPLICATED = Statement(
    "SELECT source, target FROM replicated_txns WHERE policy = :policy AND source IN :sources ORDER BY source"
)
_REPLICATED_OF = Statement("SELECT source, target FROM replicated_txns WHERE policy = :policy")
_REPLICATE = Statement("INSERT INTO replicated_txns (policy, source, target) VALUES (:policy, :source, :target)")
_FORGET_REPLICATED = Statement("DELETE FROM replicated_txns WHERE target IN :ids")
_POLICIES = Statement("SELECT DISTINCT policy FROM replicated_txns WHERE target IN :ids")


def high_water_mark(tx: Transaction, *, locked: bool = False) -> int:
    """The highest id so far. `locked` keeps others from opening transactions until this one ends."""
    row = tx.one(_HIGH_WATER_LOCKED if locked else _HIGH_WATER)
    assert row is not None  # the counter is part of the schema
    value: int = row[0]
    return value


def seed(tx: Transaction, value: int) -> None:
    """Sets the highest id so far to `value`."""
    tx.run(_SEED, value=value)


def open(tx: Transaction, count: int, *, type: int, user: str, host: str, now: int, opener: str) -> list[int]:
    """Opens transactions; returns their consecutive ids. `user` is the user that the request names."""
    row = tx.one(_TAKE, count=count)
    assert row is not None
    last: int = row[0]
    ids = list(range(last - count + 1, last + 1))
    lowest = tx.one(_MIN_OPEN)
    min_open = ids[0] if lowest is None or lowest[0] is None else lowest[0]
    tx.many(_INSERT, [(id, TxnState.OPEN.value, type, user, host, now, now, min_open, opener) for id in ids])
    return ids


def openers(tx: Transaction, ids: Sequence[int]) -> dict[int, str]:
    """The callers who opened these transactions, as far as they are known."""
    return dict(tx.all(_OPENERS, ids=tx.list(ids)))


def openers_between(tx: Transaction, low: int, high: int) -> set[str]:
    """The callers who opened the open transactions from `low` to `high`."""
    return {opener for (opener,) in tx.all(_OPENERS_BETWEEN, low=low, high=high)}


def unfinished(tx: Transaction, at_most: int | None = None) -> list[tuple[int, int, int]]:
    """(id, state, type) of all open and aborted transactions, ascending; plain tuples, because there may be many."""
    return tx.all(_UNFINISHED_IDS) if at_most is None else tx.all(_FIRST_UNFINISHED, limit=at_most)


def rows(tx: Transaction) -> list[TxnRow]:
    """All open and aborted transactions with all their columns."""
    return list(map(TxnRow._make, tx.all(_UNFINISHED_ROWS)))


def find(tx: Transaction, id: int) -> Unfinished | None:
    row = tx.one(_FIND, id=id)
    return None if row is None else Unfinished._make(row)


def lock(tx: Transaction, id: int) -> Unfinished | None:
    """Returns and locks a transaction in any state."""
    row = tx.one(_LOCK, id=id)
    return None if row is None else Unfinished._make(row)


def lock_many(tx: Transaction, ids: Sequence[int]) -> dict[int, Unfinished]:
    """As `lock`, for several transactions."""
    return {row[0]: Unfinished._make(row) for row in tx.all(_LOCK_MANY, ids=tx.list(ids))}


def finish(tx: Transaction, ids: Sequence[int], state: TxnState, now: int, reason: str | None = None) -> None:
    """Commits or aborts those of them that are open."""
    tx.run(_FINISH, ids=tx.list(ids), state=state.value, ended=now, reason=reason)


def heartbeat(tx: Transaction, id: int, now: int) -> bool:
    """Records a heartbeat of an open transaction; returns False if it is not open."""
    return tx.run(_HEARTBEAT, id=id, heartbeat=now) > 0


def heartbeat_range(tx: Transaction, low: int, high: int, now: int) -> int:
    """As `heartbeat`, for every open one from `low` to `high`; returns how many there were."""
    return tx.run(_HEARTBEAT_RANGE, low=low, high=high, heartbeat=now)


def in_range(tx: Transaction, low: int, high: int) -> dict[int, int]:
    """The states of the transactions from `low` to `high` that have a row."""
    return {id: state for id, state, _ in tx.all(_IN_RANGE, low=low, high=high)}


def stale(
    tx: Transaction, before: int, lasting: int, lasting_type: int, ids: Sequence[int] | None = None
) -> list[Unfinished]:
    """Returns and locks open transactions without a heartbeat since `before` (`lasting` for one type).

    Without `ids`, all of them.
    """
    bounds = {"before": before, "lasting": lasting, "lasting_type": lasting_type}
    unfinished = tx.all(_STALE, **bounds) if ids is None else tx.all(_STALE_OF, ids=tx.list(ids), **bounds)
    return list(map(Unfinished._make, unfinished))


def min_open(tx: Transaction) -> int | None:
    """The lowest open transaction."""
    row = tx.one(_MIN_OPEN)
    return None if row is None else row[0]


def min_uncommitted(tx: Transaction) -> int:
    """The lowest id such that every transaction below it was committed and is visible to every open one."""
    candidates = [high_water_mark(tx) + 1]
    for statement in (_MIN_SEEN, _MIN_UNFINISHED):
        row = tx.one(statement)
        if row is not None and row[0] is not None:
            candidates.append(row[0])
    return min(candidates)


def purge(tx: Transaction, before: int) -> int:
    """Deletes transactions that ended before a time: the committed, and the aborted that wrote nothing."""
    return tx.run(_PURGE, before=before)


# --- transactions replicated from another metastore -------------------------------------------------------


def replicated(tx: Transaction, policy: str, sources: Sequence[int]) -> dict[int, int]:
    """The local ids of the transactions that have the ids `sources` in another metastore, if they exist."""
    return dict(tx.all(_REPLICATED, policy=policy, sources=tx.list(sources)))


def replicated_by(tx: Transaction, policy: str) -> dict[int, int]:
    """All transactions that a replication policy keeps open."""
    return dict(tx.all(_REPLICATED_OF, policy=policy))


def replicate(tx: Transaction, policy: str, pairs: Iterable[tuple[int, int]]) -> None:
    """Stores which local transactions replicate which source transactions."""
    tx.many(_REPLICATE, [{"policy": policy, "source": source, "target": target} for source, target in pairs])


def forget_replicated(tx: Transaction, targets: Sequence[int]) -> list[str]:
    """Deletes their mappings; returns the policies that they belonged to."""
    ids = tx.list(targets)
    policies = [policy for (policy,) in tx.all(_POLICIES, ids=ids)]
    if policies:
        tx.run(_FORGET_REPLICATED, ids=ids)
    return policies
