"""The rows of delegation tokens and of the master keys that sign them. Their content is not decoded here."""

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction

_t, _k, _counter = schema.tokens.c, schema.master_keys.c, schema.counters.c
_THIS = _t.identifier == sa.bindparam("identifier")
_COUNTER = _counter.name == sa.literal_column(f"'{schema.TOKEN_COUNTER}'")

_FIND = Statement(sa.select(_t.token).where(_THIS))
_IDENTIFIERS = Statement(sa.select(_t.identifier).order_by(_t.identifier))
_INSERT = Statement(sa.insert(schema.tokens).values(bound("identifier", "token", "expires")))
_UPDATE = Statement(sa.update(schema.tokens).values(bound("token")).where(_THIS))
_DELETE = Statement(sa.delete(schema.tokens).where(_THIS))
_DELETE_EXPIRED = Statement(sa.delete(schema.tokens).where(_t.expires < sa.bindparam("now")))
_NEXT = Statement(
    sa.update(schema.counters)
    .values(value=_counter.value + sa.literal_column("1"))
    .where(_COUNTER)
    .returning(_counter.value)
)

_KEYS = Statement(sa.select(_k.id, _k.key).order_by(_k.id))
_KEY = Statement(sa.select(_k.key).where(_k.id == sa.bindparam("id")))
_INSERT_KEY = Statement(sa.insert(schema.master_keys).values(bound("key")).returning(_k.id))
_UPDATE_KEY = Statement(sa.update(schema.master_keys).values(bound("key")).where(_k.id == sa.bindparam("id")))
_DELETE_KEY = Statement(sa.delete(schema.master_keys).where(_k.id == sa.bindparam("id")))


def find(tx: Transaction, identifier: str) -> str | None:
    row = tx.one(_FIND, identifier=identifier)
    return None if row is None else row[0]


def identifiers(tx: Transaction) -> list[str]:
    return [identifier for (identifier,) in tx.all(_IDENTIFIERS)]


def insert(tx: Transaction, identifier: str, token: str, expires: int | None) -> None:
    """Adds a token; `expires` is when it may be removed, in milliseconds, and None if that is unknown."""
    tx.run(_INSERT, identifier=identifier, token=token, expires=expires)


def update(tx: Transaction, identifier: str, token: str) -> None:
    tx.run(_UPDATE, identifier=identifier, token=token)


def delete(tx: Transaction, identifier: str) -> bool:
    """Deletes a token; returns whether it existed."""
    return tx.run(_DELETE, identifier=identifier) > 0


def delete_expired(tx: Transaction, now: int) -> int:
    """Removes the tokens that ended before `now`, in milliseconds; returns how many."""
    return tx.run(_DELETE_EXPIRED, now=now)


def next_number(tx: Transaction) -> int:
    """A number that no other token has. Other transactions that take one wait until this transaction ends."""
    row = tx.one(_NEXT)
    assert row is not None  # the counter is part of the schema
    number: int = row[0]
    return number


def keys(tx: Transaction) -> list[tuple[int, str]]:
    """Every master key with its number, oldest first."""
    return [(id, key) for id, key in tx.all(_KEYS)]


def key(tx: Transaction, id: int) -> str | None:
    row = tx.one(_KEY, id=id)
    return None if row is None else row[0]


def insert_key(tx: Transaction, key: str) -> int:
    """Adds a master key; returns its number."""
    return tx.insert(_INSERT_KEY, key=key)


def update_key(tx: Transaction, id: int, key: str) -> bool:
    """Returns whether the key existed."""
    return tx.run(_UPDATE_KEY, id=id, key=key) > 0


def delete_key(tx: Transaction, id: int) -> bool:
    """Returns whether the key existed."""
    return tx.run(_DELETE_KEY, id=id) > 0
