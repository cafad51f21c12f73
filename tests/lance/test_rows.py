"""Rows: inserted, merged, updated, deleted, restored, searched."""

from __future__ import annotations

from typing import Any

import lance_namespace as ns
import pyarrow
import pytest

from tests.support.lance import POINTS, Space, rows_of, stream

pytestmark = pytest.mark.slow


@pytest.fixture
def points(space: Space) -> Space:
    """A namespace with the table `points`."""
    space.create("points")
    return space


def ids(space: Space) -> list[int]:
    query = {"id": space.id("points"), "k": 100, "vector": {"single_vector": []}, "columns": {"column_names": ["id"]}}
    request = ns.QueryTableRequest.from_dict(query)
    return sorted(row["id"] for row in rows_of(space.namespace.query_table(request).data))


def search(space: Space, **more: Any) -> list[dict[str, Any]]:
    request = ns.QueryTableRequest.from_dict({"id": space.id("points"), "k": 10, "vector": {}, **more})
    return rows_of(space.namespace.query_table(request).data)


def test_rows_are_appended_or_replace_all_others(points: Space) -> None:
    request = ns.InsertIntoTableRequest(id=points.id("points"))
    assert points.namespace.insert_into_table(request, stream(POINTS)).version == 2
    assert ids(points) == [1, 1, 2, 2, 3, 3]
    request = ns.InsertIntoTableRequest(id=points.id("points"), mode="overwrite")
    assert points.namespace.insert_into_table(request, stream(POINTS.slice(2))).num_inserted_rows == 1
    assert ids(points) == [3]


def test_the_metastore_has_the_version_of_each_write(points: Space) -> None:
    insert = ns.InsertIntoTableRequest(id=points.id("points"))
    written = [points.namespace.insert_into_table(insert, stream(POINTS)).version for _ in range(2)]
    delete = ns.DeleteFromTableRequest(id=points.id("points"), predicate="id = 1")
    written.append(points.namespace.delete_from_table(delete).version)
    assert written == [2, 3, 4]
    assert stored(points).parameters["version"] == "4"


def test_a_slower_writer_neither_sets_the_version_back_nor_loses_what_others_store(points: Space) -> None:
    """Of two writers, the first one to write stores its version last."""
    namespace = points.namespace
    name, before = namespace.table(points.id("points"))
    first = namespace.dataset(points.id("points"), before)
    namespace.insert_into_table(ns.InsertIntoTableRequest(id=points.id("points")), stream(POINTS))
    namespace.client.set_parameters(name, owner_team="blue")
    namespace.recorded(name, before, first)
    assert (stored(points).parameters["version"], stored(points).parameters["owner_team"]) == ("2", "blue")
    second = namespace.dataset(points.id("points"), before)
    namespace.insert_into_table(ns.InsertIntoTableRequest(id=points.id("points")), stream(POINTS))
    namespace.recorded(name, before, second)
    assert (stored(points).parameters["version"], stored(points).parameters["owner_team"]) == ("3", "blue")


def stored(space: Space) -> Any:
    """The table as the metastore has it."""
    name, _ = space.namespace.table(space.id("points"))
    return space.namespace.client.fresh_table(name)


def test_a_merge_updates_inserts_and_deletes(points: Space) -> None:
    rows = POINTS.slice(1).append_column("x", pyarrow.nulls(2)).drop_columns(["x"])
    more = pyarrow.concat_tables([rows, POINTS.slice(0, 1).set_column(0, "id", pyarrow.array([9], pyarrow.int64()))])
    request = ns.MergeInsertIntoTableRequest(
        id=points.id("points"),
        on=["id"],
        when_matched_update_all=True,
        when_not_matched_insert_all=True,
        when_not_matched_by_source_delete=True,
        timeout="30s",
    )
    merged = points.namespace.merge_insert_into_table(request, stream(more))
    counts = (merged.num_updated_rows, merged.num_inserted_rows, merged.num_deleted_rows)
    assert (counts, merged.version) == ((2, 1, 1), 2)
    assert ids(points) == [2, 3, 9]


def test_a_merge_into_a_declared_table_inserts_all_rows(space: Space) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("points")))
    request = ns.MergeInsertIntoTableRequest(id=space.id("points"), on=["id"], when_not_matched_insert_all=True)
    assert space.namespace.merge_insert_into_table(request, stream(POINTS)).num_inserted_rows == 3


@pytest.mark.parametrize("timeout", ["soon", "10", "-1s"])
def test_a_timeout_that_is_no_duration_is_refused(points: Space, timeout: str) -> None:
    request = ns.MergeInsertIntoTableRequest(
        id=points.id("points"), on=["id"], when_matched_update_all=True, timeout=timeout
    )
    with pytest.raises(ns.InvalidInputError, match="timeout"):
        points.namespace.merge_insert_into_table(request, stream(POINTS))


def test_rows_are_updated_deleted_and_restored(points: Space) -> None:
    id = points.id("points")
    request = ns.UpdateTableRequest(id=id, predicate="id < 3", updates=[["name", "upper(name)"]])
    updated = points.namespace.update_table(request)
    assert (updated.updated_rows, updated.version) == (2, 2)
    assert {row["name"] for row in search(points)} == {"A", "B", "c"}
    deleted = points.namespace.delete_from_table(ns.DeleteFromTableRequest(id=id, predicate="id = 2"))
    assert (deleted.version, ids(points)) == (3, [1, 3])
    points.namespace.restore_table(ns.RestoreTableRequest(id=id, version=1))
    assert ids(points) == [1, 2, 3]
    assert points.namespace.client.table((points.name, "points")).parameters["version"] == "4"


def test_the_nearest_rows_are_found_with_their_distance(points: Space) -> None:
    found = search(points, k=2, vector={"single_vector": [1.0, 0.9]}, columns={"column_names": ["id", "_distance"]})
    assert [row["id"] for row in found] == [2, 1]
    assert found[0]["_distance"] < found[1]["_distance"]


def test_a_search_is_filtered_before_the_nearest_are_chosen(points: Space) -> None:
    found = search(points, k=1, vector={"single_vector": [0.0, 0.0]}, filter="id > 1", prefilter=True)
    assert [row["id"] for row in found] == [2]


def test_several_vectors_are_searched_at_once(points: Space) -> None:
    found = search(points, k=1, vector={"multi_vector": [[0.0, 0.0], [5.0, 5.0]]})
    assert [row["id"] for row in found] == [1, 3]


def test_a_query_without_a_vector_reads_rows(points: Space) -> None:
    assert [row["id"] for row in search(points, filter="name != 'b'", k=1, offset=1)] == [3]
    aliased = search(points, k=1, columns={"column_aliases": {"twice": "id * 2"}})
    assert aliased == [{"twice": 2}]


def test_texts_are_searched_by_an_index(points: Space) -> None:
    points.namespace.create_table_scalar_index(
        ns.CreateTableIndexRequest(id=points.id("points"), column="name", index_type="FTS", with_position=False)
    )
    found = search(points, full_text_query={"string_query": {"query": "b", "columns": ["name"]}})
    assert [row["id"] for row in found] == [2]
    structured = {"structured_query": {"query": {"match": {"terms": "c", "column": "name"}}}}
    assert [row["id"] for row in search(points, full_text_query=structured)] == [3]


def test_the_column_of_vectors_is_needed_if_there_are_several(space: Space) -> None:
    rows = POINTS.append_column("other", POINTS.column("vector")).rename_columns(["id", "name", "one", "other"])
    space.create("points", rows)
    with pytest.raises(ns.InvalidInputError, match="vector_column is needed: there are one, other"):
        search(space, vector={"single_vector": [0.0, 0.0]})
    assert search(space, k=1, vector={"single_vector": [5.0, 5.0]}, vector_column="other")[0]["id"] == 3


def test_the_plan_of_a_query_is_explained_and_analyzed(points: Space) -> None:
    values = {"id": points.id("points"), "k": 1, "vector": {"single_vector": [0.0, 0.0]}}
    query = ns.QueryTableRequest.model_validate(values)
    explained = points.namespace.explain_table_query_plan(
        ns.ExplainTableQueryPlanRequest(id=points.id("points"), query=query)
    )
    assert "KNN" in explained
    analyzed = points.namespace.analyze_table_query_plan(ns.AnalyzeTableQueryPlanRequest.from_dict(values))
    assert "metrics" in analyzed
