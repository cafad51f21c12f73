"""Single remote tables in a local database (CREATE REMOTE TABLE): listed and loaded by REST, and changed at their home.

Their own metastore says whether they are Iceberg tables, so it is called for each list, and it may lie.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.testing import RunningServer
from metastored.wire.structs import replace
from tests.iceberg.lying_metastore import iceberg, lying_metastore
from tests.iceberg.rest_server import ROWS, SCHEMA, Rest, hive_catalog, iceberg_server, metadata_files, stored
from tests.server.http.support import PASSWORD, USER
from tests.support.grants import granted, table_ref

pytestmark = pytest.mark.slow

PROPERTIES = {"action": "set-properties", "updates": {"a": "b"}}
VIEW: dict[str, Any] = {
    "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["shop"],
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Another metastore: an Iceberg table `items` of three rows, an Iceberg view, and a table of another format."""
    with iceberg_server(tmp_path_factory.mktemp("far")) as server:
        hive = hive_catalog(server)
        hive.create_namespace("shop")
        hive.create_table("shop.items", ROWS.schema).append(ROWS)
        view = {"name": "seen", "schema": SCHEMA, "view-version": VIEW, "properties": {}}
        assert Rest(server).post("/namespaces/shop/views", view).status == 200
        with metastored.connect(server.uri) as client:
            client.create_table(metastored.table("shop.plain", {"id": "bigint"}, format="parquet"))
        yield server


def link(server: RunningServer, name: str, uri: str, to: str) -> None:
    """Makes a remote table."""
    with metastored.connect(server.uri, user=USER) as client:
        client.sql(f"CREATE REMOTE TABLE {name} CONNECTED TO {to} WITH TBLPROPERTIES ('hive.metastore.uris' = '{uri}')")


@pytest.fixture(scope="module")
def near(far: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with a database `here`: a table of its own, and links to all tables of the other one."""
    with iceberg_server(tmp_path_factory.mktemp("near")) as server:
        rest = Rest(server)
        rest.table(rest.namespace("here"), "own")
        for name in ("items", "seen", "plain"):
            link(server, f"here.far_{name}", far.uri, f"shop.{name}")
        yield server


def listed(rest: Rest, namespace: str, kind: str = "tables", query: str = "") -> list[str]:
    reply = rest.get(f"/namespaces/{namespace}/{kind}{query}")
    assert reply.status == 200, reply
    return [each["name"] for each in reply.json["identifiers"]]


def test_a_remote_table_is_listed_among_the_local_ones_if_it_is_an_iceberg_table(near: RunningServer) -> None:
    assert listed(Rest(near), "here") == ["far_items", "own"]
    assert listed(Rest(near), "here", "views") == ["far_seen"]


def test_a_scan_of_a_remote_table_is_planned(near: RunningServer) -> None:
    reply = Rest(near).post("/namespaces/here/tables/far_items/plan", {})
    assert [each["data-file"]["record-count"] for each in reply.json["file-scan-tasks"]] == [ROWS.num_rows]


def test_pages_have_remote_tables_in_their_order(near: RunningServer) -> None:
    assert listed(Rest(near), "here", query="?pageToken=&pageSize=1") == ["far_items"]
    assert listed(Rest(near), "here", query="?pageToken=far_items&pageSize=1") == ["own"]


def test_a_table_that_another_writer_drops_at_the_remote_is_not_listed_any_more(
    near: RunningServer, far: RunningServer
) -> None:
    rest, there = Rest(near), Rest(far)
    there.table("shop", "short_lived")
    namespace = rest.namespace("gone")
    link(near, f"{namespace}.t", far.uri, "shop.short_lived")
    assert listed(rest, namespace) == ["t"]
    assert there.delete("/namespaces/shop/tables/short_lived").status == 204
    assert listed(rest, namespace) == []
    assert rest.get(f"/namespaces/{namespace}/tables/t").status == 404


def test_lists_beside_a_writer_at_the_remote_have_all_other_tables(near: RunningServer, far: RunningServer) -> None:
    rest, there = Rest(near), Rest(far)
    there.table("shop", "unsteady")
    namespace = rest.namespace("busy")
    rest.table(namespace, "steady")
    link(near, f"{namespace}.t", far.uri, "shop.unsteady")

    def write() -> None:
        for _ in range(10):
            there.delete("/namespaces/shop/tables/unsteady")
            there.table("shop", "unsteady")

    writer = threading.Thread(target=write)
    writer.start()
    lists = []
    while writer.is_alive():
        lists.append(listed(rest, namespace))
    writer.join()
    assert all(each in (["steady"], ["steady", "t"]) for each in lists)
    assert listed(rest, namespace) == ["steady", "t"]


def test_a_remote_table_is_not_changed_from_here(near: RunningServer, far: RunningServer) -> None:
    rest = Rest(near)
    before = stored(far, "shop", "items")
    files = metadata_files(before)
    path = "/namespaces/here/tables/far_items"
    source, target = ({"namespace": ["here"], "name": name} for name in ("far_items", "moved"))
    own = rest.load("here", "own")
    register = {"name": "far_items", "metadata-location": own["metadata-location"], "overwrite": True}
    both = [{"identifier": {"namespace": ["here"], "name": name}, "requirements": [], "updates": [PROPERTIES]}
            for name in ("own", "far_items")]  # fmt: skip
    refused = {
        "commit": rest.commit("here", "far_items", PROPERTIES),
        "commit of two": rest.post("/transactions/commit", {"table-changes": both}),
        "purge": rest.delete(f"{path}?purgeRequested=true"),
        "register": rest.post("/namespaces/here/register", register),
        "rename": rest.post("/tables/rename", {"source": source, "destination": target}),
    }
    assert {name: (reply.status, reply.error) for name, reply in refused.items()} == dict.fromkeys(
        refused, (406, "UnsupportedOperationException")
    )
    assert rest.load("here", "own") == own
    assert listed(rest, "here") == ["far_items", "own"]
    assert stored(far, "shop", "items") == before and metadata_files(before) == files


def test_a_drop_removes_the_link_and_not_the_table(near: RunningServer, far: RunningServer) -> None:
    rest = Rest(near)
    namespace = rest.namespace("unlinked")
    link(near, f"{namespace}.t", far.uri, "shop.items")
    assert rest.delete(f"/namespaces/{namespace}/tables/t").status == 204
    assert listed(rest, namespace) == []
    assert "items" in listed(Rest(far), "shop")


def test_a_list_with_a_remote_that_is_down_is_an_error_that_names_it(near: RunningServer, far: RunningServer) -> None:
    rest = Rest(near)
    namespace = rest.namespace("half")
    rest.table(namespace, "own")
    with lying_metastore() as gone:
        gone.tables = (iceberg("t"),)
        link(near, f"{namespace}.t", gone.uri, "shop.t")
        link(near, f"{namespace}.u", far.uri, "shop.items")
        assert listed(rest, namespace) == ["own", "t", "u"]
    reply = rest.get(f"/namespaces/{namespace}/tables")
    assert reply.error == "ServiceUnavailableException" and f"{namespace}.t" in reply.message
    assert rest.load(namespace, "own") and rest.load(namespace, "u")


def test_lists_leave_out_a_remote_that_is_down_where_the_settings_say_so(far: RunningServer, tmp_path: Path) -> None:
    with iceberg_server(tmp_path, remotes_partial="on") as server:
        rest = Rest(server)
        rest.table(rest.namespace("half"), "own")
        link(server, "half.down", "thrift://127.0.0.1:1", "shop.t")
        link(server, "half.up", far.uri, "shop.items")
        assert listed(rest, "half") == ["own", "up"]
        only = rest.namespace("only")
        link(server, f"{only}.down", "thrift://127.0.0.1:1", "shop.t")
        assert listed(rest, only) == []


# --- remotes that lie ---


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with iceberg_server(tmp_path_factory.mktemp("lied-to")) as running:
        yield running


def test_a_remote_adds_no_names_to_a_local_database(server: RunningServer) -> None:
    """It returns another table, or one table twice: both are left out, since the rights of another name would count."""
    rest = Rest(server)
    rest.table(rest.namespace("shop"), "own")
    with lying_metastore() as lying:
        lying.tables = (iceberg("t"),)
        link(server, "shop.linked", lying.uri, "shop.t")
        assert listed(rest, "shop") == ["linked", "own"]
        for lie in ((iceberg("other"),), (iceberg("t"), iceberg("own")), (iceberg("t"), iceberg("t")), ()):
            lying.tables = lie
            assert set(listed(rest, "shop")) <= {"linked", "own"} and "own" in listed(rest, "shop")


def test_a_remote_that_calls_a_table_an_iceberg_table_has_no_file_opened(server: RunningServer) -> None:
    rest = Rest(server)
    rest.namespace("typed")
    with lying_metastore() as lying:
        lying.tables = (iceberg("t"),)
        link(server, "typed.t", lying.uri, "shop.t")
        for wrong in ("file:/etc/passwd", "s3://elsewhere/x", "http://127.0.0.1/x.metadata.json", "\0", ""):
            lying.tables = (iceberg("t", metadata_location=wrong),)
            assert listed(rest, "typed") == ["t"]
            reply = rest.get("/namespaces/typed/tables/t")
            assert reply.status in (400, 403, 404, 503), reply
            assert "root:" not in reply.message
        lying.tables = (replace(iceberg("t"), tableType="VIRTUAL_VIEW"),)
        assert rest.get("/namespaces/typed/tables/t").error == "NoSuchTableException"


def test_names_of_a_remote_that_no_request_can_name_are_not_listed(server: RunningServer) -> None:
    """They are no UTF-8, empty, or have control characters."""
    rest = Rest(server)
    with lying_metastore() as lying:
        with metastored.connect(server.uri) as client:
            at = f"('hive.metastore.uris' = '{lying.uri}')"
            client.sql(f"CREATE REMOTE DATABASE lies CONNECTED TO shop WITH DBPROPERTIES {at}")
        lying.listed = ("good", "\udcff\udcfe", "../../etc", "a\x1fb", "\n", "", "x" * 100_000)
        assert listed(rest, "lies") == ["../../etc", "good", "x" * 100_000]
        assert rest.get("/namespaces/lies/tables/..%2F..%2Fetc").status == 404


# --- privileges ---


def test_a_remote_table_is_listed_only_to_those_who_may_read_it(far: RunningServer, tmp_path: Path) -> None:
    with iceberg_server(tmp_path, users={"bob": "b"}, authorization="sql", admin_users=USER) as server:
        maja, bob = Rest(server, USER, PASSWORD), Rest(server, "bob", "b")
        maja.namespace("here")
        link(server, "here.t", far.uri, "shop.items")
        assert listed(maja, "here") == ["t"]
        assert listed(bob, "here") == []
        granted(server, "bob", "INSERT", on=table_ref("here", "t"))
        assert listed(bob, "here") == []
        granted(server, "bob", "SELECT", on=table_ref("here", "t"))
        assert listed(bob, "here") == ["t"]
