"""The log of changes: what was changed, in the order of the commits. Rows are never altered.

Ids have no gaps and rise in the order in which transactions commit, so that a reader who has seen event 7
will never find a 6 later. For that an id is taken from a counter whose row stays locked until the commit:
append events last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list, limit_of, limited
from metastored.store.engine.transaction import Transaction

EXPIRY_BATCH: Final = 1000
"""How many old events are removed in one transaction, so that writers need not wait for long."""


class EventRow(NamedTuple):
    id: int
    time: int
    type: str
    cat: str | None
    db: str | None
    tbl: str | None
    fmt: int
    body: bytes


@dataclass(frozen=True)
class EventFilter:
    """Which events are wanted; what is None or empty does not matter.

    With `and_nameless`, events of no catalog or database (those of transactions) are wanted too.
    """

    cat: str | None = None
    db: str | None = None
    tables: Sequence[str] = ()
    types: Sequence[str] | None = None
    not_types: Sequence[str] = ()
    until: int | None = None
    and_nameless: bool = False


ALL: Final = EventFilter()

_e, _counter = schema.events.c, schema.counters.c
_COUNTER = _counter.name == sa.literal_column(f"'{schema.EVENT_COUNTER}'")
_AFTER = _e.id > sa.bindparam("last")

_NEXT = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.bindparam("number"))
    .where(_COUNTER)
    .returning(_counter.value)
)
_CURRENT = Statement(sa.select(_counter.value).where(_COUNTER))
_NEW = ("id", "time", "type", "cat", "db", "tbl", "fmt", "body")
_INSERT = Statement(sa.insert(schema.events).values(bound(*_NEW)).inline(), positions=_NEW)
_OLDEST = Statement(limited(sa.select(_e.id, _e.time).order_by(_e.id)))
_DELETE = Statement(sa.delete(schema.events).where(_e.id <= sa.bindparam("id")))


def _conditions(given: frozenset[str]) -> Iterator[sa.ColumnElement[bool]]:
    nameless = "and_nameless" in given
    for name, column in (("cat", _e.cat), ("db", _e.db)):
        if name in given:
            same = column == sa.bindparam(name)
            yield sa.or_(same, column.is_(None)) if nameless else same
    if "tables" in given:
        yield in_list(_e.tbl, "tables")
    if "types" in given:
        yield in_list(_e.type, "types")
    if "not_types" in given:
        yield sa.not_(in_list(_e.type, "not_types"))
    if "until" in given:
        yield _e.id <= sa.bindparam("until")


_COLUMNS = sa.select(_e.id, _e.time, _e.type, _e.cat, _e.db, _e.tbl, _e.fmt, _e.body)
_FIND_MANY = Statement(_COLUMNS.where(in_list(_e.id, "ids")).order_by(_e.id))


@cache
def _since(given: frozenset[str]) -> Statement:
    return Statement(limited(_COLUMNS.where(_AFTER, *_conditions(given)).order_by(_e.id)))


@cache
def _ids_since(given: frozenset[str]) -> Statement:
    return Statement(limited(sa.select(_e.id).where(_AFTER, *_conditions(given)).order_by(_e.id)))


@cache
def _count(given: frozenset[str]) -> Statement:
    return Statement(sa.select(sa.func.count(_e.id)).where(_AFTER, *_conditions(given)))


def _bound(tx: Transaction, wanted: EventFilter) -> tuple[frozenset[str], dict[str, Any]]:
    """The conditions that a filter has, and what to bind for them."""
    values: dict[str, Any] = {"cat": wanted.cat, "db": wanted.db, "until": wanted.until}
    values = {name: value for name, value in values.items() if value is not None}
    for name, names in (("tables", wanted.tables), ("not_types", wanted.not_types)):
        if names:
            values[name] = tx.list(list(names))
    if wanted.types is not None:
        values["types"] = tx.list(list(wanted.types))
    given = frozenset(values) | ({"and_nameless"} if wanted.and_nameless else set())
    return given, values


def append(
    tx: Transaction,
    time: int,
    type: str,
    cat: str | None,
    db: str | None,
    tbl: str | None,
    fmt: int,
    body: bytes,
) -> int:
    """Add an event, as the last thing that a transaction does; its id."""
    return append_many(tx, time, type, cat, db, tbl, fmt, (body,))


def append_many(
    tx: Transaction,
    time: int,
    type: str,
    cat: str | None,
    db: str | None,
    tbl: str | None,
    fmt: int,
    bodies: Sequence[bytes],
) -> int:
    """Add events that differ only in their bodies, in this order, by two statements; returns the id of the last."""
    row = tx.one(_NEXT, number=len(bodies))
    assert row is not None  # the counter is part of the schema
    last: int = row[0]
    first = last - len(bodies) + 1
    tx.many(_INSERT, [(first + at, time, type, cat, db, tbl, fmt, body) for at, body in enumerate(bodies)])
    return last


def since(tx: Transaction, last: int, limit: int = -1, wanted: EventFilter = ALL) -> list[EventRow]:
    """The events after the one with the id `last`, oldest first."""
    given, values = _bound(tx, wanted)
    return list(map(EventRow._make, tx.all(_since(given), last=last, limit=limit_of(limit), **values)))


def ids_since(tx: Transaction, last: int, limit: int = -1, wanted: EventFilter = ALL) -> list[int]:
    """The same, without what they are about."""
    given, values = _bound(tx, wanted)
    return [row[0] for row in tx.all(_ids_since(given), last=last, limit=limit_of(limit), **values)]


def find_many(tx: Transaction, ids: Sequence[int]) -> list[EventRow]:
    return list(map(EventRow._make, tx.all(_FIND_MANY, ids=tx.list(ids)))) if ids else []


def count_since(tx: Transaction, last: int, wanted: EventFilter = ALL) -> int:
    given, values = _bound(tx, wanted)
    row = tx.one(_count(given), last=last, **values)
    assert row is not None
    number: int = row[0]
    return number


def current(tx: Transaction) -> int:
    """The id of the latest event, 0 before the first."""
    row = tx.one(_CURRENT)
    assert row is not None
    id: int = row[0]
    return id


def expire(tx: Transaction, before: int) -> bool:
    """Remove some of the oldest events if they are older than a time; whether there may be more.

    It stops at the first that is younger: what is left has no gaps.
    """
    oldest = tx.all(_OLDEST, limit=EXPIRY_BATCH)
    last = 0
    for id, time in oldest:
        if time >= before:
            break
        last = id
    if last:
        tx.run(_DELETE, id=last)
    return bool(oldest) and last == oldest[-1][0] and len(oldest) == EXPIRY_BATCH
