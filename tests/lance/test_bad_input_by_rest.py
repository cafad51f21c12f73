"""Bad input by the namespace itself and by Lance's REST client: the same code, a sentence, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lance_namespace as ns
import pytest
from lance_namespace.errors import ErrorCode, LanceNamespaceError

import metastored
from metastored.lance import Hive2Namespace
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.lance.rest_server import lance_server, rest
from tests.lance.rest_support import NEAR, POINTS, ipc

pytestmark = pytest.mark.slow

DB = "bad"
Call = Callable[[Any], Any]


class Case(NamedTuple):
    """A call that is refused, with its code and words of its sentence."""

    call: Call
    code: ErrorCode
    said: str


def describe(*id: str) -> Call:
    return lambda n: n.describe_table(ns.DescribeTableRequest(id=list(id)))


def count(table: str) -> Call:
    return lambda n: n.count_table_rows(ns.CountTableRowsRequest(id=[DB, table]))


def declare(table: str, **fields: Any) -> Call:
    return lambda n: n.declare_table(ns.DeclareTableRequest(id=[DB, table], **fields))


def register(location: str) -> Call:
    return lambda n: n.register_table(ns.RegisterTableRequest(id=[DB, "new"], location=location))


def insert(table: str) -> Call:
    return lambda n: n.insert_into_table(ns.InsertIntoTableRequest(id=[DB, table]), ipc(POINTS))


def delete(table: str) -> Call:
    return lambda n: n.delete_from_table(ns.DeleteFromTableRequest(id=[DB, table], predicate="id = 1"))


def query(table: str) -> Call:
    return lambda n: n.query_table(ns.QueryTableRequest(id=[DB, table], k=1, vector=NEAR))


CASES = {
    "a table that is not Lance's: describe": Case(describe(DB, "plain"), ErrorCode.INVALID_INPUT, "not a Lance table"),
    "a table that is not Lance's: insert": Case(insert("plain"), ErrorCode.INVALID_INPUT, "not a Lance table"),
    "a table that is not Lance's: drop": Case(
        lambda n: n.drop_table(ns.DropTableRequest(id=[DB, "plain"])), ErrorCode.INVALID_INPUT, "not a Lance table"
    ),
    "a location that is not there": Case(register("/nowhere/at/all"), ErrorCode.INVALID_INPUT, "no Lance dataset"),
    "a location that is none": Case(declare("new", location="file:/"), ErrorCode.INVALID_INPUT, "location"),
    "a property version that is not a number": Case(
        declare("new", properties={"version": "newest"}), ErrorCode.INVALID_INPUT, "it is a number"
    ),
    "a stored version that is not a number": Case(count("broken"), ErrorCode.INVALID_TABLE_STATE, "version"),
    "a property managed_by of another word": Case(
        declare("new", properties={"managed_by": "me"}), ErrorCode.INVALID_INPUT, "storage or impl"
    ),
    "a stored managed_by of another word": Case(count("odd"), ErrorCode.INVALID_TABLE_STATE, "storage or impl"),
    "an id of one name": Case(describe("t"), ErrorCode.INVALID_INPUT, "['t']"),
    "an id of three names": Case(describe("a", "b", "c"), ErrorCode.INVALID_INPUT, "['a', 'b', 'c']"),
    "a declared table without data: count": Case(count("empty"), ErrorCode.TABLE_NOT_FOUND, "has no data"),
    "a declared table without data: query": Case(query("empty"), ErrorCode.TABLE_NOT_FOUND, "has no data"),
    "a declared table without data: delete": Case(delete("empty"), ErrorCode.INVALID_TABLE_STATE, "has no data"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with a table of another format, a declared one, and two that break the definition."""
    with lance_server(tmp_path_factory.mktemp("bad"), lance_managed_by="impl") as running:
        space = rest(running)
        space.create_namespace(ns.CreateNamespaceRequest(id=[DB]))
        space.declare_table(ns.DeclareTableRequest(id=[DB, "empty"]))
        with metastored.connect(running.uri, cache=False) as client:
            client.create_table(metastored.table((DB, "plain"), {"a": "int"}))
            for table, key, value in (("broken", "version", "newest"), ("odd", "managed_by", "me")):
                space.create_table(ns.CreateTableRequest(id=[DB, table]), ipc(POINTS))
                found = client.table((DB, table))
                client.alter((DB, table), replace(found, parameters={**(found.parameters or {}), key: value}))
        yield running


@pytest.fixture(params=["python", "rest"])
def space(request: pytest.FixtureRequest, server: RunningServer) -> Iterator[Any]:
    """The namespace itself, and Lance's client of the REST namespace."""
    if request.param == "rest":
        yield rest(server)
        return
    with Hive2Namespace(uri=server.uri, managed_by="impl") as namespace:
        yield namespace


def state(server: RunningServer) -> list[Any]:
    """All tables, with their parameters and times."""
    with metastored.connect(server.uri, cache=False) as client:
        return [client.table((DB, name)) for name in client.tables(DB)]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_input_has_its_code_and_a_sentence_and_changes_nothing(
    server: RunningServer, space: Any, case: Case
) -> None:
    before = state(server)
    with pytest.raises(LanceNamespaceError) as refused:
        case.call(space)
    assert (refused.value.code, case.said in str(refused.value)) == (case.code, True), str(refused.value)
    assert state(server) == before
