"""The rows of users that log in with a password: names and password hashes. The hash function is not known here."""

from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction


class UserRow(NamedTuple):
    name: str
    password: str
    """A hash."""
    create_time: int
    change_time: int


_u = schema.users.c
_COLUMNS = sa.select(_u.name, _u.password, _u.create_time, _u.change_time)
_THIS = _u.name == sa.bindparam("name")

_FIND = Statement(_COLUMNS.where(_THIS))
_ALL = Statement(_COLUMNS.order_by(_u.name))
_COUNT = Statement(sa.select(sa.func.count()).select_from(schema.users))
_INSERT = Statement(sa.insert(schema.users).values(bound("name", "password", "create_time", "change_time")))
_UPDATE = Statement(sa.update(schema.users).values(bound("password", "change_time")).where(_THIS))
_DELETE = Statement(sa.delete(schema.users).where(_THIS))


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
