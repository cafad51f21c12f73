"""Tables with only the fields that a Hive 4 client requested. Pure functions.

Hive reads single values from its database as requested, and leaves the initial values in the rest of its objects. If a
list or a map is requested, the table is complete.
"""

from __future__ import annotations

from typing import Any, Final

from metastored.errors import InvalidOperationException, MetaException
from metastored.model.kinds import MANAGED
from metastored.wire.generated.common import (
    GetProjectionsSpec,
    PrincipalType,
    SerDeInfo,
    SkewedInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.structs import replace

SINGLE: Final = frozenset(
    {
        *("id", "tableName", "dbName", "owner", "ownerType", "createTime", "lastAccessTime", "retention"),
        *("sd.location", "sd.inputFormat", "sd.outputFormat", "sd.compressed", "sd.numBuckets"),
        *("sd.serdeInfo.name", "sd.serdeInfo.serializationLib", "sd.serdeInfo.description"),
        *("sd.serdeInfo.serializerClass", "sd.serdeInfo.deserializerClass", "sd.serdeInfo.serdeType"),
        *("sd.storedAsSubDirectories", "viewOriginalText", "viewExpandedText", "rewriteEnabled", "tableType"),
        "writeId",
    }
)
"""Fields with one value per table."""

SEVERAL: Final = frozenset(
    {
        *("values", "sd.cols.name", "sd.cols.type", "sd.cols.comment", "sd.serdeInfo.parameters", "sd.bucketCols"),
        *("sd.sortCols.col", "sd.sortCols.order", "sd.parameters", "sd.skewedInfo.skewedColNames"),
        *("sd.skewedInfo.skewedColValues", "sd.skewedInfo.skewedColValueLocationMaps"),
        *("partitionKeys.name", "partitionKeys.type", "partitionKeys.comment", "parameters"),
    }
)
"""Fields with several values per table."""

_EMPTY = Table(
    createTime=0,
    lastAccessTime=0,
    retention=0,
    tableType=MANAGED,
    rewriteEnabled=False,
    ownerType=PrincipalType.USER,
    writeId=0,
    id=0,
)
_EMPTY_STORAGE = StorageDescriptor(
    compressed=False, numBuckets=1, skewedInfo=SkewedInfo(), storedAsSubDirectories=False
)


def wanted_fields(spec: GetProjectionsSpec | None) -> frozenset[str] | None:
    """The requested fields; None for the complete table."""
    if spec is None:
        return None
    if spec.fieldList is None and (spec.includeParamKeyPattern is not None or spec.excludeParamKeyPattern is not None):
        raise InvalidOperationException("Include and Exclude Param key are not supported.")
    fields = frozenset(spec.fieldList or ())
    unknown = fields - SINGLE - SEVERAL
    if unknown:
        raise MetaException(f"Invalid table fields in the projection spec[{', '.join(sorted(unknown))}]")
    return fields if fields and fields <= SINGLE else None


def projected(table: Table, fields: frozenset[str]) -> Table:
    """The table with these fields, all of them of `SINGLE`."""

    def chosen(value: Any, above: str) -> dict[str, Any]:
        return {path[len(above) :]: getattr(value, path[len(above) :], None) for path in fields if _is_in(path, above)}

    kept = replace(_EMPTY, **chosen(table, ""))
    if not any(path.startswith("sd.") for path in fields) or table.sd is None:
        return kept
    sd = replace(_EMPTY_STORAGE, **chosen(table.sd, "sd."))
    serde = chosen(table.sd.serdeInfo, "sd.serdeInfo.")
    return replace(kept, sd=replace(sd, serdeInfo=SerDeInfo(**serde)) if serde else sd)


def _is_in(path: str, above: str) -> bool:
    """Whether a path names a field directly below another."""
    return path.startswith(above) and "." not in path[len(above) :]
