"""Names of databases and tables: one shape for the client, the service, the store and the gate. Pure.

A name is not normalised here: the client sends names as its user wrote them, the service normalises them
(`hive.names.normalize`). A catalog that was not named is the empty text; servers then use their default catalog,
`hive`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from metastored.errors import InvalidInputException
from metastored.hive.names import DEFAULT_CATALOG, encode_catalog_name


class DatabaseName(NamedTuple):
    """`db`, or `catalog.db`."""

    catalog: str
    """The empty text where none was named."""
    database: str

    @property
    def catalog_field(self) -> str | None:
        """The catalog as requests carry it: None where none was named."""
        return self.catalog or None

    @property
    def field(self) -> str:
        """The database as calls without a field for the catalog carry it: `db`, or `@catalog#db`."""
        return encode_catalog_name(self.catalog_field, self.database) or self.database

    def table(self, name: str) -> TableName:
        """A table of this database."""
        return TableName(self.catalog, self.database, name)

    def __str__(self) -> str:
        return self.database if self.catalog in _UNSAID else f"{self.catalog}.{self.database}"


class TableName(NamedTuple):
    """`db.t`, or `catalog.db.t`."""

    catalog: str
    """The empty text where none was named."""
    database: str
    table: str

    @property
    def database_name(self) -> DatabaseName:
        """The database that the table is in."""
        return DatabaseName(self.catalog, self.database)

    @property
    def catalog_field(self) -> str | None:
        """The catalog as requests carry it: None where none was named."""
        return self.catalog or None

    @property
    def database_field(self) -> str:
        """The database as calls without a field for the catalog carry it: `db`, or `@catalog#db`."""
        return self.database_name.field

    def __str__(self) -> str:
        return f"{self.database_name}.{self.table}"


_UNSAID = frozenset({"", DEFAULT_CATALOG})
"""Catalogs that are omitted where a name is printed."""

Name = str | TableName | Sequence[str]
"""A table as callers may write it."""


def table_name(name: Name) -> TableName:
    """Parses `db.t`, `catalog.db.t`, or the parts of either; names that contain dots have to be given as parts.

    Raises InvalidInputException for anything else.
    """
    if isinstance(name, TableName):
        return name
    parts = parts_of(name)
    if parts is None or len(parts) not in (2, 3):
        raise InvalidInputException(f"{name!r} does not name a table: write database.table or catalog.database.table")
    return TableName("" if len(parts) == 2 else parts[0], parts[-2], parts[-1])


def database_name(name: str | DatabaseName | Sequence[str]) -> DatabaseName:
    """Parses `db`, `catalog.db`, or the parts of either. Raises InvalidInputException for anything else.

    The last dot separates: catalogs that nest databases, as Iceberg's do, have the outer ones in the catalog's place.
    """
    if isinstance(name, DatabaseName):
        return name
    parts = parts_of(name)
    if parts is None or (not isinstance(name, str) and len(parts) not in (1, 2)):
        raise InvalidInputException(f"{name!r} does not name a database: write database or catalog.database")
    return DatabaseName(".".join(parts[:-1]), parts[-1])


def parts_of(name: object) -> list[str] | None:
    """The parts of a name that is a text with dots or a list of texts; None for anything else, or an empty part."""
    if isinstance(name, str):
        parts = name.split(".")
    elif isinstance(name, Sequence) and all(isinstance(part, str) for part in name):
        parts = list(name)
    else:
        return None
    return parts if all(parts) else None
