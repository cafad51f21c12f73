"""The rows of roles."""

from typing import NamedTuple

from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction


class RoleRow(NamedTuple):
    name: str
    owner: str | None
    create_time: int


_FIND = Statement("SELECT name, owner, create_time FROM roles WHERE name = :name")
_NAMES = Statement("SELECT name FROM roles ORDER BY name")
_INSERT = Statement("INSERT INTO roles (name, owner, create_time) VALUES (:name, :owner, :create_time)")
_UPDATE = Statement("UPDATE roles SET owner = :owner, create_time = :create_time WHERE name = :name")
_DELETE = Statement("DELETE FROM roles WHERE name = :name")


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
