"""The rows of functions. Names are compared exactly: nothing here changes their case."""

from typing import NamedTuple

from metastored.store.engine.statements import Statement
from metastored.store.engine.stored import BODY_FORMAT
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


_FROM = "FROM functions f JOIN databases d ON f.db_id = d.id JOIN catalogs c ON d.cat_id = c.id"
_IN_DATABASE = "c.name = :cat AND d.name = :db"

_FIND = Statement(f"SELECT f.id, f.db_id, f.name, f.fmt, f.body {_FROM} WHERE {_IN_DATABASE} AND f.name = :name")
_NAMES = Statement(f"SELECT f.name {_FROM} WHERE {_IN_DATABASE} ORDER BY f.name")
_ROWS = Statement(f"SELECT d.name, f.name, f.fmt, f.body {_FROM} WHERE c.name = :cat ORDER BY d.name, f.name")
_INSERT = Statement("INSERT INTO functions (db_id, name, fmt, body) VALUES (:db_id, :name, :fmt, :body) RETURNING id")
_UPDATE = Statement("UPDATE functions SET db_id = :db_id, name = :name, fmt = :fmt, body = :body WHERE id = :id")
_DELETE = Statement("DELETE FROM functions WHERE id = :id")


def find(tx: Transaction, cat: str, db: str, name: str) -> FunctionRow | None:
    row = tx.one(_FIND, cat=cat, db=db, name=name)
    return None if row is None else FunctionRow._make(row)


def names(tx: Transaction, cat: str, db: str) -> list[str]:
    """The names of a database's functions, sorted."""
    return [name for (name,) in tx.all(_NAMES, cat=cat, db=db)]


def rows(tx: Transaction, cat: str) -> list[FunctionOfDatabase]:
    """All functions of a catalog, sorted by database and name."""
    return list(map(FunctionOfDatabase._make, tx.all(_ROWS, cat=cat)))


def insert(tx: Transaction, db_id: int, name: str, body: bytes, *, fmt: int = BODY_FORMAT) -> int:
    """Adds a function; returns its id."""
    return tx.insert(_INSERT, db_id=db_id, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, db_id: int, name: str, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
    """Replaces a complete function, its name and database included."""
    tx.run(_UPDATE, id=id, db_id=db_id, name=name, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    tx.run(_DELETE, id=id)
