"""The rows of any table of the metastore as a DataFrame: of Spark's tables, ACID tables and Lance tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client
from metastored.errors import NotSupported
from metastored.hive.names import DEFAULT_PARTITION
from metastored.hive.quoting import backquoted
from metastored.model.formats import format_of
from metastored.model.names import TableName

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_WHOLE_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint")


def frame_of(spark: Any, client: Client, name: TableName) -> DataFrame:
    """The rows of a table, partition keys last. ACID tables are read at a snapshot."""
    from metastored.spark.statements import sql

    if format_of(client.fresh_table(name)) == "lance":
        from metastored.spark.lance import read

        return read(spark, name)
    if name.catalog:
        raise NotSupported(f"Spark's catalog has no catalogs of a metastore: {name} cannot be read")
    return sql(spark, f"SELECT * FROM {quoted(name)}", client=client)


def quoted(name: TableName) -> str:
    """A name for Spark's SQL."""
    return f"{backquoted(name.database)}.{backquoted(name.table)}"


def of_partitions(frame: DataFrame, keys: Sequence[str], values: Sequence[Sequence[str]]) -> DataFrame:
    """The rows of some partitions, by the values of their keys as the metastore has them."""
    types = {field.name.lower(): field.dataType for field in frame.schema.fields}
    return frame.where(reduce(lambda one, two: one | two, [_is(keys, types, each) for each in values]))


def _is(keys: Sequence[str], types: dict[str, DataType], values: Sequence[str]) -> Column:
    from pyspark.sql import functions as F

    conditions = []
    for key, value in zip(keys, values, strict=True):
        column = F.col(f"`{key}`")
        null = value == DEFAULT_PARTITION
        conditions.append(column.isNull() if null else column == F.lit(value).cast(types[key.lower()]))
    return reduce(lambda one, two: one & two, conditions)


def spelled(schema: StructType, keys: Sequence[str], values: Sequence[Any]) -> tuple[str, ...]:
    """The values of partition keys in one spelling: the metastore may have `01` where Spark has the number 1."""
    types = {field.name.lower(): field.dataType.simpleString() for field in schema.fields}
    texts = []
    for key, value in zip(keys, values, strict=True):
        text = DEFAULT_PARTITION if value is None or value == "" else str(value)
        if types[key.lower()] in _WHOLE_NUMBERS and text != DEFAULT_PARTITION:
            text = str(int(text))
        elif types[key.lower()] == "boolean":
            text = text.lower()
        texts.append(text)
    return tuple(texts)
