"""Requests for plans of scans, and the tokens by which clients fetch the parts of a plan. Pure.

A token has the scan itself, and which manifests of its snapshot are to be read: no server holds a plan, and each can
read the tokens of every other. A client may forge one. It is therefore checked as a request is, against the metadata of
the table as the caller may read it, and names files only by their numbers in the snapshot.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, NamedTuple

import orjson

from metastored.iceberg.errors import BadRequest, IcebergError, NoSuchPlanTask
from metastored.iceberg.metadata import by_id, current_snapshot
from metastored.iceberg.requests import Json, check_depth, distinct, optional

__all__ = ["MAX_FILTER", "Part", "Scan", "append_snapshots", "read_scan", "read_token", "token_of"]

MAX_FILTER: Final = 256 * 1024
"""Bytes of a filter: each task has it."""
MAX_TOKEN: Final = 2 * MAX_FILTER
MAX_NAMES: Final = 100
"""Columns whose statistics are sent."""
MAX_SELECTED: Final = 10_000
MAX_APPENDS: Final = 1_000
"""Snapshots of an incremental scan."""
MAX_NUMBER: Final = 1 << 31
APPEND: Final = "append"


class Scan(NamedTuple):
    """What a client wants to read."""

    snapshot: int
    start: int | None
    """The snapshot after which an incremental scan begins."""
    schema: int
    filter: Any
    """As JSON; None for all rows."""
    case_sensitive: bool
    stats: tuple[str, ...]


class Part(NamedTuple):
    """Data manifests of a scan, by their numbers, and the first entry of the first one."""

    first: int
    entry: int
    end: int


def read_scan(fields: Json, metadata: Json) -> Scan | None:
    """The scan of a request; None if the table has no snapshot. Raises BadRequest."""
    what = "the request"
    wanted, start, end = (
        optional(fields, name, int, what) for name in ("snapshot-id", "start-snapshot-id", "end-snapshot-id")
    )
    if wanted is not None and (start is not None or end is not None):
        raise BadRequest("the request has snapshot-id and start-snapshot-id or end-snapshot-id: one of both is a scan")
    if (start is None) != (end is None):
        raise BadRequest("an incremental scan needs start-snapshot-id and end-snapshot-id")
    rows = optional(fields, "min-rows-requested", int, what)
    if rows is not None and rows < 0:
        raise BadRequest("min-rows-requested is negative")
    _names(fields, "select", MAX_SELECTED)
    stats = _names(fields, "stats-fields", MAX_NAMES)
    case_sensitive = optional(fields, "case-sensitive", bool, what)
    of_snapshot = optional(fields, "use-snapshot-schema", bool, what)
    filter = _checked_filter(fields.get("filter"))
    if wanted is None and end is None:
        snapshot = current_snapshot(metadata)
        if snapshot is None:
            return None
    else:
        id = end if wanted is None else wanted
        snapshot = by_id(metadata["snapshots"], "snapshot-id", id)
        if snapshot is None:
            raise BadRequest(f"the table has no snapshot {id}")
    schema = snapshot.get("schema-id") if of_snapshot else None
    if schema is None or by_id(metadata["schemas"], "schema-id", schema) is None:
        schema = metadata["current-schema-id"]
    scan = Scan(snapshot["snapshot-id"], start, schema, filter, case_sensitive is not False, stats)
    append_snapshots(scan, metadata)
    return scan


def _names(fields: Json, name: str, most: int) -> tuple[str, ...]:
    if fields.get(name) is None:
        return ()
    names = distinct(fields, name, str, "the request")
    if len(names) > most:
        raise BadRequest(f"{name} of the request has {len(names):,} names: at most {most:,} are taken")
    return tuple(sorted(names))


def _checked_filter(filter: Any) -> Any:
    if filter is not None and len(orjson.dumps(filter)) > MAX_FILTER:
        raise BadRequest(f"the filter has more than {MAX_FILTER} bytes")
    return filter


def append_snapshots(scan: Scan, metadata: Json) -> list[Json]:
    """The snapshots that have appended the rows of an incremental scan, newest first; none for another scan.

    The one that it starts after may have expired. Raises BadRequest if it is not an ancestor of the last one.
    """
    if scan.start is None:
        return []
    by_number = {each["snapshot-id"]: each for each in metadata["snapshots"]}
    snapshots, at, seen = [], scan.snapshot, set[int]()
    while at != scan.start:
        snapshot = by_number.get(at)
        if snapshot is None or at in seen:
            raise BadRequest(f"the snapshot {scan.start} is not an ancestor of the snapshot {scan.snapshot}")
        seen.add(at)
        summary = snapshot.get("summary")
        if isinstance(summary, dict) and summary.get("operation") == APPEND:
            snapshots.append(snapshot)
        at = optional(snapshot, "parent-snapshot-id", int, "a snapshot")
    if len(snapshots) > MAX_APPENDS:
        raise BadRequest(f"the scan has {len(snapshots):,} snapshots: at most {MAX_APPENDS:,} are planned at a time")
    return snapshots


# --- tokens ---------------------------------------------------------------------------------------------------------


def token_of(scan: Scan, part: Part, metadata: Json) -> str:
    """The token of a part of a scan."""
    content = [metadata["table-uuid"], *scan, list(part)]
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode()


def read_token(text: str, metadata: Json) -> tuple[Scan, Part]:
    """The part of a scan that a token is for. Raises NoSuchPlanTask."""
    try:
        if len(text) > MAX_TOKEN:
            raise ValueError(text)
        content = orjson.loads(base64.b64decode(text.encode("ascii"), b"-_", validate=True))
        check_depth([content], "plan-task")
        uuid, snapshot, start, schema, filter, case_sensitive, stats, part = content
        first, entry, end = part
        numbers = [snapshot, schema, first, entry, end, *([] if start is None else [start])]
        if uuid != metadata["table-uuid"] or any(type(each) is not int for each in numbers):
            raise ValueError(text)
        if not 0 <= first < end < MAX_NUMBER or not 0 <= entry < MAX_NUMBER or type(case_sensitive) is not bool:
            raise ValueError(text)
        if by_id(metadata["snapshots"], "snapshot-id", snapshot) is None:
            raise ValueError(text)
        if by_id(metadata["schemas"], "schema-id", schema) is None:
            raise ValueError(text)
        names = _names({"stats-fields": stats}, "stats-fields", MAX_NAMES)
        scan = Scan(snapshot, start, schema, _checked_filter(filter), case_sensitive, names)
        append_snapshots(scan, metadata)
    except (ValueError, TypeError, binascii.Error, IcebergError):
        raise NoSuchPlanTask("the plan-task is not a task of a plan of this table, or its snapshot expired") from None
    return scan, Part(first, entry, end)
