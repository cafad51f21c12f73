"""Loads of a table that has not changed are responses of a cache, which no writer and no privilege makes wrong."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.iceberg import response_cache
from metastored.iceberg.repeated_loads import GET_TABLE, LoadLookup, RepeatedLoads
from metastored.iceberg.requests import Request
from metastored.iceberg.routes import Route, find
from metastored.iceberg.serving import Response
from metastored.structs import StorageDescriptor, Table
from metastored.testing import RunningServer
from metastored.wire.generated.tables import GetTableResult
from metastored.wire.message import Reply
from metastored.wire.structs import replace
from tests.iceberg.rest_server import Rest, hive_catalog, iceberg_server, stored
from tests.server.http.support import PASSWORD, USER
from tests.support.grants import granted, table_ref


def calls(server: RunningServer) -> float:
    """How often the server has looked up a table."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/metrics", timeout=60) as reply:
        lines = reply.read().decode().splitlines()
    found = [line for line in lines if 'method="get_table_req"' in line and line.startswith("metastored_calls_total")]
    return sum(float(line.rpartition(" ")[2]) for line in found)


def test_a_repeated_load_is_the_same(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    first, second, third = (rest.get(f"/namespaces/{namespace}/tables/t") for _ in range(3))
    assert first.status == 200
    assert first.json == second.json == third.json and first.headers["etag"] == third.headers["etag"]
    refs = [rest.get(f"/namespaces/{namespace}/tables/t?snapshots=refs") for _ in range(2)]
    assert refs[0].json == refs[1].json and refs[1].headers["etag"] != third.headers["etag"]
    assert rest.get(f"/namespaces/{namespace}/tables/t", If_None_Match=third.headers["etag"]).status == 304
    assert rest.get(f"/namespaces/{namespace}/tables/t?snapshots=some").error == "BadRequestException"


def test_each_load_looks_the_table_up_once(tmp_path: Path) -> None:
    with iceberg_server(tmp_path) as server:
        rest = Rest(server)
        rest.table(rest.namespace("n"))
        before = calls(server)
        for _ in range(3):
            rest.load("n")
        assert rest.get("/namespaces/n/tables/missing").status == 404
        assert calls(server) == before + 4


def test_a_commit_over_thrift_is_seen_by_the_next_load(server: RunningServer, rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    hive = hive_catalog(server)
    for number in range(3):
        rest.load(namespace)
        hive.load_table((namespace, "t")).transaction().set_properties(number=str(number)).commit_transaction()
        loaded = rest.load(namespace)
        assert loaded["metadata"]["properties"]["number"] == str(number)
        assert loaded["metadata-location"] == (stored(server, namespace).parameters or {})["metadata_location"]


def test_loads_beside_writers_never_go_back(server: RunningServer, rest: Rest, namespace: str) -> None:
    rest.table(namespace)

    def write() -> None:
        for number in range(1, 21):
            update = {"action": "set-properties", "updates": {"number": str(number)}}
            assert rest.commit(namespace, "t", update).status == 200

    def read() -> list[int]:
        found = [0]
        while found[-1] < 20:
            found.append(int(rest.load(namespace)["metadata"]["properties"].get("number", "0")))
        return found

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        pool.submit(write).result()
        seen = [reader.result() for reader in readers]
    assert all(numbers == sorted(numbers) for numbers in seen)


def test_a_table_that_is_dropped_and_made_again_is_the_new_one(rest: Rest, namespace: str) -> None:
    rest.table(namespace)
    old = rest.load(namespace)
    assert rest.delete(f"/namespaces/{namespace}/tables/t?purgeRequested=true").status == 204
    assert rest.get(f"/namespaces/{namespace}/tables/t").status == 404
    rest.table(namespace)
    assert rest.load(namespace)["metadata"]["table-uuid"] != old["metadata"]["table-uuid"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("guarded")
    with iceberg_server(folder, users={"bob": "b"}, authorization="sql", admin_users=USER) as running:
        yield running


@pytest.mark.slow
def test_the_privileges_of_each_caller_count(guarded: RunningServer) -> None:
    maja, bob = Rest(guarded, USER, PASSWORD), Rest(guarded, "bob", "b")
    maja.table(maja.namespace("n"))
    path = "/namespaces/n/tables/t"
    assert [maja.get(path).status, maja.get(path).status, bob.get(path).status] == [200, 200, 403]
    granted(guarded, "bob", "SELECT", on=table_ref("n", "t"))
    assert bob.get(path).status == 200
    with metastored.connect(guarded.uri, user=USER) as client:
        client.sql("REVOKE SELECT ON TABLE n.t FROM USER bob")
    assert bob.get(path).status == 403


@pytest.mark.slow
def test_a_file_outside_of_the_table_is_refused_after_others_have_loaded_it(guarded: RunningServer) -> None:
    maja, bob = Rest(guarded, USER, PASSWORD), Rest(guarded, "bob", "b")
    secret = maja.table(maja.namespace("secret"))["metadata-location"]
    bob.table("default", "mine")
    with metastored.connect(guarded.uri, user="bob", cache=False) as client:
        row = client.table(("default", "mine"))
        named = {**(row.parameters or {}), "metadata_location": secret}
        client.alter(("default", "mine"), replace(row, parameters=named))
    for _ in range(2):
        assert maja.get("/namespaces/default/tables/mine").status == 200
        assert bob.get("/namespaces/default/tables/mine").status == 403


# --- the cache itself ---


def lookup(**more: Any) -> LoadLookup | None:
    route = find("GET", "/v1/namespaces/n/tables/t")
    assert isinstance(route, Route)
    return LoadLookup.of(Request(route, **more))


def reply(number: int) -> Reply:
    parameters = {"metadata_location": f"file:/t/metadata/{number}.metadata.json"}
    row = Table(tableName="t", dbName="n", parameters=parameters, sd=StorageDescriptor(location="file:/t"))
    return Reply.of(GET_TABLE, GetTableResult(row))


def test_an_entry_has_the_location_and_the_file_of_the_row() -> None:
    loads, asked = RepeatedLoads(), lookup()
    assert asked is not None and loads.get(asked, reply(1)) is None
    loads.put(asked, reply(1), Response(200, b"{}"))
    found = loads.get(asked, reply(1))
    assert found is not None and found[:2] == ("file:/t", "file:/t/metadata/1.metadata.json")
    assert loads.get(asked, reply(2)) is None
    refs = lookup(query="snapshots=refs")
    assert refs is not None and loads.get(refs, reply(1)) is None


def test_errors_long_responses_and_those_with_credentials_are_not_stored() -> None:
    loads, asked = RepeatedLoads(), lookup()
    assert asked is not None and lookup(delegation="vended-credentials") is None
    loads.put(asked, reply(1), Response(404, b"{}"))
    loads.put(asked, reply(1), Response(200, bytes(response_cache.MAX_ENTRY)))
    loads.put(asked, Reply.failed(GET_TABLE, "no", "4.0"), Response(200, b"{}"))
    assert loads.get(asked, reply(1)) is None


def test_the_least_recently_used_entries_are_evicted() -> None:
    loads, asked = RepeatedLoads(), lookup()
    assert asked is not None
    size = response_cache.MAX_ENTRY // 2
    fitting = response_cache.MAX_CACHED // size
    for number in range(fitting + 5):
        loads.put(asked, reply(number), Response(200, bytes(size)))
        assert loads.get(asked, reply(0)) is not None
    kept = sum(loads.get(asked, reply(number)) is not None for number in range(fitting + 5))
    assert fitting - 2 <= kept <= fitting
    assert loads.get(asked, reply(1)) is None and loads.get(asked, reply(fitting + 4)) is not None
