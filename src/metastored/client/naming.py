"""Names as people write them, and errors that say them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from metastored.errors import (
    AlreadyExistsException,
    DatabaseAlreadyExists,
    DatabaseNotFound,
    InvalidInputException,
    MetastoreError,
    NoSuchObjectException,
    ObjectAlreadyExists,
    ObjectNotFound,
    TableAlreadyExists,
    TableNotFound,
)
from metastored.hive.names import encode_catalog_name
from metastored.wire.methods import Method
from metastored.wire.naming import names_in


class TableName(NamedTuple):
    """`db.t`, or `catalog.db.t`."""

    catalog: str | None
    db: str
    table: str

    @property
    def db_field(self) -> str:
        """The database as the older calls take it, with its catalog inside."""
        return encode_catalog_name(self.catalog, self.db) or self.db

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


Name = str | TableName | Sequence[str]
"""A table, as callers may write it."""


def table_name(text: Name) -> TableName:
    """A table's name: `db.t`, `catalog.db.t`, or its parts, as names with dots in them must be given."""
    if isinstance(text, TableName):
        return text
    parts = text.split(".") if isinstance(text, str) else list(text)
    if len(parts) not in (2, 3) or not all(parts):
        raise InvalidInputException(f"{text!r} does not name a table: write database.table or catalog.database.table")
    return TableName(None if len(parts) == 2 else parts[0], parts[-2], parts[-1])


def database_field(text: str) -> str:
    """A database's name, `db` or `catalog.db`, as the calls take it."""
    catalog, _, db = text.rpartition(".")
    if not db:
        raise InvalidInputException(f"{text!r} does not name a database: write database or catalog.database")
    return encode_catalog_name(catalog or None, db) or db


def named(error: MetastoreError, method: Method, args: tuple[Any, ...]) -> MetastoreError:
    """The same error, with the object that the call was about."""
    if type(error) not in (NoSuchObjectException, AlreadyExistsException):
        return error
    first: dict[str, str] = {}
    for role, name in names_in(method, args):
        if isinstance(name, str) and name:
            first.setdefault(role, name)
    db, table, text = first.get("db", ""), first.get("table", ""), error.message or ""
    full = first.get("full_name") or (f"{db}.{table}" if db and table else "")
    missing = type(error) is NoSuchObjectException
    no_table = missing and ("table not found" in text or "table does not exist : " in text)
    if full and (method.object == "table" or no_table):
        return TableNotFound("table", full, text) if missing else TableAlreadyExists("table", full, text)
    if db and (method.object == "database" or (missing and text in (db, f"hive.{db}"))):
        return DatabaseNotFound("database", db, text) if missing else DatabaseAlreadyExists("database", db, text)
    name = full or db or next((value for role, value in first.items() if role not in ("user", "secret")), "")
    if method.object == "function" and first.get("function"):
        name = f"{db}.{first['function']}"
    if method.object == "partition" and full:
        part = first.get("part_name") or ""
        if not part:
            values = [value for role, value in names_in(method, args) if role == "part_values"]
            part = f"({', '.join(map(str, values[:8]))})" if values else ""
        name = f"{full} {part}".strip()
    if not name:
        return error
    return ObjectNotFound(method.object, name, text) if missing else ObjectAlreadyExists(method.object, name, text)
