"""Iceberg's tables and views as Iceberg's own Hive catalog writes them into a metastore. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metastored.connectors.iceberg.types import columns_of
from metastored.model import kinds
from metastored.model.origins import METADATA_LOCATION, TABLE_TYPE
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.view import View

FOR_HIVE: Final = "engine.hive.enabled"
"""The property of tables that Hive reads too."""
HANDLER: Final = "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
_STATISTICS: Final = {"numRows": "total-records", "totalSize": "total-files-size", "numFiles": "total-data-files"}


def shown_table(db: str, name: str, table: IcebergTable) -> Table:
    summary: Any = table.metadata.current_snapshot()
    counted = summary.summary.additional_properties if summary is not None and summary.summary is not None else {}
    statistics = {key: counted[theirs] for key, theirs in _STATISTICS.items() if theirs in counted}
    parameters = {
        **table.properties,
        **statistics,
        kinds.EXTERNAL_PARAMETER: "TRUE",
        TABLE_TYPE: "ICEBERG",
        METADATA_LOCATION: table.metadata_location,
        "uuid": str(table.metadata.table_uuid),
        "current-schema": table.schema().model_dump_json(),
        "default-partition-spec": table.spec().model_dump_json(),
    }
    has_handler = table.properties.get(FOR_HIVE, "").lower() == "true"
    if has_handler:
        parameters["storage_handler"] = HANDLER
    return Table(
        tableName=name,
        dbName=db,
        owner=table.properties.get("owner"),
        createTime=table.metadata.last_updated_ms // 1000,
        lastAccessTime=0,
        retention=0,
        sd=_storage(columns_of(table.schema()), table.location(), has_handler),
        partitionKeys=(),
        parameters=parameters,
        tableType=kinds.EXTERNAL,
    )


def shown_view(db: str, name: str, view: View) -> Table:
    version = view.current_version()
    queries = [each.root.sql for each in version.representations]
    return Table(
        tableName=name,
        dbName=db,
        owner=view.properties.get("owner"),
        createTime=version.timestamp_ms // 1000,
        sd=_storage(columns_of(view.schema()), None),
        partitionKeys=(),
        parameters={**view.properties, TABLE_TYPE: "ICEBERG-VIEW"},
        viewOriginalText=queries[0] if queries else None,
        viewExpandedText=queries[0] if queries else None,
        tableType=kinds.VIEW,
    )


def _storage(columns: tuple[FieldSchema, ...], location: str | None, has_handler: bool = False) -> StorageDescriptor:
    """As Iceberg's Hive catalog writes it: Hive's own reader, or classes that nobody reads files with."""
    if has_handler:
        return StorageDescriptor(
            cols=columns,
            location=location,
            inputFormat="org.apache.iceberg.mr.hive.HiveIcebergInputFormat",
            outputFormat="org.apache.iceberg.mr.hive.HiveIcebergOutputFormat",
            compressed=False,
            numBuckets=0,
            serdeInfo=SerDeInfo(serializationLib="org.apache.iceberg.mr.hive.HiveIcebergSerDe", parameters={}),
            bucketCols=(),
            sortCols=(),
            parameters={},
        )
    return StorageDescriptor(
        cols=columns,
        location=location,
        inputFormat="org.apache.hadoop.mapred.FileInputFormat",
        outputFormat="org.apache.hadoop.mapred.FileOutputFormat",
        compressed=False,
        numBuckets=0,
        serdeInfo=SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
