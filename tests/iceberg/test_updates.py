"""The updates and requirements of commits, on metadata of the versions 1, 2 and 3. No server.

pyiceberg's own model reads the results: it is the reference for the form of the metadata.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from pyiceberg.table.metadata import TableMetadataUtil

from metastored.iceberg.errors import BadRequest, CommitFailed
from metastored.iceberg.metadata import logged, read_back, read_table, with_refs_only, written
from metastored.iceberg.new_tables import new_table
from metastored.iceberg.requirements import check_requirements, is_create
from metastored.iceberg.updates import Builder, operations_of
from tests.iceberg.rest_server import SCHEMA

Json = dict[str, Any]


def table(version: int = 2, properties: dict[str, str] | None = None) -> Json:
    return new_table(SCHEMA, None, None, "file:/w/t", {"format-version": str(version), **(properties or {})})


def changed(base: Json, *updates: Json) -> Json:
    """The metadata after updates. The base stays as it was, and pyiceberg can read the result.

    What a commit keeps of it for the next is what would be read from its file.
    """
    before = deepcopy(base)
    builder = Builder(base)
    for update in updates:
        builder.apply(update)
    assert base == before
    result = builder.built(base["last-updated-ms"])
    if result["format-version"] < 3:
        TableMetadataUtil.parse_raw(json.dumps(written(result)))
    sent = json.loads(json.dumps(written(result)))
    assert written(read_table(sent, "it")) == sent
    assert read_back(written(result)) in (None, read_table(sent, "it"))
    return result


def snapshot(id: int, number: int = 1, parent: int | None = None, **more: Any) -> Json:
    found = {"snapshot-id": id, "sequence-number": number, "timestamp-ms": 10 + id, "manifest-list": f"file:/w/t/{id}",
             "summary": {"operation": "append"}, "schema-id": 0, **more}  # fmt: skip
    return {"action": "add-snapshot", "snapshot": found if parent is None else {**found, "parent-snapshot-id": parent}}


def to_main(id: int, name: str = "main", **more: Any) -> Json:
    return {"action": "set-snapshot-ref", "ref-name": name, "type": "branch", "snapshot-id": id, **more}


@pytest.fixture(params=[1, 2, 3])
def base(request: pytest.FixtureRequest) -> Json:
    return table(request.param)


# --- the table itself -----------------------------------------------------------------------------------------------


def test_a_new_table_is_metadata_that_pyiceberg_reads(base: Json) -> None:
    if base["format-version"] < 3:
        model = TableMetadataUtil.parse_raw(json.dumps(written(base)))
        assert [each.name for each in model.schema().fields] == ["id", "name"]
    assert base["properties"] == {"write.parquet.compression-codec": "zstd"}
    assert base["last-column-id"] == 2 and base["last-partition-id"] == 999


def test_metadata_of_version_1_has_the_fields_that_its_readers_expect() -> None:
    first = written(table(1))
    assert first["schema"] == first["schemas"][0] and first["partition-spec"] == []
    assert "last-sequence-number" not in first
    assert "schema" not in written(table(2))


def test_unknown_fields_survive(base: Json) -> None:
    base["a-future-field"] = {"x": [1]}
    base["schemas"][0]["fields"][0]["hint"] = "y"
    after = changed(base, {"action": "set-properties", "updates": {"a": "b"}})
    assert after["a-future-field"] == {"x": [1]}
    assert after["schemas"][0]["fields"][0]["hint"] == "y"


def test_properties_are_set_and_removed(base: Json) -> None:
    after = changed(base, {"action": "set-properties", "updates": {"a": "1", "b": "2"}},
                    {"action": "remove-properties", "removals": ["a", "never there"]})  # fmt: skip
    assert after["properties"]["b"] == "2" and "a" not in after["properties"]


def test_a_reserved_property_is_refused(base: Json) -> None:
    with pytest.raises(BadRequest, match="'current-snapshot-id' is reserved"):
        changed(base, {"action": "set-properties", "updates": {"current-snapshot-id": "1"}})


def test_an_update_that_changes_nothing_is_no_change(base: Json) -> None:
    builder = Builder(base)
    builder.apply({"action": "set-properties", "updates": {}})
    builder.apply({"action": "set-location", "location": base["location"] + "/"})
    builder.apply({"action": "upgrade-format-version", "format-version": base["format-version"]})
    assert not builder.changed


def test_a_table_can_be_upgraded_and_never_downgraded() -> None:
    after = changed(table(1), {"action": "upgrade-format-version", "format-version": 2})
    assert after["format-version"] == 2 and "schema" not in written(after)
    with pytest.raises(BadRequest, match="cannot have version 1 again"):
        changed(after, {"action": "upgrade-format-version", "format-version": 1})
    with pytest.raises(BadRequest, match="the newest is 3"):
        changed(after, {"action": "upgrade-format-version", "format-version": 4})


def test_the_uuid_of_a_table_is_never_changed(base: Json) -> None:
    with pytest.raises(BadRequest, match="never changed"):
        changed(base, {"action": "assign-uuid", "uuid": "0b3b6d8c-0000-4000-8000-000000000000"})


def test_encryption_keys_are_added_once_and_removed(base: Json) -> None:
    key = {"key-id": "k", "encrypted-key-metadata": "eA=="}
    after = changed(base, {"action": "add-encryption-key", "encryption-key": key},
                    {"action": "add-encryption-key", "encryption-key": key})  # fmt: skip
    assert after["encryption-keys"] == [key]
    assert changed(after, {"action": "remove-encryption-key", "key-id": "k"})["encryption-keys"] == []


# --- schemas, specs, orders -----------------------------------------------------------------------------------------

WIDER: Json = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "at", "type": "date", "required": False}]}


def test_a_schema_is_added_with_the_next_id_and_made_current(base: Json) -> None:
    after = changed(base, {"action": "add-schema", "schema": {**WIDER, "schema-id": 77}},
                    {"action": "set-current-schema", "schema-id": -1})  # fmt: skip
    assert after["current-schema-id"] == 1 and after["last-column-id"] == 3
    assert [each["schema-id"] for each in after["schemas"]] == [0, 1]


def test_a_schema_that_exists_is_not_added_again(base: Json) -> None:
    after = changed(base, {"action": "add-schema", "schema": base["schemas"][0]},
                    {"action": "set-current-schema", "schema-id": -1})  # fmt: skip
    assert after["schemas"] == base["schemas"]


def test_schemas_are_removed_but_for_the_current_one(base: Json) -> None:
    after = changed(base, {"action": "add-schema", "schema": WIDER}, {"action": "set-current-schema", "schema-id": 1})
    assert [
        each["schema-id"] for each in changed(after, {"action": "remove-schemas", "schema-ids": [0]})["schemas"]
    ] == [1]
    with pytest.raises(BadRequest, match="the current one"):
        changed(after, {"action": "remove-schemas", "schema-ids": [1]})


def test_a_partition_spec_and_a_sort_order_become_the_default(base: Json) -> None:
    by_id = {"source-id": 1, "transform": "bucket[8]", "name": "id_bucket"}
    down = {"source-id": 1, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}
    after = changed(
        base,
        {"action": "add-spec", "spec": {"fields": [by_id]}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 9, "fields": [down]}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    )
    assert after["partition-specs"][1] == {"spec-id": 1, "fields": [{**by_id, "field-id": 1000}]}
    assert after["default-spec-id"] == 1 and after["last-partition-id"] == 1000
    assert after["sort-orders"][1]["order-id"] == after["default-sort-order-id"] == 1
    without = changed(after, {"action": "set-default-spec", "spec-id": 0},
                      {"action": "remove-partition-specs", "spec-ids": [1]})  # fmt: skip
    assert [each["spec-id"] for each in without["partition-specs"]] == [0]
    with pytest.raises(BadRequest, match="is the default"):
        changed(after, {"action": "remove-partition-specs", "spec-ids": [1]})


@pytest.mark.parametrize(
    "update",
    [{"action": "set-current-schema", "schema-id": -1}, {"action": "set-default-spec", "spec-id": -1},
     {"action": "set-default-sort-order", "sort-order-id": -1}],
    ids=lambda each: str(each["action"]),
)  # fmt: skip
def test_minus_one_needs_something_that_the_same_commit_added(update: Json) -> None:
    with pytest.raises(BadRequest, match="it added none"):
        changed(table(), update)


# --- snapshots ------------------------------------------------------------------------------------------------------


def rows(base: Json, id: int, number: int = 1, parent: int | None = None) -> list[Json]:
    lineage = {"first-row-id": base.get("next-row-id", 0), "added-rows": 3} if base["format-version"] == 3 else {}
    return [snapshot(id, number, parent, **lineage), to_main(id)]


def test_a_snapshot_becomes_the_current_one_and_is_logged(base: Json) -> None:
    after = changed(base, *rows(base, 5))
    assert after["current-snapshot-id"] == 5 and after["refs"]["main"] == {"snapshot-id": 5, "type": "branch"}
    assert after["snapshot-log"] == [{"timestamp-ms": 15, "snapshot-id": 5}]
    assert after["last-sequence-number"] == (0 if base["format-version"] == 1 else 1)
    assert after.get("next-row-id", 0) == (3 if base["format-version"] == 3 else 0)


def test_a_snapshot_that_was_current_only_in_passing_is_not_logged(base: Json) -> None:
    first = changed(base, *rows(base, 5))
    after = changed(first, *rows(first, 6, 2, 5), *[{**each} for each in _second(first)])
    assert [each["snapshot-id"] for each in after["snapshot-log"]] == [5, 7]


def _second(first: Json) -> list[Json]:
    lineage = {"first-row-id": 6, "added-rows": 3} if first["format-version"] == 3 else {}
    return [snapshot(7, 3, 6, **lineage), to_main(7)]


def test_a_rollback_is_logged_at_the_time_of_the_commit(base: Json) -> None:
    first = changed(base, *rows(base, 5))
    second = changed(first, *rows(first, 6, 2, 5))
    after = changed(second, to_main(5))
    assert [each["snapshot-id"] for each in after["snapshot-log"]] == [5, 6, 5]
    assert after["snapshot-log"][-1]["timestamp-ms"] > 1_600_000_000_000


def test_a_stale_sequence_number_fails_the_commit_so_that_the_client_retries() -> None:
    first = changed(table(2), *rows(table(2), 5, 4))
    with pytest.raises(CommitFailed, match="is not above 4"):
        changed(first, snapshot(6, 4, 5))


def test_row_ids_of_version_3_never_overlap() -> None:
    first = changed(table(3), *rows(table(3), 5))
    with pytest.raises(CommitFailed, match="below 3"):
        changed(first, snapshot(6, 2, 5, **{"first-row-id": 2, "added-rows": 1}))
    with pytest.raises(BadRequest, match="first-row-id"):
        changed(first, snapshot(6, 2, 5))


def test_removed_snapshots_take_their_references_statistics_and_history_along(base: Json) -> None:
    first = changed(base, *rows(base, 5), to_main(5, "old", **{"max-ref-age-ms": 9}),
                    {"action": "set-statistics", "statistics": {"snapshot-id": 5, "statistics-path": "file:/s",
                     "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "blob-metadata": []}})  # fmt: skip
    second = changed(first, *rows(first, 6, 2, 5))
    after = changed(second, {"action": "remove-snapshots", "snapshot-ids": [5]})
    assert [each["snapshot-id"] for each in after["snapshots"]] == [6]
    assert after["refs"].keys() == {"main"} and after["statistics"] == []
    assert [each["snapshot-id"] for each in after["snapshot-log"]] == [6]


def test_removing_main_leaves_a_table_without_a_current_snapshot(base: Json) -> None:
    after = changed(changed(base, *rows(base, 5)), {"action": "remove-snapshot-ref", "ref-name": "main"})
    assert after["current-snapshot-id"] is None and written(after)["current-snapshot-id"] == -1


def test_only_snapshots_of_references_are_sent_with_snapshots_refs(base: Json) -> None:
    first = changed(base, *rows(base, 5))
    second = changed(first, *rows(first, 6, 2, 5))
    assert [each["snapshot-id"] for each in with_refs_only(second)["snapshots"]] == [6]


def test_statistics_of_a_snapshot_are_replaced_and_removed() -> None:
    base = changed(table(), *rows(table(), 5))
    file = {"snapshot-id": 5, "statistics-path": "file:/p", "file-size-in-bytes": 1}
    first, second = (
        {"action": "set-partition-statistics", "partition-statistics": {**file, "statistics-path": path}}
        for path in ("p", "q")
    )
    after = changed(base, first, second)
    assert [each["statistics-path"] for each in after["partition-statistics"]] == ["q"]
    assert changed(after, {"action": "remove-partition-statistics", "snapshot-id": 5})["partition-statistics"] == []
    assert changed(after, {"action": "remove-statistics", "snapshot-id": 5}) is not None


WRONG: dict[str, tuple[list[Json], str]] = {
    "an unknown update": ([{"action": "explode"}], "there is no update 'explode'"),
    "no action": ([{}], "action of an update is missing"),
    "a snapshot twice": ([snapshot(5), snapshot(5)], "has the snapshot 5 already"),
    "a snapshot without a list of manifests": (
        [{"action": "add-snapshot", "snapshot": {"snapshot-id": 1, "timestamp-ms": 1}}], "manifest-list"),
    "a reference to no snapshot": ([to_main(9)], "the snapshot 9, which the table does not have"),
    "a main that is a tag": ([snapshot(5), {**to_main(5), "type": "tag"}], "main is a branch"),
    "a tag that keeps snapshots": (
        [snapshot(5), {**to_main(5, "t"), "type": "tag", "min-snapshots-to-keep": 2}], "and for branches"),
    "a negative age": ([snapshot(5), to_main(5, "b", **{"max-ref-age-ms": -1})], "above 0"),
    "a schema that does not exist": ([{"action": "set-current-schema", "schema-id": 8}], "no schema 8"),
    "a spec that does not exist": ([{"action": "set-default-spec", "spec-id": 8}], "no partition spec 8"),
    "an order that does not exist": ([{"action": "set-default-sort-order", "sort-order-id": 8}], "no sort order 8"),
    "an empty location": ([{"action": "set-location", "location": "/"}], "is not one"),
    "a property that is a number": ([{"action": "set-properties", "updates": {"a": 1}}], "a text was expected"),
    "a null character": ([{"action": "set-properties", "updates": {"a": "\0"}}], "null character"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_commit_is_refused_with(case: str) -> None:
    updates, words = WRONG[case]
    with pytest.raises(BadRequest, match=words):
        changed(table(), *updates)


# --- the log of metadata files --------------------------------------------------------------------------------------


def test_former_files_are_logged_up_to_the_number_that_the_table_names() -> None:
    base = table(2, {"write.metadata.previous-versions-max": "2"})
    gone: list[str] = []
    for at in range(4):
        base, fell_out = logged(base, f"file:/w/t/{at}", at)
        gone += fell_out
    assert [each["metadata-file"] for each in base["metadata-log"]] == ["file:/w/t/2", "file:/w/t/3"]
    assert gone == ["file:/w/t/0", "file:/w/t/1"]


# --- requirements ---------------------------------------------------------------------------------------------------

HOLDING: list[Json] = [
    {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5},
    {"type": "assert-ref-snapshot-id", "ref": "other", "snapshot-id": None},
    {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2},
    {"type": "assert-current-schema-id", "current-schema-id": 0},
    {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999},
    {"type": "assert-default-spec-id", "default-spec-id": 0},
    {"type": "assert-default-sort-order-id", "default-sort-order-id": 0},
]


@pytest.mark.parametrize("requirement", HOLDING, ids=lambda each: str(each["type"]))
def test_a_requirement_holds_until_its_value_changes(requirement: Json) -> None:
    metadata = changed(table(), *rows(table(), 5))
    check_requirements([requirement], metadata)
    check_requirements([{"type": "assert-table-uuid", "uuid": metadata["table-uuid"].upper()}], metadata)
    number = next(key for key, value in requirement.items() if key.endswith("id"))
    with pytest.raises(CommitFailed, match="Requirement failed"):
        check_requirements([{**requirement, number: 77}], metadata)


def test_another_uuid_is_another_table() -> None:
    with pytest.raises(CommitFailed, match="UUID does not match"):
        check_requirements([{"type": "assert-table-uuid", "uuid": "x"}], table())


def test_a_commit_that_creates_has_no_other_requirement() -> None:
    assert is_create([{"type": "assert-create"}]) and not is_create([])
    with pytest.raises(BadRequest, match="no other requirements"):
        is_create([{"type": "assert-create"}, HOLDING[0]])


def test_an_unknown_requirement_is_refused() -> None:
    with pytest.raises(BadRequest, match="no requirement 'assert-luck'"):
        check_requirements([{"type": "assert-luck"}], table())


# --- privileges -----------------------------------------------------------------------------------------------------


def test_the_changes_of_rows_are_those_of_the_snapshots_operations() -> None:
    assert operations_of([snapshot(5), to_main(5)]) == frozenset({"INSERT"})
    assert operations_of([snapshot(5, summary={"operation": "delete"})]) == frozenset({"DELETE"})
    assert operations_of([snapshot(5, summary={"operation": "overwrite"})]) == frozenset({"INSERT", "DELETE"})
    assert operations_of([snapshot(5, summary={})]) == frozenset({"INSERT", "UPDATE", "DELETE"})


def test_a_rollback_brings_rows_back_and_removes_others() -> None:
    assert operations_of([to_main(5)]) == frozenset({"INSERT", "DELETE"})


def test_any_other_update_changes_the_table_itself() -> None:
    assert operations_of([snapshot(5), {"action": "set-properties", "updates": {}}]) is None
    assert operations_of([{"action": "remove-snapshots", "snapshot-ids": [1]}]) is None
