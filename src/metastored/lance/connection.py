"""The metastore behind a namespace: a client, made at the first use, and the look-ups that all operations share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Protocol

from lance_namespace import (
    InvalidInputError,
    InvalidTableStateError,
    LanceNamespace,
    NamespaceNotFoundError,
    TableNotFoundError,
    UnsupportedOperationError,
)

from metastored.client._sync.client import Client, connect
from metastored.client.pooling import PoolSettings
from metastored.client.sasl import kerberos
from metastored.client.table_types import TableType
from metastored.errors import NoSuchObjectException, ObjectNotFound
from metastored.hive.names import encode_catalog_name
from metastored.lance.commits import ReadTables
from metastored.lance.conditions import CheckedTables
from metastored.lance.definition import LANCE, ManagedBy, is_lance, managed_by
from metastored.lance.identifiers import Levels
from metastored.lance.locations import lance_location
from metastored.lance.properties import Properties, properties_of
from metastored.model.names import DatabaseName, TableName
from metastored.wire.generated.catalogs import Catalog, GetCatalogRequest
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database

LANCE_TABLES: Final = TableType(LANCE, is_lance)
"""Finds the Lance tables of a database."""


class CheckOpening(Protocol):
    """Raises an error if the files of a table may not be opened, or not be removed, at the location that it has."""

    def __call__(self, name: TableName, location: str, *, removes: bool) -> None: ...


class Connected(LanceNamespace):
    """A namespace with a client of a metastore. The metadata is never cached: each operation reads it.

    One exception: a commit may begin with the table that was read for the newest version (`commits.py`).
    """

    levels: ClassVar[Levels]

    def __init__(
        self,
        client: Client | None = None,
        checked: CheckedTables | None = None,
        committer: Client | None = None,
        may_open: CheckOpening | None = None,
        **properties: str,
    ) -> None:
        """`client` is used instead of `uri` and `ugi`, and stays open; a client of `uri` is closed by `close`.

        `committer` is used for the alters that store a new version, where they need more rights than `client` has.

        `may_open` is asked before the files of a table are opened or removed. A namespace that acts for others needs
        it: the location of a table may be the word of a remote metastore.

        A program that makes many namespaces for one metastore gives all of them one `checked`: then the metastore is
        probed once for each table, and not by each namespace.
        """
        self.properties: Properties = properties_of(properties)
        self.checked = CheckedTables() if checked is None else checked
        self.read_tables = ReadTables()
        self._client = client
        self._owned = client is None
        self._committer = committer
        self._may_open = may_open
        self._lock = threading.Lock()

    def namespace_id(self) -> str:
        where = self.properties.uri if self._owned else self.client.uri
        return f"{type(self).__name__} {{ uri: {where!r}, root: {self.properties.root!r} }}"

    def __repr__(self) -> str:
        return self.namespace_id()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process connects by itself. Raises InvalidInputError with a client of the caller."""
        if not self._owned:
            raise InvalidInputError("a namespace over a client of its caller cannot be copied to another process")
        return {"properties": self.properties}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.properties = state["properties"]
        self.checked, self.read_tables = CheckedTables(), ReadTables()
        self._client, self._owned, self._lock = None, True, threading.Lock()
        self._committer = None
        self._may_open = None

    def close(self) -> None:
        """Closes the connections to the metastore; a later operation opens them again."""
        with self._lock:
            if self._owned and self._client is not None:
                self._client.close()
                self._client = None

    @property
    def client(self) -> Client:
        """The client of the metastore."""
        opened = self._client
        if opened is None:
            with self._lock:
                opened = self._client
                if opened is None:
                    settings = self.properties
                    principal = settings.kerberos_principal
                    opened = self._client = connect(
                        settings.uri,
                        user=settings.user,
                        groups=settings.groups,
                        sasl=None if principal is None else kerberos(principal),
                        pool=PoolSettings(max_size=settings.pool_size),
                        cache=False,
                    )
        return opened

    @property
    def owner(self) -> str | None:
        """The owner of new tables. A client that authenticates names no user itself."""
        return self.properties.user or self.client.user

    @property
    def committer(self) -> Client:
        """The client that stores new versions of tables."""
        return self._committer or self.client

    # Look-ups

    def database(self, name: DatabaseName) -> Database:
        """A database. Raises NamespaceNotFoundError."""
        self.check_catalogs()
        try:
            return self.client.api.get_database(name.field)
        except NoSuchObjectException:
            raise NamespaceNotFoundError(f"namespace {name} does not exist") from None

    def catalog(self, name: str) -> Catalog:
        """A catalog. Raises NamespaceNotFoundError."""
        self.check_catalogs()
        try:
            catalog = self.client.api.get_catalog(GetCatalogRequest(name)).catalog
        except NoSuchObjectException:
            catalog = None
        if catalog is None:
            raise NamespaceNotFoundError(f"namespace {name} does not exist: the metastore has no such catalog")
        return catalog

    def databases(self, catalog: str) -> list[str]:
        """The names of the databases of a catalog, sorted; of the default catalog if its name is empty."""
        if not catalog:
            return sorted(self.client.api.get_all_databases())
        return sorted(self.client.api.get_databases(encode_catalog_name(catalog, None)))

    def table(self, id: Sequence[str] | None) -> tuple[TableName, Table]:
        """A Lance table. Raises TableNotFoundError, NamespaceNotFoundError, or InvalidInputError if it is another's."""
        name = self.levels.table(id)
        row = self.any_table(name)
        if row is None:
            self.database(name.database_name)
            raise TableNotFoundError(f"table {name} does not exist")
        if not is_lance(row):
            raise InvalidInputError(f"table {name} is not a Lance table: its parameter table_type is not lance")
        return name, row

    def any_table(self, name: TableName) -> Table | None:
        """A table of any format; None if it does not exist."""
        self.check_catalogs()
        try:
            return self.client.table(name)
        except (ObjectNotFound, NoSuchObjectException):
            return None

    def location(self, table: Table) -> str:
        """The location of a table, for Lance. Raises InvalidTableStateError if it has none.

        It is a text for the caller. Whoever opens files calls `place`.
        """
        location = table.sd and table.sd.location
        if not location:
            raise InvalidTableStateError(f"table {table.dbName}.{table.tableName} has no location")
        return lance_location(location)

    def place(self, name: TableName, table: Table, *, removes: bool = False) -> str:
        """The location of a table whose files are opened, or removed, now. Raises an error if they may not be.

        `name` is the name that was looked up: a remote metastore may have put any names into the table.
        """
        location = self.location(table)
        self.check_place(name, location, removes=removes)
        return location

    def check_place(self, name: TableName, location: str, *, removes: bool = False) -> None:
        """Raises an error if the files of a table may not be opened at a location."""
        if self._may_open is not None:
            self._may_open(name, location, removes=removes)

    def is_managed(self, table: Table) -> bool:
        """Whether the metastore keeps the versions of a table."""
        return managed_by(table) is ManagedBy.IMPL

    def check_catalogs(self) -> None:
        """Raises UnsupportedOperationError if this namespace has catalogs and the metastore has not."""
        if self.levels.catalogs and not self.client.capabilities.knows("get_catalogs"):
            raise UnsupportedOperationError(
                f"the metastore at {self.client.uri} has no catalogs, which Hive has since 3.0: use "
                f"Hive2Namespace, whose identifiers are [database, table]"
            )
