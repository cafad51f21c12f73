"""Finds out whether a write whose reply was lost took effect: which read to make, and how to interpret it. Pure.

    create      the object exists and is as it was sent
    drop        the object does not exist
    alter       the object is as it was sent

A write without a lookup here is not retried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from metastored.hive.names import normalize, partition_name_to_vals
from metastored.wire.generated.common import AsyncOperationResp, FieldSchema, Table
from metastored.wire.generated.partitions import AddPartitionsResult
from metastored.wire.methods import Method

SET_BY_SERVERS: Final = frozenset({
    "COLUMN_STATS_ACCURATE", "EXTERNAL", "TRANSLATED_TO_EXTERNAL", "bucketing_version", "external.table.purge",
    "last_modified_by", "last_modified_time", "numFiles", "numFilesErasureCoded", "numPartitions", "numRows",
    "rawDataSize", "totalSize", "transient_lastDdlTime",
})  # fmt: skip
"""Table parameters that a server adds or changes by itself."""


class Lookup(NamedTuple):
    """The object to read, and what the read says about the write."""

    object: str
    """table, database, partitions or function."""
    db: str
    name: str
    values: tuple[tuple[str, ...], ...]
    took_effect: Callable[[Any], bool]
    """Whether the write took effect, by the object that was read; None if the object does not exist."""
    result: Callable[[Any], Any]
    """The result of the write, by the object that was read."""


def lookup_of(method: Method, args: Sequence[Any]) -> Lookup | None:
    """The lookup that shows whether this call took effect; None if there is none."""
    verb, _, rest = method.name.partition("_")
    request = args[0] if args else None
    match method.object, verb:
        case "table", "create" if isinstance(sent := getattr(request, "table", request), Table):
            return _table(sent.dbName, sent.tableName, lambda read: read is not None and _same(read, sent))
        case "table", "alter":
            db, name, new = (
                (request.dbName, request.tableName, request.table)
                if method.name == "alter_table_req" and request is not None
                else (args[0], args[1], args[2])
            )
            if new is None:
                return None
            return _table(
                new.dbName or db, new.tableName or name, lambda read: read is not None and _unchanged(read, new)
            )
        case "table", "drop":
            db, name = (request.dbName, request.tableName) if rest == "table_req" and request else (args[0], args[1])
            finished = AsyncOperationResp(finished=True) if method.returns is not None else None
            return _table(db, name, _is_missing, lambda read: finished)
        case "database", "create":
            db = getattr(request, "name", None) or getattr(request, "databaseName", None)
            return _database(db, lambda read: read is not None and _same_database(read, request))
        case "database", "drop":
            db = request if isinstance(request, str) else getattr(request, "name", None)
            finished = AsyncOperationResp(finished=True) if method.returns is not None else None
            return _database(db, _is_missing, lambda read: finished)
        case "partition", "add" if method.name.startswith(("add_partition_", "add_partitions_req")) or method.name in (
            "add_partition",
            "add_partitions",
        ):
            return _added(method, request)
        case "partition", "append":
            values = partition_name_to_vals(args[2]) if isinstance(args[2:3] and args[2], str) else args[2]
            return _partitions(args[0], args[1], [values], _exist, lambda read: read[0])
        case "partition", "drop" if len(args) >= 3:
            values = partition_name_to_vals(args[2]) if isinstance(args[2], str) else args[2]
            return _partitions(args[0], args[1], [values], lambda read: not read, lambda read: True)
        case "function", "create" if request is not None:
            return _function(request.dbName, request.functionName, lambda read: read is not None)
        case "function", "drop":
            return _function(args[0], args[1], _is_missing)
    return None


def _nothing(read: Any) -> None:
    return None


def _is_missing(read: Any) -> bool:
    return read is None


def _exist(read: Any) -> bool:
    return bool(read)


def _table(
    db: str | None, name: str | None, took_effect: Callable[[Any], bool], result: Callable[[Any], Any] = _nothing
) -> Lookup | None:
    return Lookup("table", db, name, (), took_effect, result) if db and name else None


def _database(
    db: str | None, took_effect: Callable[[Any], bool], result: Callable[[Any], Any] = _nothing
) -> Lookup | None:
    return Lookup("database", db, "", (), took_effect, result) if db else None


def _function(db: str | None, name: str | None, took_effect: Callable[[Any], bool]) -> Lookup | None:
    return Lookup("function", db, name, (), took_effect, _nothing) if db and name else None


def _partitions(
    db: str,
    name: str,
    values: Sequence[Sequence[str]],
    took_effect: Callable[[Any], bool],
    result: Callable[[Any], Any],
) -> Lookup | None:
    if not (db and name and all(values)):
        return None
    return Lookup("partitions", db, name, tuple(tuple(each) for each in values), took_effect, result)


def _added(method: Method, request: Any) -> Lookup | None:
    parts = request if isinstance(request, tuple) and method.name == "add_partitions" else None
    if parts is None:
        parts = (request,) if hasattr(request, "values") else getattr(request, "parts", None)
    if not parts:
        return None
    first = parts[0]
    count = len(parts)
    results: dict[str, Callable[[Any], Any]] = {
        "add_partitions": lambda read: count,
        "add_partitions_req": lambda read: AddPartitionsResult(partitions=tuple(read)),
    }
    return _partitions(
        first.dbName,
        first.tableName,
        [part.values or () for part in parts],
        lambda read: len(read) == count,
        results.get(method.name, lambda read: read[0]),
    )


def _columns(columns: tuple[FieldSchema, ...] | None) -> list[tuple[str, str | None]]:
    return [(normalize(column.name or ""), column.type) for column in columns or ()]


def _same(read: Table, sent: Table) -> bool:
    """Whether a table that was read is the one that was sent: the same columns, keys and parameters."""
    old, new = read.parameters or {}, sent.parameters or {}
    return (
        _columns(read.sd and read.sd.cols) == _columns(sent.sd and sent.sd.cols)
        and _columns(read.partitionKeys) == _columns(sent.partitionKeys)
        and all(old.get(key) == value for key, value in new.items() if key not in SET_BY_SERVERS)
    )


def _unchanged(read: Table, sent: Table) -> bool:
    """Whether it is the same, and has no parameter that was removed."""
    extra = set(read.parameters or {}) - set(sent.parameters or {}) - SET_BY_SERVERS
    comments = [column.comment or "" for column in (read.sd and read.sd.cols) or ()]
    return (
        _same(read, sent)
        and not extra
        and comments == [column.comment or "" for column in (sent.sd and sent.sd.cols) or ()]
        and (read.sd and read.sd.location) == (sent.sd and sent.sd.location)
        and (read.owner or "") == (sent.owner or "")
    )


def _same_database(read: Any, sent: Any) -> bool:
    """Whether a database that was read has the description and the parameters that were sent."""
    stored, requested = read.parameters or {}, getattr(sent, "parameters", None) or {}
    return (read.description or "") == (getattr(sent, "description", None) or "") and all(
        stored.get(key) == value for key, value in requested.items()
    )
