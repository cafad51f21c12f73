"""Metadata of views as plain JSON: new, read, and with the updates of a commit, by the rules of Iceberg's own
`ViewMetadata.Builder`. Pure. Unknown fields stay.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Callable, Mapping
from typing import Any, Final

from metastored.iceberg.errors import BadRequest, InvalidArgument
from metastored.iceberg.metadata import FORMAT_VERSION, NEWEST_VERSION, by_id, check_location, now
from metastored.iceberg.requests import Json, distinct, integer, records, required, texts
from metastored.iceberg.schemas import check_schema, is_same
from metastored.iceberg.specs import next_id

__all__ = ["ViewBuilder", "current_version", "current_view_schema", "new_view", "read_view", "sql_of"]

VIEW_VERSION: Final = 1
LAST_ADDED: Final = -1
HISTORY: Final = "version.history.num-entries"
DEFAULT_HISTORY: Final = 10
DROP_DIALECT: Final = "replace.drop-dialect.allowed"


def new_view(schema: Json, version: Json, location: str, properties: Mapping[str, str]) -> Json:
    """The metadata of a new view."""
    builder = ViewBuilder({
        "view-uuid": str(uuids.uuid4()),
        FORMAT_VERSION: VIEW_VERSION,
        "location": location,
        "schemas": [],
        "current-version-id": None,
        "versions": [],
        "version-log": [],
        "properties": dict(properties),
    })  # fmt: skip
    builder.apply({"action": "add-schema", "schema": schema})
    builder.apply({"action": "add-view-version", "view-version": {**version, "schema-id": LAST_ADDED}})
    builder.apply({"action": "set-current-view-version", "view-version-id": LAST_ADDED})
    return builder.built()


def read_view(stored: Json, what: str) -> Json:
    """Metadata of a view. Raises BadRequest if it is something else."""
    if integer(stored, FORMAT_VERSION, what) != VIEW_VERSION:
        raise BadRequest(f"{what} has the format version {stored[FORMAT_VERSION]}; of views this server reads 1")
    required(stored, "location", str, what)
    required(stored, "view-uuid", str, what)
    metadata = {**stored, "properties": texts(stored, "properties", what)}
    for name in ("schemas", "versions", "version-log"):
        metadata[name] = records(stored, name, what)
    for schema in metadata["schemas"]:
        check_schema(schema, NEWEST_VERSION, f"a schema of {what}")
        integer(schema, "schema-id", f"a schema of {what}")
    for version in metadata["versions"]:
        _check_version(version, f"a version of {what}")
    current_version(metadata)
    current_view_schema(metadata)
    return metadata


def current_version(metadata: Json) -> Json:
    version = by_id(metadata["versions"], "version-id", metadata.get("current-version-id"))
    if version is None:
        raise BadRequest(f"the view has no version {metadata.get('current-version-id')}, which is its current one")
    return version


def current_view_schema(metadata: Json) -> Json:
    id = current_version(metadata)["schema-id"]
    schema = by_id(metadata["schemas"], "schema-id", id)
    if schema is None:
        raise BadRequest(f"the view has no schema {id}, which is that of its current version")
    return schema


def sql_of(metadata: Json) -> str:
    """The query of the current version: that for Hive, else the first one."""
    queries = current_version(metadata)["representations"]
    of_hive = [each for each in queries if each["dialect"].lower() == "hive"]
    sql: str = (of_hive or queries)[0]["sql"]
    return sql


def _check_version(version: Json, what: str) -> None:
    integer(version, "version-id", what)
    integer(version, "schema-id", what)
    integer(version, "timestamp-ms", what)
    texts(version, "summary", what)
    if not isinstance(version.get("default-namespace"), list):
        raise BadRequest(f"default-namespace of {what} is not a list of names")
    queries = records(version, "representations", what)
    if not queries:
        raise BadRequest(f"{what} has no representations: a view has a query")
    dialects = set[str]()
    for query in queries:
        if query.get("type") != "sql":
            raise BadRequest(f"{what} has a representation of the type {query.get('type')!r}: sql was expected"[:200])
        required(query, "sql", str, f"a representation of {what}")
        dialect = required(query, "dialect", str, f"a representation of {what}").lower()
        if dialect in dialects:
            raise InvalidArgument(f"Invalid view version: Cannot add multiple queries for dialect {dialect}")
        dialects.add(dialect)


class ViewBuilder:
    """The metadata of a view with the updates of one commit. It does not change the metadata that it was given."""

    def __init__(self, base: Json) -> None:
        self.metadata: Json = {
            **base,
            **{key: list(base[key]) for key in ("schemas", "versions", "version-log")},
            "properties": dict(base["properties"]),
        }
        self.changed = False
        self._before = by_id(base["versions"], "version-id", base["current-version-id"])
        self._schema: int | None = None
        self._version: int | None = None
        self._added: set[int] = set()

    def apply(self, update: Json) -> None:
        """Raises BadRequest for an update that is not valid."""
        action = required(update, "action", str, "an update")
        step = _STEPS.get(action)
        if step is None:
            raise BadRequest(f"there is no update {action!r} of views; known are {', '.join(sorted(_STEPS))}"[:1500])
        step(self, update)

    def built(self) -> Json:
        """The metadata after all updates. Raises BadRequest if it is not complete."""
        metadata = self.metadata
        current = current_version(metadata)
        if self._before is not None and metadata["properties"].get(DROP_DIALECT, "false").lower() != "true":
            lost = _dialects(self._before) - _dialects(current)
            if lost:
                raise BadRequest(
                    f"Cannot replace view due to loss of view dialects ({DROP_DIALECT}=false): "
                    f"{', '.join(sorted(lost))} would have no query any more"
                )
        text = metadata["properties"].get(HISTORY, str(DEFAULT_HISTORY))
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text) > 0):
            raise BadRequest(f"{HISTORY} must be positive but was {text}")
        most = max(int(text), len(self._added | {current["version-id"]}))
        if len(metadata["versions"]) > most:
            newest = sorted((each["version-id"] for each in metadata["versions"]), reverse=True)
            kept = {current["version-id"], *[id for id in newest if id != current["version-id"]][: most - 1]}
            metadata["versions"] = [each for each in metadata["versions"] if each["version-id"] in kept]
            log: list[Json] = []
            for entry in metadata["version-log"]:
                if entry.get("version-id") in kept:
                    log.append(entry)
                else:
                    log.clear()
            metadata["version-log"] = log
        return metadata

    def assign_uuid(self, update: Json) -> None:
        uuid = required(update, "uuid", str, "assign-uuid").lower()
        if uuid != self.metadata["view-uuid"].lower():
            raise BadRequest(f"the view has the uuid {self.metadata['view-uuid']}, which is never changed")

    def upgrade_format_version(self, update: Json) -> None:
        if integer(update, FORMAT_VERSION, "upgrade-format-version") != VIEW_VERSION:
            raise BadRequest(f"views have the format version {VIEW_VERSION}, and no other is known")

    def set_location(self, update: Json) -> None:
        self._set("location", check_location(required(update, "location", str, "set-location")))

    def set_properties(self, update: Json) -> None:
        updates = texts(update, "updates" if "updates" in update else "updated", "set-properties")
        self._set("properties", {**self.metadata["properties"], **updates})

    def remove_properties(self, update: Json) -> None:
        removals = distinct(update, "removals" if "removals" in update else "removed", str, "remove-properties")
        kept = {key: value for key, value in self.metadata["properties"].items() if key not in removals}
        self._set("properties", kept)

    def add_schema(self, update: Json) -> None:
        schema = required(update, "schema", dict, "add-schema")
        check_schema(schema, NEWEST_VERSION, "the schema of add-schema")
        known = self.metadata["schemas"]
        same = next((each for each in known if is_same(each, schema)), None)
        if same is not None:
            self._schema = same["schema-id"]
            return
        self._schema = next_id(known, "schema-id", 0)
        self._set("schemas", [*known, {**schema, "schema-id": self._schema}])

    def add_view_version(self, update: Json) -> None:
        version = required(update, "view-version", dict, "add-view-version")
        _check_version(version, "the version of add-view-version")
        if version["schema-id"] == LAST_ADDED:
            if self._schema is None:
                raise BadRequest("schema-id of the version is -1, and the commit added no schema")
            version = {**version, "schema-id": self._schema}
        if by_id(self.metadata["schemas"], "schema-id", version["schema-id"]) is None:
            raise BadRequest(f"the view has no schema {version['schema-id']}, which a version names")
        known = self.metadata["versions"]
        same = next((each for each in known if _comparable(each) == _comparable(version)), None)
        if same is not None:
            self._version = same["version-id"]
            return
        id = max([version["version-id"], *(each["version-id"] + 1 for each in known)])
        self._set("versions", [*known, {**version, "version-id": id}])
        self._version = id
        self._added.add(id)

    def set_current_view_version(self, update: Json) -> None:
        id = integer(update, "view-version-id", "set-current-view-version")
        if id == LAST_ADDED:
            if self._version is None:
                raise BadRequest("view-version-id is -1, which is what the commit added last, and it added none")
            id = self._version
        version = by_id(self.metadata["versions"], "version-id", id)
        if version is None:
            raise BadRequest(f"the view has no version {id}, which set-current-view-version names")
        if self.metadata["current-version-id"] == id:
            return
        at = version["timestamp-ms"] if id in self._added else now()
        self._set("current-version-id", id)
        self._set("version-log", [*self.metadata["version-log"], {"timestamp-ms": at, "version-id": id}])

    def _set(self, key: str, value: Any) -> None:
        if self.metadata.get(key) != value:
            self.metadata[key] = value
            self.changed = True


_STEPS: Final[Mapping[str, Callable[[ViewBuilder, Json], None]]] = {
    name.replace("_", "-"): step
    for name, step in vars(ViewBuilder).items()
    if callable(step) and not name.startswith("_") and name not in ("apply", "built")
}
"""The updates by their names: the methods of ViewBuilder, with dashes."""


def _comparable(version: Json) -> Json:
    return {key: value for key, value in version.items() if key not in ("version-id", "timestamp-ms") and value}


def _dialects(version: Json) -> set[str]:
    return {str(each.get("dialect")).lower() for each in version["representations"]}
