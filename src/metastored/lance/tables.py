"""The operations on tables: declare, create, register, describe, list, rename, exists, deregister, drop."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from lance_namespace import (
    ConcurrentModificationError,
    CreateTableRequest,
    CreateTableResponse,
    DeclareTableRequest,
    DeclareTableResponse,
    DeregisterTableRequest,
    DeregisterTableResponse,
    DescribeTableRequest,
    DescribeTableResponse,
    DropTableRequest,
    DropTableResponse,
    InvalidInputError,
    ListTablesRequest,
    ListTablesResponse,
    PermissionDeniedError,
    RegisterTableRequest,
    RegisterTableResponse,
    RenameTableRequest,
    RenameTableResponse,
    TableAlreadyExistsError,
    TableExistsRequest,
    TableExistsResponse,
    TableNotFoundError,
    TableVersionNotFoundError,
)
from lance_namespace_urllib3_client.models.table_basic_stats import TableBasicStats

from metastored.errors import Error, InvalidOperationException, MetaException, TableAlreadyExists
from metastored.hive.locations import join
from metastored.hive.names import directory_name
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.lance.arrow import read_rows, schema_of, texts_of
from metastored.lance.commits import ATTEMPTS
from metastored.lance.conditions import conditional, is_conflict
from metastored.lance.connection import LANCE_TABLES
from metastored.lance.datasets import Datasets
from metastored.lance.definition import (
    MANAGED_BY,
    MANIFEST,
    SCHEMA,
    VERSION,
    ManagedBy,
    is_lance,
    lance_table,
    managed_by_of,
    version_of,
)
from metastored.lance.files import has_data, remove_dataset, remove_empty_directory
from metastored.lance.locations import default_location, lance_location, stored_location
from metastored.lance.requests import mode_of, operation, page_of
from metastored.model.names import DatabaseName, TableName
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

if TYPE_CHECKING:
    import lance

log = logging.getLogger("metastored.lance")

CREATE: Final = ("create", "existok", "overwrite")
REGISTER: Final = ("create", "overwrite")
_OWN: Final = (MANIFEST, SCHEMA)
"""Parameters that only the namespace writes."""


class TableOperations(Datasets):
    """Tables of the metastore, with and without data."""

    @operation(ListTablesRequest)
    def list_tables(self, request: ListTablesRequest) -> ListTablesResponse:
        """The Lance tables of a database, sorted; with `include_declared=false` only those with data."""
        database = self.levels.database(request.id)
        self.database(database)
        page, token = page_of(
            self._names(database, request.include_declared is not False), request.page_token, request.limit
        )
        return ListTablesResponse(tables=page, page_token=token)

    @operation(ListTablesRequest)
    def list_all_tables(self, request: ListTablesRequest) -> ListTablesResponse:
        """The Lance tables of all databases, each as its identifier with `$` between the parts."""
        self.check_catalogs()
        catalogs = sorted(self.client.api.get_catalogs().names or ()) if self.levels.catalogs else [""]
        names = [
            "$".join(self.levels.id_of(database.table(table)))
            for catalog in catalogs
            for database in (DatabaseName(catalog, name) for name in self.databases(catalog))
            for table in self._names(database, request.include_declared is not False)
        ]
        page, token = page_of(sorted(names), request.page_token, request.limit)
        return ListTablesResponse(tables=page, page_token=token)

    @operation(DescribeTableRequest)
    def describe_table(self, request: DescribeTableRequest) -> DescribeTableResponse:
        """The location and the properties of a table; with details also its schema, version and statistics."""
        self.no_branches(request)
        name, table = self.table(request.id)
        id = self.levels.id_of(name)
        location, managed = self.location(table), self.is_managed(table)
        response = DescribeTableResponse(
            table=name.table,
            namespace=id[:-1],
            location=location,
            table_uri=location if request.with_table_uri else None,
            version=version_of(table) if managed else None,
            properties=dict(table.parameters or {}),
            storage_options=dict(self.properties.storage_options) or None,
            managed_versioning=managed or None,
        )
        wanted = request.tag if request.tag else request.version
        declared = None
        if request.check_declared or request.load_detailed_metadata or wanted is not None:
            declared = self.is_declared(name, table)
        if request.check_declared:
            response.is_only_declared = declared
        if wanted is not None and declared:
            raise TableVersionNotFoundError(f"table {name} is declared and has no versions yet")
        if declared or (wanted is None and not request.load_detailed_metadata):
            return response
        dataset = self.dataset(id, table, wanted)
        response.version = dataset.version
        if request.load_detailed_metadata:
            self._fill_columns(name, table, dataset)
            stats = dataset.stats.dataset_stats()
            response.var_schema = schema_of(dataset.schema)
            response.metadata = texts_of(dataset.schema.metadata)
            response.stats = TableBasicStats(
                num_deleted_rows=stats["num_deleted_rows"], num_fragments=stats["num_fragments"]
            )
        return response

    @operation(TableExistsRequest)
    def table_exists(self, request: TableExistsRequest) -> TableExistsResponse:
        """Raises TableNotFoundError if there is no such Lance table, TableVersionNotFoundError if not the version."""
        try:
            name, table = self.table(request.id)
        except InvalidInputError:
            self.levels.table(request.id)  # Raises if the identifier is the fault.
            raise TableNotFoundError(f"there is no Lance table {self.levels.table(request.id)}") from None
        if request.version is not None and not self.has_version(name, table, request.version):
            raise TableVersionNotFoundError(f"table {name} has no version {request.version}")
        return TableExistsResponse()

    @operation(DeclareTableRequest)
    def declare_table(self, request: DeclareTableRequest) -> DeclareTableResponse:
        """Creates a table without data. Of an `impl` table the metastore keeps the versions from the first on."""
        name = self.levels.table(request.id)
        table = self._declared(name, request.location, request.properties or {})
        location = self.location(table)
        return DeclareTableResponse(
            location=location,
            properties=dict(table.parameters or {}),
            storage_options=dict(self.properties.storage_options) or None,
            managed_versioning=self.is_managed(table) or None,
        )

    @operation(CreateTableRequest)
    def create_table(self, request: CreateTableRequest, request_data: bytes) -> CreateTableResponse:
        """Creates a table with the rows of an Arrow IPC stream. If the rows cannot be written, there is no table."""
        mode = mode_of(request.mode, CREATE, "mode")
        name = self.levels.table(request.id)
        rows = read_rows(request_data)
        existing = None if mode == "create" else self.any_table(name)
        if existing is not None and not is_lance(existing):
            raise InvalidInputError(f"table {name} is not a Lance table: it is not overwritten")
        id = self.levels.id_of(name)
        if existing is not None and mode == "existok":
            return self._response(existing, None)
        if existing is not None:
            dataset = self.written(id, existing, rows, "overwrite", request.storage_options)
            self.recorded(name, existing, dataset)
            return self._response(existing, dataset.version)
        table = self._declared(name, None, request.properties or {}, empty=True)
        try:
            dataset = self.written(id, table, rows, "create", request.storage_options)
        except BaseException:
            if self.is_declared(name, table):  # Otherwise the rows may have been written, and the reply was lost.
                self.client.drop_table(name, if_exists=True, delete_data=False)
            raise
        self.recorded(name, table, dataset)
        return self._response(table, dataset.version)

    @operation(RegisterTableRequest)
    def register_table(self, request: RegisterTableRequest) -> RegisterTableResponse:
        """Makes an existing dataset a table; `overwrite` lets an existing table point to it."""
        import lance

        mode = mode_of(request.mode, REGISTER, "mode")
        name = self.levels.table(request.id)
        properties = request.properties or {}
        kind = self._kind(properties)
        location = stored_location(self._below_root(request.location))
        place = lance_location(location)
        self.check_place(name, place)
        if not has_data(place, self.properties.storage_options):
            raise InvalidInputError(f"there is no Lance dataset at {request.location}")
        dataset = lance.dataset(place, storage_options=dict(self.properties.storage_options) or None)
        table = lance_table(
            name,
            location,
            kind,
            _without(properties),
            version=dataset.version,
            schema=dataset.schema,
            owner=self.owner,
        )
        existing = self.any_table(name) if mode == "overwrite" else None
        if existing is not None and not is_lance(existing):
            raise InvalidInputError(f"table {name} is not a Lance table: it is not overwritten")
        self._check_place(name, kind)
        if existing is not None:
            self.client.alter(name, table, environment=KEEP_STATISTICS)
        else:
            self._create(name, table, kind)
        return RegisterTableResponse(location=place, properties=dict(table.parameters or {}))

    @operation(RenameTableRequest)
    def rename_table(self, request: RenameTableRequest) -> RenameTableResponse:
        """Renames a table, also into another database of the same catalog. Its data stays where it is."""
        name, table = self.table(request.id)
        above = request.new_namespace_id or self.levels.id_of(name)[:-1]
        target = self.levels.table([*above, request.new_table_name])
        if target.catalog != name.catalog:
            raise InvalidInputError(f"{name} cannot be renamed to {target}: a table stays in its catalog")
        if target == name:
            return RenameTableResponse()
        self.database(target.database_name)
        if self.any_table(target) is not None:
            raise TableAlreadyExistsError(f"table {target} already exists")
        for _ in range(ATTEMPTS):
            if self._renamed(name, table, target):
                return RenameTableResponse()
            _, table = self.table(request.id)
        raise ConcurrentModificationError(f"table {name} could not be renamed: other writers commit all the time")

    @operation(DeregisterTableRequest)
    def deregister_table(self, request: DeregisterTableRequest) -> DeregisterTableResponse:
        """Removes a table from the metastore and keeps its data."""
        name, table = self.table(request.id)
        self.client.drop_table(name, delete_data=False)
        return DeregisterTableResponse(
            id=self.levels.id_of(name), location=self.location(table), properties=dict(table.parameters or {})
        )

    @operation(DropTableRequest)
    def drop_table(self, request: DropTableRequest) -> DropTableResponse:
        """Removes a table from the metastore, then its data: a metastore keeps the data of external tables."""
        name, table = self.table(request.id)
        location = self.place(name, table, removes=True)
        self.client.drop_table(name)
        remove_dataset(location, self.properties.storage_options)
        return DropTableResponse(id=self.levels.id_of(name), location=location, properties=dict(table.parameters or {}))

    # How

    def _renamed(self, name: TableName, table: Table, target: TableName) -> bool:
        """Renames a table; False if a commit came in between, whose version an alter would set back."""

        def renamed(now: Table) -> Table:
            return replace(now, tableName=target.table, dbName=target.database)

        try:
            if self.is_managed(table):
                self.client.alter(name, renamed(table), environment=conditional(str(version_of(table))))
            else:
                self.client.change_table(name, renamed, environment=KEEP_STATISTICS)
        except MetaException as error:
            if not is_conflict(error):
                raise
            return False
        except InvalidOperationException as error:
            if "already exists" in str(error):
                raise TableAlreadyExistsError(f"table {target} already exists") from None
            raise
        return True

    def _fill_columns(self, name: TableName, table: Table, dataset: lance.LanceDataset) -> None:
        """Stores the columns of a `storage` table that pylance has written since it was declared."""
        if not (table.sd and table.sd.cols):
            try:
                self.recorded(name, table, dataset)
            except Error as error:
                log.info("the columns of %s are not stored in the metastore: %s", name, error)

    def _names(self, database: DatabaseName, include_declared: bool) -> list[str]:
        if include_declared:
            return LANCE_TABLES.names(self.client, database)
        tables = LANCE_TABLES.tables(self.client, database)
        named = ((table.tableName or "", table) for table in tables)
        return sorted(name for name, table in named if self._may_have_data(database.table(name), table))

    def _may_have_data(self, name: TableName, table: Table) -> bool:
        """Whether a table has data, or its files may not be opened: one such table must not hide all others."""
        try:
            return not self.is_declared(name, table)
        except PermissionDeniedError:
            return True

    def _declared(
        self, name: TableName, location: str | None, properties: Mapping[str, str], *, empty: bool = False
    ) -> Table:
        """Creates a table without data. Raises TableAlreadyExistsError, NamespaceNotFoundError.

        With `empty` it is an error that there is a dataset at its location, such as that of a deregistered table.
        """
        kind = self._kind(properties)
        if location is not None:
            stored = stored_location(self._below_root(location))
        elif self.properties.root is not None:
            stored = default_location(self.properties.root, name.catalog, name.database, name.table)
        else:
            above = self.database(name.database_name).locationUri
            if not above:
                raise InvalidInputError(f"the database of {name} has no location, and the namespace has no root")
            stored = join(above, directory_name(name.table))
        table = lance_table(name, stored, kind, _without(properties), owner=self.owner)
        self._check_place(name, kind)
        if empty and self.any_table(name) is None and not self.is_declared(name, table):
            raise TableAlreadyExistsError(
                f"there is a Lance dataset at {self.location(table)} already: register it as a table, or remove it"
            )
        self._create(name, table, kind)
        return table

    def _create(self, name: TableName, table: Table, kind: ManagedBy) -> None:
        """Creates a table. There is none if the server cannot keep the versions of an `impl` table."""
        try:
            self.client.create_table(table)
        except TableAlreadyExists:
            raise TableAlreadyExistsError(f"table {name} already exists") from None
        if kind is ManagedBy.IMPL:
            try:
                self.checked.check_new(self.client, name, table)
            except BaseException:
                with suppress(Error, OSError, PermissionDeniedError):
                    self.client.drop_table(name, if_exists=True, delete_data=False)
                    remove_empty_directory(self.place(name, table, removes=True))  # Hive made it, and keeps it.
                raise

    def _check_place(self, name: TableName, kind: ManagedBy) -> None:
        """Checks that there is the database of an `impl` table."""
        self.check_catalogs()
        if kind is ManagedBy.IMPL:
            self.database(name.database_name)

    def _kind(self, properties: Mapping[str, str]) -> ManagedBy:
        version = properties.get(VERSION)
        if version is not None and not (version.isascii() and version.isdigit()):
            raise InvalidInputError(f"the property {VERSION} is {version!r}: it is a number")
        if MANAGED_BY not in properties:
            return self.properties.managed_by
        return managed_by_of(properties[MANAGED_BY], f"the property {MANAGED_BY}")

    def _below_root(self, location: str) -> str:
        """A relative location is below the root of the namespace."""
        if location and self.properties.root is not None and not location.startswith("/") and ":" not in location:
            return join(self.properties.root, location)
        return location

    def _response(self, table: Table, version: int | None) -> CreateTableResponse:
        return CreateTableResponse(
            location=self.location(table),
            version=version,
            storage_options=dict(self.properties.storage_options) or None,
            properties=dict(table.parameters or {}),
        )


def _without(properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if key not in _OWN}
