"""The log of changes in the order of the commits. Rows are never altered.

Ids have no gaps and rise in the order in which transactions commit, so that a reader that has seen event 7 never finds
a 6 later. To ensure this, an id is taken from a counter whose row stays locked until the commit: append events last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from metastored.store.engine.statements import POSTGRESQL, Statement, column_list, insert_into, limit_of
from metastored.store.engine.stored import EVENT_COUNTER
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
    """A filter of events; a field that is None or empty matches every event.

    With `and_nameless`, events without catalog and database (those of transactions) match too.
    """

    cat: str | None = None
    db: str | None = None
    tables: Sequence[str] = ()
    types: Sequence[str] | None = None
    not_types: Sequence[str] = ()
    until: int | None = None
    and_nameless: bool = False


ALL: Final = EventFilter()

_NEXT = Statement(f"UPDATE counters SET value = value + :number WHERE name = '{EVENT_COUNTER}' RETURNING value")
_CURRENT = Statement(f"SELECT value FROM counters WHERE name = '{EVENT_COUNTER}'")
_INSERT = Statement(insert_into("events", *EventRow._fields), positions=EventRow._fields)
_NEW = tuple(name for name in EventRow._fields if name != "id")


def _append(dialect: str) -> str:
    """Adds an event with the counter's value as its id; on PostgreSQL it increments the counter, too."""
    values = ", ".join(f":{name}" for name in _NEW)
    begins, last = "", f"SELECT value FROM counters WHERE name = '{EVENT_COUNTER}'"
    if dialect == POSTGRESQL:
        begins = f"WITH next AS (UPDATE counters SET value = value + 1 WHERE name = '{EVENT_COUNTER}' RETURNING value)"
        last = "SELECT value FROM next"
    return f"{begins} INSERT INTO events (id, {column_list(*_NEW)}) VALUES (({last}), {values}) RETURNING id"


_APPEND = Statement(_append)
_OLDEST = Statement("SELECT id, time FROM events ORDER BY id LIMIT :limit")
_DELETE = Statement("DELETE FROM events WHERE id <= :id")


def _conditions(field_names: frozenset[str]) -> str:
    """The conditions on the fields of a filter that are set. A column that is compared is named as its parameter."""
    conditions = ["id > :last"]
    for name in ("cat", "db"):
        if name in field_names:
            nameless = f" OR {name} IS NULL" if "and_nameless" in field_names else ""
            conditions.append(f"({name} = :{name}{nameless})")
    if "tables" in field_names:
        conditions.append("tbl IN :tables")
    if "types" in field_names:
        conditions.append("type IN :types")
    if "not_types" in field_names:
        conditions.append("type NOT IN :not_types")
    if "until" in field_names:
        conditions.append("id <= :until")
    return " AND ".join(conditions)


_COLUMNS = column_list(*EventRow._fields)
_FIND_MANY = Statement(f"SELECT {_COLUMNS} FROM events WHERE id IN :ids ORDER BY id")


@cache
def _since(field_names: frozenset[str]) -> Statement:
    return Statement(f"SELECT {_COLUMNS} FROM events WHERE {_conditions(field_names)} ORDER BY id LIMIT :limit")


@cache
def _ids_since(field_names: frozenset[str]) -> Statement:
    return Statement(f"SELECT id FROM events WHERE {_conditions(field_names)} ORDER BY id LIMIT :limit")


@cache
def _count(field_names: frozenset[str]) -> Statement:
    return Statement(f"SELECT count(id) FROM events WHERE {_conditions(field_names)}")


def _bound(tx: Transaction, event_filter: EventFilter) -> tuple[frozenset[str], dict[str, Any]]:
    """The conditions of a filter, and the values to bind."""
    values: dict[str, Any] = {"cat": event_filter.cat, "db": event_filter.db, "until": event_filter.until}
    values = {name: value for name, value in values.items() if value is not None}
    for name, names in (("tables", event_filter.tables), ("not_types", event_filter.not_types)):
        if names:
            values[name] = tx.list(list(names))
    if event_filter.types is not None:
        values["types"] = tx.list(list(event_filter.types))
    field_names = frozenset(values) | ({"and_nameless"} if event_filter.and_nameless else set())
    return field_names, values


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
    """Adds an event; returns its id. It must be the last step of a transaction."""
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
    """Adds events that differ only in their bodies, in this order, in two statements; returns the id of the last."""
    if len(bodies) == 1 and tx.dialect == POSTGRESQL:
        # One statement: a transaction on PostgreSQL spends most of its time on the way there and back.
        return tx.insert(_APPEND, time=time, type=type, cat=cat, db=db, tbl=tbl, fmt=fmt, body=bodies[0])
    row = tx.one(_NEXT, number=len(bodies))
    assert row is not None  # the counter is part of the schema
    last: int = row[0]
    first = last - len(bodies) + 1
    tx.many(_INSERT, [(first + at, time, type, cat, db, tbl, fmt, body) for at, body in enumerate(bodies)])
    return last


def since(tx: Transaction, last: int, limit: int = -1, event_filter: EventFilter = ALL) -> list[EventRow]:
    """The events after the one with the id `last`, oldest first."""
    field_names, values = _bound(tx, event_filter)
    return list(map(EventRow._make, tx.all(_since(field_names), last=last, limit=limit_of(limit), **values)))


def ids_since(tx: Transaction, last: int, limit: int = -1, event_filter: EventFilter = ALL) -> list[int]:
    """The ids of the events after the one with the id `last`, oldest first."""
    field_names, values = _bound(tx, event_filter)
    return [row[0] for row in tx.all(_ids_since(field_names), last=last, limit=limit_of(limit), **values)]


def find_many(tx: Transaction, ids: Sequence[int]) -> list[EventRow]:
    return list(map(EventRow._make, tx.all(_FIND_MANY, ids=tx.list(ids)))) if ids else []


def count_since(tx: Transaction, last: int, event_filter: EventFilter = ALL) -> int:
    field_names, values = _bound(tx, event_filter)
    row = tx.one(_count(field_names), last=last, **values)
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
    """Removes some of the oldest events if they are older than a time; returns whether there may be more.

    It stops at the first that is younger, so that the remaining ids have no gaps.
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
