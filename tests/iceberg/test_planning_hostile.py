"""Requests for plans that no client sends, and manifests that somebody else has written."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from metastored.model.iceberg.avro import Broken, records_of
from metastored.testing import RunningServer
from tests.iceberg.avro_files import (
    LIST_SCHEMA,
    SYNC,
    Manifests,
    container,
    encoded,
    entry,
    entry_schema,
    field,
    listed,
    long,
)
from tests.iceberg.plans import paths, plan, request_plan, request_tasks
from tests.iceberg.rest_server import Rest, iceberg_server
from tests.server.http.support import PASSWORD, USER

# Each test writes files and plans scans by REST.
pytestmark = pytest.mark.slow

EQUAL: Any = {"type": "eq", "term": "id", "value": 1}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with iceberg_server(tmp_path_factory.mktemp("hostile")) as running:
        yield running


@pytest.fixture(scope="module")
def read(server: RunningServer) -> Any:
    """The metadata of a table of two files, whose plan has two tasks, in the namespace read."""
    rest = Rest(server)
    made = Manifests(rest, rest.namespace("read"))
    for at in range(2):
        made.add(entry(f"f{at}", 1), added_files_count=4_000)
    made.commit()
    return rest.load("read")["metadata"]


# --- requests -------------------------------------------------------------------------------------------------------


def nested(levels: int) -> Any:
    found = EQUAL
    for _ in range(levels):
        found = {"type": "not", "child": found}
    return found


def wide(number: int) -> Any:
    return EQUAL if number == 1 else {"type": "or", "left": wide(number // 2), "right": wide(number - number // 2)}


REQUESTS: dict[str, Any] = {
    "a filter that is a text": {"filter": "id = 1"},
    "a filter that is a list": {"filter": [EQUAL]},
    "an unknown expression": {"filter": {"type": "like", "term": "id", "value": "x"}},
    "an expression whose type is a list": {"filter": {"type": ["eq"], "term": "id", "value": 1}},
    "an expression without a type": {"filter": {"term": "id"}},
    "no term": {"filter": {"type": "eq", "value": 1}},
    "no value": {"filter": {"type": "eq", "term": "id"}},
    "a value that is null": {"filter": {**EQUAL, "value": None}},
    "a value that is a list": {"filter": {**EQUAL, "value": [1]}},
    "a value of another type": {"filter": {**EQUAL, "value": "one"}},
    "a value of a set that is of another type": {"filter": {"type": "in", "term": "id", "values": [1, "one"]}},
    "values that are no list": {"filter": {"type": "in", "term": "id", "values": 1}},
    "a prefix of a number": {"filter": {"type": "starts-with", "term": "id", "value": "1"}},
    "a column that is missing": {"filter": {**EQUAL, "term": "missing"}},
    "a column of another case": {"filter": {**EQUAL, "term": "ID"}},
    "a column by an id that is missing": {"filter": {"type": "is-null", "child": {"type": "reference", "id": 99}}},
    "a term of an unknown type": {"filter": {**EQUAL, "term": {"type": "x"}}},
    "a deep filter": {"filter": nested(200)},
    "many predicates": {"filter": wide(1_001)},
    "a huge set": {"filter": {"type": "in", "term": "id", "values": [1] * 20_001}},
    "a huge literal": {"filter": {"type": "eq", "term": "name", "value": "x" * 300_000}},
    "a snapshot that is a text": {"snapshot-id": "1"},
    "a snapshot that is true": {"snapshot-id": True},
    "a snapshot that is missing": {"snapshot-id": 99},
    "a start without an end": {"start-snapshot-id": 1},
    "an end without a start": {"end-snapshot-id": 1},
    "a start that is not an ancestor": {"start-snapshot-id": 99, "end-snapshot-id": 1},
    "two kinds of scans": {"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 1},
    "select that is a text": {"select": "id"},
    "select with numbers": {"select": [1]},
    "many columns": {"select": [str(at) for at in range(10_001)]},
    "statistics of many columns": {"stats-fields": [str(at) for at in range(101)]},
    "a switch that is a text": {"case-sensitive": "yes"},
    "fewer rows than none": {"min-rows-requested": -1},
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_is_refused_with(rest: Rest, read: Any, case: str) -> None:
    refused = request_plan(rest, "read", REQUESTS[case])
    assert refused.error == "BadRequestException" and len(refused.message) < 1_000, refused


def test_the_largest_filters_are_planned(rest: Rest, read: Any) -> None:
    """Negations cancel each other: the deepest filter that a request can have is still one predicate."""
    for filter in (nested(120), wide(500), {"type": "in", "term": "id", "values": list(range(20_000))}):
        assert len(plan(rest, "read", filter=filter)["plan-tasks"]) == 2


def test_a_missing_table_is_not_planned(rest: Rest, read: Any) -> None:
    assert rest.post("/namespaces/read/tables/x/plan", {}).error == "NoSuchTableException"
    assert rest.post("/namespaces/read/tables/x/tasks", {"plan-task": "x"}).error == "NoSuchTableException"


TOKENS: dict[str, Callable[[list[Any]], Any]] = {
    "another table": lambda token: ["00000000-0000-0000-0000-000000000000", *token[1:]],
    "another snapshot": lambda token: [token[0], 99, *token[2:]],
    "a snapshot that is a path": lambda token: [token[0], "/etc/passwd", *token[2:]],
    "another start": lambda token: [*token[:2], 99, *token[3:]],
    "another schema": lambda token: [*token[:3], 99, *token[4:]],
    "a switch that is a text": lambda token: [*token[:5], "yes", *token[6:]],
    "statistics that are numbers": lambda token: [*token[:6], [1], token[7]],
    "negative manifests": lambda token: [*token[:7], [-1, 0, 1]],
    "a negative entry": lambda token: [*token[:7], [0, -1, 1]],
    "no manifests": lambda token: [*token[:7], [1, 0, 1]],
    "more manifests than there are": lambda token: [*token[:7], [0, 0, 1_000]],
    "huge numbers": lambda token: [*token[:7], [0, 0, 2**62]],
    "a path for a manifest": lambda token: [*token[:7], ["/etc/passwd", 0, 1]],
    "too few fields": lambda token: token[:5],
    "an object": lambda token: {"a": 1},
    "deep lists": lambda token: [*token[:4], json.loads("[" * 500 + "]" * 500), *token[5:]],
}


@pytest.mark.parametrize("case", TOKENS)
def test_a_forged_task_names_nothing(rest: Rest, read: Any, case: str) -> None:
    token = json.loads(base64.urlsafe_b64decode(plan(rest, "read")["plan-tasks"][0]))
    forged = base64.urlsafe_b64encode(json.dumps(TOKENS[case](token)).encode()).decode()
    refused = request_tasks(rest, "read", forged)
    assert (refused.status, refused.error) == (404, "NoSuchPlanTaskException")


@pytest.mark.parametrize("text", ["", "x", "é", "e30=", "!!!!", "A" * 600_000])
def test_a_text_that_is_no_task_names_nothing(rest: Rest, read: Any, text: str) -> None:
    assert request_tasks(rest, "read", text).error == "NoSuchPlanTaskException"


@pytest.mark.parametrize("token", [None, 1, [], {}])
def test_a_task_that_is_no_text_is_refused(rest: Rest, read: Any, token: Any) -> None:
    assert request_tasks(rest, "read", token).error == "BadRequestException"


def test_a_forged_filter_is_checked_as_that_of_a_request(rest: Rest, read: Any) -> None:
    token = json.loads(base64.urlsafe_b64decode(plan(rest, "read")["plan-tasks"][0]))
    token[4] = {"type": "evil"}
    forged = base64.urlsafe_b64encode(json.dumps(token).encode()).decode()
    assert request_tasks(rest, "read", forged).error == "BadRequestException"


# --- manifests ------------------------------------------------------------------------------------------------------

GOOD = container(entry_schema([]), [entry("a", 1)])


def of_type(**changed: Any) -> bytes:
    """A manifest whose fields have other types than Iceberg's."""
    schema = entry_schema([])
    for each in schema["fields"][4]["type"]["fields"]:
        each["type"] = changed.get(each["name"], each["type"])
    value = entry("a", 1)
    for name, type in changed.items():
        value["data_file"][name] = "x" if type == "string" else 1
    return container(schema, [value])


def header(schema: Any, codec: str = "null") -> bytes:
    return container(schema, [], codec=codec).removesuffix(long(0) + long(0) + SYNC)


MANIFESTS: dict[str, bytes] = {
    "nothing": b"",
    "a text": b"root:x:0:0",
    "half of it": GOOD[: len(GOOD) // 2],
    "all but its last byte": GOOD[:-1],
    "more records than bytes": container(entry_schema([]), [entry("a", 1)], count=1_000_000_000),
    "fewer records than bytes": container(entry_schema([]), [entry("a", 1)] * 3, count=1),
    "a negative number of records": container(entry_schema([]), [], count=-5),
    "another end of a block": GOOD[:-16] + b"x" * 16,
    "an unknown compression": header(entry_schema([]), "brotli"),
    "bytes that are not compressed": header(entry_schema([]), "deflate") + long(1) + long(4) + b"\xff" * 4 + SYNC,
    "a block that is too large": container(entry_schema([]), [entry("a" * (65 << 20), 1)], codec="deflate"),
    "a schema that is not a record": container("string", ["x"]),
    "a schema of an unknown type": header({"type": "record", "name": "a", "fields": [{"name": "a", "type": "x"}]}),
    "a schema that refers to itself": header({"type": "record", "name": "a", "fields": [{"name": "a", "type": "a"}]}),
    "no path": container(
        {"type": "record", "name": "a", "fields": [field("status", 0, "int", False)]}, [{"status": 1}]
    ),
    "a path that is a number": of_type(file_path="long"),
    "a count that is a text": of_type(record_count="string"),
    "a negative count": container(entry_schema([]), [entry("a", 1, record_count=-1)]),
    "an unknown format": container(entry_schema([]), [entry("a", 1, file_format="exe")]),
    "an unknown content": container(entry_schema([]), [entry("a", 1, content=7)]),
    "an unknown state": container(entry_schema([]), [entry("a", 1, status=9)]),
    "deletes among data": container(entry_schema([]), [entry("a", 1, content=1)]),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_is_refused_with(rest: Rest, namespace: str, case: str) -> None:
    made = Manifests(rest, namespace)
    made.lines = [listed(made.write("bad.avro", MANIFESTS[case]), MANIFESTS[case])]
    made.commit()
    refused = request_plan(rest, namespace, {})
    assert refused.error == "BadRequestException" and "root:x" not in refused.message, refused
    assert len(refused.message) < 1_000
    # The same bytes where the list of manifests should be.
    made.commit(MANIFESTS[case])
    assert request_plan(rest, namespace, {}).error == "BadRequestException"


LINES: dict[str, tuple[dict[str, Any], str]] = {
    "a longer manifest than there is": ({"manifest_length": 10_000}, "shorter"),
    "rows whose ids are no numbers": ({"first_row_id": 2**63 - 5}, "ids of rows"),
    "a partition spec that is missing": ({"partition_spec_id": 7}, "partition spec 7"),
    "an unknown content": ({"content": 5}, "none of"),
    "data for deletes": ({"content": 1}, "one kind"),
}


@pytest.mark.parametrize("case", LINES)
def test_a_manifest_list_is_refused_with(rest: Rest, namespace: str, case: str) -> None:
    line, message = LINES[case]
    made = Manifests(rest, namespace)
    made.add(entry("b", 1))
    made.lines.append(listed(made.write("m.avro", GOOD), GOOD, **line))
    made.commit()
    refused = request_plan(rest, namespace, {})
    assert refused.error == "BadRequestException" and message in refused.message


@pytest.mark.parametrize("count", [0, -5, 2**31 - 1])
def test_wrong_counts_hide_no_files(rest: Rest, namespace: str, count: int) -> None:
    made = Manifests(rest, namespace)
    made.add(entry("a", 1), entry("b", 1), added_files_count=count)
    made.commit()
    found = plan(rest, namespace)
    for token in found.get("plan-tasks", []):
        found = request_tasks(rest, namespace, token).json
    assert paths(found) == ["a", "b"]


def test_a_partition_of_another_type_is_refused(rest: Rest, namespace: str) -> None:
    spec = {"fields": [{"source-id": 1, "field-id": 1000, "transform": "identity", "name": "part"}]}
    made = Manifests(rest, namespace, **{"partition-spec": spec})
    made.add(entry("a", 1, partition={"part": "x"}), partition=[field("part", 1000, "string")])
    made.commit()
    refused = request_plan(rest, namespace, {"filter": EQUAL})
    assert refused.error == "BadRequestException" and "partition" in refused.message


def test_statistics_of_another_type_hide_no_files(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    wrong = [{"key": 1, "value": b"x"}]
    made.add(entry("a", 1, lower_bounds=wrong, upper_bounds=wrong))
    made.commit()
    (task,) = plan(rest, namespace, filter=EQUAL, **{"stats-fields": ["id"]})["file-scan-tasks"]
    assert task["data-file"]["lower-bounds"] == {"keys": [], "values": []}


# --- where manifests are --------------------------------------------------------------------------------------------


def test_a_file_that_is_not_named_as_a_manifest_is_not_read(rest: Rest, namespace: str) -> None:
    made = Manifests(rest, namespace)
    made.lines = [listed("file:/etc/passwd", b"")]
    made.commit()
    refused = request_plan(rest, namespace, {})
    assert refused.error == "BadRequestException" and "not the name of a manifest" in refused.message


@pytest.mark.parametrize("path", ["http://169.254.169.254/latest.avro", "file:/../x.avro", "x.avro", ""])
def test_a_manifest_of_another_place_is_not_read(rest: Rest, namespace: str, path: str) -> None:
    made = Manifests(rest, namespace)
    made.lines = [listed(path, b"")]
    made.commit()
    assert request_plan(rest, namespace, {}).status in (400, 403, 503)


def test_a_symbolic_link_leads_to_no_other_file(rest: Rest, namespace: str, tmp_path: Path) -> None:
    made = Manifests(rest, namespace)
    other = tmp_path / "other.avro"
    other.write_bytes(GOOD)
    Path(made.location.removeprefix("file:"), "metadata", "link.avro").symlink_to(other)
    made.lines = [listed(f"{made.location}/metadata/link.avro", GOOD)]
    made.commit()
    assert request_plan(rest, namespace, {}).error == "ServiceUnavailableException"


def test_manifests_outside_of_a_table_need_the_privilege_to_use_their_location(tmp_path: Path) -> None:
    """The owner of a table may commit any snapshot, and could so have files of others read."""
    settings: dict[str, Any] = {"authorization": "sql", "admin_users": USER}
    with iceberg_server(tmp_path, users={"bob": "b"}, **settings) as guarded:
        maja, bob = Rest(guarded, USER, PASSWORD), Rest(guarded, "bob", "b")
        secret = Manifests(maja, maja.namespace("secret"))
        secret.add(entry("secret-file", 1))
        secret.commit()
        mine = Manifests(bob, "default")
        mine.lines = secret.lines
        mine.commit()
        (listed_there,) = maja.load("secret")["metadata"]["snapshots"]
        refused = [request_plan(bob, "default", {})]
        mine.commit_list(listed_there["manifest-list"])
        refused.append(request_plan(bob, "default", {}))
        for each in refused:
            assert each.error == "ForbiddenException" and "USE_LOCATION" in each.message
            assert "secret-file" not in each.message
        assert paths(plan(maja, "default")) == ["secret-file"]


# --- Avro -----------------------------------------------------------------------------------------------------------


def test_values_without_bytes_are_counted() -> None:
    """A list of a thousand million nulls has six bytes."""
    schema: Any = {"type": "record", "name": "a", "fields": [field("n", 1, {"type": "array", "items": "null"}, False)]}
    block = long(1_000_000_000) + long(0)
    data = header(schema) + long(1) + long(len(block)) + block + SYNC
    with pytest.raises(Broken, match="values"):
        list(records_of(data, 1 << 20))
    wide = {"type": "record", "name": "b", "fields": [field(f"f{at}", at, "null", False) for at in range(1_000)]}
    schema["fields"] = [field("n", 1, {"type": "array", "items": wide}, False)]
    block = long(1_000_000) + long(0)
    with pytest.raises(Broken, match="values"):
        list(records_of(header(schema) + long(1) + long(len(block)) + block + SYNC, 1 << 20))
    nothing = {"type": "record", "name": "a", "fields": []}
    with pytest.raises(Broken, match="values"):
        list(records_of(container(nothing, [], count=1_000_000_000), 1 << 20))


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    schema = {"type": "record", "name": "a", "fields": [field("n", 1, "long", False)]}
    largest = b"\xff" * 9 + b"\x01"
    for block, ok in ((largest, True), (b"\xff" * 9 + b"\x02", False), (b"\xff" * 10 + b"\x01", False)):
        data = header(schema) + long(1) + long(len(block)) + block + SYNC
        if ok:
            assert list(records_of(data, 100)) == [{1: -(2**63)}]
        else:
            with pytest.raises(Broken, match="64 bits"):
                list(records_of(data, 100))


def test_a_length_beyond_the_end_returns_no_memory_of_the_server() -> None:
    schema = {"type": "record", "name": "a", "fields": [field("t", 1, "string", False)]}
    for length in (100, -5, 2**62):
        block = long(length) + b"abc"
        with pytest.raises(Broken):
            list(records_of(header(schema) + long(1) + long(len(block)) + block + SYNC, 1 << 20))


def test_manifests_are_compressed_with_zstandard_too() -> None:
    schema = {"type": "record", "name": "a", "fields": [field("t", 1, "string", False)]}
    block = zstandard.compress(encoded("string", "x" * 200_000))
    data = header(schema, "zstandard") + long(1) + long(len(block)) + block + SYNC
    assert list(records_of(data, 300_000)) == [{1: "x" * 200_000}]
    with pytest.raises(Broken, match="too large"):
        list(records_of(data, 100_000))
    with pytest.raises(Broken, match="compressed"):
        list(records_of(header(schema, "zstandard") + long(1) + long(4) + b"abcd" + SYNC, 100))


def test_every_byte_of_a_file_may_be_another_one() -> None:
    """It is refused, or read as another file, and never fails otherwise."""
    data = container(LIST_SCHEMA, [listed("a.avro", b"")])
    assert encoded("string", "a.avro") in data
    for at in range(len(data)):
        for byte in (0, 127, 255):
            try:
                list(records_of(data[:at] + bytes([byte]) + data[at + 1 :], 1 << 20))
            except Broken:
                continue
