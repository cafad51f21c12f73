"""Databases, tables, views and partitions between Hive's structs and this room's own. Pure.

A table that Spark made as a data source has its true schema in its parameters, in one piece or in several; it is read
from there, as Spark does. An Iceberg table's partitioning is in its parameters as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from metastored.catalog.status import (
    Buckets,
    ColumnStatus,
    DatabaseChanges,
    DatabaseDefinition,
    DatabaseStatus,
    PartitionDefinition,
    PartitionStatus,
    SortColumn,
    TableChanges,
    TableDefinition,
    TableKind,
    TableStatus,
    ViewDefinition,
    replaced,
)
from metastored.errors import InvalidInputException
from metastored.model import kinds, makers
from metastored.model.acid import acid_of
from metastored.model.columns import columns_of, partitioned_by
from metastored.model.formats import VIEW, format_of
from metastored.model.makers import parameters_of, storage
from metastored.model.origins import METADATA_LOCATION, PARTITIONING
from metastored.model.partitions import PartitionValues, keys_of, name_of, values_of
from metastored.model.values import moment, text
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

VIEWS: Final = {kinds.VIEW: TableKind.VIEW, kinds.MATERIALIZED_VIEW: TableKind.MATERIALIZED_VIEW}
_SAID: Final = frozenset({"comment", kinds.EXTERNAL_PARAMETER, "current-schema", "default-partition-spec"})
"""Parameters that a status says in other words."""
_ICEBERG_FILES: Final = {"iceberg": None, "parquet": None, "orc": "orc", "avro": "avro"}


# --- databases ---------------------------------------------------------------------------------------------


def database_status(catalog: str, database: Database) -> DatabaseStatus:
    return DatabaseStatus(
        catalog=catalog,
        database=tuple((database.name or "").split(".")),
        comment=text(database.description),
        location=text(database.locationUri),
        owner=text(database.ownerName),
        properties=dict(database.parameters or {}),
    )


def hive_database(name: str, given: DatabaseDefinition) -> Database:
    return Database(
        name=name,
        description=given.comment,
        locationUri=given.location,
        ownerName=given.owner,
        parameters=dict(given.properties),
    )


def changed_database(database: Database, changes: DatabaseChanges) -> Database:
    return replace(
        database,
        description=database.description if changes.comment is None else changes.comment,
        locationUri=changes.location or database.locationUri,
        ownerName=changes.owner or database.ownerName,
        parameters=replaced(database.parameters or {}, changes.set_properties, changes.unset_properties),
    )


# --- tables and views --------------------------------------------------------------------------------------


def table_status(catalog: str, table: Table) -> TableStatus:
    parameters = table.parameters or {}
    sd = table.sd or StorageDescriptor()
    kind = VIEWS.get(table.tableType or "", TableKind.TABLE)
    columns, partition_by = _columns(table, parameters)
    buckets = tuple(sd.bucketCols or ())
    return TableStatus(
        catalog=catalog,
        database=tuple((table.dbName or "").split(".")),
        name=table.tableName or "",
        kind=kind,
        columns=columns,
        comment=text(parameters.get("comment")),
        location=text(sd.location),
        format=None if kind is not TableKind.TABLE else format_of(table),
        external=kinds.is_external_by_either(table),
        partition_by=partition_by,
        sort_by=tuple(SortColumn(each.col or "", each.order != 0) for each in sd.sortCols or ()),
        bucket_by=Buckets(buckets, sd.numBuckets or 0) if buckets and (sd.numBuckets or 0) > 0 else None,
        options=dict((sd.serdeInfo and sd.serdeInfo.parameters) or {}),
        properties={key: value for key, value in parameters.items() if key not in _SAID},
        definition=text(table.viewOriginalText) or text(table.viewExpandedText),
        owner=text(table.owner),
        created=moment(table.createTime),
        last_access=moment(table.lastAccessTime),
        acid=acid_of(table),
        metadata_location=text(parameters.get(METADATA_LOCATION)),
    )


def table_definition(table: Table) -> TableDefinition:
    """What has to be said to make a table such as this one, in any catalog. Raises InvalidInputException for a view."""
    found = table_status("", table)
    if found.is_view:
        raise InvalidInputException(f"{found.name} is a view: make it with create_view and a ViewDefinition")
    return TableDefinition(
        columns=[
            ColumnStatus(each.name, each.data_type, each.comment, nullable=each.nullable) for each in found.columns
        ],
        comment=found.comment,
        location=found.location,
        format=found.format or "parquet",
        external=found.external,
        partition_by=found.partition_by,
        sort_by=found.sort_by,
        bucket_by=found.bucket_by,
        options={key: value for key, value in found.options.items() if key != "serialization.format"},
        properties=found.properties,
        owner=found.owner,
    )


def _columns(table: Table, parameters: Mapping[str, str]) -> tuple[tuple[ColumnStatus, ...], tuple[str, ...]]:
    """The columns, those that partition last, and how the table is partitioned."""
    sd = table.sd or StorageDescriptor()
    partition_by, required = partitioned_by(table), frozenset[str]()
    iceberg = _iceberg(parameters)
    if iceberg is not None:
        partition_by, required = iceberg
    buckets = {name.lower() for name in sd.bucketCols or ()}
    sorts = {(each.col or "").lower() for each in sd.sortCols or ()}
    by = {name.lower() for name in partition_by}
    marked = tuple(
        ColumnStatus(
            each.name,
            each.type,
            each.comment,
            nullable=each.nullable and each.name not in required,
            is_partition=each.name.lower() in by,
            is_bucket=each.name.lower() in buckets,
            is_cluster=each.name.lower() in sorts,
        )
        for each in columns_of(table)
    )
    return marked, partition_by


def _iceberg(parameters: Mapping[str, str]) -> tuple[tuple[str, ...], frozenset[str]] | None:
    """How an Iceberg table is partitioned, and which columns are never null, where its parameters say so."""
    schema, spec = parameters.get("current-schema"), parameters.get("default-partition-spec")
    if not schema or not spec:
        return None
    try:
        fields: list[dict[str, Any]] = json.loads(schema)["fields"]
        names = {each["id"]: each["name"] for each in fields}
        terms = [_term(each["transform"], names[each["source-id"]]) for each in json.loads(spec)["fields"]]
        return tuple(terms), frozenset(each["name"] for each in fields if each.get("required"))
    except (ValueError, KeyError, TypeError):
        return None


def _term(transform: str, column: str) -> str:
    """`identity` is the column itself; `bucket[16]` of id is `bucket(16, id)`."""
    if transform == "identity":
        return column
    name, bracket, argument = transform.rstrip("]").partition("[")
    return f"{name}({argument}, {column})" if bracket else f"{name}({column})"


def hive_table(database: str, name: str, given: TableDefinition, iceberg: bool = False) -> Table:
    """The table to be sent. An Iceberg catalog is told the partitioning in a parameter."""
    if not given.columns:
        raise InvalidInputException(f"table {database}.{name} needs at least one column")
    if iceberg:
        return _iceberg_table(database, name, given)
    by_name = {column.name.lower(): column for column in given.columns}
    missing = [key for key in given.partition_by if key.lower() not in by_name]
    if missing:
        raise InvalidInputException(
            f"table {database}.{name} is to be partitioned by {', '.join(missing)}, which is no column of it: "
            "Hive partitions by columns only"
        )
    keys = [by_name[key.lower()] for key in given.partition_by]
    return makers.table(
        (database, name),
        [_field(column) for column in given.columns if column not in keys],
        partitioned_by=[_field(column) for column in keys],
        format=given.format,
        location=given.location,
        comment=given.comment,
        properties=given.properties,
        external=given.location is not None if given.external is None else given.external,
        owner=given.owner,
        bucketed_by=(given.bucket_by.columns, given.bucket_by.count) if given.bucket_by else None,
        sorted_by=[each.name if each.ascending else f"-{each.name}" for each in given.sort_by],
        options=given.options,
    )


def _iceberg_table(database: str, name: str, given: TableDefinition) -> Table:
    if given.sort_by or given.bucket_by or given.constraints:
        raise InvalidInputException(
            f"table {database}.{name}: Iceberg has no sorting, buckets or constraints of Hive's; "
            "write bucket(16, column) in partition_by"
        )
    if given.format.lower() not in _ICEBERG_FILES:
        raise InvalidInputException(f"Iceberg has no files of format {given.format!r}: parquet, orc and avro are known")
    parameters = parameters_of(given.properties, given.comment, f"{database}.{name}")
    files = _ICEBERG_FILES[given.format.lower()]
    if files is not None:
        parameters.setdefault("write.format.default", files)
    if given.partition_by:
        parameters[PARTITIONING] = json.dumps(list(given.partition_by))
    sd = StorageDescriptor(cols=tuple(map(_field, given.columns)), location=given.location)
    return Table(tableName=name, dbName=database, owner=given.owner, sd=sd, parameters=parameters, partitionKeys=())


def hive_view(database: str, name: str, given: ViewDefinition) -> Table:
    return Table(
        tableName=name,
        dbName=database,
        owner=given.owner,
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=storage(tuple(map(_field, given.columns)), VIEW, {}),
        partitionKeys=(),
        parameters=parameters_of(given.properties, given.comment, f"{database}.{name}"),
        viewOriginalText=given.definition,
        viewExpandedText=given.definition,
        tableType=kinds.VIEW,
    )


def changed_table(table: Table, changes: TableChanges) -> Table:
    """The table as it is to be. Names of columns that are not there are refused."""
    sd = table.sd or StorageDescriptor()
    before = list(sd.cols or ())
    known = {(each.name or "").lower() for each in before}
    asked = (*changes.drop_columns, *changes.rename_columns, *changes.column_types, *changes.column_comments)
    missing = sorted({name for name in asked if name.lower() not in known})
    if missing:
        raise InvalidInputException(
            f"{table.dbName}.{table.tableName} has no column {', '.join(missing)} that could be changed; "
            f"it has {', '.join(each.name or '' for each in before)}"
        )
    dropped = _lower(dict.fromkeys(changes.drop_columns, ""))
    renamed, types, comments = map(_lower, (changes.rename_columns, changes.column_types, changes.column_comments))
    columns = []
    for each in before:
        key = (each.name or "").lower()
        if key in dropped:
            continue
        columns.append(
            FieldSchema(renamed.get(key, each.name), types.get(key, each.type), comments.get(key, each.comment))
        )
    columns += map(_field, changes.add_columns)
    parameters = replaced(table.parameters or {}, changes.set_properties, changes.unset_properties)
    if changes.comment is not None:
        parameters["comment"] = changes.comment
    return replace(
        table,
        tableName=changes.rename_to or table.tableName,
        owner=changes.owner or table.owner,
        sd=replace(sd, cols=tuple(columns), location=changes.location or sd.location),
        parameters=parameters,
    )


def _lower(given: Mapping[str, str]) -> dict[str, str]:
    return {key.lower(): value for key, value in given.items()}


def _field(column: ColumnStatus) -> FieldSchema:
    return FieldSchema(column.name, column.data_type, column.comment)


# --- partitions --------------------------------------------------------------------------------------------


def partition_status(table: Table, partition: Partition) -> PartitionStatus:
    values = tuple(partition.values or ())
    return PartitionStatus(
        values=dict(zip(_keys(table), values, strict=False)),
        name=name_of(table, values),
        location=text(partition.sd.location if partition.sd else None),
        properties=dict(partition.parameters or {}),
        created=moment(partition.createTime),
        last_access=moment(partition.lastAccessTime),
    )


def partition_values(table: Table, given: PartitionValues) -> tuple[str, ...]:
    """The values in the order of the table's keys; each has to be given, and nothing else."""
    return values_of(f"{table.dbName}.{table.tableName}", keys_of(table), given)


def hive_partition(table: Table, given: PartitionDefinition) -> Partition:
    return makers.partition(table, given.values, location=given.location, properties=given.properties)


def _keys(table: Table) -> tuple[str, ...]:
    return tuple(key.lower() for key in keys_of(table))
