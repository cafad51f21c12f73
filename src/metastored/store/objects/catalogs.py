"""The rows of catalogs. Names are compared exactly: nothing here changes their case."""

from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction


class CatalogRow(NamedTuple):
    id: int
    name: str
    fmt: int
    body: bytes


_c = schema.catalogs.c
_COLUMNS = sa.select(_c.id, _c.name, _c.fmt, _c.body)
_THIS = _c.id == sa.bindparam("id")

_FIND = Statement(_COLUMNS.where(_c.name == sa.bindparam("name")))
_ROWS = Statement(_COLUMNS.order_by(_c.name))
_NAMES = Statement(sa.select(_c.name).order_by(_c.name))
_INSERT = Statement(sa.insert(schema.catalogs).values(bound("name", "fmt", "body")).returning(_c.id))
_UPDATE = Statement(sa.update(schema.catalogs).values(bound("fmt", "body")).where(_THIS))
_DELETE = Statement(sa.delete(schema.catalogs).where(_THIS))


def find(tx: Transaction, name: str) -> CatalogRow | None:
    row = tx.one(_FIND, name=name)
    return None if row is None else CatalogRow._make(row)


def names(tx: Transaction) -> list[str]:
    """The names of all catalogs, sorted."""
    return [name for (name,) in tx.all(_NAMES)]


def rows(tx: Transaction) -> list[CatalogRow]:
    """All catalogs, sorted by name."""
    return list(map(CatalogRow._make, tx.all(_ROWS)))


def insert(tx: Transaction, name: str, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> int:
    """Adds a catalog; returns its id."""
    return tx.insert(_INSERT, name=name, fmt=fmt, body=body)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = schema.BODY_FORMAT) -> None:
    tx.run(_UPDATE, id=id, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    """Deletes a catalog, which must have no databases any more."""
    tx.run(_DELETE, id=id)
