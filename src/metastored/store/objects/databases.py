"""The rows of databases. Names are compared exactly: nothing here changes their case."""

from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import SQLITE, Statement, bound, in_list
from metastored.store.engine.transaction import Transaction


class DatabaseRow(NamedTuple):
    id: int
    cat_id: int
    name: str
    fmt: int
    body: bytes


_d, _c = schema.databases.c, schema.catalogs.c
_IN_CATALOG = _d.cat_id.in_(sa.select(_c.id).where(_c.name == sa.bindparam("cat")))
_THIS = _d.id == sa.bindparam("id")
_COLUMNS = sa.select(_d.id, _d.cat_id, _d.name, _d.fmt, _d.body).where(_IN_CATALOG)

_FIND = Statement(_COLUMNS.where(_d.name == sa.bindparam("name")))
_FIND_MANY = _COLUMNS.where(in_list(_d.name, "names")).order_by(_d.name)
_NAMED = Statement(_FIND_MANY)
_NAMED_SHARED = Statement(_FIND_MANY.with_for_update(read=True))
_ROWS = Statement(_COLUMNS.order_by(_d.name))


def _mentions(dialect: str) -> sa.TextClause:
    position = "instr(body, :text)" if dialect == SQLITE else "position(:text in body)"
    return sa.text(f"SELECT id, cat_id, name, fmt, body FROM databases WHERE {position} > 0 ORDER BY id")


_MENTIONING = Statement(_mentions)
_NAMES = Statement(sa.select(_d.name).where(_IN_CATALOG).order_by(_d.name))
_INSERT = Statement(sa.insert(schema.databases).values(bound("cat_id", "name", "fmt", "body")).returning(_d.id))
_UPDATE = Statement(sa.update(schema.databases).values(bound("fmt", "body")).where(_THIS))
_DELETE = Statement(sa.delete(schema.databases).where(_THIS))
_SHARE = Statement(sa.select(_d.id).where(_THIS).with_for_update(read=True))
_LOCK = Statement(sa.select(_d.id).where(_THIS).with_for_update())


def _has(table: sa.Table) -> Statement:
    return Statement(sa.select(sa.exists().where(table.c.db_id == sa.bindparam("id"))))


_HAS_TABLES = _has(schema.tables)
_HAS_FUNCTIONS = _has(schema.functions)


def find(tx: Transaction, cat: str, name: str) -> DatabaseRow | None:
    row = tx.one(_FIND, cat=cat, name=name)
    return None if row is None else DatabaseRow._make(row)


def find_many(tx: Transaction, cat: str, names: Iterable[str], *, locked: bool = False) -> dict[str, DatabaseRow]:
    """The named databases that exist, by name; with `locked`, they cannot be dropped, as after `lock`."""
    result = tx.all(_NAMED_SHARED if locked else _NAMED, cat=cat, names=tx.list(list(names)))
    return {row.name: row for row in map(DatabaseRow._make, result)}


def names(tx: Transaction, cat: str) -> list[str]:
    """The names of a catalog's databases, sorted."""
    return [name for (name,) in tx.all(_NAMES, cat=cat)]


def rows(tx: Transaction, cat: str) -> list[DatabaseRow]:
    """All databases of a catalog, sorted by name."""
    return list(map(DatabaseRow._make, tx.all(_ROWS, cat=cat)))


def mentioning(tx: Transaction, text: str) -> list[DatabaseRow]:
    """The databases of all catalogs whose bodies contain a text, such as the path of a directory."""
    return list(map(DatabaseRow._make, tx.all(_MENTIONING, text=text.encode())))


def insert(tx: Transaction, cat_id: int, name: str, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> int:
    """Adds a database; returns its id."""
    return tx.insert(_INSERT, cat_id=cat_id, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> None:
    tx.run(_UPDATE, id=id, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    """Deletes a database, which must have no tables and functions any more."""
    tx.run(_DELETE, id=id)


def lock(tx: Transaction, id: int, exclusive: bool = False) -> bool:
    """Keeps a database from being dropped (or, exclusive, from being used) until the transaction ends.

    Returns False if it does not exist. Databases are locked before tables, and both in the order of their names. SQLite
    has one write transaction at a time, and there is nothing to lock.
    """
    if tx.dialect == SQLITE:
        return True
    return tx.one(_LOCK if exclusive else _SHARE, id=id) is not None


def has_tables(tx: Transaction, id: int) -> bool:
    row = tx.one(_HAS_TABLES, id=id)
    return row is not None and bool(row[0])


def has_functions(tx: Transaction, id: int) -> bool:
    row = tx.one(_HAS_FUNCTIONS, id=id)
    return row is not None and bool(row[0])


def is_empty(tx: Transaction, id: int) -> bool:
    """Whether a database has neither tables nor functions."""
    return not has_tables(tx, id) and not has_functions(tx, id)
