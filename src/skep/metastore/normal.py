"""Tables, storage descriptors and partitions as Hive hands them back after storing them. Pure functions.

A real metastore's database has a column for everything: lists, maps and numbers that a client left out come back
empty or zero, and names come back in lower case.
"""

from __future__ import annotations

from typing import Final

from skep.errors import InvalidObjectException, MetaException
from skep.hive.names import normalize
from skep.hive.types import is_valid_column_type
from skep.wire.generated.common import FieldSchema, PrincipalType, SerDeInfo, SkewedInfo, StorageDescriptor, Table
from skep.wire.structs import replace

MANAGED: Final = "MANAGED_TABLE"
EXTERNAL: Final = "EXTERNAL_TABLE"
VIEW: Final = "VIRTUAL_VIEW"
MATERIALIZED_VIEW: Final = "MATERIALIZED_VIEW"
DDL_TIME: Final = "transient_lastDdlTime"

_NO_SKEW = SkewedInfo((), (), {})


def columns(fields: tuple[FieldSchema, ...] | None) -> tuple[FieldSchema, ...]:
    """Columns with their names in lower case."""
    return tuple(
        field if field.name is None or field.name.islower() else replace(field, name=field.name.lower())
        for field in fields or ()
    )


def storage(sd: StorageDescriptor) -> StorageDescriptor:
    """A storage descriptor with nothing left out but what may be null: location and formats."""
    serde = sd.serdeInfo
    if serde is None:
        raise MetaException("Invalid SerDeInfo object")
    return replace(
        sd,
        cols=columns(sd.cols),
        compressed=bool(sd.compressed),
        numBuckets=sd.numBuckets or 0,
        serdeInfo=serde if serde.parameters is not None else _with_parameters(serde),
        bucketCols=sd.bucketCols or (),
        sortCols=sd.sortCols or (),
        parameters=sd.parameters or {},
        skewedInfo=_skew(sd.skewedInfo),
        storedAsSubDirectories=bool(sd.storedAsSubDirectories),
    )


def _with_parameters(serde: SerDeInfo) -> SerDeInfo:
    return replace(serde, parameters={})


def _skew(skew: SkewedInfo | None) -> SkewedInfo:
    if skew is None or skew == (None, None, None):
        return _NO_SKEW
    return SkewedInfo(skew.skewedColNames or (), skew.skewedColValues or (), skew.skewedColValueLocationMaps or {})


def is_external(table: Table) -> bool:
    """The parameter EXTERNAL decides, not the type."""
    return ((table.parameters or {}).get("EXTERNAL") or "").upper() == "TRUE"


def is_view(table: Table) -> bool:
    return table.tableType == VIEW


def table_type(table: Table) -> str:
    """The type as it is stored: EXTERNAL wins over what the client said."""
    if table.tableType is None:
        if table.viewOriginalText is not None:
            return VIEW
        return EXTERNAL if is_external(table) else MANAGED
    if table.tableType == MANAGED and is_external(table):
        return EXTERNAL
    if table.tableType == EXTERNAL and not is_external(table):
        return MANAGED
    return table.tableType


def stored(table: Table) -> Table:
    """The table as it is kept, its names and creation time as they are."""
    assert table.sd is not None
    return replace(
        table,
        tableName=normalize(table.tableName or ""),
        dbName=normalize(table.dbName or ""),
        createTime=table.createTime or 0,
        lastAccessTime=table.lastAccessTime or 0,
        retention=table.retention or 0,
        sd=storage(table.sd),
        partitionKeys=columns(table.partitionKeys),
        parameters=table.parameters or {},
        tableType=table_type(table),
        rewriteEnabled=bool(table.rewriteEnabled),
        ownerType=table.ownerType if table.ownerType is not None else PrincipalType.USER,
    )


def check_columns(table: Table, error: type[InvalidObjectException] | type = InvalidObjectException) -> None:
    """Refuses column types that Hive's own validation refuses."""
    sd = table.sd
    if sd is None:
        raise MetaException(f"table {table.tableName} has no storage descriptor")
    if sd.cols is None:
        raise MetaException(f"the storage descriptor of table {table.tableName} has no columns")
    for field in sd.cols:
        if not is_valid_column_type(field.type or ""):
            raise error(f"Invalid column type: {field.type}")
    for field in table.partitionKeys or ():
        if not is_valid_column_type(field.type or ""):
            raise error(f"Invalid partition column type: {field.type}")


def ddl_time(parameters: dict[str, str] | None, now: int) -> dict[str, str]:
    """Parameters with transient_lastDdlTime, set unless the client gave one that is not 0."""
    given = dict(parameters or {})
    if given.get(DDL_TIME, "0") in ("", "0"):
        given[DDL_TIME] = str(now)
    return given
