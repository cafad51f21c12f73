"""A DataFrame with the columns, keys and types of a table, for an INSERT. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from metastored.errors import InvalidInputException
from metastored.hive.quoting import backquoted
from metastored.model.partitions import values_of
from metastored.spark.acid.lengths import stored
from metastored.spark.acid.rows.assignment import assigned
from metastored.spark.acid.rows.defaults import NULL
from metastored.spark.acid.tables import AcidTable


def aligned(
    table: AcidTable, frame: DataFrame, partition: Mapping[str, Any], defaults: Callable[[], Mapping[str, str]]
) -> DataFrame:
    """A DataFrame with the columns and keys of the table, by name and with their types.

    Columns that it does not have get their default, or null; `defaults` is called if there are such columns.
    """

    constants = {str(name).lower(): value for name, value in partition.items()}
    unknown = [name for name in constants if name not in {key.lower() for key in table.key_names}]
    if unknown:
        raise InvalidInputException(f"{table.name} has no partition keys {', '.join(unknown)}")
    given = {name.lower(): name for name in frame.columns}
    known = {name.lower() for name in table.field_names}
    extra = [name for lower, name in given.items() if lower not in known or lower in constants]
    if extra:
        raise InvalidInputException(
            f"the DataFrame has columns {', '.join(extra)}, which {table.name} has not: its columns are "
            f"{', '.join(table.field_names)}"
        )
    missing = [name for name in table.key_names if name.lower() not in given and name.lower() not in constants]
    if missing:
        raise InvalidInputException(f"the DataFrame has no values of the partition keys {', '.join(missing)}")
    assigning = StructType([each for each in (*table.columns, *table.keys) if each.name.lower() in given])
    named = [F.col(backquoted(given[each.name.lower()])).alias(each.name) for each in assigning]
    rows = assigned(frame.select(*named), assigning, table.name) if named else frame
    lacking = [name for name in known if name not in given and name not in constants]
    expressions = defaults() if lacking else {}
    columns = []
    for field in [*table.columns.fields, *table.keys.fields]:
        lower = field.name.lower()
        if lower in constants:
            value = F.lit(constants[lower])
        elif lower in given:
            value = F.col(backquoted(field.name))
        else:
            value = F.expr(expressions.get(lower, NULL))
        value = value.cast(field.dataType) if field.name in table.key_names else stored(value, field)
        columns.append(value.alias(field.name))
    return rows.select(*columns)


def constant_partition(table: AcidTable, partition: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The values of a partition whose keys are all constant; none if one of them comes from the rows."""
    if not table.key_names or len(partition) != len(table.key_names):
        return []
    return [values_of(str(table.name), table.key_names, partition)]
