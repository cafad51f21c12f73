"""The databases, tables, locations, transactions … of a call: read from its arguments by their fields' roles.

Pure. A database and a table in the same struct belong together; if a struct names no database, the struct around it
does. Whether an object exists is not checked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from metastored.hive.names import (
    CatalogNameError,
    FullNameError,
    normalize,
    read_database,
    read_full_name,
)
from metastored.model.names import DatabaseName, TableName
from metastored.wire.generated.common import Table
from metastored.wire.message import Call
from metastored.wire.methods.naming import Group, groups_in


class Located(NamedTuple):
    """A location in a call, and the table or database that it is for."""

    location: str
    owner: TableName | DatabaseName | None


class Objects(NamedTuple):
    """All objects that a call names, each once, in the order of the arguments."""

    databases: tuple[DatabaseName, ...]
    tables: tuple[TableName, ...]
    sources: tuple[TableName, ...]
    """Tables named in the definition of another table: the sources of a materialized view."""
    locations: tuple[Located, ...]
    connectors: tuple[str, ...]
    txns: tuple[int, ...]
    locks: tuple[int, ...]
    table_ids: tuple[int, ...]


def objects_of(call: Call) -> Objects:
    databases: dict[DatabaseName, None] = {}
    tables: dict[TableName, None] = {}
    sources: dict[TableName, None] = {}
    locations: dict[Located, None] = {}
    other: dict[str, dict[Any, None]] = {role: {} for role in ("connector", "txn_id", "lock_id", "table_id")}
    groups = list(groups_in(call.method, call.args))
    roots = [value for group in groups for value in _named(group, "location") if value] or [""]
    for group in groups:
        if _is_definition(group.within):
            sources.update(dict.fromkeys(tables_of(group)))
        else:
            databases.update(dict.fromkeys(_own_databases(group)))
            tables.update(dict.fromkeys(tables_of(group)))
        for role, value in group.names:
            if role == "location" and value:
                locations[Located(value, _owner(group))] = None
            elif role == "relative_location" and value:
                # Only the service knows which location is the root, so the path is checked below each of them.
                locations.update(dict.fromkeys(Located(root + value, _owner(group)) for root in roots))
            elif role in other:
                # The service reads a missing id as 0.
                other[role].update({normalize(value) if role == "connector" else value: None} if value else {})
    return Objects(tuple(databases), tuple(tables), tuple(sources), tuple(locations), *map(tuple, other.values()))


def _is_definition(group: Group | None) -> bool:
    """Whether this struct, or one around it, is the definition of a table."""
    while group is not None:
        if group.struct == Table.__name__:
            return True
        group = group.within
    return False


def tables_of(group: Group) -> Iterator[TableName]:
    """The tables that one struct names."""
    names = _named(group, "table")
    databases = databases_of(group)
    if len(databases) == len(names):
        pairs = list(zip(databases, names, strict=True))
    else:
        pairs = [(database, name) for database in databases[:1] for name in names]
    for database, name in pairs:
        yield database.table(normalize(name))
    for name in _named(group, "full_name"):
        try:
            parts = read_full_name(name)
        except FullNameError:
            continue  # Not a valid name; the service returns the error.
        yield TableName(*parts)


def databases_of(group: Group) -> list[DatabaseName]:
    """The databases that a struct names; if none, the database of the nearest struct around it."""
    around: Group | None = group
    while around is not None:
        databases = _own_databases(around)
        if databases:
            return databases if around is group else databases[:1]
        around = around.within
    return []


def _own_databases(group: Group) -> list[DatabaseName]:
    databases = []
    for name in _named(group, "db"):
        try:
            catalog, database = read_database(name, _catalog(group))
        except CatalogNameError:
            continue  # Not a valid name; the service returns the error.
        if database is not None:
            databases.append(DatabaseName(catalog, database))
    return databases


def _catalog(group: Group) -> str | None:
    around: Group | None = group
    while around is not None:
        for role, value in around.names:
            if role == "cat":
                return str(value)
        around = around.within
    return None


def _owner(group: Group) -> TableName | DatabaseName | None:
    """The nearest table around a location, else the nearest database."""
    around: Group | None = group
    while around is not None:
        table = next(tables_of(around), None)
        if table is not None:
            return table
        databases = _own_databases(around)
        if databases:
            return databases[0]
        around = around.within
    return None


def _named(group: Group, role: str) -> list[Any]:
    return [value for each, value in group.names if each == role]
