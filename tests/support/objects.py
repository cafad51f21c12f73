"""The objects that tests are made with: columns, storage descriptors, tables, partitions, statistics.

`table` and `storage` are complete, as Hive's clients send them: a managed text table. `bare_table` and `bare_storage`
have only the fields that they need. `sales_table` and what follows belong to the database DB, which `make_table` makes.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from metastored.wire.structs import replace
from tests.support.metastore import Metastore

DB = "sales"
COLUMNS = (("a", "int"), ("b", "string"), ("c", "bigint"))
TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
LAZY_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
AB = "a int, b string"
DS_H = "ds string, h int"


def columns(text: str) -> tuple[FieldSchema, ...]:
    """`a int, b string` as fields; write `;` for a comma inside a type."""
    parts = (part.strip().partition(" ") for part in text.split(",") if part.strip())
    return tuple(FieldSchema(name=name, type=type.replace(";", ",")) for name, _, type in parts)


def storage(cols: str | tuple[FieldSchema, ...] = AB, location: str | None = None, **other: Any) -> StorageDescriptor:
    text = StorageDescriptor(
        cols=columns(cols) if isinstance(cols, str) else cols,
        location=location,
        inputFormat=TEXT_INPUT,
        outputFormat=TEXT_OUTPUT,
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(serializationLib=LAZY_SERDE, parameters={"serialization.format": "1"}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
    return replace(text, **other)


def table(
    db: str, name: str | None, cols: str = AB, keys: str = "", location: str | None = None, **other: Any
) -> Table:
    """A managed text table."""
    plain = Table(
        tableName=name,
        dbName=db,
        owner="bob",
        createTime=1,
        lastAccessTime=0,
        retention=0,
        sd=storage(cols, location),
        partitionKeys=columns(keys),
        parameters={},
        tableType="MANAGED_TABLE",
    )
    return replace(plain, **other)


def external(db: str, name: str, location: str | None = None, **other: Any) -> Table:
    given = {"EXTERNAL": "TRUE", **other.pop("parameters", {})}
    return table(db, name, location=location, tableType="EXTERNAL_TABLE", parameters=given, **other)


def view(db: str, name: str, **other: Any) -> Table:
    text = {"tableType": "VIRTUAL_VIEW", "viewOriginalText": "select 1", "viewExpandedText": "select 1"}
    return table(db, name, **(text | other))


def partition(db: str, name: str, values: Sequence[str], location: str | None = None, **other: Any) -> Partition:
    plain = Partition(values=tuple(values), dbName=db, tableName=name, sd=storage(location=location), parameters={})
    return replace(plain, **other)


# --- objects with only the fields that they need ----------------------------------------------------------------


def bare_storage(
    columns: tuple[tuple[str, str], ...] = COLUMNS, location: str | None = None, **other: Any
) -> StorageDescriptor:
    fields = tuple(FieldSchema(name, type) for name, type in columns)
    given = {"serdeInfo": SerDeInfo(parameters={}), **other}
    return StorageDescriptor(cols=fields, location=location, **given)


def bare_table(
    db: str,
    name: str,
    columns: tuple[tuple[str, str], ...] = COLUMNS,
    keys: tuple[str, ...] = (),
    **other: Any,
) -> Table:
    given: dict[str, Any] = {"sd": bare_storage(columns), "tableType": "MANAGED_TABLE", "parameters": {}, **other}
    return Table(tableName=name, dbName=db, partitionKeys=tuple(FieldSchema(key, "string") for key in keys), **given)


# --- a table of the database DB, its partitions and statistics --------------------------------------------------


def sales_table(
    name: str = "t", *, columns: tuple[tuple[str, str], ...] = COLUMNS, keys: tuple[str, ...] = (), **other: Any
) -> Table:
    return bare_table(DB, name, columns, keys, **other)


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
    metastore.call("create_table", sales_table(name, columns=columns, keys=keys, **other))


def add_partitions(metastore: Metastore, name: str, *values: str) -> None:
    new = tuple(
        Partition(values=(value,), dbName=DB, tableName=name, sd=bare_storage(), parameters={}) for value in values
    )
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
