"""A raw table as Spark's users see it: schema, provider, buckets and statistics from Spark's parameters. Pure.

This is the opposite of what `create_table` of Spark's catalog does. Which schema counts depends on the table: that of
the parameters for a data source table or a view, and for a Hive serde table only while Hive's columns are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from metastored.model.spark.properties import (
    CREATE_VERSION,
    HIVE_PROVIDER,
    PARTITION_PROVIDER,
    PARTITIONS_IN_CATALOG,
    PROVIDER,
    SPARK_SQL_PREFIX,
    VIEW_SUB_TYPE,
    bucket_spec_from_properties,
    partition_columns_from_properties,
    schema_from_properties,
)
from metastored.model.spark.schemas import reordered, same_for_hive
from metastored.model.spark.statistics import stats_from_properties
from metastored.model.spark.types import StructType
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTableType

PATH: Final = "path"
"""The storage property that has the location of a data source table."""
BEFORE_VERSIONS: Final = "2.2 or prior"
"""The version of Spark that created a table without a version."""
_MADE_BY_HIVE: Final = frozenset({"transient_lastDdlTime"})
_STORAGE_MADE_BY_HIVE: Final = frozenset({"serialization.format"})


def restore_table_metadata(table: CatalogTable, debug: bool = False) -> CatalogTable:
    """The table without Spark's own properties, and with what they hold. With `debug`, the raw table itself.

    Raises SparkCatalogError for properties that contradict each other, and ConversionError for a broken schema.
    """
    if debug:
        return table
    if table.table_type is CatalogTableType.VIEW and table.properties.get(VIEW_SUB_TYPE) == "METRIC_VIEW":
        table = replace(table, table_type=CatalogTableType.METRIC_VIEW)
    provider = table.properties.get(PROVIDER)
    changes: dict[str, Any] = {}
    if provider is not None:
        changes = _as_data_source(table, provider)
    elif table.table_type.is_view:
        schema = schema_from_properties(table.properties)
        table = table if schema is None else replace(table, schema=schema)
    else:
        table = restore_hive_serde_table(table)
    properties = changes.pop("properties", table.properties)
    return replace(
        table,
        create_version=properties.get(CREATE_VERSION, BEFORE_VERSIONS),
        stats=stats_from_properties(properties, table.identifier.table) or table.stats,
        properties={key: value for key, value in properties.items() if not key.startswith(SPARK_SQL_PREFIX)},
        **changes,
    )


def restore_hive_serde_table(table: CatalogTable) -> CatalogTable:
    """A table that Hive reads by a serde. Without a schema of Spark's that agrees, the case of names is unknown."""
    table = replace(table, provider=HIVE_PROVIDER, tracks_partitions_in_catalog=True)
    schema = schema_from_properties(table.properties)
    if schema is None:
        return replace(table, schema_preserves_case=False)
    partition_columns = partition_columns_from_properties(table.properties)
    schema = reordered(schema, partition_columns)
    if not same_for_hive(schema, table.schema) and not option(table.storage.properties, "respectSparkSchema"):
        return replace(table, schema_preserves_case=False)
    return replace(
        table,
        schema=schema,
        partition_column_names=partition_columns,
        bucket_spec=bucket_spec_from_properties(table.properties),
    )


def restore_data_source_table(table: CatalogTable, provider: str) -> CatalogTable:
    """A table that Spark reads by a data source. Its location is in the storage property `path`."""
    return replace(table, **_as_data_source(table, provider))


def _as_data_source(table: CatalogTable, provider: str) -> dict[str, Any]:
    """The fields that Spark's properties of a data source table change."""
    partition_columns = partition_columns_from_properties(table.properties)
    visible = {
        key: value
        for key, value in table.storage.properties.items()
        if key.lower() != PATH and key not in _STORAGE_MADE_BY_HIVE
    }
    return {
        "provider": provider,
        "storage": replace(table.storage, location_uri=path_of(table.storage), properties=visible),
        "schema": reordered(schema_from_properties(table.properties) or StructType(), partition_columns),
        "partition_column_names": partition_columns,
        "bucket_spec": bucket_spec_from_properties(table.properties),
        "tracks_partitions_in_catalog": table.properties.get(PARTITION_PROVIDER) == PARTITIONS_IN_CATALOG,
        "properties": {key: value for key, value in table.properties.items() if key not in _MADE_BY_HIVE},
    }


def path_of(storage: CatalogStorage) -> str | None:
    """The storage property `path`, in any case of its name."""
    return next((value for key, value in storage.properties.items() if key.lower() == PATH), None)


def with_path(storage: CatalogStorage, path: str | None) -> CatalogStorage:
    """The storage with another `path`, or without one."""
    properties = {key: value for key, value in storage.properties.items() if key.lower() != PATH}
    return replace(storage, properties=properties if path is None else {**properties, PATH: path})


def option(properties: Mapping[str, str], name: str) -> bool:
    """Whether a storage property of Spark's SourceOptions is `true`; the case of its name does not matter."""
    return any(key.lower() == name.lower() and value.lower() == "true" for key, value in properties.items())
