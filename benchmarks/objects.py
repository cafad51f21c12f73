"""The tables and partitions of the measurements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.structs import replace

Described = TypeVar("Described", Table, Partition)
COLUMNS = tuple(FieldSchema(f"column_{i:03d}", "string", f"comment for column {i}") for i in range(50))
NAMED_AT_ONCE = 500
"""In a drop: Apache's metastore refuses a call with a thousand names, and crashes with five thousand."""
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


def narrow(described: Described, location: str | None = None) -> Described:
    """A table or partition with one column and no parameters but that it is external, so its data is nobody's."""
    storage_of = described.sd
    assert storage_of is not None
    changed = replace(described, sd=replace(storage_of, cols=COLUMNS[:1], location=location), parameters={})
    if isinstance(changed, Table):
        return replace(changed, tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"})
    return changed


def partition_name(number: int) -> str:
    return f"ds=day-{number // 24:06d}/h={number % 24:02d}"


def batches(database: str, name: str, count: int, size: int = 1000) -> Iterator[tuple[Partition, ...]]:
    for start in range(0, count, size):
        yield tuple(partition(database, name, number) for number in range(start, min(start + size, count)))


def drops(database: str, name: str, count: int) -> Iterator[DropPartitionsRequest]:
    """Requests that drop this many partitions, the first ones, with their data."""
    names = [partition_name(number) for number in range(count)]
    for start in range(0, count, NAMED_AT_ONCE):
        yield DropPartitionsRequest(
            dbName=database,
            tblName=name,
            parts=RequestPartsSpec(names=tuple(names[start : start + NAMED_AT_ONCE])),
            deleteData=True,
            needResult=False,
        )
