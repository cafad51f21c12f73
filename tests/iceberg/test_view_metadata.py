"""Metadata of views and the updates of their commits. No server."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.iceberg.errors import BadRequest
from metastored.iceberg.view_metadata import ViewBuilder, current_version, new_view, read_view, sql_of
from tests.iceberg.rest_server import SCHEMA

Json = dict[str, Any]


def version(sql: str = "SELECT 1", id: int = 1, dialect: str = "spark", **more: Any) -> Json:
    found: Json = {
        "version-id": id,
        "schema-id": 0,
        "timestamp-ms": 5,
        "summary": {"engine-name": "spark"},
        "representations": [{"type": "sql", "sql": sql, "dialect": dialect}],
        "default-namespace": ["n"],
    }
    return found | more


def view(**properties: str) -> Json:
    return new_view({**SCHEMA, "schema-id": 3}, version(), "file:/w/v", properties)


def changed(base: Json, *updates: Json) -> Json:
    builder = ViewBuilder(base)
    for update in updates:
        builder.apply(update)
    return builder.built()


def replaced(base: Json, sql: str, **more: Any) -> Json:
    return changed(base, {"action": "add-view-version", "view-version": version(sql, **more)},
                   {"action": "set-current-view-version", "view-version-id": -1})  # fmt: skip


def test_a_new_view_has_one_version_and_one_schema() -> None:
    metadata = view(comment="x")
    assert metadata["current-version-id"] == 1 and metadata["schemas"][0]["schema-id"] == 0
    assert metadata["version-log"] == [{"timestamp-ms": 5, "version-id": 1}]
    assert read_view(metadata, "it") == metadata


def test_a_replaced_view_has_a_new_version() -> None:
    after = replaced(view(), "SELECT 2")
    assert after["current-version-id"] == 2 and sql_of(after) == "SELECT 2"
    assert [each["version-id"] for each in after["version-log"]] == [1, 2]


def test_a_version_that_exists_is_used_again() -> None:
    after = replaced(replaced(view(), "SELECT 2"), "SELECT 1")
    assert after["current-version-id"] == 1 and len(after["versions"]) == 2


def test_old_versions_are_removed_beyond_the_number_that_the_view_keeps() -> None:
    metadata = view(**{"version.history.num-entries": "2"})
    for number in range(2, 6):
        metadata = replaced(metadata, f"SELECT {number}")
    assert [each["version-id"] for each in metadata["versions"]] == [4, 5]
    assert [each["version-id"] for each in metadata["version-log"]] == [4, 5]


def test_a_dialect_is_lost_only_where_the_view_allows_it() -> None:
    with pytest.raises(BadRequest, match="loss of view dialects"):
        replaced(view(), "SELECT 2", dialect="trino")
    allowed = view(**{"replace.drop-dialect.allowed": "true"})
    assert sql_of(replaced(allowed, "SELECT 2", dialect="trino")) == "SELECT 2"


def test_the_query_for_hive_is_shown_to_the_metastore_where_there_is_one() -> None:
    both = [{"type": "sql", "sql": "a", "dialect": "spark"}, {"type": "sql", "sql": "b", "dialect": "Hive"}]
    assert sql_of(new_view(SCHEMA, version(representations=both), "file:/v", {})) == "b"


def test_unknown_fields_survive() -> None:
    metadata = {**view(), "a-future-field": 1}
    assert replaced(metadata, "SELECT 2")["a-future-field"] == 1
    assert current_version(metadata)["summary"] == {"engine-name": "spark"}


WRONG: dict[str, tuple[list[Json], str]] = {
    "an update of tables": ([{"action": "add-snapshot"}], "there is no update 'add-snapshot' of views"),
    "no query": ([{"action": "add-view-version", "view-version": version(representations=[])}], "no representations"),
    "two queries of a dialect": (
        [{"action": "add-view-version", "view-version": version(
            representations=[{"type": "sql", "sql": "a", "dialect": each} for each in ("x", "X")])}],
        "multiple queries for dialect x"),
    "something that is not SQL": (
        [{"action": "add-view-version", "view-version": version(representations=[{"type": "class"}])}], "sql was"),
    "a schema that does not exist": (
        [{"action": "add-view-version", "view-version": version("x") | {"schema-id": 7}}], "no schema 7"),
    "a version that does not exist": ([{"action": "set-current-view-version", "view-version-id": 7}], "no version 7"),
    "another uuid": ([{"action": "assign-uuid", "uuid": "x"}], "never changed"),
    "another version of the format": ([{"action": "upgrade-format-version", "format-version": 2}], "no other is known"),
    "no history": (
        [{"action": "set-properties", "updates": {"version.history.num-entries": "0"}}], "must be positive"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_commit_is_refused_with(case: str) -> None:
    updates, words = WRONG[case]
    with pytest.raises(BadRequest, match=words):
        changed(view(), *updates)
