"""Bad input: each case has its code and a sentence, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance_namespace as ns
import pytest

import metastored
from metastored.wire.structs import replace
from tests.support.lance import POINTS, Space, stream

pytestmark = pytest.mark.slow

Call = Callable[[Any, list[str]], Any]

WITH_TABLE: dict[str, Call] = {
    "describe_table": lambda space, id: space.describe_table(ns.DescribeTableRequest(id=id)),
    "drop_table": lambda space, id: space.drop_table(ns.DropTableRequest(id=id)),
    "deregister_table": lambda space, id: space.deregister_table(ns.DeregisterTableRequest(id=id)),
    "rename_table": lambda space, id: space.rename_table(ns.RenameTableRequest(id=id, new_table_name="other")),
    "count_table_rows": lambda space, id: space.count_table_rows(ns.CountTableRowsRequest(id=id)),
    "insert_into_table": lambda space, id: space.insert_into_table(ns.InsertIntoTableRequest(id=id), stream(POINTS)),
    "update_table": lambda space, id: space.update_table(ns.UpdateTableRequest(id=id, updates=[["id", "1"]])),
    "delete_from_table": lambda space, id: space.delete_from_table(ns.DeleteFromTableRequest(id=id, predicate="true")),
    "merge_insert": lambda space, id: space.merge_insert_into_table(
        ns.MergeInsertIntoTableRequest(id=id, on=["id"], when_matched_update_all=True), stream(POINTS)
    ),
    "query_table": lambda space, id: space.query_table(query(id)),
    "list_table_versions": lambda space, id: space.list_table_versions(ns.ListTableVersionsRequest(id=id)),
    "describe_table_version": lambda space, id: space.describe_table_version(ns.DescribeTableVersionRequest(id=id)),
    "list_table_tags": lambda space, id: space.list_table_tags(ns.ListTableTagsRequest(id=id)),
    "list_table_indices": lambda space, id: space.list_table_indices(ns.ListTableIndicesRequest(id=id)),
    "get_table_stats": lambda space, id: space.get_table_stats(ns.GetTableStatsRequest(id=id)),
}
"""One call of each operation on an existing table."""
READS = ("count_table_rows", "query_table", "list_table_tags", "list_table_indices", "get_table_stats")
WRITES = ("update_table", "delete_from_table", "merge_insert")


def query(id: list[str], **more: Any) -> ns.QueryTableRequest:
    values = {"id": id, "k": 1, "vector": {"single_vector": [0.0, 0.0]}, **more}
    found = ns.QueryTableRequest.from_dict(values)
    assert found is not None
    return found


@pytest.mark.parametrize("call", WITH_TABLE.values(), ids=WITH_TABLE)
def test_a_table_that_is_not_lances_is_invalid_input(space: Space, call: Call) -> None:
    space.namespace.client.create_table(metastored.table((space.name, "plain"), {"a": "int"}))
    before = space.namespace.client.table((space.name, "plain"))
    with pytest.raises(ns.InvalidInputError, match="not a Lance table"):
        call(space.namespace, space.id("plain"))
    assert space.namespace.client.table((space.name, "plain")) == before


@pytest.mark.parametrize("call", WITH_TABLE.values(), ids=WITH_TABLE)
def test_a_table_that_is_missing_is_not_found_and_a_namespace_neither(space: Space, call: Call) -> None:
    with pytest.raises(ns.TableNotFoundError, match="nope"):
        call(space.namespace, space.id("nope"))
    with pytest.raises(ns.NamespaceNotFoundError, match="nowhere"):
        call(space.namespace, ["nowhere", "nope"])


@pytest.mark.parametrize("id", [[], ["one"], ["a", "b", "c"], ["a", ""], ["a", " "]])
@pytest.mark.parametrize("call", WITH_TABLE.values(), ids=WITH_TABLE)
def test_an_identifier_of_the_wrong_depth_is_invalid_input(space: Space, call: Call, id: list[str]) -> None:
    with pytest.raises(ns.InvalidInputError, match="identifier"):
        call(space.namespace, id)


@pytest.mark.parametrize("name", READS)
def test_reading_a_declared_table_without_data_finds_no_table(space: Space, name: str) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("empty")))
    with pytest.raises(ns.TableNotFoundError, match="declared and has no data"):
        WITH_TABLE[name](space.namespace, space.id("empty"))


@pytest.mark.parametrize("name", WRITES)
def test_changing_a_declared_table_without_data_is_an_invalid_state(space: Space, name: str) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("empty")))
    with pytest.raises(ns.InvalidTableStateError, match="declared and has no data"):
        WITH_TABLE[name](space.namespace, space.id("empty"))


def test_inserting_into_a_declared_table_makes_its_first_version(space: Space) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("empty")))
    inserted = WITH_TABLE["insert_into_table"](space.namespace, space.id("empty"))
    assert (inserted.version, inserted.num_inserted_rows) == (1, 3)


def test_a_location_without_a_dataset_is_not_registered(space: Space, tmp_path: Path) -> None:
    with pytest.raises(ns.InvalidInputError, match="no Lance dataset"):
        space.namespace.register_table(ns.RegisterTableRequest(id=space.id("t"), location=str(tmp_path / "nothing")))
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


@pytest.mark.parametrize("location", ["", "/", "file:/", "s3:relative", "ht!tp:x"])
def test_a_location_that_is_none_is_invalid_input(space: Space, location: str) -> None:
    with pytest.raises(ns.InvalidInputError, match="location"):
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t"), location=location))
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


@pytest.mark.parametrize("properties", [{"managed_by": "me"}, {"version": "new"}])
def test_properties_that_break_the_definition_are_invalid_input(space: Space, properties: dict[str, str]) -> None:
    with pytest.raises(ns.InvalidInputError, match=next(iter(properties))):
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t"), properties=properties))
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


@pytest.mark.parametrize(("key", "value"), [("version", "newest"), ("managed_by", "me")])
def test_a_stored_table_that_breaks_the_definition_is_an_invalid_state(managed: Space, key: str, value: str) -> None:
    managed.create("points")
    table = managed.namespace.client.table((managed.name, "points"))
    changed = replace(table, parameters={**table.parameters, key: value})
    managed.namespace.client.alter((managed.name, "points"), changed)
    with pytest.raises(ns.InvalidTableStateError, match=key):
        managed.namespace.count_table_rows(ns.CountTableRowsRequest(id=managed.id("points")))


@pytest.mark.parametrize("data", [b"", b"abc", stream(POINTS)[:100]])
def test_data_that_is_no_arrow_stream_creates_no_table(space: Space, data: bytes) -> None:
    with pytest.raises(ns.InvalidInputError, match="Arrow IPC stream"):
        space.namespace.create_table(ns.CreateTableRequest(id=space.id("t")), data)
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


def test_rows_of_another_schema_are_not_inserted(space: Space) -> None:
    import pyarrow

    space.create("points")
    with pytest.raises(ns.TableSchemaValidationError):
        rows = stream(pyarrow.table({"x": [1]}))
        space.namespace.insert_into_table(ns.InsertIntoTableRequest(id=space.id("points")), rows)
    assert space.namespace.count_table_rows(ns.CountTableRowsRequest(id=space.id("points"))).count == 3


def test_columns_that_are_missing_are_named(space: Space) -> None:
    space.create("points")
    id = space.id("points")
    calls: list[Call] = [
        lambda it, id: it.update_table(ns.UpdateTableRequest(id=id, updates=[["nope", "1"]])),
        lambda it, id: it.count_table_rows(ns.CountTableRowsRequest(id=id, predicate="nope = 1")),
        lambda it, id: it.query_table(query(id, columns={"column_names": ["nope"]})),
        lambda it, id: it.query_table(query(id, vector_column="nope")),
        lambda it, id: it.merge_insert_into_table(
            ns.MergeInsertIntoTableRequest(id=id, on=["nope"], when_matched_update_all=True), stream(POINTS)
        ),
        lambda it, id: it.create_table_index(ns.CreateTableIndexRequest(id=id, column="nope", index_type="BTREE")),
    ]
    for call in calls:
        with pytest.raises(ns.TableColumnNotFoundError, match="nope"):
            call(space.namespace, id)


def test_a_filter_that_cannot_be_parsed_is_invalid_input(space: Space) -> None:
    space.create("points")
    with pytest.raises(ns.InvalidInputError):
        space.namespace.count_table_rows(ns.CountTableRowsRequest(id=space.id("points"), predicate="id >>> 1"))
    with pytest.raises(ns.InvalidInputError):
        space.namespace.delete_from_table(ns.DeleteFromTableRequest(id=space.id("points"), predicate="id ="))


def test_a_version_that_is_missing_is_not_found(space: Space) -> None:
    space.create("points")
    id = space.id("points")
    calls: list[Callable[[], Any]] = [
        lambda: space.namespace.count_table_rows(ns.CountTableRowsRequest(id=id, version=9)),
        lambda: space.namespace.query_table(query(id, version=9)),
        lambda: space.namespace.describe_table(ns.DescribeTableRequest(id=id, version=9)),
        lambda: space.namespace.table_exists(ns.TableExistsRequest(id=id, version=9)),
        lambda: space.namespace.restore_table(ns.RestoreTableRequest(id=id, version=9)),
        lambda: space.namespace.describe_table_version(ns.DescribeTableVersionRequest(id=id, version=9)),
        lambda: space.namespace.create_table_tag(ns.CreateTableTagRequest(id=id, tag="t", version=9)),
    ]
    for call in calls:
        with pytest.raises(ns.TableVersionNotFoundError, match="9"):
            call()


def test_a_mode_of_another_word_is_invalid_input(space: Space) -> None:
    with pytest.raises(ns.InvalidInputError, match="mode"):
        space.create("points", mode="maybe")
    with pytest.raises(ns.InvalidInputError, match="mode"):
        space.namespace.create_namespace(ns.CreateNamespaceRequest(id=["x"], mode="maybe"))
    with pytest.raises(ns.InvalidInputError, match="behavior"):
        space.namespace.drop_namespace(ns.DropNamespaceRequest(id=space.database, behavior="maybe"))


def test_a_request_whose_values_do_not_fit_names_the_field(space: Space) -> None:
    with pytest.raises(ns.InvalidInputError, match="version"):
        space.namespace.create_table_version({"id": space.id("t"), "version": "x", "manifest_path": "p"})
    with pytest.raises(ns.InvalidInputError, match="DescribeTableRequest"):
        space.namespace.describe_table(7)


def test_what_is_not_served_is_unsupported(space: Space) -> None:
    space.create("points")
    id = space.id("points")
    with pytest.raises(ns.UnsupportedOperationError):
        space.namespace.create_table_branch(ns.CreateTableBranchRequest(id=id, name="b"))
    with pytest.raises(ns.UnsupportedOperationError, match="branches"):
        space.namespace.count_table_rows(ns.CountTableRowsRequest(id=id, branch="b"))
