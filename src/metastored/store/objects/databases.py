"""The rows of databases. Names are compared exactly: nothing here changes their case."""

from collections.abc import Iterable
from typing import NamedTuple

from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import Transaction


class DatabaseRow(NamedTuple):
    id: int
    cat_id: int
    name: str
    fmt: int
    body: bytes


_COLUMNS = "id, cat_id, name, fmt, body"
_IN_CATALOG = "cat_id IN (SELECT id FROM catalogs WHERE name = :cat)"

_FIND = Statement(f"SELECT {_COLUMNS} FROM databases WHERE {_IN_CATALOG} AND name = :name")
_NAMED = Statement(f"SELECT {_COLUMNS} FROM databases WHERE {_IN_CATALOG} AND name IN :names ORDER BY name")
_NAMED_SHARED = Statement(
    f"SELECT {_COLUMNS} FROM databases WHERE {_IN_CATALOG} AND name IN :names ORDER BY name FOR SHARE"
)
_ROWS = Statement(f"SELECT {_COLUMNS} FROM databases WHERE {_IN_CATALOG} ORDER BY name")


def _mentions(dialect: str) -> str:
    position = "instr(body, :text)" if dialect == SQLITE else "position(:text in body)"
    return f"SELECT {_COLUMNS} FROM databases WHERE {position} > 0 ORDER BY id"


_MENTIONING = Statement(_mentions)
_NAMES = Statement(f"SELECT name FROM databases WHERE {_IN_CATALOG} ORDER BY name")
_INSERT = Statement("INSERT INTO databases (cat_id, name, fmt, body) VALUES (:cat_id, :name, :fmt, :body) RETURNING id")
_UPDATE = Statement("UPDATE databases SET fmt = :fmt, body = :body WHERE id = :id")
_DELETE = Statement("DELETE FROM databases WHERE id = :id")
_SHARE = Statement("SELECT id FROM databases WHERE id = :id FOR SHARE")
_LOCK = Statement("SELECT id FROM databases WHERE id = :id FOR UPDATE")
_HAS_TABLES = Statement("SELECT EXISTS (SELECT * FROM tables WHERE db_id = :id)")
_HAS_FUNCTIONS = Statement("SELECT EXISTS (SELECT * FROM functions WHERE db_id = :id)")


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


def insert(tx: Transaction, cat_id: int, name: str, body: bytes, *, fmt: int = BODY_FORMAT) -> int:
    """Adds a database; returns its id."""
    return tx.insert(_INSERT, cat_id=cat_id, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
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
