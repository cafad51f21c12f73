"""The columns of a table as its readers see them: Hive's, or those of Spark's schema in its parameters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metastored.errors import ConversionError
from metastored.hive.types.arrow import arrow, to_arrow_field
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model.partitions import keys_of
from metastored.model.spark.columns import hive_type_of
from metastored.model.spark.reading import has_spark_schema, spark_table
from metastored.model.spark.values import CatalogTable
from metastored.model.values import shown
from metastored.wire.generated.common import Table

if TYPE_CHECKING:
    import pyarrow


class Column(NamedTuple):
    """A column, its type in Hive's words."""

    name: str
    type: str
    comment: str | None = None
    nullable: bool = True
    default: str | None = None
    """The SQL expression of the default value."""
    generated: str | None = None
    """The SQL expression of a generated column."""


def columns_of(table: Table, spark: CatalogTable | None = None) -> tuple[Column, ...]:
    """All columns, partition keys last: those that Spark stores, where it does; else Hive's.

    `spark` is the table as Spark reads it, where that is known. Comments are legible also where their bytes are not
    UTF-8. A schema of Spark's with a type that Hive lacks, such as variant, does not count.
    """
    spark = spark or spark_table(table)
    if spark is not None and has_spark_schema(table.parameters or {}):
        try:
            return tuple(
                Column(
                    each.name,
                    str(hive_type_of(each)),
                    shown(each.comment),
                    each.nullable,
                    each.default,
                    each.generated,
                )
                for each in spark.schema
            )
        except ConversionError:
            pass
    fields = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
    return tuple(Column(each.name or "", each.type or "", shown(each.comment)) for each in fields)


def partitioned_by(table: Table, spark: CatalogTable | None = None) -> tuple[str, ...]:
    """The names of the columns that a table is partitioned by; with Spark's capitals where Spark stores them."""
    spark = spark or spark_table(table)
    return (spark.partition_column_names if spark is not None else ()) or keys_of(table)


def arrow_schema(table: Table) -> pyarrow.Schema:
    """The columns of a table as an Arrow schema, comments included. Needs the extra `arrow`.

    Raises ConversionError for a column whose type is none of Hive's.
    """
    fields = []
    for column in columns_of(table):
        try:
            type = read_type(column.type)
        except TypeSyntaxError as error:
            raise ConversionError(
                f"column {column.name} of {table.dbName}.{table.tableName} has the type {column.type!r}: {error}"
            ) from error
        fields.append(to_arrow_field(column.name, type, column.comment).with_nullable(column.nullable))
    return arrow().schema(fields)
