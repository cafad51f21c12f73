"""Small objects for the tests of statistics and constraints: a table, its partitions, one column's statistics."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    FieldSchema,
    LongColumnStatsData,
    SerDeInfo,
    StorageDescriptor,
    StringColumnStatsData,
    Table,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from tests.support.metastore import Metastore

DB = "sales"
COLUMNS = (("a", "int"), ("b", "string"), ("c", "bigint"))


def storage(columns: tuple[tuple[str, str], ...] = COLUMNS) -> StorageDescriptor:
    fields = tuple(FieldSchema(name, type) for name, type in columns)
    return StorageDescriptor(cols=fields, serdeInfo=SerDeInfo(parameters={}))


def make_table(
    metastore: Metastore,
    name: str = "t",
    *,
    columns: tuple[tuple[str, str], ...] = COLUMNS,
    keys: tuple[str, ...] = (),
    **other: Any,
) -> None:
    if DB not in metastore.call("get_all_databases"):
        metastore.call("create_database", Database(name=DB, locationUri=f"file:/nowhere/{DB}"))
    metastore.call("create_table", table(name, columns=columns, keys=keys, **other))


def table(
    name: str = "t",
    *,
    columns: tuple[tuple[str, str], ...] = COLUMNS,
    keys: tuple[str, ...] = (),
    **other: Any,
) -> Table:
    return Table(
        tableName=name,
        dbName=DB,
        sd=storage(columns),
        partitionKeys=tuple(FieldSchema(key, "string") for key in keys),
        tableType=other.pop("tableType", "MANAGED_TABLE"),
        parameters=other.pop("parameters", {}),
        **other,
    )


def add_partitions(metastore: Metastore, name: str, *values: str) -> None:
    new = tuple(Partition(values=(value,), dbName=DB, tableName=name, sd=storage(), parameters={}) for value in values)
    metastore.call("add_partitions", new)


def numbers(column: str, low: int | None, high: int | None, nulls: int = 0, distincts: int = 1, **other: Any) -> Any:
    data = LongColumnStatsData(low, high, nulls, distincts, **other)
    return ColumnStatisticsObj(column, "bigint", ColumnStatisticsData(longStats=data))


def texts(column: str, longest: int, average: float, nulls: int = 0, distincts: int = 1, **other: Any) -> Any:
    data = StringColumnStatsData(longest, average, nulls, distincts, **other)
    return ColumnStatisticsObj(column, "string", ColumnStatisticsData(stringStats=data))


def statistics(
    *objects: ColumnStatisticsObj, name: str = "t", part: str | None = None, **other: Any
) -> ColumnStatistics:
    desc = ColumnStatisticsDesc(isTblLevel=part is None, dbName=DB, tableName=name, partName=part)
    return ColumnStatistics(statsDesc=desc, statsObj=objects, **other)
