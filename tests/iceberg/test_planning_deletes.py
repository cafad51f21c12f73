"""Deletes of plans, partitions by transforms, and plans in parts: on manifests that tests write themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyiceberg.exceptions import NoSuchTableError

from metastored.hive.locations import local_path
from metastored.iceberg.errors import Unsupported
from metastored.iceberg.metadata import read_table
from metastored.iceberg.planning import planner
from metastored.iceberg.planning.scans import read_scan, read_token
from metastored.testing import RunningServer
from tests.iceberg.avro_files import Manifests, entry, field
from tests.iceberg.plans import fetched, paths, plan, request_plan, request_tasks, same, served
from tests.iceberg.rest_server import Rest, iceberg_server

PATH = 2147483546
POSITIONS: dict[str, Any] = {"content": 1}
EQUALITY: dict[str, Any] = {"content": 2, "equality_ids": [1]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with iceberg_server(tmp_path_factory.mktemp("deletes")) as running:
        yield running


def bounds(lower: str, upper: str) -> dict[str, Any]:
    """The bounds of the paths in a file of position deletes."""
    return {
        "lower_bounds": [{"key": PATH, "value": lower.encode()}],
        "upper_bounds": [{"key": PATH, "value": upper.encode()}],
    }


def deletes(reply: Any) -> dict[str, set[str]]:
    """The files of a plan, each with its delete files."""
    files = [each["file-path"] for each in reply.get("delete-files", [])]
    return {
        each["data-file"]["file-path"]: {files[at] for at in each.get("delete-file-references", [])}
        for each in reply["file-scan-tasks"]
    }


def test_position_deletes_apply_to_files_that_are_not_younger(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    made = Manifests(rest, namespace)
    made.add(entry("a", 1), entry("b", 2), entry("c", 3))
    made.add(
        entry("all", 2, **POSITIONS),
        entry("only-a", 3, **POSITIONS, **bounds("a", "a")),
        entry("only-c", 2, **POSITIONS, **bounds("c", "c")),
        entry("b-to-c", 3, **POSITIONS, **bounds("b", "c")),
        content=1,
        sequence_number=3,
    )
    made.commit()
    assert deletes(plan(rest, namespace)) == {"a": {"all", "only-a"}, "b": {"all", "b-to-c"}, "c": {"b-to-c"}}
    assert same(served(server, namespace)) == 3


def test_equality_deletes_apply_to_older_files(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    made.add(entry("a", 1), entry("b", 2), entry("c", 3))
    made.add(entry("two", 2, **EQUALITY), entry("three", 3, **EQUALITY), content=1, sequence_number=3)
    made.commit()
    found = plan(rest, namespace)
    assert deletes(found) == {"a": {"two", "three"}, "b": {"three"}, "c": set()}
    assert [each["equality-ids"] for each in found["delete-files"]] == [[1], [1]]


def test_a_deletion_vector_replaces_position_deletes_of_its_file(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace, properties={"format-version": "2"})
    made.add(entry("a", 1), entry("b", 1))
    vector = {**POSITIONS, "file_format": "PUFFIN", "referenced_data_file": "a"}
    made.add(
        entry("vectors", 2, **vector, content_offset=4, content_size_in_bytes=40),
        entry("old", 1, **POSITIONS),
        content=1,
        sequence_number=2,
    )
    made.commit()
    found = plan(rest, namespace)
    assert deletes(found) == {"a": {"vectors"}, "b": {"old"}}
    (file,) = [each for each in found["delete-files"] if each["file-path"] == "vectors"]
    assert (file["content-offset"], file["content-size-in-bytes"], file["file-format"]) == (4, 40, "puffin")
    assert file["referenced-data-file"] == "a"


def spec(source: int, transform: str) -> Any:
    return {"fields": [{"source-id": source, "field-id": 1000, "transform": transform, "name": "part"}]}


def test_deletes_apply_in_their_partition_and_those_without_partitions_everywhere(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace, **{"partition-spec": spec(1, "identity")})
    unpartitioned = {"action": "add-spec", "spec": {"fields": []}}
    assert rest.commit(namespace, "t", unpartitioned).status == 200
    part = [field("part", 1000, "long")]
    made.add(entry("a", 1, partition={"part": 1}), entry("b", 1, partition={"part": 2}), partition=part)
    made.add(
        entry("positions-1", 2, **POSITIONS, partition={"part": 1}),
        entry("equality-2", 2, **EQUALITY, partition={"part": 2}),
        partition=part, content=1, sequence_number=2,
    )  # fmt: skip
    made.add(
        entry("everywhere", 2, **EQUALITY),
        entry("positions-nowhere", 2, **POSITIONS),
        content=1, sequence_number=2, partition_spec_id=1,
    )  # fmt: skip
    made.commit()
    assert deletes(plan(rest, namespace)) == {"a": {"positions-1", "everywhere"}, "b": {"equality-2", "everywhere"}}
    only = plan(rest, namespace, filter={"type": "eq", "term": "id", "value": 2})
    assert deletes(only) == {"b": {"equality-2", "everywhere"}}
    assert len(only["delete-files"]) == 2


TRANSFORMS: dict[str, tuple[int, str, Any, list[Any], str]] = {
    "bucket": (1, "bucket[4]", "int", [0, 1, 2, 3], "id = 34"),
    "truncate a number": (1, "truncate[10]", "long", [0, 10, 20], "id = 15"),
    "truncate a text": (2, "truncate[2]", "string", ["aa", "bb"], "name like 'aab%'"),
    "a text": (2, "identity", "string", ["a", "b", None], "name = 'a'"),
}


@pytest.mark.parametrize("case", TRANSFORMS)
def test_one_partition_is_found_by(server: RunningServer, rest: Rest, namespace: str, case: str) -> None:
    source, transform, type, values, filter = TRANSFORMS[case]
    made = Manifests(rest, namespace, **{"partition-spec": spec(source, transform)})
    files = [entry(f"f{at}", 1, partition={"part": value}) for at, value in enumerate(values)]
    made.add(*files, partition=[field("part", 1000, type)])
    made.commit()
    assert same(served(server, namespace), filter) == 1
    assert len(paths(plan(rest, namespace))) == len(values)


TIMES: dict[str, tuple[str, list[int], str]] = {
    "year": ("year", [49, 50, 51], "2020-06-01T00:00:00"),
    "month": ("month", [599, 600, 601], "2020-01-31T23:59:59"),
    "day": ("day", [18261, 18262, 18263], "2020-01-01T12:00:00"),
    "hour": ("hour", [438_288, 438_289, 438_290], "2020-01-01T01:30:00"),
}


@pytest.mark.parametrize("case", TIMES)
def test_one_time_is_found_by(server: RunningServer, rest: Rest, namespace: str, case: str) -> None:
    transform, values, moment = TIMES[case]
    columns = {"type": "struct", "fields": [{"id": 1, "name": "at", "type": "timestamp", "required": False}]}
    made = Manifests(rest, namespace, schema=columns, **{"partition-spec": spec(1, transform)})
    type: Any = {"type": "int", "logicalType": "date"} if case == "day" else "int"
    files = [entry(f"f{value}", 1, partition={"part": value}) for value in values]
    made.add(*files, partition=[field("part", 1000, type)])
    made.commit()
    assert same(served(server, namespace), f"at = '{moment}'") == 1
    first = plan(rest, namespace)["file-scan-tasks"][0]["data-file"]["partition"]
    assert first == (["2019-12-31"] if case == "day" else [values[0]])


def test_files_inherit_the_ids_of_their_rows(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    made.add(entry("a", 1), entry("b", 1, status=2), entry("c", 1, first_row_id=7), entry("d", 1), first_row_id=100)
    made.commit()
    found = {each["data-file"]["file-path"]: each["data-file"] for each in plan(rest, namespace)["file-scan-tasks"]}
    assert {path: file["first-row-id"] for path, file in found.items()} == {"a": 100, "c": 7, "d": 110}


@pytest.mark.slow
def test_a_large_scan_is_fetched_in_parts(server: RunningServer, rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    for at in range(3):
        made.add(*(entry(f"f{at}-{number:04d}", 1) for number in range(2_500)), added_files_count=2_500)
    made.add(entry("deletes", 1, **POSITIONS), content=1)
    made.commit()
    found = plan(rest, namespace)
    assert len(found["plan-tasks"]) == 2 and "file-scan-tasks" not in found
    assert fetched(rest, namespace, found) == sorted(
        f"f{at}-{number:04d}" for at in range(3) for number in range(2_500)
    )
    assert same(served(server, namespace)) == 7_500


def test_a_part_with_more_files_than_were_counted_ends_with_a_task_for_the_rest(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    made.add(*(entry(f"f{number}", 1) for number in range(5_003)), added_files_count=1)
    made.commit()
    found = plan(rest, namespace)
    assert len(paths(found)) == 5_000 and len(found["plan-tasks"]) == 1
    assert len(set(fetched(rest, namespace, found))) == 5_003


class InThisProcess:
    """The catalog of a planner that tests run themselves, to change its bounds."""

    def __init__(self, rest: Rest, namespace: str) -> None:
        self.files = self
        self.loaded: Any = SimpleNamespace(
            name="t", row=SimpleNamespace(sd=None), metadata=read_table(rest.load(namespace)["metadata"], "t")
        )

    def check_file(self, name: object, location: str, file: str) -> None:
        pass

    def read_manifest(self, location: str) -> bytes:
        return Path(local_path(location)).read_bytes()

    def planner(self) -> planner.Planner:
        scan = read_scan({}, self.loaded.metadata)
        assert scan is not None
        return planner.Planner(self, self.loaded, scan)  # type: ignore[arg-type]

    def everything(self) -> list[int]:
        """The numbers of files of all parts of a plan."""
        found, tasks = [], [self.planner().plan()]
        while tasks:
            reply = tasks.pop()
            found.append(len(paths(reply)))
            tasks += [
                self.planner().tasks(read_token(each, self.loaded.metadata)[1]) for each in reply.get("plan-tasks", [])
            ]
        return found


@pytest.fixture
def here(rest: Rest, namespace: str) -> InThisProcess:
    """A table of four files in two manifests, with two delete files."""
    made = Manifests(rest, namespace)
    made.add(entry("a", 1), entry("b", 1), added_files_count=2)
    made.add(entry("c", 1), entry("d", 1), added_files_count=2)
    made.add(entry("x", 1, **POSITIONS), entry("y", 1, **POSITIONS), content=1)
    made.commit()
    return InThisProcess(rest, namespace)


def test_a_response_has_a_bounded_number_of_files(here: InThisProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    assert here.everything() == [4]
    monkeypatch.setattr(planner, "MAX_TASKS", 3)
    assert here.everything() == [0, 2, 2]
    monkeypatch.setattr(planner, "MAX_TASKS", 1)
    assert here.everything() == [0, 1, 1, 1, 1]


def test_a_response_has_a_bounded_size(here: InThisProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MAX_REPLY", 1)
    assert here.everything() == [1, 1, 1, 1]


def test_a_response_that_takes_too_long_ends_with_its_manifest(
    here: InThisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "SECONDS_OF_REPLY", -1.0)
    assert here.everything() == [2, 2]


@pytest.mark.parametrize("bound", ["SECONDS", "MAX_DELETES", "MAX_DELETE_BYTES"])
def test_a_scan_beyond_the_bounds_is_planned_on_the_client(
    here: InThisProcess, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(planner, bound, -1 if bound == "SECONDS" else 1)
    with pytest.raises(Unsupported, match="plan the scan on the client"):
        here.everything()


def test_a_plan_stays_at_its_snapshot_while_others_commit(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    for at in range(2):
        made.add(entry(f"f{at}", 1), added_files_count=4_000)
    made.commit()
    found = plan(rest, namespace, filter={"type": "gt-eq", "term": "id", "value": 0})
    made.lines = []
    made.add(entry("new", 2))
    made.commit()
    assert fetched(rest, namespace, found) == ["f0", "f1"]
    assert paths(plan(rest, namespace)) == ["new"]
    assert rest.commit(namespace, "t", {"action": "remove-snapshots", "snapshot-ids": [1]}).status == 200
    expired = request_tasks(rest, namespace, found["plan-tasks"][0])
    assert expired.error == "NoSuchPlanTaskException" and "expired" in expired.message
    assert request_plan(rest, namespace, {"snapshot-id": 1}).status == 400


def test_a_table_that_was_replaced_has_no_tasks_of_the_former_one(
    server: RunningServer, rest: Rest, namespace: str
) -> None:
    made = Manifests(rest, namespace)
    for at in range(2):
        made.add(entry(f"f{at}", 1), added_files_count=4_000)
    made.commit()
    (token, _) = plan(rest, namespace)["plan-tasks"]
    assert rest.delete(f"/namespaces/{namespace}/tables/t").status == 204
    assert request_tasks(rest, namespace, token).error == "NoSuchTableException"
    with pytest.raises(NoSuchTableError):
        served(server, namespace)
    rest.table(namespace)
    assert request_tasks(rest, namespace, token).error == "NoSuchPlanTaskException"
