"""Metadata of tables, of the format versions 1, 2 and 3, as plain JSON: new, read, and completed by a commit. Pure.

Unknown fields stay. What the specification lets writers of version 1 leave out (`schemas`, `partition-specs`,
`sort-orders`, `refs`, `table-uuid`) is added when metadata is read, so that all other code sees one form; it is written
in the form of its version.
"""

from __future__ import annotations

import time
import uuid as uuids
from collections.abc import Iterable, Mapping
from typing import Any, Final

from metastored.iceberg.errors import BadRequest
from metastored.iceberg.requests import Json, integer, optional, records, required, texts
from metastored.iceberg.schemas import check_schema
from metastored.iceberg.specs import FIRST_FIELD, check_order, check_spec

__all__ = [
    "DEFAULT_VERSION",
    "EMPTY",
    "FORMAT_VERSION",
    "MAIN",
    "MAX_SNAPSHOTS",
    "NEWEST_VERSION",
    "NO_SNAPSHOT",
    "RESERVED",
    "by_id",
    "check_location",
    "check_properties",
    "current_schema",
    "current_snapshot",
    "format_version",
    "logged",
    "now",
    "read_back",
    "read_table",
    "with_refs_only",
    "written",
]

NEWEST_VERSION: Final = 3
DEFAULT_VERSION: Final = 2
NO_SNAPSHOT: Final = -1
"""The id that some writers put where there is no current snapshot."""
MAIN: Final = "main"
FORMAT_VERSION: Final = "format-version"
RESERVED: Final = frozenset({
    FORMAT_VERSION, "uuid", "snapshot-count", "current-snapshot-id", "current-snapshot-summary",
    "current-snapshot-timestamp-ms", "current-schema", "default-partition-spec", "default-sort-order",
})  # fmt: skip
"""Properties that say what the metadata itself says; they are not stored."""
PREVIOUS: Final = "write.metadata.previous-versions-max"
DEFAULT_PREVIOUS: Final = 100
MAX_PREVIOUS: Final = 10_000
MAX_SNAPSHOTS: Final = 1_000_000

EMPTY: Final[Json] = {
    "last-sequence-number": 0,
    "last-updated-ms": 0,
    "last-column-id": 0,
    "current-schema-id": -1,
    "schemas": [],
    "default-spec-id": -1,
    "partition-specs": [],
    "last-partition-id": FIRST_FIELD - 1,
    "default-sort-order-id": -1,
    "sort-orders": [],
    "properties": {},
    "current-snapshot-id": None,
    "refs": {},
    "snapshots": [],
    "statistics": [],
    "partition-statistics": [],
    "snapshot-log": [],
    "metadata-log": [],
}
"""The metadata that a commit which creates a table begins with; `format-version` is that of the commit."""


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


def by_id(items: Iterable[Json], key: str, id: Any) -> Json | None:
    """The item with an id; None if there is none."""
    return next((each for each in items if each.get(key) == id), None)


def current_schema(metadata: Json) -> Json:
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"])
    if schema is None:
        raise BadRequest(f"the table has no schema {metadata['current-schema-id']}, which is its current one")
    return schema


def current_snapshot(metadata: Json) -> Json | None:
    return by_id(metadata["snapshots"], "snapshot-id", metadata["current-snapshot-id"])


def check_properties(properties: Mapping[str, str]) -> None:
    """Raises BadRequest for a property that is not stored, since the metadata itself says it."""
    reserved = sorted(RESERVED & properties.keys())
    if reserved:
        raise BadRequest(f"the property {reserved[0]!r} is reserved: the metadata of the table says it")


def check_location(location: str) -> str:
    """A location without a slash at its end. Raises BadRequest for an empty one."""
    if not location.strip("/") or "\0" in location:
        raise BadRequest(f"the location {location!r} is not one: write a URI or an absolute path")
    return location.rstrip("/")


def format_version(properties: Mapping[str, str]) -> int:
    """The version that the properties of a new table name. Raises BadRequest."""
    text = properties.get(FORMAT_VERSION, str(DEFAULT_VERSION))
    if text not in map(str, range(1, NEWEST_VERSION + 1)):
        raise BadRequest(f"{FORMAT_VERSION} is {text!r}: 1, 2 or {NEWEST_VERSION} was expected")
    return int(text)


# --- read -----------------------------------------------------------------------------------------------------------


def read_table(stored: Json, what: str) -> Json:
    """Metadata in the form that all other code sees. Raises BadRequest if it is not that of a table."""
    version = integer(stored, FORMAT_VERSION, what)
    if not 1 <= version <= NEWEST_VERSION:
        raise BadRequest(f"{what} has the format version {version}; this server reads 1 to {NEWEST_VERSION}")
    metadata = _complete(stored)
    required(metadata, "location", str, what)
    metadata["properties"] = texts(metadata, "properties", what)
    for name in ("last-updated-ms", "last-column-id"):
        integer(stored, name, what)
    if version == 1:
        _complete_first_version(metadata, what)
    for name in ("table-uuid",):
        required(metadata, name, str, what)
    for name in ("schemas", "partition-specs", "sort-orders", "snapshots", "snapshot-log", "metadata-log"):
        metadata[name] = records(metadata, name, what)
    for schema in metadata["schemas"]:
        check_schema(schema, NEWEST_VERSION, f"a schema of {what}")
        integer(schema, "schema-id", f"a schema of {what}")
    for spec in metadata["partition-specs"]:
        check_spec(spec, f"a partition spec of {what}")
        integer(spec, "spec-id", f"a partition spec of {what}")
    for order in metadata["sort-orders"]:
        check_order(order, f"a sort order of {what}")
        integer(order, "order-id", f"a sort order of {what}")
    for snapshot in metadata["snapshots"]:
        integer(snapshot, "snapshot-id", f"a snapshot of {what}")
        integer(snapshot, "timestamp-ms", f"a snapshot of {what}")
    metadata["refs"] = dict(optional(metadata, "refs", dict, what) or {})
    if not metadata["refs"] and metadata["current-snapshot-id"] is not None:
        metadata["refs"] = {MAIN: {"snapshot-id": metadata["current-snapshot-id"], "type": "branch"}}
    for name, ref in metadata["refs"].items():
        if not isinstance(ref, dict):
            raise BadRequest(f"the reference {name!r} of {what} is not an object")
        integer(ref, "snapshot-id", f"the reference {name!r} of {what}")
    current_schema(metadata)
    return metadata


def read_back(stored: Json) -> Json | None:
    """What `read_table` returns for metadata that `written` made of a commit, whose updates were checked.

    None for the first version, which has fields that are written in two forms.
    """
    return None if stored[FORMAT_VERSION] == 1 else _complete(stored)


def _complete(stored: Json) -> Json:
    metadata = {**EMPTY, **{key: value for key, value in stored.items() if value is not None}}
    if metadata["current-snapshot-id"] == NO_SNAPSHOT:
        metadata["current-snapshot-id"] = None
    return metadata


def _complete_first_version(metadata: Json, what: str) -> None:
    """Adds what writers of version 1 may leave out."""
    metadata.setdefault("table-uuid", None)
    if metadata["table-uuid"] is None:
        # The same for each reader of this table until a commit stores it.
        metadata["table-uuid"] = str(uuids.uuid5(uuids.NAMESPACE_URL, metadata["location"]))
    if not metadata["schemas"]:
        schema = {"schema-id": 0, **required(metadata, "schema", dict, what)}
        metadata["schemas"], metadata["current-schema-id"] = [schema], schema["schema-id"]
    if not metadata["partition-specs"]:
        fields = [
            {"field-id": FIRST_FIELD + at, **field}
            for at, field in enumerate(records(metadata, "partition-spec", what))
        ]
        metadata["partition-specs"], metadata["default-spec-id"] = [{"spec-id": 0, "fields": fields}], 0
        metadata["last-partition-id"] = max((each["field-id"] for each in fields), default=FIRST_FIELD - 1)
    if not metadata["sort-orders"]:
        metadata["sort-orders"], metadata["default-sort-order-id"] = [{"order-id": 0, "fields": []}], 0


# --- written --------------------------------------------------------------------------------------------------------


def written(metadata: Json) -> Json:
    """Metadata as it is stored and sent: in the form of its version, without fields that have nothing to say."""
    stored = dict(metadata)
    if stored[FORMAT_VERSION] == 1:
        schema = current_schema(metadata)
        stored["schema"] = schema
        spec = by_id(stored["partition-specs"], "spec-id", stored["default-spec-id"])
        stored["partition-spec"] = [] if spec is None else spec["fields"]
        stored.pop("last-sequence-number")
    else:
        stored.pop("schema", None)
        stored.pop("partition-spec", None)
    if stored["current-snapshot-id"] is None:
        stored["current-snapshot-id"] = NO_SNAPSHOT
    if stored[FORMAT_VERSION] >= 3:
        stored.setdefault("next-row-id", 0)
    return stored


def with_refs_only(metadata: Json) -> Json:
    """Metadata with the snapshots that a branch or a tag refers to, for `snapshots=refs`."""
    kept = {ref["snapshot-id"] for ref in metadata["refs"].values()}
    return {**metadata, "snapshots": [each for each in metadata["snapshots"] if each["snapshot-id"] in kept]}


def logged(metadata: Json, previous_file: str, previous_updated: int) -> tuple[Json, list[str]]:
    """Metadata with its former file in `metadata-log`, and the files that fell out of the log."""
    text = metadata["properties"].get(PREVIOUS, "")
    most = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else DEFAULT_PREVIOUS
    most = min(max(1, most), MAX_PREVIOUS)
    log = [*metadata["metadata-log"], {"timestamp-ms": previous_updated, "metadata-file": previous_file}]
    gone, kept = log[:-most], log[-most:]
    return {**metadata, "metadata-log": kept}, [str(each.get("metadata-file")) for each in gone]
