"""The columns of a table as its readers see them: Hive's, or those of Spark's schema in its parameters. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metastored.errors import ConversionError
from metastored.hive.types.arrow import arrow, to_arrow_field
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model.partitions import keys_of
from metastored.model.spark_schema import spark_columns, spark_keys
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


def columns_of(table: Table) -> tuple[Column, ...]:
    """All columns, partition keys last as Hive has them; where Spark stores the schema, in Spark's order.

    Comments are legible also where their bytes are not UTF-8.
    """
    fields = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
    spark = spark_columns(table.parameters or {}, fields)
    if spark is None:
        return tuple(Column(each.name or "", each.type or "", shown(each.comment)) for each in fields)
    return tuple(
        Column(each.name, str(each.type), shown(each.comment), each.nullable, each.default, each.generated)
        for each in spark
    )


def partitioned_by(table: Table) -> tuple[str, ...]:
    """The names of the columns that a table is partitioned by, also where only Spark's parameters say so."""
    parameters = table.parameters or {}
    found = keys_of(table)
    if not found and spark_columns(parameters, (table.sd and table.sd.cols) or ()) is not None:
        return spark_keys(parameters)
    return found


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
