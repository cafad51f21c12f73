"""The columns of a table as its readers see them: Hive's, or those that Spark keeps in the table's parameters. Pure.

A table that Spark made as a data source has its true schema, with capitals and types that Hive lacks, in its
parameters, in one piece or in several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from metastored.errors import ConversionError
from metastored.hive.types.arrow import arrow, to_arrow_field
from metastored.hive.types.spark import from_spark_json
from metastored.hive.types.type_strings import TypeSyntaxError, parse_type
from metastored.model.origins import SPARK_PROVIDER
from metastored.model.partitions import keys_of
from metastored.model.values import text
from metastored.wire.generated.common import Table

if TYPE_CHECKING:
    import pyarrow

SPARK_SCHEMA: Final = "spark.sql.sources.schema"


class Column(NamedTuple):
    """A column, its type in Hive's words."""

    name: str
    type: str
    comment: str | None = None
    nullable: bool = True


def columns_of(table: Table) -> tuple[Column, ...]:
    """All columns, partition keys last as Hive has them; where Spark keeps the schema, in Spark's order."""
    spark = _spark_columns(table.parameters or {})
    if spark is not None:
        return spark
    fields = (*((table.sd and table.sd.cols) or ()), *(table.partitionKeys or ()))
    return tuple(Column(each.name or "", each.type or "", text(each.comment)) for each in fields)


def partitioned_by(table: Table) -> tuple[str, ...]:
    """The names of the columns that a table is partitioned by, also where only Spark's parameters say so."""
    return keys_of(table) or tuple(
        _numbered(table.parameters or {}, f"{SPARK_SCHEMA}.numPartCols", f"{SPARK_SCHEMA}.partCol.")
        if _spark_columns(table.parameters or {}) is not None
        else ()
    )


def arrow_schema(table: Table) -> pyarrow.Schema:
    """The columns of a table as an Arrow schema, comments included. Needs the extra `arrow`.

    Raises ConversionError for a column whose type is none of Hive's.
    """
    fields = []
    for column in columns_of(table):
        try:
            type = parse_type(column.type)
        except TypeSyntaxError as error:
            raise ConversionError(
                f"column {column.name} of {table.dbName}.{table.tableName} has the type {column.type!r}: {error}"
            ) from error
        fields.append(to_arrow_field(column.name, type, column.comment).with_nullable(column.nullable))
    return arrow().schema(fields)


def _spark_columns(parameters: Mapping[str, str]) -> tuple[Column, ...] | None:
    """The schema that Spark keeps beside Hive's columns; None where there is none that can be read."""
    schema = parameters.get(SPARK_SCHEMA) or "".join(
        _numbered(parameters, f"{SPARK_SCHEMA}.numParts", f"{SPARK_SCHEMA}.part.")
    )
    if not schema or SPARK_PROVIDER not in parameters:
        return None
    try:
        found = from_spark_json(schema)
    except ConversionError:
        return None  # A type that Hive lacks, such as variant: Hive's own columns say as much as can be said.
    return tuple(Column(each.name, str(each.type), each.comment, each.nullable) for each in found)


def _numbered(parameters: Mapping[str, str], count: str, prefix: str) -> list[str]:
    number = parameters.get(count) or "0"
    return [parameters.get(f"{prefix}{at}", "") for at in range(int(number) if number.isdigit() else 0)]
