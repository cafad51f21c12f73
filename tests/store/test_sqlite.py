"""What only SQLite needs: its settings, its file system, and writers in many processes."""

import os
import signal
import sqlite3
from pathlib import Path, PurePosixPath

import pytest
from tests.support.processes import finish_python, start_python

from skep.errors import StoreError
from skep.store import catalogs, events
from skep.store.database import Database
from skep.store.migrate import ensure_schema
from skep.store.mounts import network_file_system
from skep.store.sqlite import FILE, connect

MOUNTS = [
    "proc /proc proc rw 0 0\n",
    "/dev/sda1 / ext4 rw,relatime 0 0\n",
    "server:/export /home nfs4 rw 0 0\n",
    "/dev/sdb1 /home/local ext4 rw 0 0\n",
    "me@host:/ /mnt/with\\040space fuse.sshfs rw 0 0\n",
    "//host/share /mnt/share cifs rw 0 0\n",
    "/dev/sdc1 /mnt/share xfs rw 0 0\n",
    "drvfs /mnt/c 9p rw 0 0\n",
]


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/skep", None),
        ("/home/me/skep", "nfs4"),
        ("/home", "nfs4"),
        ("/homes/me", None),
        ("/home/local/skep", None),
        ("/mnt/with space/skep", "fuse.sshfs"),
        ("/mnt/share/skep", None),
        ("/mnt/c/skep", "9p"),
    ],
)
def test_a_network_file_system_is_recognised_by_its_mount(folder: str, kind: str | None) -> None:
    assert network_file_system(PurePosixPath(folder), MOUNTS) == kind


def test_every_connection_has_the_settings_that_keep_data_safe(tmp_path: Path) -> None:
    connection = connect(tmp_path / FILE)
    found = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    }
    connection.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("something else, and long enough to be looked at " * 20)
    with pytest.raises(StoreError, match=r"skep\.db is not a database"):
        Database.open(None, tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        Database.open(None, tmp_path / "file" / "data")


def test_a_database_locked_by_a_stranger_is_an_error_and_nothing_else_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.open(None, tmp_path)
    ensure_schema(database)
    database._mine().connection.execute("PRAGMA busy_timeout = 50")  # type: ignore[attr-defined]
    stranger = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    stranger.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        database.run(lambda tx: catalogs.insert(tx, "a", b""))
    stranger.close()
    database.run(lambda tx: catalogs.insert(tx, "b", b""))
    assert catalogs.names(database.reader()) == ["b"]
    database.close()


_WRITER = """
import sys, time
from pathlib import Path
from skep.store import events, catalogs
from skep.store.database import Database
import sqlalchemy as sa
from skep.store import schema
from skep.store.statements import Statement
READ = Statement(sa.select(schema.meta.c.value).where(schema.meta.c.key == sa.literal_column("'n'")))
SET = Statement(
    sa.update(schema.meta).values(value=sa.bindparam("value")).where(schema.meta.c.key == sa.literal_column("'n'"))
)
database = Database.open(None, Path(sys.argv[1]))
def work(tx):
    value = int(tx.one(READ)[0])
    tx.run(SET, value=str(value + 1))
    return events.append(tx, 0, "X", None, None, None, 1, sys.argv[2].encode())
for _ in range(int(sys.argv[3])):
    database.run(work)
print("done")
"""


def test_eight_writer_processes_lose_no_update_and_leave_no_gap(tmp_path: Path) -> None:
    database = Database.open(None, tmp_path)
    ensure_schema(database)
    with database.migration() as engine, engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO meta (key, value) VALUES ('n', '0')")
    writers = [start_python(_WRITER, str(tmp_path), str(number), "100") for number in range(8)]
    assert [finish_python(writer) for writer in writers] == ["done"] * 8
    with database.migration() as engine, engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT value FROM meta").scalar() == "800"
    found = events.since(database.reader(), 0)
    assert [event.id for event in found] == list(range(1, 801))
    database.close()


def test_a_killed_writer_leaves_whole_transactions_and_no_lock(tmp_path: Path) -> None:
    database = Database.open(None, tmp_path)
    ensure_schema(database)
    with database.migration() as engine, engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO meta (key, value) VALUES ('n', '0')")
    writer = start_python(_WRITER, str(tmp_path), "0", "1000000")
    while events.current(database.reader()) < 20:
        assert writer.poll() is None, writer.communicate()
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    database.run(lambda tx: events.append(tx, 0, "X", None, None, None, 1, b""))
    ids = [event.id for event in events.since(database.reader(), 0)]
    assert ids == list(range(1, len(ids) + 1))
    with database.migration() as engine, engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT value FROM meta").scalar() == str(len(ids) - 1)
    database.close()
