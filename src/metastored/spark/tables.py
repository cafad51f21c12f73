"""Tables and views in Spark's external catalog: create, read, list, rename and drop them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from metastored.client._sync.client import Client
from metastored.collection import collection_paused
from metastored.errors import (
    AlreadyExistsException,
    MetastoreError,
    NoSuchObjectException,
    NotSupported,
    SparkCatalogError,
    UnknownDBException,
)
from metastored.hive.locations import canonical
from metastored.model import kinds
from metastored.model.names import database_name
from metastored.model.spark.converting import check_hive_table, from_hive_table, to_hive_table
from metastored.model.spark.creating import (
    PLACEHOLDER,
    data_source_table,
    default_table_path,
    hive_compatible_form,
    incompatible_types,
    spark_specific_form,
    view_schema,
)
from metastored.model.spark.properties import (
    PROVIDER,
    SCHEMA,
    is_data_source_table,
    read_large_property,
    table_meta_to_table_props,
    verify_table_properties,
)
from metastored.model.spark.restoring import path_of, restore_table_metadata, with_path
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA, without_collations
from metastored.model.spark.values import CatalogTable, CatalogTableType, TableIdentifier
from metastored.spark import directories
from metastored.spark.connection import LOG, Connected, client_errors, named, no_such_database, no_such_table
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace as with_fields


class Tables(Connected):
    """The methods for tables; each has the name of Spark's in Python's way."""

    # --- create --------------------------------------------------------------------------------------------

    def create_table(self, definition: CatalogTable, ignore_if_exists: bool = False) -> None:
        """Spark's createTable: a data source table, a Hive serde table or a view, by the provider and the type.

        A managed table without a location gets `<location of the database>/<name>`. Raises SparkCatalogError:
        SCHEMA_NOT_FOUND, TABLE_OR_VIEW_ALREADY_EXISTS, and for properties that are reserved.
        """
        with client_errors():
            db, name = definition.database, definition.identifier.table
            self._require_database(db)
            verify_table_properties(definition)
            if self.table_exists(db, name):
                if ignore_if_exists:
                    return
                raise _exists(db, name)
            definition = replace(definition, create_version=definition.create_version or self.settings.version)
            location = definition.storage.location_uri
            if location is not None:
                location = canonical(location)
            elif definition.table_type is CatalogTableType.MANAGED:
                location = self._default_path(db, name)
            located = definition.with_storage(location_uri=location)
            if is_data_source_table(definition):
                self.create_data_source_table(data_source_table(located, self.settings.threshold), ignore_if_exists)
            elif definition.table_type.is_view:
                self._create_view(located, ignore_if_exists)
            else:
                self._create(self._with_properties(located), ignore_if_exists)

    def create_data_source_table(self, table: CatalogTable, ignore_if_exists: bool = False) -> None:
        """Spark's createDataSourceTable: stores a table so that Hive can read it, else so that only Spark can.

        `table` has Spark's properties already (`model.spark.creating.data_source_table`).
        """
        name = table.identifier.quoted_string
        compatible = hive_compatible_form(table)
        if compatible is None:
            types = incompatible_types(table)
            LOG.warning(
                "%sPersisting data source table %s into Hive metastore in Spark SQL specific format, which is NOT "
                "compatible with Hive.",
                f"Hive incompatible types found: {', '.join(types)}. " if types else "",
                name,
            )
            self.save_table_into_hive(spark_specific_form(table), ignore_if_exists)
            return
        try:
            self.save_table_into_hive(compatible, ignore_if_exists)
        except AlreadyExistsException:
            raise
        except MetastoreError as error:
            LOG.warning(
                "Could not persist %s in a Hive compatible way. Persisting it into Hive metastore in Spark SQL "
                "specific format: %s",
                name,
                error,
            )
            self.save_table_into_hive(spark_specific_form(table), ignore_if_exists)

    def save_table_into_hive(self, table: CatalogTable, ignore_if_exists: bool = False) -> None:
        """Spark's saveTableIntoHive: an external table without a location gets one that is removed again."""
        if table.table_type is not CatalogTableType.EXTERNAL or table.storage.location_uri is not None:
            self._create(table, ignore_if_exists)
            return
        placeholder = self._default_path(table.database, table.identifier.table + PLACEHOLDER)
        try:
            self._create(table.with_storage(location_uri=placeholder), ignore_if_exists)
        finally:
            directories.remove(placeholder)

    def _create_view(self, view: CatalogTable, ignore_if_exists: bool) -> None:
        stored = replace(self._with_properties(view), schema=view_schema(view.schema))
        try:
            self._create(stored, ignore_if_exists)
        except AlreadyExistsException:
            raise
        except MetastoreError:
            if stored.schema == EMPTY_DATA_SCHEMA:
                raise
            # Spark reads the schema in the properties: that of Hive may be anything.
            self._create(replace(stored, schema=EMPTY_DATA_SCHEMA), ignore_if_exists)

    def _with_properties(self, table: CatalogTable) -> CatalogTable:
        properties = {**table.properties, **table_meta_to_table_props(table, threshold=self.settings.threshold)}
        return replace(table, schema=without_collations(table.schema), properties=properties)

    def _create(self, table: CatalogTable, ignore_if_exists: bool) -> None:
        struct = to_hive_table(table, self._user)
        check_hive_table(struct)
        try:
            self.client.create_table(struct, ignore_if_exists)
        except AlreadyExistsException as error:
            raise _exists(table.database, table.identifier.table) from error

    def _default_path(self, db: str, table: str) -> str:
        return default_table_path(self._database(db).locationUri or "", table)

    # --- read ----------------------------------------------------------------------------------------------

    def get_raw_table(self, db: str, table: str) -> CatalogTable:
        """Spark's getRawTable: a table as it is stored, with Spark's own properties. Raises SparkCatalogError."""
        with client_errors():
            return from_hive_table(self._table(db, table))

    def get_table(self, db: str, table: str) -> CatalogTable:
        """Spark's getTable: a table as Spark's users see it. Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND."""
        with client_errors():
            return self._read(self._table(db, table))

    def get_tables_by_name(self, db: str, tables: Sequence[str]) -> list[CatalogTable]:
        """Spark's getTablesByName: those of the tables that exist."""
        if not tables:
            return []
        with client_errors():
            structs = self._tables(self.client.with_unread_columns(), db, tables)
            with collection_paused():
                return [self._read(each) for each in structs]

    def table_exists(self, db: str, table: str) -> bool:
        """Spark's tableExists."""
        with client_errors():
            try:
                self._table(db, table)
            except SparkCatalogError:
                return False
        return True

    def list_tables(self, db: str, pattern: str = "*") -> list[str]:
        """Spark's listTables: tables and views. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        with client_errors():
            self._require_database(db)
            return list(self.client.tables(db, pattern))

    def list_views(self, db: str, pattern: str = "*") -> list[str]:
        """Spark's listViews. Raises SparkCatalogError: SCHEMA_NOT_FOUND."""
        with client_errors():
            self._require_database(db)
            try:
                return list(self.client.api.get_tables_by_type(database_name(db).field, pattern, kinds.VIEW))
            except NotSupported:  # Hive before 2.3.
                names = self.client.tables(db, pattern)
                tables = self._tables(self.client, db, names)
                return [each.tableName or "" for each in tables if each.tableType == kinds.VIEW]

    def _tables(self, client: Client, db: str, names: Sequence[str]) -> Sequence[Table]:
        try:
            return client.tables_by_name(db, tuple(names))
        except UnknownDBException as error:
            raise no_such_database(db) from error
        except NoSuchObjectException:
            # Hive 4 may fail if one table is missing.
            self._require_database(db)
            return [self._table(db, each) for each in names if self.table_exists(db, each)]

    def _read(self, struct: Table) -> CatalogTable:
        """A table as Spark's users see it. Raises SparkCatalogError."""
        in_parameters = PROVIDER in (struct.parameters or {}) and not self.settings.debug
        return self._restored(from_hive_table(struct, with_columns=not in_parameters))

    def _restored(self, raw: CatalogTable) -> CatalogTable:
        table = restore_table_metadata(raw, self.settings.debug)
        if not table.schema_preserves_case and read_large_property(raw.properties, SCHEMA) is not None:
            LOG.warning(
                "The table schema of %s given by Hive metastore is different from the schema when this table was "
                "created by Spark SQL. The schema from Hive metastore, which is not case preserving, is used.",
                raw.qualified_name,
            )
        return table

    # --- rename, drop --------------------------------------------------------------------------------------

    def rename_table(self, db: str, old_name: str, new_name: str) -> None:
        """Spark's renameTable: the metastore moves the directory of a managed table.

        Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, TABLE_OR_VIEW_ALREADY_EXISTS.
        """
        with client_errors():
            self._table(db, old_name)
            if self.table_exists(db, new_name):
                raise _exists(db, new_name)

            def renamed(struct: Table) -> Table:
                raw = from_hive_table(struct)
                storage = raw.storage
                if raw.table_type is CatalogTableType.MANAGED and path_of(storage) is not None:
                    storage = with_path(storage, self._default_path(db, new_name))
                return self._struct(replace(raw, identifier=TableIdentifier(new_name, db), storage=storage))

            self._change_struct(db, old_name, renamed)

    def drop_table(self, db: str, table: str, ignore_if_not_exists: bool = False, purge: bool = False) -> None:
        """Spark's dropTable. Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND."""
        with client_errors():
            try:
                self.client.drop_table(named(db, table), purge=purge)
            except (NoSuchObjectException, UnknownDBException) as error:
                if not ignore_if_not_exists:
                    raise no_such_table(db, table) from error

    def _alter(self, db: str, name: str, table: CatalogTable) -> None:
        """Replaces a table."""
        self._alter_struct(db, name, self._struct(table))

    def _struct(self, table: CatalogTable) -> Table:
        """The struct of a table. Hive's own statistics, which Spark hides, are put back; values of the user win."""
        properties = {**table.ignored_properties, **table.properties}
        return to_hive_table(replace(table, properties=properties), self._user)

    def _change_struct(self, db: str, name: str, change: Callable[[Table], Table]) -> None:
        """Changes a table, and keeps what others change meanwhile: see `Client.change_table`."""

        def changed(table: Table) -> Table:
            table = change(table)
            check_hive_table(table)
            kept = {key: value for key, value in (table.parameters or {}).items() if key != "transient_lastDdlTime"}
            return with_fields(table, parameters=kept)

        self._table(db, name)  # Raises Spark's error if it does not exist.
        self.client.change_table(named(db, name), changed)
        self.client.forget(db, name)

    def _alter_struct(self, db: str, name: str, table: Table) -> None:
        parameters = {key: value for key, value in (table.parameters or {}).items() if key != "transient_lastDdlTime"}
        check_hive_table(table)
        self.client.alter(named(db, name), with_fields(table, parameters=parameters))
        self.client.forget(db, name)


def _exists(db: str, table: str) -> SparkCatalogError:
    return SparkCatalogError("TABLE_OR_VIEW_ALREADY_EXISTS", f"the table or view {db}.{table} exists already")
