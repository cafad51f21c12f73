"""`metastored relocate`, and a warehouse that differs from the stored one, on the command line."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

import metastored as client_of
from metastored.client._sync.client import Client
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres
from tests.transfer.support import metastored

pytestmark = pytest.mark.slow


def table(name: str, db: str = "shop") -> Table:
    sd = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(parameters={}))
    return Table(tableName=name, dbName=db, sd=sd, tableType="MANAGED_TABLE", parameters={})


def place(client: Client, database: str) -> str | None:
    return client.api.get_database(database).locationUri


def table_place(client: Client, name: str) -> str | None:
    sd = client.api.get_table("shop", name).sd
    return sd.location if sd is not None else None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of a server that has stopped, with a database and a table in the warehouse `old`."""
    folder = tmp_path / "data"
    with running_server(data=folder, warehouse=tmp_path / "old") as server:
        with client_of.connect(server.uri) as client:
            client.api.create_database(Database(name="shop"))
            client.api.create_table(table("t"))
    return folder


def test_relocate_rewrites_the_locations_below_a_moved_warehouse(data: Path, tmp_path: Path) -> None:
    (tmp_path / "old").rename(tmp_path / "new")
    done = metastored("relocate", str(tmp_path / "old"), str(tmp_path / "new"), "--data", str(data))
    old, new = f"file:{tmp_path}/old", f"file:{tmp_path}/new"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"catalog hive: {old} -> {new}",
        f"database hive.default: {old} -> {new}",
        f"database hive.shop: {old}/shop.db -> {new}/shop.db",
        f"table hive.shop.t: {old}/shop.db/t -> {new}/shop.db/t",
        "rewritten: 1 catalog, 2 databases, 1 table, 0 partitions, 0 properties",
    ]
    # Without --warehouse a server uses the stored warehouse.
    with running_server(data=data, warehouse=None) as server, client_of.connect(server.uri) as client:
        assert table_place(client, "t") == f"{new}/shop.db/t"
        client.api.create_database(Database(name="fresh"))
        assert place(client, "fresh") == f"{new}/fresh.db"
        assert "earlier ones stay in" not in server.log


def test_a_dry_run_prints_json_and_changes_nothing(data: Path, tmp_path: Path) -> None:
    words = ("relocate", f"file://{tmp_path}/old/", "s3a://bucket/wh", "--data", str(data), "--output", "json")
    planned, again = (metastored(*words, "--dry-run") for _ in range(2))
    found = json.loads(planned.stdout)
    assert planned.returncode == 0
    assert again.stdout == planned.stdout
    assert (found["old"], found["new"], found["dry_run"]) == (f"file:{tmp_path}/old", "s3a://bucket/wh", True)
    assert found["tables"] == [
        {
            "name": "hive.shop.t",
            "old": f"file:{tmp_path}/old/shop.db/t",
            "new": "s3a://bucket/wh/shop.db/t",
            "partitions": 0,
            "properties": 0,
        }
    ]
    done = metastored(*words)
    assert json.loads(done.stdout) == {**found, "dry_run": False}


def test_nothing_below_the_old_directory_is_exit_code_1_with_the_existing_roots(data: Path, tmp_path: Path) -> None:
    done = metastored("relocate", f"{tmp_path}/ol", "/new", "--data", str(data))
    assert done.returncode == 1
    assert f"nothing is stored below file:{tmp_path}/ol; the databases are in file:{tmp_path}/old" in done.stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("file:old", "/new"), "OLD is 'file:old'; 'file:old' has a relative path after its scheme"),
        (("/old", "file://host/new"), "NEW is 'file://host/new'; 'file://host/new' is not on the local file system"),
        (("/old", "/new", "--output", "xml"), "'xml' is not one of 'text', 'json'"),
    ],
)
def test_an_operation_that_fails_is_one_line_and_exit_code_2(data: Path, words: tuple[str, ...], reason: str) -> None:
    done = metastored("relocate", *words, "--data", str(data))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert reason in done.stderr


def test_a_folder_without_a_database_gets_none(tmp_path: Path) -> None:
    done = metastored("relocate", "/old", "/new", "--data", str(tmp_path / "typo"))
    assert done.returncode == 2
    assert "there is no database of metastored (metastored.db)" in done.stderr
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_another_warehouse_is_for_new_databases_and_the_banner_prints_that(
    data: Path, tmp_path: Path, workers: int
) -> None:
    old, new = f"file:{tmp_path}/old", f"file:{tmp_path}/new"
    with running_server(data=data, warehouse=tmp_path / "new", workers=workers) as server:
        with client_of.connect(server.uri) as client:
            client.api.create_database(Database(name="fresh"))
            client.api.create_table(table("u"))
            assert place(client, "fresh") == f"{new}/fresh.db"
            assert (place(client, "default"), place(client, "shop")) == (old, f"{old}/shop.db")
            assert table_place(client, "u") == f"{old}/shop.db/u"
        assert f"warehouse {new}\n  new databases are created there; earlier ones stay in {old}\n" in server.log
        assert f"`metastored relocate {old} {new} --data {data}`" in server.log
        assert server.log.count("earlier ones stay in") == 1


def test_without_a_warehouse_the_stored_one_stays(data: Path, tmp_path: Path) -> None:
    old = f"file:{tmp_path}/old"
    with running_server(data=data, warehouse=None) as server, client_of.connect(server.uri) as client:
        client.api.create_database(Database(name="fresh"))
        assert place(client, "fresh") == f"{old}/fresh.db"
        assert f"warehouse {old}\n" in server.log
        assert server.warehouse == old


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_a_running_server_returns_the_new_locations(tmp_path: Path, kind: str) -> None:
    with ExitStack() as stack:
        if kind == "postgresql":
            url = stack.enter_context(shared_postgres().database())
            settings, words = {"database_url": url}, ("--database-url", url)
        else:
            settings, words = {"data": str(tmp_path / "data")}, ("--data", str(tmp_path / "data"))
        server = stack.enter_context(running_server(**settings, warehouse=tmp_path / "old"))
        client = stack.enter_context(client_of.connect(server.uri, cache=False))
        client.api.create_database(Database(name="shop"))
        client.api.create_table(table("t"))
        assert [table_place(client, "t") for _ in range(2)] == [f"file:{tmp_path}/old/shop.db/t"] * 2
        done = metastored("relocate", str(tmp_path / "old"), str(tmp_path / "new"), *words)
        assert (done.returncode, "rewritten: 1 catalog, 2 databases, 1 table," in done.stdout) == (0, True), done.stderr
        assert table_place(client, "t") == f"file:{tmp_path}/new/shop.db/t"
        assert place(client, "shop") == f"file:{tmp_path}/new/shop.db"
