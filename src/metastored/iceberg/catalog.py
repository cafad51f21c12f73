"""The metastore in the session of one caller: look-ups of Iceberg's objects, their metadata, locks, conditional alters.

Every call goes through the server's handler, so the privileges, limits and the audit of the caller hold. Metadata files
are read only where the rules for files allow it: a table may name any file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.client._sync.locks import Lock
from metastored.client.table_types import TableType
from metastored.errors import MetaException, MetastoreError, NoSuchObjectException, PermissionDenied
from metastored.hive.locations import join
from metastored.hive.names import DEFAULT_CATALOG, directory_name
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.iceberg.definition import VIEW_TYPE, is_iceberg_view, is_table, metadata_location
from metastored.iceberg.errors import (
    BadRequest,
    Forbidden,
    NoSuchNamespace,
    NoSuchTable,
    NoSuchView,
    NotFound,
    Unsupported,
    is_of_remote,
)
from metastored.iceberg.files import Check, MetadataFiles
from metastored.iceberg.metadata import read_table
from metastored.iceberg.requests import Json, Request, only_names, page_of
from metastored.iceberg.s3.signer import TableSigner
from metastored.iceberg.s3.vending import Vended, s3_directory
from metastored.iceberg.view_metadata import read_view
from metastored.model.conditions import EXPECTED_KEY, EXPECTED_VALUE, IS_LOCKED, OTHER_TABLE, OTHER_VALUE, UNLOCKED
from metastored.model.names import DatabaseName, TableName
from metastored.model.origins import METADATA_LOCATION, is_iceberg
from metastored.wire.generated.catalogs import GetCatalogRequest
from metastored.wire.generated.common import DataOperationType, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import LockComponent, LockLevel, LockType

__all__ = ["LOCK_TIMEOUT", "Caller", "Catalog", "Loaded", "conditional", "is_conflict"]

log = logging.getLogger("metastored.iceberg")

LOCK_TIMEOUT: Final = 60.0
"""Seconds that a commit waits for writers by Thrift, which hold a lock while they commit."""
HEARTBEAT: Final = 60.0
LONGEST_WAIT: Final = 0.1
"""Seconds between two looks whether a lock was given: commits hold it for milliseconds."""
TABLES: Final = TableType("ICEBERG", is_iceberg)
VIEWS: Final = TableType(VIEW_TYPE, is_iceberg_view)


class Locked(Exception):
    """Another client has a lock on the table, or waits for one. Nothing was changed."""


class Caller(NamedTuple):
    """What a server gives for the requests of one caller."""

    client: Client
    """Calls the server's handler in the session of the caller."""
    committer: Client
    """The same in another session of the caller, to which tables may be entrusted, and with the rules of the newest
    Hive: it has a call for changes of several tables, and removes the files of external tables."""
    entrust: Callable[[Iterable[TableName]], None]
    """Lets the committer alter tables whose rows the caller may change."""
    file_refusal: Callable[[TableName, str, str], str | None]
    """Why a file may not be read or written for a table at a location; None if it may."""
    is_remote: Callable[[TableName], bool]
    user: str | None
    authorized: bool
    """Whether privileges count."""
    vend: Callable[[TableName, str, bool], Vended | None] = lambda name, location, new: None
    """Credentials for the files of a table at a location, as the privileges of the caller allow it; for a new table
    those of its owner. None where there are none."""
    remote_tables: Callable[[DatabaseName], tuple[str, ...]] = lambda database: ()
    """The names of the remote tables of a local database."""
    forget: Callable[[], None] = lambda: None
    """Drops what was read for the request before it came to its turn."""
    partial_lists: bool = False
    """Whether lists leave out the tables of remotes that do not respond, instead of failing."""
    signs: bool = False
    """Whether requests to S3 are signed for clients."""
    signer: Callable[[TableName, str, bool], TableSigner | None] = lambda name, location, new: None
    """Signs requests for the files of a table, by the same rules as `vend` has."""


class Loaded(NamedTuple):
    """A table or view of the metastore with its metadata."""

    name: TableName
    row: Table
    file: str
    """The location of the metadata."""
    metadata: Json


class Catalog:
    """The objects that a caller sees. Nothing is cached but the content of metadata files."""

    def __init__(self, caller: Caller, files: MetadataFiles) -> None:
        self.caller: Final = caller
        self.client: Final = caller.client
        self.files: Final = files

    # --- namespaces ---

    def check_catalog(self, name: str) -> None:
        """Raises NotFound if there is no such catalog."""
        try:
            catalog = self.client.api.get_catalog(GetCatalogRequest(name or DEFAULT_CATALOG)).catalog
        except NoSuchObjectException:
            catalog = None
        if catalog is None:
            raise NotFound(f"the metastore has no catalog {name!r}: the prefix of a path is a catalog's name")

    def database(self, name: DatabaseName) -> Database:
        """A database. Raises NoSuchNamespace."""
        try:
            return self.client.api.get_database(name.field)
        except NoSuchObjectException:
            raise NoSuchNamespace(f"Namespace does not exist: {name}") from None

    def default_location(self, name: TableName) -> str:
        """The location of a new table that names none: below its database. Raises NoSuchNamespace."""
        above = self.database(name.database_name).locationUri
        if not above:
            raise BadRequest(f"the namespace {name.database_name} has no location: the request has to name one")
        return join(above, directory_name(name.table))

    # --- tables and views ---

    def listed(self, kind: TableType, request: Request) -> Json:
        """The identifiers of the tables or views in the namespace of a request, as the page that it names."""
        database = request.database
        self.database(database)
        page = page_of(self._names(kind, database), request)
        namespace = [database.database]
        identifiers = [{"namespace": namespace, "name": name} for name in page.names]
        return {"identifiers": identifiers, "next-page-token": page.token}

    def _names(self, kind: TableType, database: DatabaseName) -> list[str]:
        """The names of the tables or views in a database, sorted.

        What a remote table is, its own metastore says. Names that no request could name are left out: a remote may
        list any bytes.
        """
        remote = self.caller.remote_tables(database)
        names = only_names(kind.names(self.client, database))
        if not remote:
            return names
        shown = tuple(set(self.client.api.get_all_tables(database.field)).intersection(remote))
        return sorted({*names}.difference(remote).union(self._remote_names(kind, database, shown)))

    def _remote_names(self, kind: TableType, database: DatabaseName, names: tuple[str, ...]) -> list[str]:
        """Those of the remote tables that are of a kind; tables that the caller may not read are left out."""
        try:
            return [table.tableName or "" for table in kind.among(self.client, database, names)]
        except PermissionDenied:
            if len(names) == 1:
                return []
        except MetaException as error:
            if not is_of_remote(error) or not self.caller.partial_lists:
                raise
            if len(names) == 1:
                log.warning("a remote table is left out of the list of %s: %s", database, error)
                return []
        return [name for each in names for name in self._remote_names(kind, database, (each,))]

    def check_not_linked(self, name: TableName) -> None:
        """Raises Unsupported for a single remote table: its row here has no metadata that a change could expect."""
        if name.table in self.caller.remote_tables(name.database_name):
            raise Unsupported(f"{name} is a remote table: change it where it is, or its definition over Thrift")

    def row(self, name: TableName) -> Table | None:
        """A table or view of any kind; None if it does not exist."""
        try:
            return self.client.fresh_table(name)
        except NoSuchObjectException:
            return None

    def table_row(self, name: TableName) -> Table:
        """An Iceberg table. Raises NoSuchTable, also for a table of another kind."""
        row = self.row(name)
        if row is None or not is_table(row):
            hint = "" if row is None else ": the table or view of this name in the metastore is not an Iceberg table"
            raise NoSuchTable(f"Table does not exist: {name}{hint}")
        return row

    def view_row(self, name: TableName) -> Table:
        """An Iceberg view. Raises NoSuchView, also for a view of another kind."""
        row = self.row(name)
        if row is None or not is_iceberg_view(row):
            hint = "" if row is None else ": the table or view of this name in the metastore is not an Iceberg view"
            raise NoSuchView(f"View does not exist: {name}{hint}")
        return row

    def table(self, name: TableName, row: Table | None = None) -> Loaded:
        """An Iceberg table with its metadata; `row` is the table if it was read already. Raises NoSuchTable."""
        table_row = self.table_row(name) if row is None else row
        return self._loaded(name, table_row, read_table)

    def view(self, name: TableName) -> Loaded:
        """An Iceberg view with its metadata. Raises NoSuchView."""
        return self._loaded(name, self.view_row(name), read_view)

    def _loaded(self, name: TableName, row: Table, check: Check) -> Loaded:
        """The metadata that a table names. Raises Forbidden if the caller may not have its file read."""
        file = metadata_location(row)
        self.check_file(name, (row.sd and row.sd.location) or "", file)
        return Loaded(name, row, file, self.files.read(file, check))

    def vended(self, name: TableName, row: Table, metadata: Json, *, new: bool = False) -> list[Vended]:
        """Credentials of the caller for the files of a table, at most one.

        There are none if its metadata names another place than the metastore, whose location was checked.
        """
        location = _location(row, metadata)
        vended = None if location is None else self.caller.vend(name, location, new)
        return [] if vended is None else [vended]

    def signer(self, name: TableName, row: Table, metadata: Json, *, new: bool = False) -> TableSigner | None:
        """What signs requests of the caller for the files of a table; None where credentials would not be vended."""
        location = _location(row, metadata)
        return None if location is None else self.caller.signer(name, location, new)

    def check_file(self, name: TableName, location: str, file: str) -> None:
        """Raises Forbidden if a file may not be read or written for a table at a location."""
        refusal = self.caller.file_refusal(name, location, file)
        if refusal is not None:
            raise Forbidden(refusal)

    def drop(self, name: TableName) -> None:
        """Drops a table or view. Its files stay: `tables.py` removes those of a purged table."""
        self.client.drop_table(name, delete_data=False)

    # --- changes ---

    def locked(self, names: Iterable[TableName], operations: Iterable[str] = ()) -> AbstractContextManager[object]:
        """An exclusive lock on tables, as Iceberg's Hive catalog takes it. `operations` are the changes of rows.

        Raises LockFailed if others hold a lock for too long.
        """
        kinds = [getattr(DataOperationType, each) for each in sorted(operations)] or [DataOperationType.UNSET]
        components = [
            LockComponent(
                type=LockType.EXCLUSIVE,
                level=LockLevel.TABLE,
                dbname=name.database,
                tablename=name.table,
                operationType=kind,
                catName=name.catalog_field,
            )
            for name in sorted(set(names))
            for kind in kinds
        ]
        user = self.caller.user or "metastored"
        return Lock(self.client.api, components, LOCK_TIMEOUT, user, None, HEARTBEAT, LONGEST_WAIT)

    def alter(
        self, name: TableName, changed: Table, expected: str, *, committing: bool, unlocked: bool = False
    ) -> bool:
        """Replaces a table whose metadata is still at `expected`; False if it is not, and nothing was changed.

        `committing` uses the session to which the table may be entrusted. With `unlocked` nobody else may have a lock
        on the table, for callers without one: otherwise it raises Locked, and nothing was changed.
        """
        client = self.caller.committer if committing else self.client
        environment = conditional(expected) | ({UNLOCKED: "true"} if unlocked else {})
        try:
            client.alter(name, changed, environment=environment)
        except MetaException as error:
            if is_conflict(error):
                return False
            if IS_LOCKED in (error.message or ""):
                raise Locked from None
            raise
        return True


def _location(row: Table, metadata: Json) -> str | None:
    """The location of a table in S3; None if it is elsewhere, or if its metadata names another."""
    location = (row.sd and row.sd.location) or ""
    directory = s3_directory(location)
    return location if directory is not None and s3_directory(metadata["location"]) == directory else None


def conditional(expected: str) -> dict[str, str]:
    """The environment of an alter of a table whose metadata is at `expected`, as Iceberg's Hive catalog sends it."""
    return {EXPECTED_KEY: METADATA_LOCATION, EXPECTED_VALUE: expected, **KEEP_STATISTICS}


def is_conflict(error: MetastoreError) -> bool:
    """Whether an alter was refused because of its condition."""
    message = error.message or ""
    return OTHER_VALUE in message or OTHER_TABLE in message
