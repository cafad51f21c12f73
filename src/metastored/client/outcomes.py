"""Whether a write whose answer was lost took effect: which read tells, and how its answer is understood. Pure.

    create      it is there, and is what was sent
    drop        it is gone
    alter       it is now what was sent

A write that has no question here is not repeated.
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


class Question(NamedTuple):
    """What has to be read, and what its answer (None where there is nothing) says about the write."""

    object: str
    """table, database, partitions or function."""
    db: str
    name: str
    values: tuple[tuple[str, ...], ...]
    took_effect: Callable[[Any], bool]
    result: Callable[[Any], Any]
    """What the write would have answered."""


def question(method: Method, args: Sequence[Any]) -> Question | None:
    """The question that tells whether this call took effect; None where there is none."""
    verb, _, rest = method.name.partition("_")
    request = args[0] if args else None
    match method.object, verb:
        case "table", "create" if isinstance(sent := getattr(request, "table", request), Table):
            return _table(sent.dbName, sent.tableName, lambda found: found is not None and _same(found, sent))
        case "table", "alter":
            db, name, new = (
                (request.dbName, request.tableName, request.table)
                if method.name == "alter_table_req" and request is not None
                else (args[0], args[1], args[2])
            )
            if new is None:
                return None
            return _table(
                new.dbName or db, new.tableName or name, lambda found: found is not None and _unchanged(found, new)
            )
        case "table", "drop":
            db, name = (request.dbName, request.tableName) if rest == "table_req" and request else (args[0], args[1])
            finished = AsyncOperationResp(finished=True) if method.returns is not None else None
            return _table(db, name, _is_gone, lambda found: finished)
        case "database", "create":
            db = getattr(request, "name", None) or getattr(request, "databaseName", None)
            return _database(db, lambda found: found is not None and _same_database(found, request))
        case "database", "drop":
            db = request if isinstance(request, str) else getattr(request, "name", None)
            finished = AsyncOperationResp(finished=True) if method.returns is not None else None
            return _database(db, _is_gone, lambda found: finished)
        case "partition", "add" if method.name.startswith(("add_partition_", "add_partitions_req")) or method.name in (
            "add_partition",
            "add_partitions",
        ):
            return _added(method, request)
        case "partition", "append":
            values = partition_name_to_vals(args[2]) if isinstance(args[2:3] and args[2], str) else args[2]
            return _partitions(args[0], args[1], [values], _are_there, lambda found: found[0])
        case "partition", "drop" if len(args) >= 3:
            values = partition_name_to_vals(args[2]) if isinstance(args[2], str) else args[2]
            return _partitions(args[0], args[1], [values], lambda found: not found, lambda found: True)
        case "function", "create" if request is not None:
            return _function(request.dbName, request.functionName, lambda found: found is not None)
        case "function", "drop":
            return _function(args[0], args[1], _is_gone)
    return None


def _nothing(found: Any) -> None:
    return None


def _is_gone(found: Any) -> bool:
    return found is None


def _are_there(found: Any) -> bool:
    return bool(found)


def _table(
    db: str | None, name: str | None, took: Callable[[Any], bool], result: Callable[[Any], Any] = _nothing
) -> Question | None:
    return Question("table", db, name, (), took, result) if db and name else None


def _database(db: str | None, took: Callable[[Any], bool], result: Callable[[Any], Any] = _nothing) -> Question | None:
    return Question("database", db, "", (), took, result) if db else None


def _function(db: str | None, name: str | None, took: Callable[[Any], bool]) -> Question | None:
    return Question("function", db, name, (), took, _nothing) if db and name else None


def _partitions(
    db: str, name: str, values: Sequence[Sequence[str]], took: Callable[[Any], bool], result: Callable[[Any], Any]
) -> Question | None:
    if not (db and name and all(values)):
        return None
    return Question("partitions", db, name, tuple(tuple(each) for each in values), took, result)


def _added(method: Method, request: Any) -> Question | None:
    parts = request if isinstance(request, tuple) and method.name == "add_partitions" else None
    if parts is None:
        parts = (request,) if hasattr(request, "values") else getattr(request, "parts", None)
    if not parts:
        return None
    first = parts[0]
    count = len(parts)
    results: dict[str, Callable[[Any], Any]] = {
        "add_partitions": lambda found: count,
        "add_partitions_req": lambda found: AddPartitionsResult(partitions=tuple(found)),
    }
    return _partitions(
        first.dbName,
        first.tableName,
        [part.values or () for part in parts],
        lambda found: len(found) == count,
        results.get(method.name, lambda found: found[0]),
    )


def _columns(columns: tuple[FieldSchema, ...] | None) -> list[tuple[str, str | None]]:
    return [(normalize(column.name or ""), column.type) for column in columns or ()]


def _same(found: Table, sent: Table) -> bool:
    """A table that is there is the one that was sent: its columns, keys and parameters."""
    old, new = found.parameters or {}, sent.parameters or {}
    return (
        _columns(found.sd and found.sd.cols) == _columns(sent.sd and sent.sd.cols)
        and _columns(found.partitionKeys) == _columns(sent.partitionKeys)
        and all(old.get(key) == value for key, value in new.items() if key not in SET_BY_SERVERS)
    )


def _unchanged(found: Table, sent: Table) -> bool:
    """The same, and nothing is there that was taken out."""
    extra = set(found.parameters or {}) - set(sent.parameters or {}) - SET_BY_SERVERS
    comments = [column.comment or "" for column in (found.sd and found.sd.cols) or ()]
    return (
        _same(found, sent)
        and not extra
        and comments == [column.comment or "" for column in (sent.sd and sent.sd.cols) or ()]
        and (found.sd and found.sd.location) == (sent.sd and sent.sd.location)
        and (found.owner or "") == (sent.owner or "")
    )


def _same_database(found: Any, sent: Any) -> bool:
    """Its own parameters and description are in it: a database of somebody else is not taken for it."""
    theirs, ours = found.parameters or {}, getattr(sent, "parameters", None) or {}
    return (found.description or "") == (getattr(sent, "description", None) or "") and all(
        theirs.get(key) == value for key, value in ours.items()
    )
