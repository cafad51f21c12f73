"""Tests for SQLite only: its settings and its file system."""

import sqlite3
from pathlib import Path, PurePosixPath

import pytest

from metastored.errors import StoreError
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.mounts import network_file_system
from metastored.store.engine.opening import open_database
from metastored.store.engine.sqlite import FILE, connect
from metastored.store.engine.statements import Statement
from metastored.store.objects import catalogs

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
        ("/var/lib/metastored", None),
        ("/home/me/metastored", "nfs4"),
        ("/home", "nfs4"),
        ("/homes/me", None),
        ("/home/local/metastored", None),
        ("/mnt/with space/metastored", "fuse.sshfs"),
        ("/mnt/share/metastored", None),
        ("/mnt/c/metastored", "9p"),
    ],
)
def test_a_network_file_system_is_recognised_by_its_mount(folder: str, kind: str | None) -> None:
    assert network_file_system(PurePosixPath(folder), MOUNTS) == kind


def test_every_connection_has_the_settings_that_keep_data_safe(tmp_path: Path) -> None:
    connection = connect(tmp_path / FILE)
    result = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys")
    }
    connection.close()
    assert result == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("something else, and long enough to be looked at " * 20)
    with pytest.raises(StoreError, match=r"metastored\.db is not a database"):
        open_database(None, tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        open_database(None, tmp_path / "file" / "data")


def test_a_database_locked_by_a_stranger_is_an_error_and_nothing_else_happens(tmp_path: Path) -> None:
    database = open_database(None, tmp_path)
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


def test_a_condition_on_a_list_uses_an_index(tmp_path: Path) -> None:
    database = open_database(None, tmp_path)
    ensure_schema(database)
    listed = "SELECT id FROM partitions WHERE table_id = :table_id AND name IN :names"
    connection = connect(tmp_path / FILE)
    plan = connection.execute("EXPLAIN QUERY PLAN " + Statement(listed).sqlite, {"table_id": 1, "names": '["a"]'})
    steps = [row[3] for row in plan]
    connection.close()
    database.close()
    assert any("(table_id=? AND name=?)" in step for step in steps), steps
