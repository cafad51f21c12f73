"""Tables and views as Iceberg's own Hive catalog stores them in a metastore, and what is read of them. Pure.

`metadata_location` is the pointer to the metadata; everything else here is a copy of it for engines that read the
metastore: columns, properties, statistics, the query of a view. Parameters that others have set stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from metastored.iceberg.errors import BadRequest
from metastored.iceberg.metadata import by_id, current_schema, current_snapshot
from metastored.iceberg.requests import Json
from metastored.iceberg.schemas import columns_of
from metastored.iceberg.view_metadata import current_view_schema, sql_of
from metastored.model import kinds
from metastored.model.names import TableName
from metastored.model.origins import METADATA_LOCATION, TABLE_TYPE, is_iceberg
from metastored.model.remotes.keys import is_remote_key
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.structs import replace

__all__ = ["VIEW_TYPE", "changed_table", "changed_view", "is_iceberg_view", "is_table", "metadata_location", "new_row"]

PREVIOUS: Final = "previous_metadata_location"
TABLE: Final = "ICEBERG"
VIEW_TYPE: Final = "ICEBERG-VIEW"
OWNER: Final = "hive.metastore.table.owner"
"""The property by which a client names the owner of a new table. It is not copied."""
GC: Final = "gc.enabled"
FOR_HIVE: Final = "engine.hive.enabled"
HANDLER: Final = "storage_handler"
ICEBERG_HANDLER: Final = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
MAX_PARAMETER: Final = 32_672
"""Characters of a parameter that holds JSON; longer ones are left out, as by Iceberg's Hive catalog."""
_STATISTICS: Final = {"numFiles": "total-data-files", "numRows": "total-records", "totalSize": "total-files-size"}
_SNAPSHOT: Final = ("current-snapshot-id", "current-snapshot-timestamp-ms", "current-snapshot-summary")
_OWN: Final = frozenset({
    kinds.EXTERNAL_PARAMETER, TABLE_TYPE, METADATA_LOCATION, PREVIOUS, HANDLER, "transient_lastDdlTime",
})  # fmt: skip
"""Parameters that no property of a table may set: they say what the table is."""


def is_table(table: Table) -> bool:
    """Whether it is an Iceberg table with metadata."""
    return is_iceberg(table) and not kinds.is_any_view(table) and bool(metadata_location(table))


def is_iceberg_view(table: Table) -> bool:
    """Whether it is an Iceberg view with metadata."""
    kind = ((table.parameters or {}).get(TABLE_TYPE) or "").upper()
    return kind == VIEW_TYPE and kinds.is_view(table) and bool(metadata_location(table))


def metadata_location(table: Table) -> str:
    """The file with the metadata; the empty text if the table names none."""
    return (table.parameters or {}).get(METADATA_LOCATION) or ""


def new_row(name: TableName, owner: str | None, moment: int, *, view: bool = False) -> Table:
    """A table or view of the metastore without metadata. `moment` is the time in seconds."""
    return Table(
        tableName=name.table,
        dbName=name.database,
        catName=name.catalog_field,
        owner=owner,
        createTime=moment,
        lastAccessTime=moment,
        retention=2**31 - 1,
        partitionKeys=(),
        parameters={} if view else {kinds.EXTERNAL_PARAMETER: "TRUE"},
        tableType=kinds.VIEW if view else kinds.EXTERNAL,
    )


def changed_table(row: Table, metadata: Json, file: str, before: Json | None, before_file: str | None) -> Table:
    """A table of the metastore with new metadata. `before` is the metadata that it replaces."""
    properties: Mapping[str, str] = metadata["properties"]
    handled = properties.get(FOR_HIVE, "").lower() == "true"
    parameters = _parameters(row, properties, before)
    if GC in properties:
        parameters[kinds.PURGE] = parameters.pop(GC)
    elif before is not None and GC in before["properties"]:
        parameters.pop(kinds.PURGE, None)
    parameters |= {"uuid": metadata["table-uuid"], TABLE_TYPE: TABLE, **_pointer(file, before_file)}
    parameters.pop(HANDLER, None)
    if handled:
        parameters[HANDLER] = ICEBERG_HANDLER
    for key in (*_SNAPSHOT, "current-schema", "default-partition-spec", "default-sort-order"):
        parameters.pop(key, None)
    snapshot = current_snapshot(metadata)
    if snapshot is not None:
        summary = snapshot.get("summary") or {}
        counted = {key: str(summary[theirs]) for key, theirs in _STATISTICS.items() if theirs in summary}
        texts = (str(snapshot["snapshot-id"]), str(snapshot["timestamp-ms"]), _json(summary))
        parameters |= counted | _short(dict(zip(_SNAPSHOT, texts, strict=True)))
    parameters["snapshot-count"] = str(len(metadata["snapshots"]))
    spec = by_id(metadata["partition-specs"], "spec-id", metadata["default-spec-id"])
    order = by_id(metadata["sort-orders"], "order-id", metadata["default-sort-order-id"])
    schema = current_schema(metadata)
    copies = {"current-schema": _json(schema)}
    if spec is not None and spec["fields"]:
        copies["default-partition-spec"] = _json(spec)
    if order is not None and order["fields"]:
        copies["default-sort-order"] = _json(order)
    parameters |= _short(copies)
    sd = _storage(columns_of(schema), metadata["location"], handled)
    return replace(row, parameters=parameters, sd=sd)


def changed_view(row: Table, metadata: Json, file: str, before: Json | None, before_file: str | None) -> Table:
    """A view of the metastore with new metadata."""
    parameters = _parameters(row, metadata["properties"], before)
    parameters.pop("current-schema", None)
    schema = current_view_schema(metadata)
    parameters |= {"uuid": metadata["view-uuid"], TABLE_TYPE: VIEW_TYPE, **_pointer(file, before_file)}
    parameters |= _short({"current-schema": _json(schema)})
    sql = sql_of(metadata)
    sd = _storage(columns_of(schema), metadata["location"], False)
    return replace(row, parameters=parameters, sd=sd, viewOriginalText=sql, viewExpandedText=sql)


def _parameters(row: Table, properties: Mapping[str, str], before: Json | None) -> dict[str, str]:
    """The parameters of a table with its properties: those that the commit removed are removed.

    Raises BadRequest for a property that would say what the table is, or where a remote is.
    """
    gone = set() if before is None else before["properties"].keys() - properties.keys()
    kept = {key: value for key, value in (row.parameters or {}).items() if key not in gone or key in _OWN}
    new = {key: value for key, value in properties.items() if key.lower() != OWNER}
    for key, value in new.items():
        known = before is not None and before["properties"].get(key) == value
        if (key in _OWN or is_remote_key(key)) and not known:
            raise BadRequest(f"the property {key!r} cannot be set: the metastore has another meaning for it")
    return kept | {key: value for key, value in new.items() if key not in _OWN and not is_remote_key(key)}


def _pointer(file: str, before_file: str | None) -> dict[str, str]:
    return {METADATA_LOCATION: file} if before_file is None else {METADATA_LOCATION: file, PREVIOUS: before_file}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _short(parameters: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in parameters.items() if len(value) <= MAX_PARAMETER}


def _storage(columns: tuple[FieldSchema, ...], location: str, handled: bool) -> StorageDescriptor:
    """The classes are Hive's reader of Iceberg tables, or those that nobody reads files with."""
    prefix = "org.apache.iceberg.mr.hive.HiveIceberg" if handled else "org.apache.hadoop.mapred.File"
    serde = f"{prefix}SerDe" if handled else "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    return StorageDescriptor(
        cols=columns,
        location=location,
        inputFormat=f"{prefix}InputFormat",
        outputFormat=f"{prefix}OutputFormat",
        compressed=False,
        numBuckets=0,
        serdeInfo=SerDeInfo(serializationLib=serde, parameters={}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
