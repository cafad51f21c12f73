"""Faults of the environment: a full disk, a directory that cannot be created, a database that restarts.

Each time the caller gets the reason, nothing is half written, and the service recovers by itself.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from metastored.errors import InvalidOperationException, MetaException, MetastoreError
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.postgres import running_postgres, shared_postgres

pytestmark = pytest.mark.slow


def table(name: str, location: str | None = None, comment: str = "") -> Table:
    columns = (FieldSchema("a", "int", comment),)
    return Table(name, "d", sd=StorageDescriptor(cols=columns, location=location, serdeInfo=SerDeInfo(None, "s", {})))


@contextlib.contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A small file system of the requested size."""
    if shutil.which("mount") is None:
        pytest.skip("a small disk needs the program mount: apt-get install mount")
    with tempfile.TemporaryDirectory(prefix="metastored-disk-") as name:
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "metastored-test", name]
        if subprocess.run(command, capture_output=True).returncode != 0:
            pytest.skip("a small disk needs the right to mount one: run the tests as root")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


def test_a_full_disk_is_reported_and_existing_data_stays() -> None:
    with small_disk(12) as disk, running_server(data=disk / "data") as server:
        filler = disk / "filler"
        filler.write_bytes(b"x" * 6_000_000)
        with Client(server.host, server.port) as client:
            client.call("create_database", Database(name="d"))
            made = 0
            with pytest.raises(MetastoreError) as refusal:
                for made in range(2000):
                    client.call("create_table", table(f"t{made}", comment="x" * 20_000))
            assert "full" in str(refusal.value)
            assert len(client.call("get_all_tables", "d")) == made
            assert client.call("get_table", "d", "t0").tableName == "t0"
            filler.unlink()
            client.call("create_table", table("again"))
            assert "again" in client.call("get_all_tables", "d")


def test_a_directory_that_cannot_be_made_leaves_no_table(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with running_server() as server, Client(server.host, server.port) as client:
        client.call("create_database", Database(name="d"))
        for place in (f"file:{tmp_path}/file/below", "file:/proc/metastored"):
            with pytest.raises(MetaException, match="is not a directory or unable to create one"):
                client.call("create_table", table("t", place))
        assert client.call("get_all_tables", "d") == ()
        client.call("create_table", table("t"))
        assert client.call("get_all_tables", "d") == ("t",)


@pytest.mark.postgres
def test_a_postgresql_that_is_restarted_is_found_again() -> None:
    with running_postgres() as postgres, postgres.database() as url, running_server(database_url=url) as server:
        with Client(server.host, server.port) as client:
            client.call("create_database", Database(name="d"))
            client.call("create_table", table("t"))
            postgres.stop()
            with pytest.raises(MetaException, match="PostgreSQL"):
                client.call("get_table", "d", "t")
            with pytest.raises(MetaException, match="PostgreSQL"):
                client.call("create_table", table("u"))
            postgres.start()
            assert client.call("get_all_tables", "d") == ("t",)
            client.call("create_table", table("u"))
            assert client.call("get_all_tables", "d") == ("t", "u")


@pytest.mark.postgres
def test_connections_that_are_cut_in_the_middle_are_made_again() -> None:
    with shared_postgres().database() as url, running_server(database_url=url) as server:
        with Client(server.host, server.port) as client:
            client.call("create_database", Database(name="d"))
            for number in range(5):
                with psycopg.connect(url, autocommit=True) as admin:
                    admin.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity"
                        " where datname = current_database() and pid <> pg_backend_pid()"
                    )
                with contextlib.suppress(MetaException):
                    client.call("create_table", table(f"t{number}"))
            client.call("create_table", table("last"))
            names = client.call("get_all_tables", "d")
            assert "last" in names
            for name in names:
                assert client.call("get_table", "d", name).tableName == name


def altered(client: Client) -> list[str]:
    """The names that the log's changes of tables have."""
    events = client.call("get_next_notification", NotificationEventRequest(lastEvent=0)).events
    return [each.tableName for each in events if each.eventType == "ALTER_TABLE"]


def test_a_rename_to_where_a_directory_is_changes_nothing(tmp_path: Path) -> None:
    with running_server(warehouse=tmp_path.as_uri()) as server, Client(server.host, server.port) as client:
        client.call("create_database", Database(name="d"))
        client.call("create_table", table("old"))
        before = client.call("get_table", "d", "old")
        (tmp_path / "d.db" / "new").mkdir()
        with pytest.raises(InvalidOperationException, match="already exists"):
            client.call("alter_table", "d", "old", replace(before, tableName="new"))
        assert client.call("get_table", "d", "old") == before
        assert altered(client) == []


def test_a_rename_whose_directory_cannot_follow_is_taken_back_in_the_log_too(tmp_path: Path) -> None:
    with running_server(warehouse=tmp_path.as_uri()) as server, Client(server.host, server.port) as client:
        for name in ("d", "e"):
            client.call("create_database", Database(name=name))
        client.call("create_table", table("old"))
        before = client.call("get_table", "d", "old")
        (tmp_path / "e.db").rmdir()
        (tmp_path / "e.db").write_text("no directory can be below this")
        wanted = replace(before, dbName="e", tableName="new", parameters={**before.parameters, "k": "v"})
        with pytest.raises(InvalidOperationException, match="failed to move data"):
            client.call("alter_table", "d", "old", wanted)
        assert client.call("get_table", "d", "old") == before
        assert [list(client.call("get_all_tables", name)) for name in ("d", "e")] == [["old"], []]
        assert altered(client) == ["new", "old"]
