"""Scans that the server plans: the same files and deletes as pyiceberg plans itself, at one snapshot, by privileges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.exceptions import ForbiddenError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform, VoidTransform
from pyiceberg.types import IntegerType

from metastored.iceberg.errors import Unsupported
from metastored.iceberg.planning import operations as planning
from metastored.iceberg.planning.scans import Part, read_scan, token_of
from metastored.testing import RunningServer
from tests.iceberg.plans import (
    COLUMNS,
    paths,
    plan,
    request_plan,
    request_tasks,
    rows,
    same,
    served,
    three_files,
)
from tests.iceberg.rest_server import Rest, iceberg_server, rest_catalog
from tests.server.http.support import PASSWORD, USER
from tests.support.grants import granted, table_ref


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """On SQLite: the databases differ in nothing that a plan reads, which one test below shows."""
    with iceberg_server(tmp_path_factory.mktemp("planning")) as running:
        yield running


@pytest.fixture(scope="module")
def read(server: RunningServer) -> Table:
    """A table that tests only read."""
    return three_files(server, Rest(server).namespace("read"))


# --- the same plan as pyiceberg's -----------------------------------------------------------------------------------

FILTERS: dict[str, int] = {
    "true": 3,
    "false": 0,
    "id = 101": 1,
    "id != 101": 3,
    "id < 100": 1,
    "id >= 200": 1,
    "id in (1, 201)": 2,
    "id not in (1, 201)": 3,
    "name is null": 0,
    "name is not null": 3,
    "name like 'n01%'": 1,
    "name not like 'n01%'": 3,
    "ratio is nan": 3,
    "id > 50 and id < 150": 1,
    "id < 50 or id > 150": 2,
    "not (id < 50 or id > 150)": 1,
    "day = '2020-01-02'": 1,
    "at < '2020-01-02T00:00:00'": 1,
    "price > 50.00": 1,
    "key = '00000000-0000-0000-0000-000000000065'": 1,
    "ratio > 99.5": 1,
    "flag = true": 3,
}


@pytest.mark.parametrize("filter", FILTERS)
def test_files_are_found_by_their_statistics(read: Table, filter: str) -> None:
    assert same(read, filter) == FILTERS[filter]


def test_names_of_columns_match_in_another_case_if_the_client_wants_it(read: Table) -> None:
    assert same(read, "ID = 101", case_sensitive=False) == 1


PARTITIONS: dict[str, tuple[int, Any, str]] = {
    "identity": (1, IdentityTransform(), "id = 1"),
    "a text": (2, IdentityTransform(), "name = 'n0001'"),
    "a date": (3, IdentityTransform(), "day = '2020-01-02'"),
    "a decimal": (5, IdentityTransform(), "price = 0.25"),
    "a boolean": (8, IdentityTransform(), "flag = true"),
}


@pytest.mark.parametrize("case", PARTITIONS)
def test_files_are_found_by_their_partitions(server: RunningServer, namespace: str, case: str) -> None:
    source, transform, filter = PARTITIONS[case]
    spec = PartitionSpec(PartitionField(source, 1000, transform, "part"))
    rest_catalog(server).create_table((namespace, "t"), COLUMNS, partition_spec=spec).append(rows(0))
    table = served(server, namespace)
    assert same(table) >= same(table, filter) >= 1
    scan = table.scan(row_filter=filter)
    assert scan.to_arrow().num_rows == scan.count() >= 1


def test_partitions_are_written_as_the_specification_writes_values(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    fields = [PartitionField(source, 1000 + source, IdentityTransform(), f"p{source}") for source in (1, 2, 3, 4, 5, 8)]
    spec = PartitionSpec(*fields)
    rest_catalog(server).create_table((namespace, "t"), COLUMNS, partition_spec=spec).append(rows(1, 1))
    (task,) = plan(rest, namespace)["file-scan-tasks"]
    assert task["data-file"]["partition"] == [1, "n0001", "2020-01-02", "2020-01-01T13:00:00", "0.25", False]


def test_a_partition_without_a_value_is_null(server: RunningServer, rest: Rest, namespace: str) -> None:
    """pyiceberg 0.12 does not read such a task; the specification's JSON of a missing value is null."""
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
    nobody = rows(0, 1).set_column(1, "name", pa.array([None], pa.string()))
    rest_catalog(server).create_table((namespace, "t"), COLUMNS, partition_spec=spec).append(nobody)
    (task,) = plan(rest, namespace, filter={"type": "is-null", "term": "name"})["file-scan-tasks"]
    assert task["data-file"]["partition"] == [None]
    assert paths(plan(rest, namespace, filter={"type": "not-null", "term": "name"})) == []


def test_tables_whose_partitions_and_schema_have_changed(server: RunningServer, namespace: str) -> None:
    table = rest_catalog(server).create_table((namespace, "t"), COLUMNS)
    table.append(rows(0))
    with table.update_spec() as spec:
        spec.add_field("name", IdentityTransform(), "prefix")
    table.append(rows(100))
    with table.update_spec() as spec:
        spec.remove_field("prefix")
        spec.add_field("flag", IdentityTransform(), "flagged")
    with table.update_schema() as schema:
        schema.rename_column("id", "number")
        schema.add_column("extra", IntegerType())
    renamed = rows(200).rename_columns(["number", *rows(0).column_names[1:]])
    table.append(renamed.append_column("extra", pa.array([1] * 4, pa.int32())))
    table = served(server, namespace)
    assert same(table) == 7  # The second append has four partitions, and the third has two.
    assert same(table, "number = 101") == 1
    assert same(table, "name like 'n01%'") == 4
    assert same(table, "flag = true") == 4
    same(table, "extra = 1")
    assert table.scan(row_filter="number = 101").to_arrow().num_rows == 1


def test_the_partitions_of_a_dropped_column_have_their_type(server: RunningServer, rest: Rest, namespace: str) -> None:
    spec = PartitionSpec(PartitionField(3, 1000, IdentityTransform(), "part"))
    table = rest_catalog(server).create_table((namespace, "t"), COLUMNS, partition_spec=spec)
    table.append(rows(0, 1))
    with table.update_spec() as change:
        change.remove_field("part")
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("day")
    (task,) = plan(rest, namespace)["file-scan-tasks"]
    assert task["data-file"]["partition"] == ["2020-01-01"]


def test_a_spec_whose_fields_are_all_void_is_planned(server: RunningServer, namespace: str) -> None:
    spec = PartitionSpec(PartitionField(1, 1000, VoidTransform(), "part"))
    rest_catalog(server).create_table((namespace, "t"), COLUMNS, partition_spec=spec)
    assert same(served(server, namespace)) == 0


def test_a_table_without_rows_has_no_tasks(server: RunningServer, rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    assert plan(rest, namespace).keys() == {"status", "plan-id"}
    assert same(served(server, namespace)) == 0


def test_a_scan_of_each_snapshot(read: Table) -> None:
    for number, snapshot in enumerate(read.metadata.snapshots, 1):
        assert same(read, snapshot_id=snapshot.snapshot_id) == number


def test_rows_that_were_deleted_are_in_no_file(server: RunningServer, namespace: str) -> None:
    table = three_files(server, namespace)
    table.delete("id < 100")
    table.delete("id = 101")
    table = served(server, namespace)
    assert same(table) == 2
    assert table.scan().to_arrow().num_rows == table.scan().count() == 7


@pytest.mark.slow
@pytest.mark.postgres
def test_a_scan_is_planned_and_read_on_postgresql(tmp_path: Path) -> None:
    with iceberg_server(tmp_path, "postgresql") as running:
        table = three_files(running, Rest(running).namespace("n"))
        assert same(table, "id > 150") == 1
        assert table.scan(row_filter="id = 101").to_arrow().num_rows == 1


# --- what else a request can say ------------------------------------------------------------------------------------


def test_an_incremental_scan_has_the_files_of_appends(server: RunningServer, rest: Rest, namespace: str) -> None:
    table = three_files(server, namespace)
    ids = [each.snapshot_id for each in table.metadata.snapshots]
    before = paths(plan(rest, namespace, snapshot_id=ids[0]))
    found = paths(plan(rest, namespace, start_snapshot_id=ids[0], end_snapshot_id=ids[2]))
    assert found == sorted(set(paths(plan(rest, namespace))) - set(before)) and len(found) == 2
    assert paths(plan(rest, namespace, start_snapshot_id=ids[2], end_snapshot_id=ids[2])) == []
    filter = {"type": "lt", "term": "id", "value": 150}
    assert len(paths(plan(rest, namespace, start_snapshot_id=ids[0], end_snapshot_id=ids[2], filter=filter))) == 1
    refused = request_plan(rest, namespace, {"start-snapshot-id": ids[2], "end-snapshot-id": ids[0]})
    assert refused.status == 400 and "not an ancestor" in refused.message


def test_statistics_are_sent_for_the_columns_that_the_client_names(rest: Rest, read: Table) -> None:
    filter = {"type": "eq", "term": "id", "value": 101}
    (task,) = plan(rest, "read", stats_fields=["id", "day", "price", "raw"], filter=filter)["file-scan-tasks"]
    file = task["data-file"]
    assert file["lower-bounds"] == {"keys": [1, 3, 5, 9], "values": [100, "2020-04-10", "25.00", "64"]}
    assert file["null-value-counts"] == {"keys": [1, 3, 5, 9], "values": [0, 0, 0, 0]}
    assert "lower-bounds" not in plan(rest, "read")["file-scan-tasks"][0]["data-file"]
    assert request_plan(rest, "read", {"stats-fields": ["missing"]}).status == 400


def test_a_snapshot_is_read_by_its_own_schema_if_the_client_wants_it(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    table = three_files(server, namespace)
    first = table.metadata.snapshots[0].snapshot_id
    with table.update_schema() as schema:
        schema.rename_column("id", "number")
    request = {"snapshot-id": first, "filter": {"type": "eq", "term": "id", "value": 1}}
    assert request_plan(rest, namespace, request).status == 400
    assert len(paths(request_plan(rest, namespace, {**request, "use-snapshot-schema": True}).json)) == 1


EXPRESSIONS: dict[str, tuple[Any, int]] = {
    "a constant": (False, 0),
    "a constant of a type": ({"type": "false"}, 0),
    "its negation": ({"type": "not", "child": {"type": "false"}}, 3),
    "a reference by name": ({"type": "eq", "left": {"type": "reference", "name": "id"}, "right": 1}, 1),
    "a reference by id": ({"type": "is-null", "child": {"type": "reference", "id": 1}}, 0),
    "a typed literal": (
        {"type": "eq", "term": "id", "value": {"type": "literal", "value": 1, "data-type": "long"}}, 1,
    ),
    "typed literals": (
        {"type": "in", "term": "id", "values": {"type": "literals", "values": [1, 101], "data-type": "long"}}, 2,
    ),
    "an empty set": ({"type": "in", "term": "id", "values": []}, 0),
    "a number that is too large": ({"type": "eq", "term": "id", "value": 2**63}, 0),
    "a transform, which does not prune": (
        {"type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "id"}, "value": 9}, 3,
    ),
    "a transform that is negated": (
        {"type": "not", "child": {
            "type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "id"}, "value": 9}}, 3,
    ),
    "a function": ({"type": "eq", "left": {"type": "apply", "function": "f", "arguments": []}, "right": 1}, 3),
    "bytes, which do not prune": ({"type": "eq", "term": "raw", "value": "FF"}, 3),
    "a comparison of two columns": (
        {"type": "lt", "left": {"type": "reference", "name": "id"}, "right": {"type": "reference", "name": "id"}}, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_a_filter_may_be(rest: Rest, read: Table, case: str) -> None:
    filter, number = EXPRESSIONS[case]
    tasks = plan(rest, "read", filter=filter).get("file-scan-tasks", [])
    assert len(tasks) == number and all(each["residual-filter"] == filter for each in tasks)


def test_a_plan_need_not_be_fetched_or_cancelled(rest: Rest, read: Table) -> None:
    id = plan(rest, "read")["plan-id"]
    path = f"/namespaces/read/tables/t/plan/{id}"
    assert rest.get(path).error == "NoSuchPlanIdException"
    assert rest.delete(path).status == 204
    assert rest.delete(path.replace("/t/", "/missing/")).error == "NoSuchTableException"


# --- who may --------------------------------------------------------------------------------------------------------


def test_a_plan_needs_the_privilege_to_read_the_table(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"authorization": "sql", "admin_users": USER}
    with iceberg_server(tmp_path, users={"bob": "b"}, **settings) as guarded:
        maja, bob = Rest(guarded, USER, PASSWORD), Rest(guarded, "bob", "b")
        maja.namespace("n")
        made = rest_catalog(guarded, USER, PASSWORD).create_table(("n", "t"), COLUMNS)
        made.append(rows(0))
        made.append(rows(100))
        id, metadata = plan(maja, "n")["plan-id"], maja.load("n")["metadata"]
        scan = read_scan({}, metadata)
        assert scan is not None
        token = token_of(scan, Part(0, 0, 2), metadata)
        refused = [
            request_plan(bob, "n", {}),
            request_tasks(bob, "n", token),
            bob.get(f"/namespaces/n/tables/t/plan/{id}"),
            bob.delete(f"/namespaces/n/tables/t/plan/{id}"),
        ]
        assert [(each.status, each.error) for each in refused] == [(403, "ForbiddenException")] * 4
        granted(guarded, "bob", "SELECT", on=table_ref("n", "t"))
        assert len(paths(request_tasks(bob, "n", token).json)) == 2
        assert served(guarded, "n", "bob", "b").scan().to_arrow().num_rows == 8
        with pytest.raises(ForbiddenError):
            served(guarded, "n", "bob", "b").append(rows(0))


def test_without_the_library_nothing_is_planned_and_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planning.can_plan()
    monkeypatch.setattr(planning, "find_spec", lambda name: None)
    assert not planning.can_plan()
    with pytest.raises(Unsupported, match="pip install"):
        planning.plan_table_scan(None, None)  # type: ignore[arg-type]


def test_the_endpoints_are_announced(rest: Rest) -> None:
    assert "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan" in rest.get("/config").json["endpoints"]
