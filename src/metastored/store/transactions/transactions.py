"""The rows of transactions: open, aborted, and their heartbeats. Outcomes are decided elsewhere.

Ids are taken from a counter whose row stays locked until the commit. So no id becomes visible before a lower one, and a
high-water mark that a reader sees never passes a transaction that it cannot see yet. A change of a transaction locks
its row first; a committed one keeps its row for a while, so that a second commit is recognised.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list, limited
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


_t, _counter, _r = schema.txns.c, schema.counters.c, schema.replicated_txns.c
_THIS = _t.id == sa.bindparam("id")
_THESE = in_list(_t.id, "ids")
_OPEN = _t.state == sa.literal_column(str(TxnState.OPEN.value))
# In exactly the words of the partial index.
_UNFINISHED = _t.state != sa.literal_column(str(TxnState.COMMITTED.value))
_COUNTER = _counter.name == sa.literal_column(f"'{schema.TXN_COUNTER}'")

_TAKE = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.bindparam("count"))
    .where(_COUNTER)
    .returning(_counter.value)
)
_SEED = Statement(sa.update(schema.counters).values(bound("value")).where(_COUNTER))
_HIGH_WATER = Statement(sa.select(_counter.value).where(_COUNTER))
_HIGH_WATER_LOCKED = Statement(sa.select(_counter.value).where(_COUNTER).with_for_update())
_LOWEST_OPEN = sa.select(sa.func.min(_t.id)).where(_UNFINISHED, _OPEN)
_MIN_OPEN = Statement(_LOWEST_OPEN)
_INSERTED = ("id", "state", "type", "user_name", "host", "started", "heartbeat", "min_open", "opened_by")
_INSERT = Statement(
    sa.insert(schema.txns).values(bound(*_INSERTED)),
    positions=_INSERTED,
)
_UNFINISHED_IDS = Statement(sa.select(_t.id, _t.state, _t.type).where(_UNFINISHED).order_by(_t.id))
_FIRST_UNFINISHED = Statement(limited(sa.select(_t.id, _t.state, _t.type).where(_UNFINISHED).order_by(_t.id)))
_UNFINISHED_ROWS = Statement(
    sa.select(_t.id, _t.state, _t.type, _t.user_name, _t.host, _t.started, _t.heartbeat)
    .where(_UNFINISHED)
    .order_by(_t.id)
)
_FIND = Statement(sa.select(_t.id, _t.state, _t.type).where(_THIS))
_LOCK = Statement(sa.select(_t.id, _t.state, _t.type).where(_THIS).with_for_update())
_LOCK_MANY = Statement(sa.select(_t.id, _t.state, _t.type).where(_THESE).order_by(_t.id).with_for_update())
_FINISH = Statement(sa.update(schema.txns).values(bound("state", "ended", "reason")).where(_THESE, _OPEN))
_HEARTBEAT = Statement(sa.update(schema.txns).values(bound("heartbeat")).where(_THIS, _OPEN))
_HEARTBEAT_RANGE = Statement(
    sa.update(schema.txns)
    .values(bound("heartbeat"))
    .where(_t.id >= sa.bindparam("low"), _t.id <= sa.bindparam("high"), _UNFINISHED, _OPEN)
)
_IN_RANGE = Statement(
    sa.select(_t.id, _t.state, _t.type).where(_t.id >= sa.bindparam("low"), _t.id <= sa.bindparam("high"))
)
_IS_STALE = sa.and_(
    _UNFINISHED,
    _OPEN,
    _t.heartbeat
    < sa.case((_t.type == sa.bindparam("lasting_type"), sa.bindparam("lasting")), else_=sa.bindparam("before")),
)
# A row that is locked now is just getting a heartbeat.
_STALE = Statement(
    sa.select(_t.id, _t.state, _t.type).where(_IS_STALE).order_by(_t.id).with_for_update(skip_locked=True)
)
_STALE_OF = Statement(
    sa.select(_t.id, _t.state, _t.type).where(_THESE, _IS_STALE).order_by(_t.id).with_for_update(skip_locked=True)
)
_OPENER = sa.func.coalesce(_t.opened_by, _t.user_name)
_OPENERS = Statement(sa.select(_t.id, _OPENER).where(_THESE))
_OPENERS_BETWEEN = Statement(
    sa.select(_OPENER).where(_t.id >= sa.bindparam("low"), _t.id <= sa.bindparam("high"), _UNFINISHED, _OPEN).distinct()
)
_MIN_SEEN = Statement(sa.select(sa.func.min(_t.min_open)).where(_UNFINISHED, _OPEN))
_MIN_UNFINISHED = Statement(sa.select(sa.func.min(_t.id)).where(_UNFINISHED))
_PURGE = Statement(
    sa.delete(schema.txns).where(
        _t.ended < sa.bindparam("before"),
        ~sa.exists().where(schema.txn_components.c.txn_id == _t.id),
    )
)

_REPLICATED = Statement(
    sa.select(_r.source, _r.target)
    .where(_r.policy == sa.bindparam("policy"), in_list(_r.source, "sources"))
    .order_by(_r.source)
)
_REPLICATED_OF = Statement(sa.select(_r.source, _r.target).where(_r.policy == sa.bindparam("policy")))
_REPLICATE = Statement(sa.insert(schema.replicated_txns).values(bound("policy", "source", "target")))
_FORGET_REPLICATED = Statement(sa.delete(schema.replicated_txns).where(in_list(_r.target, "ids")))
_POLICIES = Statement(sa.select(_r.policy).where(in_list(_r.target, "ids")).distinct())


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
