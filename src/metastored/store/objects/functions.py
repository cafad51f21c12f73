"""The rows of functions. Names are compared exactly: nothing here changes their case."""

from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction


class FunctionRow(NamedTuple):
    id: int
    db_id: int
    name: str
    fmt: int
    body: bytes


class FunctionOfDatabase(NamedTuple):
    """A function and the name of its database."""

    db: str
    name: str
    fmt: int
    body: bytes


_f, _d, _c = schema.functions.c, schema.databases.c, schema.catalogs.c
_SOURCE = schema.functions.join(schema.databases, _f.db_id == _d.id).join(schema.catalogs, _d.cat_id == _c.id)
_IN_CATALOG = _c.name == sa.bindparam("cat")
_IN_DATABASE = sa.and_(_IN_CATALOG, _d.name == sa.bindparam("db"))
_THIS = _f.id == sa.bindparam("id")

_FIND = Statement(
    sa.select(_f.id, _f.db_id, _f.name, _f.fmt, _f.body)
    .select_from(_SOURCE)
    .where(_IN_DATABASE, _f.name == sa.bindparam("name"))
)
_NAMES = Statement(sa.select(_f.name).select_from(_SOURCE).where(_IN_DATABASE).order_by(_f.name))
_ROWS = Statement(
    sa.select(_d.name, _f.name, _f.fmt, _f.body).select_from(_SOURCE).where(_IN_CATALOG).order_by(_d.name, _f.name)
)
_INSERT = Statement(sa.insert(schema.functions).values(bound("db_id", "name", "fmt", "body")).returning(_f.id))
_UPDATE = Statement(sa.update(schema.functions).values(bound("db_id", "name", "fmt", "body")).where(_THIS))
_DELETE = Statement(sa.delete(schema.functions).where(_THIS))


def find(tx: Transaction, cat: str, db: str, name: str) -> FunctionRow | None:
    row = tx.one(_FIND, cat=cat, db=db, name=name)
    return None if row is None else FunctionRow._make(row)


def names(tx: Transaction, cat: str, db: str) -> list[str]:
    """The names of a database's functions, sorted."""
    return [name for (name,) in tx.all(_NAMES, cat=cat, db=db)]


def rows(tx: Transaction, cat: str) -> list[FunctionOfDatabase]:
    """All functions of a catalog, sorted by database and name."""
    return list(map(FunctionOfDatabase._make, tx.all(_ROWS, cat=cat)))


def insert(tx: Transaction, db_id: int, name: str, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> int:
    """Adds a function; returns its id."""
    return tx.insert(_INSERT, db_id=db_id, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, db_id: int, name: str, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> None:
    """Replaces a complete function, its name and database included."""
    tx.run(_UPDATE, id=id, db_id=db_id, name=name, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    tx.run(_DELETE, id=id)
