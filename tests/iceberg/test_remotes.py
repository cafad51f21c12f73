"""Tables of remotes at the same endpoint, under their local names: read, and not changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.testing import RunningServer
from tests.iceberg.rest_server import ROWS, Rest, hive_catalog, iceberg_server, metadata_files, rest_catalog, stored
from tests.support.forks import running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def far() -> Iterator[RunningServer]:
    """Another metastore, with an Iceberg table of three rows."""
    with running_server() as server:
        hive = hive_catalog(server)
        hive.create_namespace("shop")
        hive.create_table("shop.items", ROWS.schema).append(ROWS)
        yield server


@pytest.fixture(scope="module")
def near(far: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that shows the database of the other one as `remote_shop`, and its table also as `here.goods`."""
    with iceberg_server(tmp_path_factory.mktemp("near")) as server:
        with metastored.connect(server.uri) as client:
            client.create_database("here")
            at = f"('hive.metastore.uris' = '{far.uri}')"
            client.sql(f"CREATE REMOTE DATABASE remote_shop CONNECTED TO shop WITH DBPROPERTIES {at}")
            client.sql(f"CREATE REMOTE TABLE here.goods CONNECTED TO shop.items WITH TBLPROPERTIES {at}")
        yield server


def test_a_table_of_a_remote_is_listed_and_read_under_its_local_name(near: RunningServer) -> None:
    catalog = rest_catalog(near)
    assert catalog.list_tables("remote_shop") == [("remote_shop", "items")]
    table = catalog.load_table("remote_shop.items")
    assert table.scan().to_arrow().num_rows == 3
    assert catalog.list_tables("here") == [("here", "goods")]
    assert catalog.load_table("here.goods").scan().to_arrow().num_rows == 3


def test_a_commit_to_a_remote_is_seen_here_at_once(near: RunningServer, far: RunningServer) -> None:
    before = rest_catalog(near).load_table("remote_shop.items").scan().to_arrow().num_rows
    hive_catalog(far).load_table("shop.items").append(ROWS)
    assert rest_catalog(near).load_table("remote_shop.items").scan().to_arrow().num_rows == before + 3


def test_a_table_of_a_remote_is_not_changed_from_here(near: RunningServer, far: RunningServer) -> None:
    rest = Rest(near)
    before, files = stored(far, "shop", "items"), metadata_files(stored(far, "shop", "items"))
    refused = rest.commit("remote_shop", "items", {"action": "set-properties", "updates": {"a": "b"}})
    assert (refused.status, refused.error) == (406, "UnsupportedOperationException")
    assert rest.delete("/namespaces/remote_shop/tables/items?purgeRequested=true").status == 406
    assert stored(far, "shop", "items") == before and metadata_files(before) == files


def test_a_remote_that_is_down_affects_only_its_own_tables(near: RunningServer, tmp_path: Path) -> None:
    rest = Rest(near)
    with metastored.connect(near.uri) as client:
        client.sql("CREATE REMOTE DATABASE down WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')")
    assert rest.get("/namespaces/down/tables").error == "ServiceUnavailableException"
    rest.table("here", "local")
    assert rest.load("here", "local")
