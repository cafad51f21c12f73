"""Updates of a commit, applied to the metadata of a table: all of the specification's, with the rules of Iceberg's own
`TableMetadata.Builder`. Pure.

A builder never changes the metadata that it was given. Ids of -1 mean what the same commit added last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from metastored.iceberg.errors import BadRequest, CommitFailed
from metastored.iceberg.metadata import (
    FORMAT_VERSION,
    MAIN,
    MAX_SNAPSHOTS,
    NEWEST_VERSION,
    by_id,
    check_location,
    check_properties,
    current_schema,
    now,
)
from metastored.iceberg.requests import Json, distinct, integer, optional, required, texts
from metastored.iceberg.schemas import check_schema, highest_id, is_same
from metastored.iceberg.specs import (
    bound_order,
    bound_spec,
    check_order,
    check_spec,
    is_same_order,
    is_same_spec,
    next_id,
)

__all__ = ["DATA_UPDATES", "MAX_COSTLY", "Builder", "merged", "operations_of"]

LAST_ADDED: Final = -1
ROW_LINEAGE: Final = 3
"""The first format version in which rows have ids."""
DATA_UPDATES: Final = frozenset({
    "add-snapshot", "set-snapshot-ref", "set-statistics", "remove-statistics", "set-partition-statistics",
    "remove-partition-statistics", "add-encryption-key",
})  # fmt: skip
"""Updates that a writer of rows needs; others change the table itself."""
COSTLY: Final = frozenset({
    "add-schema", "add-spec", "add-sort-order", "add-encryption-key", "set-properties", "remove-properties",
})  # fmt: skip
"""Updates that compare with all that the table has."""
MAX_COSTLY: Final = 500
"""Of one commit. Clients send a few."""


class Builder:
    """The metadata of a table with the updates of one commit."""

    def __init__(self, base: Json, *, new: bool = False) -> None:
        self._base = base
        self._new = new
        self.metadata: Json = {
            key: list(value) if isinstance(value, list) else dict(value) if isinstance(value, dict) else value
            for key, value in base.items()
        }
        self.changed = new
        self._moment = now()
        self._added: dict[str, int | None] = {"schema": None, "spec": None, "order": None}
        self._added_snapshots: set[int] = set()
        self._mains: list[int] = []
        self._costly = 0
        self._removed = False

    def apply(self, update: Json) -> None:
        """Raises BadRequest for an update that is not valid, CommitFailed for one that is too late."""
        action = required(update, "action", str, "an update")
        step = _STEPS.get(action)
        if step is None:
            raise BadRequest(f"there is no update {action!r}; known are {', '.join(sorted(_STEPS))}"[:1500])
        if action in COSTLY:
            self._costly += 1
            if self._costly > MAX_COSTLY:
                raise BadRequest(f"a commit has at most {MAX_COSTLY} updates that add schemas, specs or properties")
        step(self, update)

    def built(self, previous_updated: int | None) -> Json:
        """The metadata after all updates. Raises BadRequest if it is not complete."""
        metadata = self.metadata
        if "location" not in metadata:
            raise BadRequest("the commit makes a table and sets no location: set-location is missing")
        if not metadata["schemas"] or metadata["current-schema-id"] == -1:
            raise BadRequest("the table has no schema: add-schema or set-current-schema is missing")
        if by_id(metadata["partition-specs"], "spec-id", metadata["default-spec-id"]) is None:
            raise BadRequest("the table has no partition spec: add-spec or set-default-spec is missing")
        if by_id(metadata["sort-orders"], "order-id", metadata["default-sort-order-id"]) is None:
            raise BadRequest("the table has no sort order: add-sort-order or set-default-sort-order is missing")
        current_schema(metadata)
        self._correct_log()
        # Two commits within a millisecond, and a clock that was set back, keep the order of the log.
        metadata["last-updated-ms"] = max(self._moment, previous_updated or 0)
        return metadata

    def _correct_log(self) -> None:
        """Removes snapshots from the log that this commit made current only in passing, or removed."""
        metadata = self.metadata
        current = metadata["current-snapshot-id"]
        passing = {id for id in self._mains if id in self._added_snapshots and id != current}
        if not passing and not self._removed:
            return
        known = {each["snapshot-id"] for each in metadata["snapshots"]}
        log: list[Json] = []
        for entry in metadata["snapshot-log"]:
            if entry.get("snapshot-id") not in known:
                # A gap would show the next snapshot as current at a time when it was not.
                log.clear()
            elif entry["snapshot-id"] not in passing:
                log.append(entry)
        metadata["snapshot-log"] = log

    # --- the table itself ---

    def assign_uuid(self, update: Json) -> None:
        uuid = required(update, "uuid", str, "assign-uuid").lower()
        before = self.metadata.get("table-uuid")
        if before is not None and before.lower() != uuid and not self._new:
            raise BadRequest(f"the table has the uuid {before}, which is never changed")
        self._set("table-uuid", uuid)

    def upgrade_format_version(self, update: Json) -> None:
        version, before = integer(update, FORMAT_VERSION, "upgrade-format-version"), self.metadata[FORMAT_VERSION]
        if version > NEWEST_VERSION:
            raise BadRequest(f"the format version {version} is not known; the newest is {NEWEST_VERSION}")
        if version < before:
            raise BadRequest(f"a table of the format version {before} cannot have version {version} again")
        self._set(FORMAT_VERSION, version)

    def set_location(self, update: Json) -> None:
        self._set("location", check_location(required(update, "location", str, "set-location")))

    def set_properties(self, update: Json) -> None:
        updates = texts(update, "updates" if "updates" in update else "updated", "set-properties")
        check_properties(updates)
        self._set("properties", {**self.metadata["properties"], **updates})

    def remove_properties(self, update: Json) -> None:
        removals = distinct(update, "removals" if "removals" in update else "removed", str, "remove-properties")
        kept = {key: value for key, value in self.metadata["properties"].items() if key not in removals}
        self._set("properties", kept)

    def add_encryption_key(self, update: Json) -> None:
        key = required(update, "encryption-key", dict, "add-encryption-key")
        id = required(key, "key-id", str, "encryption-key")
        keys = self.metadata.get("encryption-keys") or []
        if by_id(keys, "key-id", id) is None:
            self._set("encryption-keys", [*keys, key])

    def remove_encryption_key(self, update: Json) -> None:
        id = required(update, "key-id", str, "remove-encryption-key")
        keys = self.metadata.get("encryption-keys") or []
        self._set("encryption-keys", [each for each in keys if each.get("key-id") != id])

    # --- schemas, specs, orders ---

    def add_schema(self, update: Json) -> None:
        schema = required(update, "schema", dict, "add-schema")
        check_schema(schema, self.metadata[FORMAT_VERSION], "the schema of add-schema")
        known = self.metadata["schemas"]
        same = next((each for each in known if is_same(each, schema)), None)
        last = max(self.metadata["last-column-id"], highest_id(schema))
        self._set("last-column-id", last)
        if same is not None:
            self._added["schema"] = same["schema-id"]
            return
        id = next_id(known, "schema-id", 0)
        self._set("schemas", [*known, {**schema, "schema-id": id}])
        self._added["schema"] = id

    def set_current_schema(self, update: Json) -> None:
        id = self._id(update, "schema-id", "schema", "set-current-schema")
        if by_id(self.metadata["schemas"], "schema-id", id) is None:
            raise BadRequest(f"the table has no schema {id}, which set-current-schema names")
        self._set("current-schema-id", id)

    def remove_schemas(self, update: Json) -> None:
        ids = distinct(update, "schema-ids", int, "remove-schemas")
        if self.metadata["current-schema-id"] in ids:
            raise BadRequest(f"the schema {self.metadata['current-schema-id']} is the current one: it is not removed")
        self._set("schemas", [each for each in self.metadata["schemas"] if each["schema-id"] not in ids])

    def add_spec(self, update: Json) -> None:
        sent = required(update, "spec", dict, "add-spec")
        spec = {**sent, "fields": sent.get("fields") or []}
        check_spec(spec)
        known = self.metadata["partition-specs"]
        same = next((each for each in known if is_same_spec(each, spec)), None)
        if same is not None:
            self._added["spec"] = same["spec-id"]
            return
        version = self.metadata[FORMAT_VERSION]
        last = self.metadata["last-partition-id"]
        bound, last = bound_spec(spec, current_schema(self.metadata), last, known, next_id(known, "spec-id", 0))
        if version == 1 and [each["field-id"] for each in bound["fields"]] != [
            1000 + at for at in range(len(bound["fields"]))
        ]:
            raise BadRequest("the fields of a partition spec are numbered from 1000 on in tables of version 1")
        self._set("partition-specs", [*known, bound])
        self._set("last-partition-id", last)
        self._added["spec"] = bound["spec-id"]

    def set_default_spec(self, update: Json) -> None:
        id = self._id(update, "spec-id", "spec", "set-default-spec")
        if by_id(self.metadata["partition-specs"], "spec-id", id) is None:
            raise BadRequest(f"the table has no partition spec {id}, which set-default-spec names")
        self._set("default-spec-id", id)

    def remove_partition_specs(self, update: Json) -> None:
        ids = distinct(update, "spec-ids", int, "remove-partition-specs")
        if self.metadata["default-spec-id"] in ids:
            raise BadRequest(f"the partition spec {self.metadata['default-spec-id']} is the default: it is not removed")
        self._set("partition-specs", [each for each in self.metadata["partition-specs"] if each["spec-id"] not in ids])

    def add_sort_order(self, update: Json) -> None:
        sent = required(update, "sort-order", dict, "add-sort-order")
        order = {**sent, "fields": sent.get("fields") or []}
        check_order(order)
        known = self.metadata["sort-orders"]
        same = next((each for each in known if is_same_order(each, order)), None)
        if same is not None:
            self._added["order"] = same["order-id"]
            return
        bound = bound_order(order, current_schema(self.metadata), next_id(known, "order-id", 1))
        self._set("sort-orders", [*known, bound])
        self._added["order"] = bound["order-id"]

    def set_default_sort_order(self, update: Json) -> None:
        id = self._id(update, "sort-order-id", "order", "set-default-sort-order")
        if by_id(self.metadata["sort-orders"], "order-id", id) is None:
            raise BadRequest(f"the table has no sort order {id}, which set-default-sort-order names")
        self._set("default-sort-order-id", id)

    # --- snapshots ---

    def add_snapshot(self, update: Json) -> None:
        what = "the snapshot of add-snapshot"
        snapshot = required(update, "snapshot", dict, "add-snapshot")
        id = integer(snapshot, "snapshot-id", what)
        integer(snapshot, "timestamp-ms", what)
        for name in ("parent-snapshot-id", "sequence-number", "schema-id", "first-row-id", "added-rows"):
            optional(snapshot, name, int, what)
        if snapshot.get("manifests") is None:
            required(snapshot, "manifest-list", str, what)
        texts(snapshot, "summary", what)
        metadata, version = self.metadata, self.metadata[FORMAT_VERSION]
        if not metadata["schemas"] or not metadata["partition-specs"] or not metadata["sort-orders"]:
            raise BadRequest(f"{what} comes before the schema, the partition spec or the sort order of the table")
        if by_id(metadata["snapshots"], "snapshot-id", id) is not None:
            raise BadRequest(f"the table has the snapshot {id} already")
        if len(metadata["snapshots"]) >= MAX_SNAPSHOTS:
            raise BadRequest(f"the table has {MAX_SNAPSHOTS} snapshots: expire some")
        number, last = snapshot.get("sequence-number", 0), metadata["last-sequence-number"]
        if version > 1 and number <= last and snapshot.get("parent-snapshot-id") is not None:
            raise CommitFailed(f"the sequence number {number} of {what} is not above {last}, the last one of the table")
        if version >= ROW_LINEAGE:
            first, following = integer(snapshot, "first-row-id", what), metadata.get("next-row-id") or 0
            if first < following:
                raise CommitFailed(f"first-row-id {first} of {what} is below {following}, the next one of the table")
            rows = integer(snapshot, "added-rows", what)
            if rows < 0:
                raise BadRequest(f"added-rows of {what} is {rows}: it is not negative")
            self._set("next-row-id", following + rows)
        self._set("snapshots", [*metadata["snapshots"], snapshot])
        if version > 1:
            self._set("last-sequence-number", max(number, last))
        self._added_snapshots.add(id)
        # The log of the table is in the order of its times.
        self._moment = max(self._moment, snapshot["timestamp-ms"])

    def set_snapshot_ref(self, update: Json) -> None:
        name = required(update, "ref-name", str, "set-snapshot-ref")
        what = f"the reference {name!r}"
        id, kind = integer(update, "snapshot-id", what), str(required(update, "type", str, what)).lower()
        if kind not in ("branch", "tag") or (name == MAIN and kind != "branch"):
            raise BadRequest(f"{what} has the type {kind!r}: it is branch or tag, and {MAIN} is a branch")
        snapshot = by_id(self.metadata["snapshots"], "snapshot-id", id)
        if snapshot is None:
            raise BadRequest(f"{what} is for the snapshot {id}, which the table does not have")
        ref: Json = {"snapshot-id": id, "type": kind}
        for key in ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"):
            if update.get(key) is not None:
                if integer(update, key, what) <= 0 or (kind == "tag" and key != "max-ref-age-ms"):
                    raise BadRequest(f"{key} of {what} is {update[key]}: it is above 0, and for branches")
                ref[key] = update[key]
        if self.metadata["refs"].get(name) == ref:
            return
        if name == MAIN:
            self._set("current-snapshot-id", id)
            self._mains.append(id)
            at = snapshot["timestamp-ms"] if id in self._added_snapshots else self._moment
            self._set("snapshot-log", [*self.metadata["snapshot-log"], {"timestamp-ms": at, "snapshot-id": id}])
        self._set("refs", {**self.metadata["refs"], name: ref})

    def remove_snapshot_ref(self, update: Json) -> None:
        self._remove_ref(required(update, "ref-name", str, "remove-snapshot-ref"))

    def _remove_ref(self, name: str) -> None:
        if name == MAIN:
            self._set("current-snapshot-id", None)
        self._set("refs", {key: ref for key, ref in self.metadata["refs"].items() if key != name})

    def remove_snapshots(self, update: Json) -> None:
        ids = distinct(update, "snapshot-ids", int, "remove-snapshots")
        metadata = self.metadata
        self._removed = True
        self._set("snapshots", [each for each in metadata["snapshots"] if each["snapshot-id"] not in ids])
        for key in ("statistics", "partition-statistics"):
            self._set(key, [each for each in metadata[key] if each.get("snapshot-id") not in ids])
        for name in [name for name, ref in metadata["refs"].items() if ref["snapshot-id"] in ids]:
            self._remove_ref(name)

    # --- statistics ---

    def set_statistics(self, update: Json) -> None:
        self._put_statistics("statistics", required(update, "statistics", dict, "set-statistics"))

    def remove_statistics(self, update: Json) -> None:
        self._drop_statistics("statistics", integer(update, "snapshot-id", "remove-statistics"))

    def set_partition_statistics(self, update: Json) -> None:
        what = "set-partition-statistics"
        self._put_statistics("partition-statistics", required(update, "partition-statistics", dict, what))

    def remove_partition_statistics(self, update: Json) -> None:
        id = integer(update, "snapshot-id", "remove-partition-statistics")
        self._drop_statistics("partition-statistics", id)

    def _put_statistics(self, key: str, file: Json) -> None:
        id = integer(file, "snapshot-id", key)
        required(file, "statistics-path", str, key)
        self._drop_statistics(key, id)
        self._set(key, [*self.metadata[key], file])

    def _drop_statistics(self, key: str, id: int) -> None:
        self._set(key, [each for each in self.metadata[key] if each.get("snapshot-id") != id])

    # --- common to all ---

    def _set(self, key: str, value: Any) -> None:
        if self.metadata.get(key) != value:
            self.metadata[key] = value
            self.changed = True

    def _id(self, update: Json, key: str, kind: str, what: str) -> int:
        id = integer(update, key, what)
        if id != LAST_ADDED:
            return id
        added = self._added[kind]
        if added is None:
            raise BadRequest(f"{key} of {what} is -1, which is what the same commit added last, and it added none")
        return added


_STEPS: Final[Mapping[str, Callable[[Builder, Json], None]]] = {
    name.replace("_", "-"): step
    for name, step in vars(Builder).items()
    if callable(step) and not name.startswith("_") and name not in ("apply", "built")
}
"""The updates by their names: the methods of Builder, with dashes."""

_OPERATIONS: Final = {
    "append": frozenset({"INSERT"}),
    "delete": frozenset({"DELETE"}),
    "overwrite": frozenset({"INSERT", "DELETE"}),
    "replace": frozenset({"INSERT", "DELETE"}),
}


def merged(updates: Iterable[Json]) -> list[Json]:
    """The same updates, with one for neighbours that remove snapshots: older clients send one for each snapshot."""
    updates_in_order: list[Json] = []
    ids: list[Any] | None = None
    for update in updates:
        removed = update.get("snapshot-ids") if update.get("action") == "remove-snapshots" else None
        if isinstance(removed, list) and ids is not None:
            ids += removed
            continue
        ids = list(removed) if isinstance(removed, list) else None
        updates_in_order.append(update if ids is None else {**update, "snapshot-ids": ids})
    return updates_in_order


def operations_of(updates: list[Json]) -> frozenset[str] | None:
    """The changes of rows that updates make, as privileges name them; None if they change the table itself.

    A branch or tag that is set to an older snapshot brings rows back and removes others. A snapshot without an
    operation, as in tables of version 1, may do anything.
    """
    kinds: set[str] = set()
    added: dict[Any, str | None] = {}
    for update in updates:
        action = update.get("action")
        if action not in DATA_UPDATES:
            return None
        if action == "add-snapshot" and isinstance(snapshot := update.get("snapshot"), dict):
            summary = snapshot.get("summary")
            operation = summary.get("operation") if isinstance(summary, dict) else None
            added[snapshot.get("snapshot-id")] = operation
            kinds |= _OPERATIONS.get(operation, frozenset({"INSERT", "UPDATE", "DELETE"}))  # type: ignore[arg-type]
        elif action == "set-snapshot-ref" and update.get("snapshot-id") not in added:
            kinds |= {"INSERT", "DELETE"}
    return frozenset(kinds or {"INSERT"})
