"""Single values of a database, by name."""

from typing import Final

from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction

UUID: Final = "uuid"

_FIND = Statement("SELECT value FROM meta WHERE key = :key")
_KEYS = Statement("SELECT key FROM meta ORDER BY key")
_INSERT = Statement("INSERT INTO meta (key, value) VALUES (:key, :value)")


def value(tx: Transaction, key: str) -> str | None:
    row = tx.one(_FIND, key=key)
    return None if row is None else str(row[0])


def ensure(tx: Transaction, key: str, default: str) -> str:
    """The stored value; if there is none, this one, which is stored."""
    stored = value(tx, key)
    if stored is not None:
        return stored
    tx.run(_INSERT, key=key, value=default)
    return default


def keys(tx: Transaction, prefix: str) -> list[str]:
    """The names that begin with a prefix, sorted."""
    return [key for (key,) in tx.all(_KEYS) if key.startswith(prefix)]
