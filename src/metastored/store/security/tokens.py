"""The rows of delegation tokens and of the master keys that sign them. Their content is not decoded here."""

from metastored.store.engine.statements import Statement
from metastored.store.engine.stored import TOKEN_COUNTER
from metastored.store.engine.transaction import Transaction

_FIND = Statement("SELECT token FROM tokens WHERE identifier = :identifier")
_IDENTIFIERS = Statement("SELECT identifier FROM tokens ORDER BY identifier")
_INSERT = Statement("INSERT INTO tokens (identifier, token, expires) VALUES (:identifier, :token, :expires)")
_UPDATE = Statement("UPDATE tokens SET token = :token WHERE identifier = :identifier")
_DELETE = Statement("DELETE FROM tokens WHERE identifier = :identifier")
_DELETE_EXPIRED = Statement("DELETE FROM tokens WHERE expires < :now")
_NEXT = Statement(f"UPDATE counters SET value = value + 1 WHERE name = '{TOKEN_COUNTER}' RETURNING value")

_KEYS = Statement("SELECT id, key FROM master_keys ORDER BY id")
_KEY = Statement("SELECT key FROM master_keys WHERE id = :id")
_INSERT_KEY = Statement("INSERT INTO master_keys (key) VALUES (:key) RETURNING id")
_UPDATE_KEY = Statement("UPDATE master_keys SET key = :key WHERE id = :id")
_DELETE_KEY = Statement("DELETE FROM master_keys WHERE id = :id")


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
