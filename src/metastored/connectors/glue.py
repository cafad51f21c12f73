"""The AWS Glue Data Catalog through boto3: `pip install 'metastored[glue]'`.

Glue's objects are Hive's under other names. What differs: a table cannot be renamed, partitions are added in batches of
a hundred of which some may fail, and a table's location has to be given, or its database's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from metastored.connectors.adapted import Source
from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MissingExtra,
    NoSuchObjectException,
)
from metastored.hive.locations import join
from metastored.hive.names import make_part_name
from metastored.model.kinds import is_view
from metastored.wire.generated.common import FieldSchema, Order, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

BATCH: Final = 100
"""Partitions in one call that makes them: Glue takes no more."""
_SESSION: Final = ("profile_name",)


class GlueSource(Source):
    """The catalog of one account and region. `options` are those of boto3's session and client."""

    def __init__(self, options: Mapping[str, str], catalog_id: str | None = None) -> None:
        try:
            import boto3
        except ImportError:
            raise MissingExtra("the Glue catalog", "glue") from None
        self._where = f"Glue at {options.get('endpoint_url') or options.get('region_name') or 'its default region'}"
        with self._told():
            session = boto3.Session(**{key: value for key, value in options.items() if key in _SESSION})
            self._glue = session.client("glue", **{k: value for k, value in options.items() if k not in _SESSION})
        self._catalog = {"CatalogId": catalog_id} if catalog_id else {}

    def close(self) -> None:
        self._glue.close()

    # Databases

    def databases(self) -> Sequence[str]:
        with self._told():
            return sorted(each["Name"] for each in self._all("get_databases", "DatabaseList"))

    def database(self, name: str) -> Database:
        with self._told(name):
            found = self._glue.get_database(Name=name, **self._catalog)["Database"]
        return Database(
            name=found["Name"],
            description=found.get("Description"),
            locationUri=found.get("LocationUri"),
            parameters=dict(found.get("Parameters") or {}),
        )

    def create_database(self, database: Database) -> None:
        with self._told(database.name or ""):
            self._glue.create_database(DatabaseInput=_database_input(database), **self._catalog)

    def alter_database(self, name: str, database: Database) -> None:
        with self._told(name):
            self._glue.update_database(Name=name, DatabaseInput=_database_input(database), **self._catalog)

    def drop_database(self, name: str) -> None:
        with self._told(name):
            self._glue.delete_database(Name=name, **self._catalog)

    # Tables

    def tables(self, db: str) -> Sequence[str]:
        with self._told(db):
            return sorted(each["Name"] for each in self._all("get_tables", "TableList", DatabaseName=db))

    def table(self, db: str, name: str) -> Table:
        with self._told(f"{db}.{name}", "table not found"):
            found = self._glue.get_table(DatabaseName=db, Name=name, **self._catalog)["Table"]
        return _table(db, found)

    def table_objects(self, db: str, names: Sequence[str]) -> Iterable[Table]:
        """All of them at once: Glue lists tables with all that it knows of them."""
        wanted = set(names)
        with self._told(db):
            found = list(self._all("get_tables", "TableList", DatabaseName=db))
        return [_table(db, each) for each in found if each["Name"] in wanted]

    def create_table(self, table: Table) -> None:
        db, name = table.dbName or "", table.tableName or ""
        with self._told(f"{db}.{name}"):
            self._glue.create_table(DatabaseName=db, TableInput=_table_input(self._placed(table)), **self._catalog)

    def alter_table(self, db: str, name: str, table: Table) -> None:
        if (table.dbName or db, table.tableName or name) != (db, name):
            raise InvalidOperationException(f"{db}.{name} cannot be renamed: Glue has no such call; make it anew")
        with self._told(f"{db}.{name}", "table not found"):
            self._glue.update_table(DatabaseName=db, TableInput=_table_input(table), **self._catalog)

    def drop_table(self, db: str, name: str, purge: bool) -> None:
        """Its files stay: Glue never touches them."""
        with self._told(f"{db}.{name}", "table not found"):
            self._glue.delete_table(DatabaseName=db, Name=name, **self._catalog)

    def _placed(self, table: Table) -> Table:
        """A table without a location gets one in its database's, as a metastore would choose it."""
        if is_view(table) or table.sd is None or table.sd.location:
            return table
        root = self.database(table.dbName or "").locationUri
        return replace(table, sd=replace(table.sd, location=join(root, table.tableName or ""))) if root else table

    # Partitions

    def partitions(self, db: str, name: str) -> Iterable[Partition]:
        with self._told(f"{db}.{name}", "table not found"):
            found = list(self._all("get_partitions", "Partitions", DatabaseName=db, TableName=name))
        return sorted((_partition(db, name, each) for each in found), key=lambda part: part.values or ())

    def partition(self, db: str, name: str, values: Sequence[str]) -> Partition:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        with self._told(f"partition values={list(values)}"):
            return _partition(db, name, self._glue.get_partition(**place, PartitionValues=list(values))["Partition"])

    def add_partitions(self, db: str, name: str, partitions: Sequence[Partition], if_not_exists: bool) -> None:
        table = self.table(db, name)
        inputs = [_partition_input(table, each) for each in partitions]
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        for at in range(0, len(inputs), BATCH):
            with self._told(f"{db}.{name}", "table not found"):
                answer = self._glue.batch_create_partition(**place, PartitionInputList=inputs[at : at + BATCH])
            for failed in answer.get("Errors") or ():
                code, text = failed["ErrorDetail"].get("ErrorCode"), failed["ErrorDetail"].get("ErrorMessage")
                values = ", ".join(failed["PartitionValues"])
                if code != "AlreadyExistsException":
                    raise MetaException(f"{self._where}: partition ({values}) of {db}.{name}: {code}: {text}")
                if not if_not_exists:
                    raise AlreadyExistsException(f"Partition already exists: {db}.{name} ({values})")

    def alter_partition(self, db: str, name: str, partition: Partition) -> None:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        given = _partition_input(self.table(db, name), partition)
        with self._told(f"partition values={given['Values']}"):
            self._glue.update_partition(**place, PartitionValueList=given["Values"], PartitionInput=given)

    def drop_partition(self, db: str, name: str, values: Sequence[str]) -> None:
        place = {"DatabaseName": db, "TableName": name, **self._catalog}
        with self._told(f"partition values={list(values)}"):
            self._glue.delete_partition(**place, PartitionValues=list(values))

    # How

    def _all(self, operation: str, key: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every page of a list."""
        for page in self._glue.get_paginator(operation).paginate(**arguments, **self._catalog):
            yield from page.get(key) or ()

    @contextmanager
    def _told(self, name: str = "", missing: str = "") -> Iterator[None]:
        """Glue's errors as the metastore's, with the name that the call was about."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code, text = error.response["Error"].get("Code"), error.response["Error"].get("Message")
            if code == "EntityNotFoundException":
                raise NoSuchObjectException(f"{name} {missing}".strip()) from error
            if code == "AlreadyExistsException":
                raise AlreadyExistsException(f"{name} already exists") from error
            if code in ("InvalidInputException", "ValidationException"):
                raise InvalidObjectException(f"{name}: {text}") from error
            raise MetaException(f"{self._where}: {name}: {code}: {text}") from error
        except BotoCoreError as error:
            raise MetaException(f"{self._where}: {error}") from error


# --- from Glue ---------------------------------------------------------------------------------------------


def _table(db: str, found: Mapping[str, Any]) -> Table:
    parameters = dict(found.get("Parameters") or {})
    if found.get("Description"):
        parameters.setdefault("comment", found["Description"])
    return Table(
        tableName=found["Name"],
        dbName=db,
        owner=found.get("Owner"),
        createTime=_seconds(found.get("CreateTime")),
        lastAccessTime=_seconds(found.get("LastAccessTime")),
        retention=found.get("Retention") or 0,
        sd=_storage(found.get("StorageDescriptor") or {}),
        partitionKeys=tuple(map(_column, found.get("PartitionKeys") or ())),
        parameters=parameters,
        viewOriginalText=found.get("ViewOriginalText"),
        viewExpandedText=found.get("ViewExpandedText"),
        tableType=found.get("TableType"),
    )


def _partition(db: str, name: str, found: Mapping[str, Any]) -> Partition:
    return Partition(
        values=tuple(found["Values"]),
        dbName=db,
        tableName=name,
        createTime=_seconds(found.get("CreationTime")),
        lastAccessTime=_seconds(found.get("LastAccessTime")),
        sd=_storage(found.get("StorageDescriptor") or {}),
        parameters=dict(found.get("Parameters") or {}),
    )


def _storage(found: Mapping[str, Any]) -> StorageDescriptor:
    serde = found.get("SerdeInfo") or {}
    return StorageDescriptor(
        cols=tuple(map(_column, found.get("Columns") or ())),
        location=found.get("Location"),
        inputFormat=found.get("InputFormat"),
        outputFormat=found.get("OutputFormat"),
        compressed=bool(found.get("Compressed")),
        numBuckets=found.get("NumberOfBuckets", -1),
        serdeInfo=SerDeInfo(serde.get("Name"), serde.get("SerializationLibrary"), dict(serde.get("Parameters") or {})),
        bucketCols=tuple(found.get("BucketColumns") or ()),
        sortCols=tuple(Order(each["Column"], each["SortOrder"]) for each in found.get("SortColumns") or ()),
        parameters=dict(found.get("Parameters") or {}),
    )


def _column(found: Mapping[str, Any]) -> FieldSchema:
    return FieldSchema(found["Name"], found.get("Type"), found.get("Comment"))


def _seconds(moment: datetime | None) -> int:
    return 0 if moment is None else int(moment.timestamp())


# --- to Glue: nothing is sent that is not known, for it refuses nulls ------------------------------------------


def _database_input(database: Database) -> dict[str, Any]:
    return _known(
        Name=database.name,
        Description=database.description,
        LocationUri=database.locationUri,
        Parameters=database.parameters or {},
    )


def _table_input(table: Table) -> dict[str, Any]:
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


def _partition_input(table: Table, partition: Partition) -> dict[str, Any]:
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
