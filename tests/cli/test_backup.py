"""`metastored backup` and `metastored restore`, run as a person runs them, beside a server that is written to."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import metastored as client_of
from metastored.store.engine.migrate import HEAD, upgrade
from metastored.store.engine.opening import open_database
from metastored.wire.generated.notifications import NotificationEventRequest
from tests.cli.running import refused, run
from tests.support.forks import running_server
from tests.support.in_process import serving_metastore
from tests.support.postgres import PostgresServer
from tests.transfer.support import metastored

pytestmark = pytest.mark.slow

WRITERS = 2


@pytest.fixture
def shop_data(tmp_path: Path) -> Iterator[Path]:
    """The data folder of a running server with two tables."""
    folder = tmp_path / "shop"
    with serving_metastore(folder) as uri, client_of.connect(uri, cache=False) as client:
        client.create_database("shop")
        client.create_table(client_of.table("shop.orders", {"id": "int"}, partitioned_by={"ds": "int"}))
        client.add_partitions("shop.orders", ["ds=1", "ds=2", "ds=3"])
        client.create_table(client_of.table("shop.plain", {"id": "int"}))
        yield folder / "data"


class Writers:
    """Clients that create databases as fast as they can. `done` are the databases that the server has acknowledged."""

    def __init__(self, uri: str) -> None:
        self.done: list[str] = []
        self._stop = threading.Event()
        self._uri = uri
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _write(self, number: int) -> None:
        with client_of.connect(self._uri, cache=False) as client:
            for count in range(5000):
                if self._stop.is_set():
                    return
                name = f"w{number}_{count}"
                client.create_database(name)
                self.done.append(name)

    def wait(self, count: int) -> None:
        """Until so many are done."""
        for _ in range(6000):
            if len(self.done) >= count:
                return
            self._stop.wait(0.01)
        raise AssertionError(f"only {len(self.done)} databases were created")


def test_all_that_was_acknowledged_before_a_backup_began_is_in_it_while_clients_write_on(tmp_path: Path) -> None:
    saved = tmp_path / "saved.db"
    with running_server(workers=2, directories="off") as server, Writers(server.uri) as writers:
        assert server.data is not None
        writers.wait(20)
        before = set(writers.done)
        done = metastored("backup", str(saved), "--data", str(server.data))
        assert done.returncode == 0, done.stderr
        after = set(writers.done)
        writers.wait(len(after) + 5)
        refused = metastored("restore", str(saved), "--data", str(server.data))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "a running server, or another command, uses the database" in refused.stderr
        everything = set(writers.done)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert str(saved) in done.stdout and "schema" in done.stdout
    restored = metastored("restore", str(saved), "--data", str(tmp_path / "data"))
    assert restored.returncode == 0, restored.stderr
    assert stat.S_IMODE((tmp_path / "data" / "metastored.db").stat().st_mode) == 0o600
    with running_server(data=tmp_path / "data") as server, client_of.connect(server.uri) as client:
        found = set(client.databases("w*"))
        events = client.api.get_next_notification(NotificationEventRequest(lastEvent=0)).events or ()
        assert before < after < everything and before <= found < everything
        # A database and its event are written in one transaction.
        assert {event.dbName for event in events if event.eventType == "CREATE_DATABASE"} == found
        client.create_database("new")


def test_the_restored_database_is_read_completely(shop_data: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.db"
    found = run("backup", str(saved), "--data", str(shop_data), "--output", "json").json
    assert (found["source"], found["file"], found["schema"]) == (str(shop_data), str(saved), HEAD)
    assert found["bytes"] == saved.stat().st_size
    done = run("restore", str(saved), "--data", str(tmp_path / "one"))
    assert done.out.endswith("verified: 1 catalog, 2 databases, 2 tables, 3 partitions\n")
    restored = run("restore", str(saved), "--data", str(tmp_path / "two"), "--output", "json").json
    assert restored["verified"] == {"catalogs": 1, "databases": 2, "tables": 2, "partitions": 3}


def test_a_restored_object_that_cannot_be_read_is_an_error(shop_data: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.db"
    assert run("backup", str(saved), "--data", str(shop_data)).code == 0
    with closing(sqlite3.connect(saved)) as connection:
        connection.execute("UPDATE tables SET body = x'ff' WHERE name = 'plain'")
        connection.commit()
    done = run("restore", str(saved), "--data", str(tmp_path / "data"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "was restored, but not everything in it can be read" in done.err


def test_a_backup_of_an_older_schema_is_restored_as_it_is(tmp_path: Path) -> None:
    with closing(open_database(None, tmp_path / "old", threads=1)) as old:
        with old.migration() as engine, engine.begin() as connection:
            upgrade(connection, "0002")
    saved = tmp_path / "saved.db"
    assert run("backup", str(saved), "--data", str(tmp_path / "old")).code == 0
    done = run("restore", str(saved), "--data", str(tmp_path / "data"))
    assert done.code == 0 and "metastored migrate" in done.out
    found = run("restore", str(saved), "--data", str(tmp_path / "again"), "--output", "json").json
    assert (found["schema"], found["verified"]) == ("0002", None)


@pytest.mark.postgres
def test_a_backup_moves_a_metastore_to_postgresql_and_back(
    shop_data: Path, postgres: PostgresServer, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    counts = {"catalogs": 1, "databases": 2, "tables": 2, "partitions": 3}
    with postgres.database() as url:
        assert run("backup", str(first), "--data", str(shop_data)).code == 0
        there = run("restore", str(first), "--database-url", url, "--output", "json").json
        assert there["verified"] == counts
        with serving_metastore(tmp_path, database_url=url) as uri, client_of.connect(uri, cache=False) as client:
            assert client.partition_names("shop.orders") == ("ds=1", "ds=2", "ds=3")
            # While the server serves.
            assert run("backup", str(second), "--database-url", url).code == 0
            client.create_database("later")
        refused(("restore", str(second), "--database-url", url), "is not overwritten")
    back = run("restore", str(second), "--data", str(tmp_path / "back"), "--output", "json").json
    assert back["verified"] == counts


@pytest.mark.postgres
def test_a_backup_of_postgresql_has_one_state_while_clients_write(postgres: PostgresServer, tmp_path: Path) -> None:
    saved = tmp_path / "saved.db"
    with postgres.database() as url, serving_metastore(tmp_path, database_url=url, directories="off") as uri:
        with Writers(uri) as writers:
            writers.wait(10)
            before = set(writers.done)
            assert run("backup", str(saved), "--database-url", url).code == 0
            writers.wait(len(writers.done) + 5)
            everything = set(writers.done)
    assert run("restore", str(saved), "--data", str(tmp_path / "restored")).code == 0
    with serving_metastore(tmp_path, data=str(tmp_path / "restored")) as uri, client_of.connect(uri) as client:
        found = set(client.databases("w*"))
        events = client.api.get_next_notification(NotificationEventRequest(lastEvent=0)).events or ()
        assert before <= found < everything
        assert {event.dbName for event in events if event.eventType == "CREATE_DATABASE"} == found


def test_a_backup_of_a_folder_without_a_database_is_one_line_and_creates_nothing(tmp_path: Path) -> None:
    done = metastored("backup", str(tmp_path / "saved"), "--data", str(tmp_path / "typo"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no database" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_backup_to_where_nothing_can_be_written_is_one_line(tmp_path: Path) -> None:
    with running_server() as server:
        missing = f"there is no folder {tmp_path / 'nowhere'}; make it first"
        for file, words in ((tmp_path / "nowhere" / "saved", missing), (tmp_path, "is a directory")):
            done = metastored("backup", str(file), "--data", str(server.data))
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert done.stderr.startswith(f"metastored: {file} ") and words in done.stderr
            assert "unfinished" not in done.stderr
    assert list(tmp_path.iterdir()) == []
