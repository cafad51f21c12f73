"""Normal forms: tables, storage descriptors and parameters as Hive returns them after storing them. Pure.

A real metastore's database has a column for everything: lists, maps and numbers that a client omitted come back empty
or zero, and names come back in lower case.
"""

from __future__ import annotations

import operator
from typing import Final

from metastored.errors import InvalidObjectException, MetaException
from metastored.hive.names import normalize
from metastored.hive.types.type_strings import is_valid_column_type
from metastored.model.kinds import stored_type
from metastored.wire.generated.common import FieldSchema, PrincipalType, SerDeInfo, SkewedInfo, StorageDescriptor, Table
from metastored.wire.structs import replace

DDL_TIME: Final = "transient_lastDdlTime"
TWICE: Final = "is there twice"
"""In the refusal of a table with two columns of one name."""

_NO_SKEW = SkewedInfo((), (), {})
Fields = tuple[FieldSchema, ...]
_last: Final[list[tuple[Fields | None, Fields]]] = [(None, ())]
"""The last columns and their normal form: the partitions of one call mostly share their columns. It is replaced whole,
so threads may share it."""


def columns(fields: Fields | None) -> Fields:
    """Columns with their names in lower case.

    Columns that are normal already are returned as they are: the codecs encode the same object once. Raises
    MetaException for a column without a name or a type, and for two columns of one name in any case, as Hive's database
    does.
    """
    known, result = _last[0]
    if fields is known:
        return result
    normal = tuple([_column(number, field) for number, field in enumerate(fields or (), 1)])
    names = {field.name for field in normal}
    if len(names) != len(normal):
        twice = next(name for at, (name, *_) in enumerate(normal) if name in {each.name for each in normal[:at]})
        raise MetaException(f"the column {twice} {TWICE}: names of columns are compared in any case")
    if fields is not None and all(map(operator.is_, fields, normal)):
        normal = fields
    _last[0] = fields, normal
    return normal


def _column(number: int, field: FieldSchema) -> FieldSchema:
    name = field.name
    if name is None or field.type is None:
        lacking = f"column {number} has no name" if name is None else f"column {number}, {name}, has no type"
        raise MetaException(f"{lacking}: each column needs both")
    return field if name.islower() else replace(field, name=name.lower())


def storage(sd: StorageDescriptor) -> StorageDescriptor:
    """A storage descriptor with all fields set except those that may be null: location and formats."""
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


def stored(table: Table, external_in_any_case: bool, *, storage_is_normal: bool = False) -> Table:
    """The table as it is stored, with its own creation time. For `external_in_any_case` see `kinds.stored_type`.

    `storage_is_normal` if its storage descriptor and partition keys have been read from the store.
    """
    assert table.sd is not None
    return replace(
        table,
        tableName=normalize(table.tableName or ""),
        dbName=normalize(table.dbName or ""),
        createTime=table.createTime or 0,
        lastAccessTime=table.lastAccessTime or 0,
        retention=table.retention or 0,
        sd=table.sd if storage_is_normal else storage(table.sd),
        partitionKeys=table.partitionKeys if storage_is_normal else columns(table.partitionKeys),
        parameters=table.parameters or {},
        tableType=stored_type(table, external_in_any_case),
        rewriteEnabled=bool(table.rewriteEnabled),
        ownerType=table.ownerType if table.ownerType is not None else PrincipalType.USER,
    )


def check_columns(table: Table, error: type[InvalidObjectException] | type = InvalidObjectException) -> None:
    """Raises an error for column types that Hive's own validation refuses."""
    sd = table.sd
    if sd is None:
        raise MetaException(f"table {table.tableName} has no storage descriptor")
    if sd.cols is None:
        raise MetaException(f"the storage descriptor of table {table.tableName} has no columns")
    columns(sd.cols)
    columns(table.partitionKeys)
    for field in sd.cols:
        if not is_valid_column_type(field.type or ""):
            raise error(f"Invalid column type: {field.type or ''}")
    for field in table.partitionKeys or ():
        if not is_valid_column_type(field.type or ""):
            raise error(f"Invalid partition column type: {field.type or ''}")
    skew = sd.skewedInfo
    if skew is not None and skew.skewedColNames:
        names = {field.name for field in sd.cols}
        missing = [name for name in skew.skewedColNames if name not in names]
        if missing:
            raise error(f"Invalid skew column {', '.join(missing)}")


def ddl_time(parameters: dict[str, str] | None, now: int) -> dict[str, str]:
    """Parameters with transient_lastDdlTime, set unless the client gave one."""
    result = dict(parameters or {})
    result.setdefault(DDL_TIME, str(now))
    return result


def ddl_time_of_partition(parameters: dict[str, str] | None, now: int) -> dict[str, str]:
    """As `ddl_time`, for a changed partition, where a zero counts as missing."""
    result = dict(parameters or {})
    if result.get(DDL_TIME, "0") == "0":
        result[DDL_TIME] = str(now)
    return result
