"""`metastored backup` and `metastored restore`, run as a person runs them, beside a server that is written to."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

import metastored as client_of
from metastored.testing import RunningServer, running_server
from metastored.wire.generated.notifications import NotificationEventRequest
from tests.transfer.support import metastored

pytestmark = pytest.mark.slow

WRITERS = 2


class Writers:
    """Clients that create databases as fast as they can. `done` are the databases that the server has acknowledged."""

    def __init__(self, server: RunningServer) -> None:
        self.done: list[str] = []
        self._stop = threading.Event()
        self._uri = server.uri
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
    with running_server(workers=2, directories="off") as server, Writers(server) as writers:
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


@pytest.mark.parametrize(("command", "tool"), [("backup", "pg_dump"), ("restore", "pg_restore")])
def test_for_postgresql_its_own_tool_is_named(tmp_path: Path, command: str, tool: str) -> None:
    (tmp_path / "metastored.yaml").write_text("database_url: postgresql://metastored:geheim@db/metastored\n")
    done = metastored(command, str(tmp_path / "saved"), "--config", str(tmp_path / "metastored.yaml"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert tool in done.stderr and "geheim" not in done.stderr


def test_a_backup_of_a_folder_without_a_database_is_one_line_and_creates_nothing(tmp_path: Path) -> None:
    done = metastored("backup", str(tmp_path / "saved"), "--data", str(tmp_path / "typo"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no database" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_backup_to_where_nothing_can_be_written_is_one_line(tmp_path: Path) -> None:
    with running_server() as server:
        for file, words in ((tmp_path / "nowhere" / "saved", "No such file"), (tmp_path, "is a directory")):
            done = metastored("backup", str(file), "--data", str(server.data))
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert str(file) in done.stderr and words in done.stderr
    assert list(tmp_path.iterdir()) == []
