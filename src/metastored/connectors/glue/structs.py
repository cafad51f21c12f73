"""Glue's objects as Hive's structs and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from metastored.hive.locations import join
from metastored.hive.names import make_part_name
from metastored.wire.generated.common import FieldSchema, Order, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

# --- from Glue ---------------------------------------------------------------------------------------------


def table_of(db: str, answer: Mapping[str, Any]) -> Table:
    parameters = dict(answer.get("Parameters") or {})
    if answer.get("Description"):
        parameters.setdefault("comment", answer["Description"])
    return Table(
        tableName=answer["Name"],
        dbName=db,
        owner=answer.get("Owner"),
        createTime=_seconds(answer.get("CreateTime")),
        lastAccessTime=_seconds(answer.get("LastAccessTime")),
        retention=answer.get("Retention") or 0,
        sd=_storage(answer.get("StorageDescriptor") or {}),
        partitionKeys=tuple(map(_column, answer.get("PartitionKeys") or ())),
        parameters=parameters,
        viewOriginalText=answer.get("ViewOriginalText"),
        viewExpandedText=answer.get("ViewExpandedText"),
        tableType=answer.get("TableType"),
    )


def partition_of(db: str, name: str, answer: Mapping[str, Any]) -> Partition:
    return Partition(
        values=tuple(answer["Values"]),
        dbName=db,
        tableName=name,
        createTime=_seconds(answer.get("CreationTime")),
        lastAccessTime=_seconds(answer.get("LastAccessTime")),
        sd=_storage(answer.get("StorageDescriptor") or {}),
        parameters=dict(answer.get("Parameters") or {}),
    )


def _storage(answer: Mapping[str, Any]) -> StorageDescriptor:
    serde = answer.get("SerdeInfo") or {}
    return StorageDescriptor(
        cols=tuple(map(_column, answer.get("Columns") or ())),
        location=answer.get("Location"),
        inputFormat=answer.get("InputFormat"),
        outputFormat=answer.get("OutputFormat"),
        compressed=bool(answer.get("Compressed")),
        numBuckets=answer.get("NumberOfBuckets", -1),
        serdeInfo=SerDeInfo(serde.get("Name"), serde.get("SerializationLibrary"), dict(serde.get("Parameters") or {})),
        bucketCols=tuple(answer.get("BucketColumns") or ()),
        sortCols=tuple(Order(each["Column"], each["SortOrder"]) for each in answer.get("SortColumns") or ()),
        parameters=dict(answer.get("Parameters") or {}),
    )


def _column(answer: Mapping[str, Any]) -> FieldSchema:
    return FieldSchema(answer["Name"], answer.get("Type"), answer.get("Comment"))


def _seconds(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp())


# --- to Glue: nothing is sent that is not known, for it refuses nulls ------------------------------------------


def database_input(database: Database) -> dict[str, Any]:
    return _known(
        Name=database.name,
        Description=database.description,
        LocationUri=database.locationUri,
        Parameters=database.parameters or {},
    )


def table_input(table: Table) -> dict[str, Any]:
    parameters = table.parameters or {}
    return _known(
        Name=table.tableName,
        Description=parameters.get("comment") or None,
        Owner=table.owner,
        Retention=table.retention,
        StorageDescriptor=_storage_input(table.sd),
        PartitionKeys=[_column_input(each) for each in table.partitionKeys or ()],
        ViewOriginalText=table.viewOriginalText,
        ViewExpandedText=table.viewExpandedText,
        TableType=table.tableType,
        Parameters=parameters,
    )


def partition_input(table: Table, partition: Partition) -> dict[str, Any]:
    sd = partition.sd or table.sd or StorageDescriptor()
    if not sd.location and table.sd is not None and table.sd.location:
        keys = tuple(key.name or "" for key in table.partitionKeys or ())
        sd = replace(sd, location=join(table.sd.location, make_part_name(keys, partition.values or ())))
    return _known(
        Values=list(partition.values or ()), StorageDescriptor=_storage_input(sd), Parameters=partition.parameters or {}
    )


def _storage_input(sd: StorageDescriptor | None) -> dict[str, Any]:
    if sd is None:
        return {}
    serde = sd.serdeInfo or SerDeInfo()
    return _known(
        Columns=[_column_input(each) for each in sd.cols or ()],
        Location=sd.location,
        InputFormat=sd.inputFormat,
        OutputFormat=sd.outputFormat,
        Compressed=sd.compressed,
        NumberOfBuckets=sd.numBuckets,
        SerdeInfo=_known(
            Name=serde.name, SerializationLibrary=serde.serializationLib, Parameters=serde.parameters or {}
        ),
        BucketColumns=list(sd.bucketCols or ()),
        SortColumns=[{"Column": each.col, "SortOrder": each.order} for each in sd.sortCols or ()],
        Parameters=sd.parameters or {},
    )


def _column_input(column: FieldSchema) -> dict[str, Any]:
    return _known(Name=column.name, Type=column.type, Comment=column.comment)


def _known(**given: Any) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}
