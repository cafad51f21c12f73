"""Lists of the same names are responses of a cache, which no writer and no privilege makes wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import metastored
from metastored.errors import MetaException
from metastored.iceberg.repeated_lists import NAMES, ListLookup, RepeatedLists
from metastored.iceberg.requests import Request
from metastored.iceberg.routes import Route, find
from metastored.iceberg.serving import Response
from metastored.structs import Database
from metastored.testing import RunningServer
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.iceberg.rest_server import ROWS, Rest, hive_catalog, iceberg_server
from tests.server.http.support import PASSWORD, USER
from tests.support.grants import granted, table_ref


def listed(rest: Rest, namespace: str, query: str = "") -> list[str]:
    reply = rest.get(f"/namespaces/{namespace}/tables{query}")
    assert reply.status == 200, reply
    return [each["name"] for each in reply.json["identifiers"]]


def test_a_change_over_either_protocol_is_in_the_next_list(server: RunningServer, rest: Rest, namespace: str) -> None:
    assert listed(rest, namespace) == listed(rest, namespace) == []
    rest.table(namespace, "b")
    assert listed(rest, namespace) == listed(rest, namespace) == ["b"]
    hive = hive_catalog(server)
    hive.create_table((namespace, "a"), ROWS.schema)
    assert listed(rest, namespace) == ["a", "b"]
    hive.drop_table((namespace, "b"))
    assert listed(rest, namespace) == ["a"]
    hive.rename_table((namespace, "a"), (namespace, "c"))
    assert listed(rest, namespace) == ["c"]


def test_each_query_has_its_own_list(rest: Rest, namespace: str) -> None:
    for name in ("a", "b", "c"):
        rest.table(namespace, name)
    for _ in range(2):
        assert listed(rest, namespace) == ["a", "b", "c"]
        assert listed(rest, namespace, "?pageToken=&pageSize=2") == ["a", "b"]
        assert listed(rest, namespace, "?pageToken=b&pageSize=2") == ["c"]
        assert rest.get(f"/namespaces/{namespace}/tables?pageSize=x").error == "BadRequestException"
        assert rest.get(f"/namespaces/{namespace}/views").json["identifiers"] == []


def test_a_namespace_that_is_dropped_is_not_listed_any_more(rest: Rest, namespace: str) -> None:
    assert listed(rest, namespace) == listed(rest, namespace) == []
    assert rest.delete(f"/namespaces/{namespace}").status == 204
    assert rest.get(f"/namespaces/{namespace}/tables").error == "NoSuchNamespaceException"


def test_a_table_with_an_unusual_spelling_is_read_each_time(server: RunningServer, rest: Rest, namespace: str) -> None:
    """Its name stays the same when another writer makes it a table of another kind."""
    rest.table(namespace)
    with metastored.connect(server.uri, cache=False) as client:
        for word, expected in (("iceberg", ["t"]), ("another", []), ("iCEBERG", ["t"])):
            row = client.table((namespace, "t"))
            client.alter((namespace, "t"), replace(row, parameters={**(row.parameters or {}), "table_type": word}))
            assert listed(rest, namespace) == listed(rest, namespace) == expected


def test_lists_beside_writers_have_each_table_that_was_made_before(rest: Rest, namespace: str) -> None:
    names = [f"t{at:02d}" for at in range(12)]

    def write() -> None:
        for at, name in enumerate(names):
            rest.table(namespace, name)
            assert set(names[: at + 1]) <= set(listed(rest, namespace))

    with ThreadPoolExecutor(3) as pool:
        writing = pool.submit(write)
        readers = [pool.submit(lambda: [len(listed(rest, namespace)) for _ in range(20)]) for _ in range(2)]
        writing.result()
        assert all(counts == sorted(counts) for counts in (reader.result() for reader in readers))


@pytest.mark.slow
def test_each_caller_gets_the_list_of_the_tables_that_they_may_read(tmp_path: Path) -> None:
    with iceberg_server(tmp_path, users={"bob": "b"}, authorization="sql", admin_users=USER) as server:
        maja, bob = Rest(server, USER, PASSWORD), Rest(server, "bob", "b")
        maja.namespace("n")
        for name in ("a", "b"):
            maja.table("n", name)
        for _ in range(2):
            assert (listed(maja, "n"), listed(bob, "n")) == (["a", "b"], [])
        granted(server, "bob", "SELECT", on=table_ref("n", "a"))
        for _ in range(2):
            assert (listed(maja, "n"), listed(bob, "n")) == (["a", "b"], ["a"])


def test_a_response_is_stored_only_if_the_names_say_all_that_it_has() -> None:
    route = find("GET", "/v1/namespaces/n/tables")
    assert isinstance(route, Route)
    lookup, lists = ListLookup.of(Request(route)), RepeatedLists()
    assert lookup is not None and len(lookup.calls) == 3
    database = Reply.of(METHODS["get_database"], Database(name="n"))
    some, none = Reply.of(NAMES, ("a",)), Reply.of(NAMES, ())
    failed = Reply.raised(NAMES, MetaException("no"))
    unnoticed = Reply(failed.body)  # An error that nobody has decoded.
    for replies, status, stored in (
        ([database, some, none], 200, True),
        ([database, none, some], 200, False),
        ([database, failed, none], 200, False),
        ([database, unnoticed, none], 200, False),
        ([Reply.of(METHODS["get_database"], Database(name="n", description="x")), some, none], 404, False),
    ):
        lists.put(lookup, replies, Response(status, b"{}"))
        assert (lists.get(lookup, replies) is not None) == stored
