"""Compares an object of one metastore with its copy in another, field by field. Pure.

Metastores do not distinguish an empty list, map or number from one that was never set, so they are equal here. Fields
that belong to the metastore and not to the object (catalog, ids, capabilities of a client) are not compared, nor are
fields that a metastore sets itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from metastored.model.column_statistics import column_of
from metastored.wire.generated.common import ColumnStatisticsObj, PrincipalType
from metastored.wire.generated.databases import DatabaseType
from metastored.wire.generated.functions import FunctionType
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import names

OF_THE_PLACE: Final[dict[str, frozenset[str]]] = {
    "Catalog": frozenset(),
    "Database": frozenset({"catalogName", "privileges"}),
    "Table": frozenset(
        {
            *("catName", "privileges", "temporary", "writeId", "isStatsCompliant", "colStats", "accessType", "id"),
            *("requiredReadCapabilities", "requiredWriteCapabilities", "fileMetadata", "dictionary", "txnId"),
        }
    ),
    "Partition": frozenset(
        {"catName", "dbName", "tableName", "privileges", "writeId", "isStatsCompliant", "colStats", "fileMetadata"}
    ),
    "CreationMetadata": frozenset({"catName", "sourceTables"}),
    "Function": frozenset({"catName"}),
    "HiveObjectPrivilege": frozenset({"authorizer"}),
    "HiveObjectRef": frozenset({"catName"}),
    "SQLPrimaryKey": frozenset({"catName"}),
    "SQLForeignKey": frozenset({"catName", "pk_name"}),
    "SQLUniqueConstraint": frozenset({"catName"}),
    "SQLNotNullConstraint": frozenset({"catName"}),
    "SQLDefaultConstraint": frozenset({"catName"}),
    "SQLCheckConstraint": frozenset({"catName"}),
}
"""Fields that depend on the metastore and not on the object, by struct."""

_DEFAULTS: Final = {
    ("Database", "ownerType"): PrincipalType.USER,
    ("Database", "type"): DatabaseType.NATIVE,
    ("Table", "ownerType"): PrincipalType.USER,
    ("Function", "ownerType"): PrincipalType.USER,
    ("Function", "functionType"): FunctionType.JAVA,
}
"""Parameters that older versions omit, with their implied values."""

STAMPED: Final = frozenset(
    {
        *("Catalog.createTime", "Database.createTime", "Table.createTime", "Function.createTime"),
        *("CreationMetadata.materializationTime", "PrivilegeGrantInfo.createTime", "RolePrincipalGrant.grantTime"),
        *("Role.createTime", "Role.ownerName"),
    }
)
"""Fields that a metastore sets itself when it is written to through its API; clients cannot choose them."""

_SKETCHES: Final = ("bitVectors", "histogram")


def differences(source: Any, target: Any, stamped: Collection[str] = frozenset()) -> list[str]:
    """Each field that differs, as a line with both values. `stamped` are not compared."""
    return list(_of_values("", source, target, stamped))


def partition_differences(source: Partition, target: Partition, stamped: Collection[str] = frozenset()) -> list[str]:
    """The same for partitions, with a fast path: most partitions are equal byte for byte."""
    if (source.sd, source.parameters, source.values) == (target.sd, target.parameters, target.values) and (
        (source.createTime == target.createTime or "Partition.createTime" in stamped)
        and source.lastAccessTime == target.lastAccessTime
    ):
        return []
    return differences(source, target, stamped)


def statistics_differences(source: ColumnStatisticsObj, target: ColumnStatisticsObj) -> list[str]:
    """The same for a column's statistics. Bit vectors and histograms are compared if both sides have them."""
    one, other = column_of(source), column_of(target)
    if (one.type, one.kind) != (other.type, other.kind):
        return [_line("statistics", f"{one.kind} of {one.type}", f"{other.kind} of {other.type}")]
    lines: list[str] = []
    cls: Any = type(one.data)
    for name in names(cls):
        mine, theirs = getattr(one.data, name), getattr(other.data, name)
        if name in _SKETCHES and (mine is None or theirs is None):
            continue
        lines += _of_values(f"statistics.{name}", mine, theirs, frozenset())
    return lines


def _of_values(path: str, one: Any, other: Any, stamped: Collection[str]) -> Iterator[str]:
    if one == other:
        return
    cls = type(one if one is not None else other)
    if isinstance(one if one is not None else other, tuple) and hasattr(cls, "SPEC"):
        yield from _of_structs(path, cls, one, other, stamped)
    elif isinstance(one, dict) or isinstance(other, dict):
        yield from _of_maps(path, one or {}, other or {}, stamped)
    elif isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for at, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from _of_values(f"{path}[{at}]", mine, theirs, stamped)
    elif not (_is_nothing(one) and _is_nothing(other)):
        yield _line(path, one, other)


def _of_structs(path: str, cls: type, one: Any, other: Any, stamped: Collection[str]) -> Iterator[str]:
    kind = cls.__name__
    outside = OF_THE_PLACE.get(kind, frozenset[str]())
    for name in names(cls):
        if name in outside or f"{kind}.{name}" in stamped:
            continue
        default = _DEFAULTS.get((kind, name))
        values = [getattr(struct, name, None) for struct in (one, other)]
        mine, theirs = (default if value is None else value for value in values)
        yield from _of_values(f"{path}.{name}" if path else name, mine, theirs, stamped)


def _of_maps(path: str, one: dict[Any, Any], other: dict[Any, Any], stamped: Collection[str]) -> Iterator[str]:
    for key in sorted({*one, *other}, key=str):
        if key not in one or key not in other:
            yield _line(f"{path}[{key!r}]", one.get(key), other.get(key))
        else:
            yield from _of_values(f"{path}[{key!r}]", one[key], other[key], stamped)


def _is_nothing(value: Any) -> bool:
    """Whether the value is unset, or equal to unset for a metastore. An empty string is a value."""
    return value is None or (not isinstance(value, str | bytes) and not value)


def _line(path: str, one: Any, other: Any) -> str:
    return f"{path} is {_text(one)} in the source and {_text(other)} in the target"


def _text(value: Any) -> str:
    text = "not set" if value is None else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
