"""A table of Hive's that Spark wrote, as Spark reads it: for readers of metastores who may meet any table. Pure.

Spark's own catalog refuses tables that it cannot read (`converting`, `restoring`). These readers take Hive's fields
then, and they also read tables with columns of types that Spark lacks.
"""

from __future__ import annotations

from collections.abc import Mapping

from metastored.errors import ConversionError, SparkCatalogError
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model import kinds
from metastored.model.spark.converting import INCOMPATIBLE_PARTITION_TYPE, from_hive_table
from metastored.model.spark.hive_types import to_spark_type
from metastored.model.spark.properties import PROVIDER, SCHEMA
from metastored.model.spark.restoring import restore_table_metadata
from metastored.model.spark.schemas import EMPTY_DATA_SCHEMA
from metastored.model.spark.type_strings import catalog_string, parse_data_type
from metastored.model.spark.types import NULL
from metastored.model.spark.values import CatalogTable
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.structs import replace


def has_spark_schema(parameters: Mapping[str, str]) -> bool:
    """Whether Spark's schema is among the parameters of a table."""
    return SCHEMA in parameters or f"{SCHEMA}.numParts" in parameters


def spark_table(table: Table) -> CatalogTable | None:
    """The table as Spark reads it; None if Spark did not write it, cannot read it, or if Hive's schema is another."""
    parameters = table.parameters or {}
    if PROVIDER not in parameters and not has_spark_schema(parameters):
        return None
    sd = table.sd or StorageDescriptor()
    readable = replace(
        table,
        tableType=table.tableType or kinds.MANAGED,
        sd=replace(sd, cols=tuple(map(_readable, sd.cols or ()))),
        partitionKeys=tuple(map(_readable, table.partitionKeys or ())),
    )
    try:
        restored = restore_table_metadata(from_hive_table(readable))
    except (ConversionError, SparkCatalogError):
        return None
    return restored if restored.schema_preserves_case else None


def has_only_spark_columns(table: Table) -> bool:
    """Whether Hive has one column that stands for all data columns, which only Spark's schema has."""
    columns = [(each.name, each.type) for each in (table.sd and table.sd.cols) or ()]
    return columns == [(each.name, catalog_string(each.data_type)) for each in EMPTY_DATA_SCHEMA]


def _readable(column: FieldSchema) -> FieldSchema:
    """The column with a type that Spark reads; one that nobody reads is void, which is none of Spark's columns."""
    text = column.type or ""
    if text == INCOMPATIBLE_PARTITION_TYPE:
        return column
    try:
        parse_data_type(text)
    except ConversionError:
        try:
            type = to_spark_type(read_type(text))
        except TypeSyntaxError:
            type = NULL
        return replace(column, type=catalog_string(type, quoted=True))
    return column
