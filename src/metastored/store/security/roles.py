"""The rows of roles."""

from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction


class RoleRow(NamedTuple):
    name: str
    owner: str | None
    create_time: int


_r = schema.roles.c
_COLUMNS = sa.select(_r.name, _r.owner, _r.create_time)
_THIS = _r.name == sa.bindparam("name")

_FIND = Statement(_COLUMNS.where(_THIS))
_NAMES = Statement(sa.select(_r.name).order_by(_r.name))
_INSERT = Statement(sa.insert(schema.roles).values(bound("name", "owner", "create_time")))
_UPDATE = Statement(sa.update(schema.roles).values(bound("owner", "create_time")).where(_THIS))
_DELETE = Statement(sa.delete(schema.roles).where(_THIS))


def find(tx: Transaction, name: str) -> RoleRow | None:
    row = tx.one(_FIND, name=name)
    return None if row is None else RoleRow._make(row)


def names(tx: Transaction) -> list[str]:
    """The names of all roles, sorted."""
    return [name for (name,) in tx.all(_NAMES)]


def insert(tx: Transaction, name: str, owner: str | None, create_time: int) -> None:
    tx.run(_INSERT, name=name, owner=owner, create_time=create_time)


def update(tx: Transaction, name: str, owner: str | None, create_time: int) -> None:
    tx.run(_UPDATE, name=name, owner=owner, create_time=create_time)


def delete(tx: Transaction, name: str) -> None:
    tx.run(_DELETE, name=name)
