"""The rows of users that log in with a password: names and password hashes. The hash function is not known here."""

from typing import NamedTuple

from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.transaction import Transaction


class UserRow(NamedTuple):
    name: str
    password: str
    """A hash."""
    create_time: int
    change_time: int


_COLUMNS = "name, password, create_time, change_time"

_FIND = Statement(f"SELECT {_COLUMNS} FROM users WHERE name = :name")
_ALL = Statement(f"SELECT {_COLUMNS} FROM users ORDER BY name")
_COUNT = Statement("SELECT count(*) FROM users")
_INSERT = Statement(insert_into("users", *UserRow._fields))
_UPDATE = Statement("UPDATE users SET password = :password, change_time = :change_time WHERE name = :name")
_DELETE = Statement("DELETE FROM users WHERE name = :name")


def find(tx: Transaction, name: str) -> UserRow | None:
    row = tx.one(_FIND, name=name)
    return None if row is None else UserRow._make(row)


def every(tx: Transaction) -> list[UserRow]:
    """All users, by name."""
    return [UserRow._make(row) for row in tx.all(_ALL)]


def is_empty(tx: Transaction) -> bool:
    """Whether there is no user at all."""
    return tx.one(_COUNT) == (0,)


def insert(tx: Transaction, name: str, password: str, now: int) -> None:
    tx.run(_INSERT, name=name, password=password, create_time=now, change_time=now)


def update(tx: Transaction, name: str, password: str, now: int) -> bool:
    """Returns whether the user existed."""
    return tx.run(_UPDATE, name=name, password=password, change_time=now) > 0


def delete(tx: Transaction, name: str) -> bool:
    """Returns whether the user existed."""
    return tx.run(_DELETE, name=name) > 0
