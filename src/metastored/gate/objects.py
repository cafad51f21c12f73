"""Which databases, tables and locations a call is about: read from its arguments by the roles of their fields.

Pure. A database and a table in the same struct belong together; where a struct names no database, the struct around it
does. Nothing here knows whether an object exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from metastored.hive.names import DEFAULT_CATALOG, CatalogNameError, decode_catalog_name, normalize
from metastored.wire.generated.common import Table
from metastored.wire.message import Call
from metastored.wire.naming import Group, groups_in


class DatabaseName(NamedTuple):
    catalog: str
    database: str

    def __str__(self) -> str:
        return self.database if self.catalog == DEFAULT_CATALOG else f"{self.catalog}.{self.database}"


class TableName(NamedTuple):
    database: DatabaseName
    table: str

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


class Located(NamedTuple):
    """A location that a call gives, and the table or database that it is given to."""

    location: str
    owner: TableName | DatabaseName | None


class Objects(NamedTuple):
    """All that a call names, each once, in the order of the arguments."""

    databases: tuple[DatabaseName, ...]
    tables: tuple[TableName, ...]
    sources: tuple[TableName, ...]
    """Tables that are named inside another one's definition: what a materialized view is made from."""
    locations: tuple[Located, ...]


def objects_of(call: Call) -> Objects:
    databases: dict[DatabaseName, None] = {}
    tables: dict[TableName, None] = {}
    sources: dict[TableName, None] = {}
    locations: dict[Located, None] = {}
    for group in groups_in(call.method, call.args):
        if _is_definition(group.within):
            sources.update(dict.fromkeys(tables_of(group)))
        else:
            databases.update(dict.fromkeys(_own_databases(group)))
            tables.update(dict.fromkeys(tables_of(group)))
        for role, value in group.names:
            if role == "location" and value:
                locations[Located(value, _owner(group))] = None
    return Objects(tuple(databases), tuple(tables), tuple(sources), tuple(locations))


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
        yield TableName(database, normalize(name))
    for name in _named(group, "full_name"):
        *above, database_name, table = ("", *name.split("."))[-3:]
        catalog = normalize(above[0]) if above and above[0] else _catalog(group)
        if database_name:
            yield TableName(DatabaseName(catalog, normalize(database_name)), normalize(table))


def databases_of(group: Group) -> list[DatabaseName]:
    """The databases that one struct names, or else the one that those around it name."""
    found: Group | None = group
    while found is not None:
        databases = _own_databases(found)
        if databases:
            return databases if found is group else databases[:1]
        found = found.within
    return []


def _own_databases(group: Group) -> list[DatabaseName]:
    found = []
    for name in _named(group, "db"):
        try:
            written = decode_catalog_name(name)
        except CatalogNameError:
            continue  # No name of anything; whoever answers the call has the error for it.
        if written.database:
            catalog = written.catalog or _catalog(group)
            found.append(DatabaseName(normalize(catalog), normalize(written.database)))
    return found


def _catalog(group: Group) -> str:
    found: Group | None = group
    while found is not None:
        for role, value in found.names:
            if role == "cat":
                return normalize(value)
        found = found.within
    return DEFAULT_CATALOG


def _owner(group: Group) -> TableName | DatabaseName | None:
    """The nearest table around a location, else the nearest database."""
    found: Group | None = group
    while found is not None:
        table = next(tables_of(found), None)
        if table is not None:
            return table
        databases = _own_databases(found)
        if databases:
            return databases[0]
        found = found.within
    return None


def _named(group: Group, role: str) -> list[Any]:
    return [value for each, value in group.names if each == role]
