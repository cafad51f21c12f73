"""Errors that name the object that a call was about. Pure."""

from __future__ import annotations

import re
from typing import Any

from metastored.errors import (
    AlreadyExistsException,
    DatabaseAlreadyExists,
    DatabaseNotFound,
    InvalidObjectException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    ObjectAlreadyExists,
    ObjectNotFound,
    TableAlreadyExists,
    TableNotFound,
)
from metastored.wire.methods import Method
from metastored.wire.methods.naming import names_in

_WRAPPED = re.compile(r"Got exception: org\.apache\.hadoop\.hive\.metastore\.api\.\w+ (.+)", re.DOTALL)
"""How Hive from 3.1 on refuses a grant: as another exception with the name of its class."""


def named(error: MetastoreError, method: Method, args: tuple[Any, ...]) -> MetastoreError:
    """Returns the same error with the name of the object that the call was about, and without names of Java."""
    if type(error) is MetaException and (match := _WRAPPED.match(error.message or "")) is not None:
        return MetaException(match[1])
    if type(error) not in (NoSuchObjectException, AlreadyExistsException, InvalidObjectException):
        return error
    first: dict[str, str] = {}
    for role, name in names_in(method, args):
        if isinstance(name, str) and name:
            first.setdefault(role, name)
    db, table, text = first.get("db", ""), first.get("table", ""), error.message or ""
    # Hive's refusal of a table in a database that does not exist is the database's name alone; Hive 4 adds the word.
    names_database = bool(db) and text.lower().removeprefix("database ") in (db.lower(), f"hive.{db}".lower())
    if type(error) is InvalidObjectException:
        return DatabaseNotFound("database", db) if names_database else error
    full = first.get("full_name") or (f"{db}.{table}" if db and table else "")
    missing = type(error) is NoSuchObjectException
    # A table that is created cannot be missing: its database is.
    if missing and db and (names_database or method.name.startswith("create_table")):
        return DatabaseNotFound("database", db)
    no_table = missing and ("table not found" in text or "table does not exist : " in text)
    if full and (method.object == "table" or no_table):
        return TableNotFound("table", full, text) if missing else TableAlreadyExists("table", full, text)
    if db and method.object == "database":
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
