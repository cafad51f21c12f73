"""The rows of definitions of remotes, and the number of their present state.

A definition belongs to one catalog, database or table by its id: it follows a rename, and is deleted with the object.
`changed` must be called in every transaction that adds, changes, renames or deletes one: it is how every server sees
that it has to read the definitions again. What is in a body is not known here.
"""

from __future__ import annotations

from typing import NamedTuple

from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.stored import BODY_FORMAT, REMOTES_COUNTER
from metastored.store.engine.transaction import Transaction


class RemoteRow(NamedTuple):
    """A definition with the present names of its object; no database for a catalog, no table for a database."""

    id: int
    catalog: str
    database: str | None
    table: str | None
    fmt: int
    body: bytes


class Of(NamedTuple):
    """The object that is remote: one of the ids, the others None."""

    cat_id: int | None = None
    db_id: int | None = None
    table_id: int | None = None


_SELECT = """
    SELECT r.id, c.name, d.name, t.name, r.fmt, r.body
    FROM remotes r
    LEFT JOIN tables t ON t.id = r.table_id
    LEFT JOIN databases d ON d.id = coalesce(r.db_id, t.db_id)
    JOIN catalogs c ON c.id = coalesce(r.cat_id, d.cat_id)
"""
# Where the two databases put what is absent differs.
_ALL = Statement(f"{_SELECT} ORDER BY c.name, coalesce(d.name, ''), coalesce(t.name, '')")
_FIND = {name: Statement(f"{_SELECT} WHERE r.{name} = :{name}") for name in Of._fields}
_IN_DATABASE = Statement(
    "SELECT EXISTS (SELECT * FROM remotes r JOIN tables t ON t.id = r.table_id WHERE t.db_id = :db_id)"
)
_INSERT = Statement(insert_into("remotes", *Of._fields, "fmt", "body"))
_UPDATE = Statement("UPDATE remotes SET fmt = :fmt, body = :body WHERE id = :id")
_VERSION = Statement(f"SELECT value FROM counters WHERE name = '{REMOTES_COUNTER}'")
_CHANGED = Statement(f"UPDATE counters SET value = value + 1 WHERE name = '{REMOTES_COUNTER}'")


def version(tx: Transaction) -> int:
    """The number of the present state of all definitions. Read it before the definitions, never after."""
    row = tx.one(_VERSION)
    return 0 if row is None else int(row[0])


def changed(tx: Transaction) -> None:
    """Gives the state that this transaction makes another number. It locks the number until the transaction ends.

    Call it after the objects are locked, and before an event is recorded.
    """
    tx.run(_CHANGED)


def all(tx: Transaction) -> list[RemoteRow]:
    """Every definition, sorted by name."""
    return list(map(RemoteRow._make, tx.all(_ALL)))


def find(tx: Transaction, of: Of) -> RemoteRow | None:
    """The definition of an object; None for one that is not remote."""
    name, id = next((name, id) for name, id in of._asdict().items() if id is not None)
    row = tx.one(_FIND[name], **{name: id})
    return None if row is None else RemoteRow._make(row)


def has_tables(tx: Transaction, db_id: int) -> bool:
    """Whether a database has remote tables."""
    row = tx.one(_IN_DATABASE, db_id=db_id)
    return row is not None and bool(row[0])


def insert(tx: Transaction, of: Of, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
    tx.run(_INSERT, **of._asdict(), fmt=fmt, body=body)
    changed(tx)


def update(tx: Transaction, id: int, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
    tx.run(_UPDATE, id=id, fmt=fmt, body=body)
    changed(tx)
