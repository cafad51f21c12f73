"""Changes of tables in Spark's external catalog: properties and storage, schemas, statistics."""

from __future__ import annotations

from dataclasses import replace

from metastored.errors import MetastoreError, SparkCatalogError
from metastored.hive.locations import canonical
from metastored.model.spark.converting import to_hive_column
from metastored.model.spark.creating import view_schema
from metastored.model.spark.properties import (
    CREATE_VERSION,
    DATASOURCE_PREFIX,
    HIVE_PROVIDER,
    PARTITION_PROVIDER,
    PARTITIONS_IN_CATALOG,
    PARTITIONS_IN_FILE_SYSTEM,
    PROVIDER,
    SCHEMA,
    STATISTICS_PREFIX,
    is_data_source_table,
    is_large_property,
    table_meta_to_table_props,
    verify_table_properties,
)
from metastored.model.spark.restoring import path_of
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA, without_collations
from metastored.model.spark.statistics import stats_to_properties
from metastored.model.spark.types import StructType
from metastored.model.spark.values import CatalogStatistics, CatalogStorage, CatalogTable
from metastored.spark.connection import LOG, client_errors
from metastored.spark.tables import Tables
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.structs import replace as with_fields


class Alterations(Tables):
    """The methods that change tables; each has the name of Spark's in Python's way."""

    def alter_table(self, definition: CatalogTable) -> None:
        """Spark's alterTable: replaces the properties, the storage and the owner of a table.

        The schema, the partition columns, the buckets and the statistics stay as they are; a view is replaced with
        its schema. Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, and for properties that are reserved.
        """
        with client_errors():
            db, name = definition.database, definition.identifier.table
            raw = self.get_raw_table(db, name)
            verify_table_properties(definition)
            if definition.table_type.is_view:
                self._alter_view(db, name, definition)
            else:
                self._alter(db, name, self._altered(raw, definition))

    def _alter_view(self, db: str, name: str, view: CatalogTable) -> None:
        view = replace(view, create_version=view.create_version or self.settings.version)
        stored = replace(self._with_properties(view), schema=view_schema(view.schema))
        try:
            self._alter(db, name, stored)
        except MetastoreError:
            self._alter(db, name, replace(stored, schema=EMPTY_DATA_SCHEMA))

    def _altered(self, raw: CatalogTable, definition: CatalogTable) -> CatalogTable:
        kept = (DATASOURCE_PREFIX, STATISTICS_PREFIX, CREATE_VERSION)
        properties = {key: value for key, value in raw.properties.items() if key.startswith(kept)}
        properties |= definition.properties
        in_catalog = definition.tracks_partitions_in_catalog
        properties[PARTITION_PROVIDER] = PARTITIONS_IN_CATALOG if in_catalog else PARTITIONS_IN_FILE_SYSTEM
        if definition.provider is not None and is_data_source_table(definition):
            properties[PROVIDER] = definition.provider
        schema, partition_columns = raw.schema, raw.partition_column_names
        if schema == EMPTY_DATA_SCHEMA:
            # Partition columns of types that Hive lacks are not among the raw ones.
            restored = self._restored(raw)
            schema = StructType((*schema.fields, *restored.partition_schema.fields))
            partition_columns = restored.partition_column_names
        return replace(
            definition,
            storage=_altered_storage(raw, definition),
            schema=schema,
            partition_column_names=partition_columns,
            bucket_spec=raw.bucket_spec,
            properties=properties,
            owner=definition.owner or raw.owner,
        )

    def alter_table_data_schema(self, db: str, table: str, new_data_schema: StructType) -> None:
        """Spark's alterTableDataSchema: replaces the data columns. Raises SparkCatalogError."""
        with client_errors():
            old = self.get_table(db, table)
            schema = StructType((*new_data_schema.fields, *old.partition_schema.fields))
            self._alter_schema(db, table, old, schema)

    def alter_table_schema(self, db: str, table: str, new_schema: StructType) -> None:
        """Spark's alterTableSchema: replaces all columns; those of the partitions must be the last ones.

        Raises SparkCatalogError: TABLE_OR_VIEW_NOT_FOUND, INTERNAL_ERROR.
        """
        with client_errors():
            old = self.get_table(db, table)
            count = len(old.partition_column_names)
            if new_schema.names[len(new_schema) - count :] != old.partition_column_names:
                raise SparkCatalogError(
                    "INTERNAL_ERROR",
                    f"the partition columns {list(old.partition_column_names)} must be the last ones of the new "
                    f"schema {list(new_schema.names)}",
                )
            self._alter_schema(db, table, old, new_schema)

    def _alter_schema(self, db: str, table: str, old: CatalogTable, schema: StructType) -> None:
        properties = table_meta_to_table_props(old, schema, self.settings.threshold)
        names = set(old.partition_column_names)
        columns = without_collations(StructType(tuple(each for each in schema if each.name not in names)))
        try:
            self._alter_columns(db, table, columns, properties)
        except MetastoreError as error:
            if not is_data_source_table(old):
                raise
            LOG.warning(
                "Could not alter schema of table %s in a Hive compatible way. Updating Hive metastore in Spark SQL "
                "specific format: %s",
                old.identifier.quoted_string,
                error,
            )
            self._alter_columns(db, table, EMPTY_DATA_SCHEMA, properties)

    def _alter_columns(self, db: str, table: str, columns: StructType, properties: dict[str, str]) -> None:
        def changed(struct: Table) -> Table:
            old = {key: value for key, value in (struct.parameters or {}).items() if not is_large_property(SCHEMA, key)}
            sd = with_fields(struct.sd or StorageDescriptor(), cols=tuple(to_hive_column(each) for each in columns))
            return with_fields(struct, sd=sd, parameters={**old, **properties})

        self._change_struct(db, table, changed)

    def alter_table_stats(self, db: str, table: str, stats: CatalogStatistics | None) -> None:
        """Spark's alterTableStats: replaces Spark's statistics; None removes them. Raises SparkCatalogError."""
        with client_errors():
            new = {} if stats is None else stats_to_properties(stats)

            def changed(struct: Table) -> Table:
                old = struct.parameters or {}
                kept = {key: value for key, value in old.items() if not key.startswith(STATISTICS_PREFIX)}
                return with_fields(struct, parameters={**kept, **new})

            self._change_struct(db, table, changed)


def _altered_storage(raw: CatalogTable, definition: CatalogTable) -> CatalogStorage:
    """The storage as the metastore gets it; for a data source table, with the location as `path`."""
    storage = definition.storage
    if storage.location_uri is not None:
        storage = replace(storage, location_uri=canonical(storage.location_uri))
    if definition.provider is None or definition.provider.lower() == HIVE_PROVIDER:
        return storage
    location = storage.location_uri
    if location is not None:
        storage = replace(storage, properties={**storage.properties, "path": location})
    if path_of(raw.storage) == location:
        # Not changed: what the metastore has may be a placeholder.
        storage = replace(storage, location_uri=raw.storage.location_uri)
    return storage
