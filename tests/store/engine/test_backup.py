"""Backups of the embedded database: consistent while others write, checked before they are restored."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from metastored.errors import StoreError
from metastored.store.engine.backup import back_up, restore
from metastored.store.engine.migrate import HEAD, ensure_schema
from metastored.store.engine.opening import open_database, open_existing
from metastored.store.engine.sqlite import FILE, SqliteDatabase
from metastored.store.objects import catalogs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a catalog of some size in it."""
    folder = tmp_path / "data"
    database = open_database(None, folder)
    ensure_schema(database)
    database.run(lambda tx: catalogs.insert(tx, "first", b"x" * 200_000))
    database.close()
    return folder


def names(folder: Path) -> list[str]:
    database = open_existing(None, folder)
    try:
        return catalogs.names(database.reader())
    finally:
        database.close()


def test_a_backup_restores_all_data(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    assert back_up(folder, file).revision == HEAD
    restored = restore(file, tmp_path / "other")
    assert (restored.revision, restored.is_old) == (HEAD, False)
    assert names(tmp_path / "other") == ["first"]


def test_a_backup_is_one_state_although_others_write_between_its_steps(folder: Path, tmp_path: Path) -> None:
    database = open_database(None, folder)
    steps: list[int] = []

    def write(status: int, remaining: int, total: int) -> None:
        steps.append(remaining)
        database.run(lambda tx: catalogs.insert(tx, f"later {len(steps):03}", b""))

    back_up(folder, tmp_path / "backup.db", pages=5, progress=write)
    database.close()
    assert len(steps) > 3 and steps == sorted(steps, reverse=True), "it never started again"
    restore(tmp_path / "backup.db", tmp_path / "other")
    assert names(tmp_path / "other") == ["first"]
    assert len(names(folder)) == 1 + len(steps)


def test_rows_that_are_only_in_the_log_are_backed_up_and_the_backup_needs_no_log(folder: Path, tmp_path: Path) -> None:
    database = open_database(None, folder)
    database.run(lambda tx: catalogs.insert(tx, "in the log", b""))
    assert (folder / f"{FILE}-wal").stat().st_size > 0
    back_up(folder, tmp_path / "backup.db")
    database.close()
    assert [file.name for file in tmp_path.iterdir()] in (["data", "backup.db"], ["backup.db", "data"])
    with sqlite3.connect(f"file:{tmp_path / 'backup.db'}?immutable=1", uri=True) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    copy.close()
    restore(tmp_path / "backup.db", tmp_path / "other")
    assert names(tmp_path / "other") == ["first", "in the log"]


def test_a_backup_and_a_restored_database_are_private_to_their_owner(folder: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        back_up(folder, tmp_path / "backup.db")
        restore(tmp_path / "backup.db", tmp_path / "other")
    finally:
        os.umask(before)
    result = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "other").iterdir()}
    assert stat.S_IMODE((tmp_path / "backup.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o700
    assert result.keys() == {FILE, "metastored.use.lock"} and set(result.values()) == {0o600}


def test_nothing_is_overwritten(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    back_up(folder, file)
    kept = file.read_bytes()
    with pytest.raises(StoreError, match=r"backup\.db exists already"):
        back_up(folder, file)
    assert file.read_bytes() == kept
    with pytest.raises(StoreError, match=r"metastored\.db exists already"):
        restore(file, folder)
    assert names(folder) == ["first"]


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_log_that_an_old_database_left_is_not_mixed_with_a_restored_one(
    folder: Path, tmp_path: Path, end: str
) -> None:
    back_up(folder, tmp_path / "backup.db")
    other = tmp_path / "other"
    other.mkdir()
    (other / f"{FILE}{end}").touch()
    with pytest.raises(StoreError, match=f"{end} exists already"):
        restore(tmp_path / "backup.db", other)
    assert not (other / FILE).exists()


def test_a_folder_in_use_is_refused_even_when_its_files_were_moved_away(folder: Path, tmp_path: Path) -> None:
    back_up(folder, tmp_path / "backup.db")
    database = open_database(None, folder)
    (folder / FILE).rename(tmp_path / "old.db")
    with pytest.raises(StoreError, match="a running server, or another command, uses the database"):
        restore(tmp_path / "backup.db", folder)
    assert not (folder / FILE).exists()
    database.close()


def test_a_database_that_is_being_restored_is_not_opened(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(folder, tmp_path / "backup.db")
    refused: list[str] = []

    def copying(*args: object) -> None:
        with pytest.raises(StoreError) as caught:
            SqliteDatabase(tmp_path / "other", 1)
        refused.append(str(caught.value))
        raise StoreError("the disk is full")

    monkeypatch.setattr("metastored.store.engine.backup._copy", copying)
    with pytest.raises(StoreError, match="the disk is full"):
        restore(tmp_path / "backup.db", tmp_path / "other")
    assert "is being restored" in refused[0]
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["metastored.use.lock"]


def test_a_damaged_backup_is_refused(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    back_up(folder, file)
    with file.open("r+b") as damaged:
        damaged.seek(8192)
        damaged.write(b"\xff" * 40_000)
    with pytest.raises(StoreError, match=r"is damaged and cannot be used|is not a database of metastored"):
        restore(file, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_file_that_is_not_a_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("something else, and long enough to be looked at " * 20)
    sqlite3.connect(tmp_path / "strange.db").executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)").close()
    (tmp_path / "empty").touch()
    for name, words in (
        ("text", "is not a database of metastored"),
        ("strange.db", "is not a database of metastored"),
        ("empty", "is not a database of metastored"),
        ("missing", "cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
    ):
        with pytest.raises(StoreError, match=words):
            restore(tmp_path / name, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_backup_of_a_newer_metastored_is_refused_and_one_of_an_older_is_restored(
    folder: Path, tmp_path: Path
) -> None:
    for revision in ("9999", "0001"):
        back_up(folder, tmp_path / revision)
        changed = sqlite3.connect(tmp_path / revision, isolation_level=None)
        changed.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        changed.close()
    with pytest.raises(StoreError, match="the schema 9999 of a newer metastored"):
        restore(tmp_path / "9999", tmp_path / "other")
    assert restore(tmp_path / "0001", tmp_path / "other").is_old


def test_a_folder_without_a_database_has_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        back_up(tmp_path / "typo", tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []
