"""The tables and partitions of the measurements."""

from __future__ import annotations

from collections.abc import Iterator

from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition

COLUMNS = tuple(FieldSchema(f"column_{i:03d}", "string", f"comment for column {i}") for i in range(50))
KEYS = (FieldSchema("ds", "string", ""), FieldSchema("h", "string", ""))


def storage(location: str | None = None) -> StorageDescriptor:
    return StorageDescriptor(
        cols=COLUMNS,
        location=location,
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(None, "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {"serialization.format": "1"}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )


def table(database: str, name: str, *, partitioned: bool = False) -> Table:
    return Table(
        tableName=name,
        dbName=database,
        owner="bench",
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=storage(),
        partitionKeys=KEYS if partitioned else (),
        parameters={"comment": "measured"},
        tableType="MANAGED_TABLE",
    )


def partition(database: str, name: str, number: int) -> Partition:
    """24 partitions share a day."""
    return Partition(
        values=(f"day-{number // 24:06d}", f"{number % 24:02d}"),
        dbName=database,
        tableName=name,
        createTime=0,
        lastAccessTime=0,
        sd=storage(),
        parameters={"numRows": "5", "totalSize": "12345", "numFiles": "1"},
    )


def batches(database: str, name: str, count: int, size: int = 1000) -> Iterator[tuple[Partition, ...]]:
    for start in range(0, count, size):
        yield tuple(partition(database, name, number) for number in range(start, min(start + size, count)))
