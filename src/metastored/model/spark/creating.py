"""The two forms in which Spark stores a data source table: one that Hive can read too, and one that only Spark can.

Spark takes the first form if Hive has a serde for the provider and all types. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from metastored.errors import SparkCatalogError
from metastored.hive.locations import join
from metastored.model.spark.converting import serde_of_source
from metastored.model.spark.properties import (
    PARTITION_PROVIDER,
    PARTITIONS_IN_CATALOG,
    PROVIDER,
    THRESHOLD,
    table_meta_to_table_props,
)
from metastored.model.spark.restoring import option
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA, is_hive_compatible, without_collations
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.types import StructType
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTableType

PLACEHOLDER: Final = "-__PLACEHOLDER__"
"""The end of the location that Hive gets for an external table that only Spark can read."""


def default_table_path(database_location: str, table: str) -> str:
    """Where Spark puts a managed table without a location: in its database's, also if the warehouse is another.

    Raises LocationError if the database's location is none.
    """
    return join(database_location, table)


def data_source_table(table: CatalogTable, threshold: int = THRESHOLD) -> CatalogTable:
    """A table with Spark's parameters, and the schema for Hive. Its provider must be known."""
    properties = {**table.properties, **table_meta_to_table_props(table, threshold=threshold)}
    properties[PROVIDER] = table.provider or ""
    if table.tracks_partitions_in_catalog:
        properties[PARTITION_PROVIDER] = PARTITIONS_IN_CATALOG
    return replace(table, schema=without_collations(table.schema), properties=properties)


def hive_compatible_form(table: CatalogTable) -> CatalogTable | None:
    """The table with Hive's serde; None if Hive cannot read it, or if the option `skipHiveMetadata` is set.

    Raises SparkCatalogError for an external table without a location.
    """
    serde = serde_of_source(table.provider or "")
    if serde is None or incompatible_types(table) or option(table.storage.properties, "skipHiveMetadata"):
        return None
    location = table.storage.location_uri
    if table.table_type is CatalogTableType.EXTERNAL and location is None:
        raise SparkCatalogError(
            "INTERNAL_ERROR", "External file-based data source table must have a `path` entry in storage properties."
        )
    return replace(
        table,
        storage=replace(
            _with_location_as_path(table.storage),
            # The metastore chooses the location of a managed table.
            location_uri=location if table.table_type is CatalogTableType.EXTERNAL else None,
            input_format=serde.input,
            output_format=serde.output,
            serde=serde.serde,
        ),
    )


def spark_specific_form(table: CatalogTable) -> CatalogTable:
    """The table with one column that stands for all data columns; its location is only in the property `path`.

    Raises SparkCatalogError if a partition column has the name of that column.
    """
    reserved = EMPTY_DATA_SCHEMA.fields[0].name
    if reserved in table.partition_column_names:
        raise SparkCatalogError(
            "CONFLICTING_PARTITION_COLUMN_NAME_WITH_RESERVED",
            f"the partition column {reserved!r} of {table.qualified_name} has a name that is reserved in tables "
            "that Hive cannot read",
        )
    return replace(
        table,
        storage=replace(_with_location_as_path(table.storage), location_uri=None),
        schema=StructType((*EMPTY_DATA_SCHEMA.fields, *table.partition_schema.fields)),
        bucket_spec=None,
    )


def incompatible_types(table: CatalogTable) -> list[str]:
    """The types of a table's columns that Hive does not have."""
    return [catalog_string(each.data_type) for each in table.schema if not is_hive_compatible(each.data_type)]


def view_schema(schema: StructType) -> StructType:
    """The schema that Hive gets for a view: nothing but Spark needs to read it."""
    plain = without_collations(schema)
    return plain if all(is_hive_compatible(each.data_type) for each in plain) else EMPTY_DATA_SCHEMA


def _with_location_as_path(storage: CatalogStorage) -> CatalogStorage:
    if storage.location_uri is None:
        return storage
    return replace(storage, properties={**storage.properties, "path": storage.location_uri})
