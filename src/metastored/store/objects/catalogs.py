"""The rows of catalogs. Names are compared exactly: nothing here changes their case."""

from typing import NamedTuple

from metastored.store.engine.statements import Statement
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import Transaction


class CatalogRow(NamedTuple):
    id: int
    name: str
    fmt: int
    body: bytes


_FIND = Statement("SELECT id, name, fmt, body FROM catalogs WHERE name = :name")
_ROWS = Statement("SELECT id, name, fmt, body FROM catalogs ORDER BY name")
_NAMES = Statement("SELECT name FROM catalogs ORDER BY name")
_INSERT = Statement("INSERT INTO catalogs (name, fmt, body) VALUES (:name, :fmt, :body) RETURNING id")
_UPDATE = Statement("UPDATE catalogs SET fmt = :fmt, body = :body WHERE id = :id")
_DELETE = Statement("DELETE FROM catalogs WHERE id = :id")


def find(tx: Transaction, name: str) -> CatalogRow | None:
    row = tx.one(_FIND, name=name)
    return None if row is None else CatalogRow._make(row)


def names(tx: Transaction) -> list[str]:
    """The names of all catalogs, sorted."""
    return [name for (name,) in tx.all(_NAMES)]


def rows(tx: Transaction) -> list[CatalogRow]:
    """All catalogs, sorted by name."""
    return list(map(CatalogRow._make, tx.all(_ROWS)))


def insert(tx: Transaction, name: str, body: bytes, *, fmt: int = BODY_FORMAT) -> int:
    """Adds a catalog; returns its id."""
    return tx.insert(_INSERT, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
    tx.run(_UPDATE, id=id, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    """Deletes a catalog, which must have no databases any more."""
    tx.run(_DELETE, id=id)
