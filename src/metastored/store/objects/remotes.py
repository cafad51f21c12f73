"""The rows of definitions of remotes, and the number of their present state.

A definition belongs to one catalog, database or table by its id: it follows a rename, and is deleted with the object.
`changed` must be called in every transaction that adds, changes, renames or deletes one: it is how every server sees
that it has to read the definitions again. What is in a body is not known here.
"""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction


class RemoteRow(NamedTuple):
    """A definition with the present names of its object; no database for a catalog, no table for a database."""

    id: int
    catalog: str
    database: str | None
    table: str | None
    fmt: int
    body: bytes


class Of(NamedTuple):
    """The object that is remote: one of the ids, the others None."""

    cat_id: int | None = None
    db_id: int | None = None
    table_id: int | None = None


_r, _t, _d, _c = schema.remotes.c, schema.tables.c, schema.databases.c, schema.catalogs.c
_counter = schema.counters.c
_COUNTER = _counter.name == sa.literal_column(f"'{schema.REMOTES_COUNTER}'")
_COLUMNS = sa.select(_r.id, _c.name, _d.name, _t.name, _r.fmt, _r.body).select_from(
    schema.remotes.outerjoin(schema.tables, _t.id == _r.table_id)
    .outerjoin(schema.databases, _d.id == sa.func.coalesce(_r.db_id, _t.db_id))
    .join(schema.catalogs, _c.id == sa.func.coalesce(_r.cat_id, _d.cat_id))
)
_NOTHING: sa.ColumnElement[str] = sa.literal_column("''")
# Where the two databases put what is absent differs.
_ALL = Statement(_COLUMNS.order_by(_c.name, *(sa.func.coalesce(each.name, _NOTHING) for each in (_d, _t))))
_FIND = {name: Statement(_COLUMNS.where(_r[name] == sa.bindparam(name))) for name in Of._fields}
_IN_DATABASE = Statement(sa.select(sa.exists().where(_t.id == _r.table_id, _t.db_id == sa.bindparam("db_id"))))
_INSERT = Statement(sa.insert(schema.remotes).values(bound("cat_id", "db_id", "table_id", "fmt", "body")))
_UPDATE = Statement(sa.update(schema.remotes).values(bound("fmt", "body")).where(_r.id == sa.bindparam("id")))
_VERSION = Statement(sa.select(_counter.value).where(_COUNTER))
_CHANGED = Statement(sa.update(schema.counters).values(value=_counter.value + sa.literal_column("1")).where(_COUNTER))


def version(tx: Transaction) -> int:
    """The number of the present state of all definitions. Read it before the definitions, never after."""
    row = tx.one(_VERSION)
    return 0 if row is None else int(row[0])


def changed(tx: Transaction) -> None:
    """Gives the state that this transaction makes another number. It locks the number until the transaction ends.

    Call it after the objects are locked, and before an event is recorded.
    """
    tx.run(_CHANGED)


def all(tx: Transaction) -> list[RemoteRow]:
    """Every definition, sorted by name."""
    return list(map(RemoteRow._make, tx.all(_ALL)))


def find(tx: Transaction, of: Of) -> RemoteRow | None:
    """The definition of an object; None for one that is not remote."""
    name, id = next((name, id) for name, id in of._asdict().items() if id is not None)
    row = tx.one(_FIND[name], **{name: id})
    return None if row is None else RemoteRow._make(row)


def has_tables(tx: Transaction, db_id: int) -> bool:
    """Whether a database has remote tables."""
    row = tx.one(_IN_DATABASE, db_id=db_id)
    return row is not None and bool(row[0])


def insert(tx: Transaction, of: Of, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> None:
    tx.run(_INSERT, **of._asdict(), fmt=fmt, body=body)
    changed(tx)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> None:
    tx.run(_UPDATE, id=id, fmt=fmt, body=body)
    changed(tx)
