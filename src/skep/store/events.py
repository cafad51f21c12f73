"""The log of changes: what was changed, in the order of the commits. Rows are never altered.

Ids have no gaps and rise in the order in which transactions commit, so that a reader who has seen event 7
will never find a 6 later. For that an id is taken from a counter whose row stays locked until the commit:
append events last.
"""

from typing import NamedTuple

import sqlalchemy as sa

from skep.store import schema
from skep.store.statements import Statement, bound, limit_of, limited
from skep.store.transaction import Transaction


class EventRow(NamedTuple):
    id: int
    time: int
    type: str
    cat: str | None
    db: str | None
    tbl: str | None
    fmt: int
    body: bytes


_e, _counter = schema.events.c, schema.counters.c
_COUNTER = _counter.name == sa.literal_column(f"'{schema.EVENT_COUNTER}'")

_NEXT = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.literal_column("1"))
    .where(_COUNTER)
    .returning(_counter.value)
)
_CURRENT = Statement(sa.select(_counter.value).where(_COUNTER))
_INSERT = Statement(sa.insert(schema.events).values(bound("id", "time", "type", "cat", "db", "tbl", "fmt", "body")))
_SINCE = Statement(
    limited(
        sa.select(_e.id, _e.time, _e.type, _e.cat, _e.db, _e.tbl, _e.fmt, _e.body)
        .where(_e.id > sa.bindparam("last"))
        .order_by(_e.id)
    )
)


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
    row = tx.one(_NEXT)
    assert row is not None  # the counter is part of the schema
    id: int = row[0]
    tx.run(_INSERT, id=id, time=time, type=type, cat=cat, db=db, tbl=tbl, fmt=fmt, body=body)
    return id


def since(tx: Transaction, last: int, limit: int = -1) -> list[EventRow]:
    """The events after the one with the id `last`, oldest first."""
    return list(map(EventRow._make, tx.all(_SINCE, last=last, limit=limit_of(limit))))


def current(tx: Transaction) -> int:
    """The id of the latest event, 0 before the first."""
    row = tx.one(_CURRENT)
    assert row is not None
    id: int = row[0]
    return id
