"""Objects that are looked up by name only: a kind, a parent, a key, and a body. The kinds are defined elsewhere.

Resource plans, schemas, scheduled queries, procedures, indexes, types, connectors and the like are documents. A key is
unique within its `parent` ('' if within its kind); `at` is a number to sort by: a version, a time. A document that
belongs to a database or a table is deleted with it. Names are compared exactly.
"""

from typing import NamedTuple

from metastored.store.engine.statements import SQLITE, Statement, insert_into, limit_of
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import Transaction


class DocumentRow(NamedTuple):
    id: int
    kind: str
    parent: str
    key: str
    at: int
    fmt: int
    body: bytes


_COLUMNS = "id, kind, parent, key, at, fmt, body"

_FIND = Statement(f"SELECT {_COLUMNS} FROM documents WHERE kind = :kind AND parent = :parent AND key = :key")
_BY_ID = Statement(f"SELECT {_COLUMNS} FROM documents WHERE kind = :kind AND id = :id")
_BELOW = Statement(f"SELECT {_COLUMNS} FROM documents WHERE kind = :kind AND parent = :parent ORDER BY key")
_OF_KIND = Statement(f"SELECT {_COLUMNS} FROM documents WHERE kind = :kind ORDER BY parent, key")
_NEWEST = Statement(
    f"""
    SELECT {_COLUMNS} FROM documents WHERE kind = :kind AND parent = :parent
    ORDER BY at DESC, id DESC LIMIT :limit
    """
)
_LOCK = Statement("SELECT id FROM documents WHERE kind = :kind AND parent = :parent ORDER BY id FOR UPDATE")
_INSERT = Statement(
    insert_into("documents", "kind", "db_id", "table_id", "parent", "key", "at", "fmt", "body") + " RETURNING id"
)
_UPDATE = Statement("UPDATE documents SET key = :key, at = :at, fmt = :fmt, body = :body WHERE id = :id")
_DELETE = Statement("DELETE FROM documents WHERE id = :id")
_DELETE_BEFORE = Statement("DELETE FROM documents WHERE kind = :kind AND at < :at")


def find(tx: Transaction, kind: str, key: str, parent: str = "") -> DocumentRow | None:
    row = tx.one(_FIND, kind=kind, parent=parent, key=key)
    return None if row is None else DocumentRow._make(row)


def find_by_id(tx: Transaction, kind: str, id: int) -> DocumentRow | None:
    row = tx.one(_BY_ID, kind=kind, id=id)
    return None if row is None else DocumentRow._make(row)


def below(tx: Transaction, kind: str, parent: str = "") -> list[DocumentRow]:
    """All documents of a kind that have this parent, sorted by key."""
    return list(map(DocumentRow._make, tx.all(_BELOW, kind=kind, parent=parent)))


def of_kind(tx: Transaction, kind: str) -> list[DocumentRow]:
    """All documents of a kind, sorted by parent and key."""
    return list(map(DocumentRow._make, tx.all(_OF_KIND, kind=kind)))


def newest(tx: Transaction, kind: str, parent: str = "", limit: int = -1) -> list[DocumentRow]:
    """The documents of a kind and parent, sorted by `at`, greatest first."""
    return list(map(DocumentRow._make, tx.all(_NEWEST, kind=kind, parent=parent, limit=limit_of(limit))))


def lock(tx: Transaction, kind: str, parent: str = "") -> None:
    """Keeps other transactions from changing the documents of a kind and parent; read them after that, not before.

    SQLite has one write transaction at a time, and there is nothing to lock.
    """
    if tx.dialect != SQLITE:
        tx.all(_LOCK, kind=kind, parent=parent)


def insert(
    tx: Transaction,
    kind: str,
    key: str,
    body: bytes,
    *,
    parent: str = "",
    at: int = 0,
    db_id: int | None = None,
    table_id: int | None = None,
    fmt: int = BODY_FORMAT,
) -> int:
    """Adds a document; returns its id."""
    return tx.insert(
        _INSERT, kind=kind, db_id=db_id, table_id=table_id, parent=parent, key=key, at=at, fmt=fmt, body=body
    )


def update(tx: Transaction, id: int, key: str, body: bytes, *, at: int = 0, fmt: int = BODY_FORMAT) -> None:
    """Replace a document's key, number and body."""
    tx.run(_UPDATE, id=id, key=key, at=at, fmt=fmt, body=body)


def delete(tx: Transaction, id: int) -> None:
    tx.run(_DELETE, id=id)


def delete_before(tx: Transaction, kind: str, at: int) -> int:
    """Removes the documents of a kind whose number is less; returns how many there were."""
    return tx.run(_DELETE_BEFORE, kind=kind, at=at)
