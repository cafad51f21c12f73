"""Attacks on backups and on files with secrets: links in their way, crafted files to restore, odd umasks.

A backup is one SQLite database, so it has no members with paths: `../` and absolute names do not apply. Its other
dangers are what SQLite would run (triggers, views, virtual tables) and the files that SQLite looks for beside it.

The rest is in tests/store/engine/test_backup.py (consistent copies, modes, damaged files, other versions, nothing is
overwritten), tests/store/engine/test_private.py (modes of a data folder), tests/store/engine/test_copying.py
(PostgreSQL) and tests/cli/test_backup.py (the commands).
"""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from metastored.errors import StoreError
from metastored.server.tls import MADE_KEY, made_certificate
from metastored.store.engine import backup, private
from metastored.store.engine.backup import back_up, back_up_postgresql, restore, restore_postgresql
from metastored.store.engine.file_lock import FileLock
from metastored.store.engine.migrate import HEAD, ensure_schema, revision
from metastored.store.engine.opening import open_database, open_existing
from metastored.store.engine.sqlite import FILE
from metastored.store.engine.triggers import sqlite_triggers
from metastored.store.objects import catalogs
from tests.cli.running import run
from tests.support.postgres import PostgresServer

UMASKS = (0o000, 0o022, 0o077, 0o277, 0o777)
NOBODY = 65534


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a catalog."""
    folder = tmp_path / "data"
    with closing(open_database(None, folder)) as database:
        ensure_schema(database)
        database.run(lambda tx: catalogs.insert(tx, "secret", b"x" * 50_000))
    return folder


@pytest.fixture
def saved(folder: Path, tmp_path: Path) -> Path:
    """A backup of that folder."""
    file = tmp_path / "saved.db"
    back_up(folder, file)
    return file


def craft(file: Path, *statements: str) -> None:
    """Changes a backup as its author likes."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files below a folder with their content, links and folders without."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
    }


# Modes


@pytest.mark.parametrize("value", UMASKS, ids=oct)
def test_a_backup_is_for_its_owner_alone_whatever_the_umask(folder: Path, tmp_path: Path, value: int) -> None:
    file = tmp_path / "saved.db"
    try:
        with umask(value):
            back_up(folder, file)
    except StoreError:
        # Without root's rights: the owner may not write to folders that this umask makes.
        assert value & 0o200 and os.geteuid() and not file.exists()
        return
    assert mode(file) == 0o600


@pytest.mark.parametrize("value", [0o000, 0o022, 0o077], ids=oct)
def test_a_restored_database_is_for_its_owner_alone_whatever_the_umask(saved: Path, tmp_path: Path, value: int) -> None:
    with umask(value):
        restore(saved, tmp_path / "other")
    assert mode(tmp_path / "other") == 0o700
    assert {mode(each) for each in (tmp_path / "other").iterdir()} == {0o600}


@pytest.mark.postgres
def test_a_backup_of_postgresql_is_for_its_owner_alone_at_every_moment(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """Other users see neither the file nor the copy that it is made of."""
    seen: set[int] = set()

    def look(done: int, total: int) -> None:
        seen.update(mode(each) & 0o077 for each in tmp_path.iterdir())

    with postgres.database() as url, umask(0), closing(open_database(url, None)) as database:
        ensure_schema(database)
        back_up_postgresql(url, tmp_path / "saved.db", progress=look)
    assert seen == {0} and mode(tmp_path / "saved.db") == 0o600


def test_a_copy_that_is_not_finished_is_in_a_folder_for_its_owner_alone(folder: Path, tmp_path: Path) -> None:
    """Also what SQLite writes beside it, and wherever others may create files."""
    target = tmp_path / "public"
    target.mkdir()
    target.chmod(0o1777)
    found: list[tuple[str, int]] = []

    def look(status: int, remaining: int, total: int) -> None:
        found.extend((each.name, mode(each)) for each in target.iterdir())

    with umask(0):
        back_up(folder, target / "saved.db", pages=2, progress=look)
    assert found and all(name.startswith("saved.db.unfinished-") and bits == 0o700 for name, bits in found)
    assert os.listdir(target) == ["saved.db"]


# Symbolic links


@pytest.mark.parametrize("dangling", [True, False], ids=["to nothing", "to a file"])
def test_a_backup_is_not_written_through_a_link_at_its_target(folder: Path, tmp_path: Path, dangling: bool) -> None:
    victim, file = tmp_path / "victim", tmp_path / "saved.db"
    if not dangling:
        victim.write_text("precious")
    file.symlink_to(victim)
    with pytest.raises(StoreError, match="exists already and is not overwritten"):
        back_up(folder, file)
    assert file.is_symlink()
    assert not victim.exists() if dangling else victim.read_text() == "precious"


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_appears_at_the_target_while_a_backup_is_made_is_neither_followed_nor_replaced(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    victim, file = tmp_path / "victim", tmp_path / "saved.db"
    victim.write_text("precious")

    def appear(status: int, remaining: int, total: int) -> None:
        if not os.path.lexists(file):
            file.symlink_to(victim) if kind == "link" else file.write_text("of another backup")

    with pytest.raises(StoreError, match="exists already and is not overwritten"):
        back_up(folder, file, progress=appear)
    assert victim.read_text() == "precious"
    assert file.is_symlink() if kind == "link" else file.read_text() == "of another backup"
    assert sorted(os.listdir(tmp_path)) == ["data", "saved.db", "victim"], "the unfinished copy is gone"


def test_the_last_step_replaces_nothing_that_appears_after_the_last_look(tmp_path: Path) -> None:
    done, file = tmp_path / "done", tmp_path / "saved.db"
    done.write_text("a backup")
    file.write_text("of another backup")
    with pytest.raises(StoreError, match="exists already"):
        backup._put_in_place(done, file)
    assert file.read_text() == "of another backup"


def test_links_at_names_that_can_be_guessed_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """The names of earlier versions of metastored, and of SQLite's files beside the target."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for end in (f".{os.getpid()}.unfinished", f".{os.getpid()}.unfinished-wal", "-wal", "-shm", "-journal"):
        (tmp_path / f"saved.db{end}").symlink_to(victim)
    back_up(folder, tmp_path / "saved.db")
    assert victim.read_text() == "precious"


def test_a_database_is_not_restored_through_a_link(saved: Path, tmp_path: Path) -> None:
    other, victim = tmp_path / "other", tmp_path / "victim"
    other.mkdir(mode=0o700)
    (other / FILE).symlink_to(victim)
    with pytest.raises(StoreError, match="exists already"):
        restore(saved, other)
    assert not victim.exists()


def test_locks_and_keys_are_not_made_through_links(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / "some.lock").symlink_to(victim)
    with pytest.raises(StoreError, match="it is a symbolic link"):
        FileLock(tmp_path / "some.lock")
    (tmp_path / f"{MADE_KEY}.{os.getpid()}").symlink_to(victim)
    with pytest.raises(StoreError, match="it is a symbolic link"):
        made_certificate(tmp_path)
    assert not victim.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="making a link of another user needs root")
def test_a_link_of_another_user_does_not_choose_a_file_whose_mode_is_changed(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("for everybody")
    victim.chmod(0o644)
    (folder / "metastored.x").symlink_to(victim)
    os.lchown(folder / "metastored.x", NOBODY, NOBODY)
    private.secure(folder)
    assert mode(victim) == 0o644


# Crafted files


CRAFTED = {
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON catalogs BEGIN DELETE FROM databases; END",
        "it has the trigger 't'",
    ),
    "a trigger in place of metastored's own": (
        "CREATE TRIGGER table_names_updated AFTER UPDATE ON tables BEGIN DELETE FROM databases; END",
        "it has the trigger 'table_names_updated'",
    ),
    "metastored's trigger with one more statement": (
        sqlite_triggers()["table_names_deleted"].replace(" END", " DELETE FROM grants; END"),
        "it has the trigger 'table_names_deleted'",
    ),
    "metastored's trigger on another table": (
        sqlite_triggers()["table_names_inserted"].replace("ON tables", "ON functions"),
        "it has the trigger 'table_names_inserted'",
    ),
    "a view": ("CREATE VIEW v AS SELECT 1", "it has the view 'v'"),
    "a virtual table": ("CREATE VIRTUAL TABLE f USING fts5(a)", "it has the virtual table 'f'"),
}


def _without_triggers(what: str) -> list[str]:
    """Statements that make room for a trigger with a name of metastored's."""
    return [f"DROP TRIGGER {name}" for name in sqlite_triggers() if "metastored's" in what]


@pytest.mark.parametrize("what", CRAFTED)
def test_a_backup_that_would_run_something_is_refused_and_nothing_is_restored(
    saved: Path, tmp_path: Path, what: str
) -> None:
    statement, reason = CRAFTED[what]
    craft(saved, *_without_triggers(what), statement)
    before = everything(tmp_path)
    with pytest.raises(StoreError, match=reason):
        restore(saved, tmp_path / "other")
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", sqlite_triggers())
def test_a_backup_without_a_trigger_of_its_schema_is_refused(saved: Path, tmp_path: Path, name: str) -> None:
    """Changes of its rows would not be noticed by caches."""
    craft(saved, f"DROP TRIGGER {name}")
    with pytest.raises(StoreError, match=f"it lacks the trigger '{name}'"):
        restore(saved, tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("table", ["alembic_version", "users"])
def test_a_view_in_place_of_a_table_that_never_ends_is_not_read(saved: Path, tmp_path: Path, table: str) -> None:
    """It would give row after row without an end: nothing of it is asked."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS version_num FROM n"
    craft(saved, "PRAGMA foreign_keys = OFF", f"DROP TABLE {table}", f"CREATE VIEW {table} AS {endless}")
    with pytest.raises(StoreError, match=f"it has the view '{table}'"):
        restore(saved, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_backup_cut_short_at_any_place_restores_nothing(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    lengths = [0, 1, 15, 16, 99, 100, 1024, 4095, 4096, len(whole) // 2, len(whole) - 4096]
    lengths += [len(whole) - 1000, len(whole) - 1]
    for length in lengths:
        saved.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"is damaged|is not a database of metastored|is not a backup|is empty"):
            restore(saved, tmp_path / "other")
        assert not (tmp_path / "other").exists(), f"cut at {length} bytes"


@pytest.mark.parametrize("claimed", [0, 1, 2**31 - 1, 2**32 - 1])
def test_a_backup_that_claims_another_size_than_it_has_takes_no_space(
    saved: Path, tmp_path: Path, claimed: int
) -> None:
    """The header of a small file says how many pages it has: a terabyte of them is not written."""
    size = saved.stat().st_size
    with saved.open("r+b") as file:
        file.seek(28)
        file.write(claimed.to_bytes(4, "big"))
    try:
        restore(saved, tmp_path / "other")
    except StoreError:
        assert not (tmp_path / "other" / FILE).exists()
    else:
        assert (tmp_path / "other" / FILE).stat().st_size <= size


@pytest.mark.parametrize("version", ["", "../0009", "0010", "0009'; DROP TABLE users; --", "9"])
def test_a_backup_of_a_version_that_there_is_not_is_refused(saved: Path, tmp_path: Path, version: str) -> None:
    quoted = version.replace("'", "''")
    craft(saved, f"UPDATE alembic_version SET version_num = '{quoted}'")
    with pytest.raises(StoreError, match="of a newer metastored"):
        restore(saved, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_names_with_dots_and_slashes_in_a_backup_lead_to_no_file(saved: Path, tmp_path: Path) -> None:
    """They are rows and names of tables: a restore opens none of them as a file."""
    craft(
        saved,
        "INSERT INTO catalogs (name, fmt, body) VALUES ('../../outside', 1, x''), ('/outside', 1, x'')",
        'CREATE TABLE "../../outside" (a)',
    )
    before = set(everything(tmp_path))
    restore(saved, tmp_path / "inside" / "data")
    new = set(everything(tmp_path)) - before
    assert new == {"inside", "inside/data", f"inside/data/{FILE}", "inside/data/metastored.use.lock"}


def test_a_crafted_backup_is_one_line_for_the_person_who_restores_it(saved: Path, tmp_path: Path) -> None:
    craft(saved, 'CREATE VIEW "v\n\x1b[2Jmetastored: all is well" AS SELECT 1')
    done = run("restore", str(saved), "--data", str(tmp_path / "other"))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "\x1b" not in done.err and not (tmp_path / "other").exists()


@pytest.mark.postgres
@pytest.mark.parametrize("what", CRAFTED)
def test_a_crafted_backup_leaves_postgresql_empty(
    postgres: PostgresServer, saved: Path, what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    craft(saved, *_without_triggers(what), CRAFTED[what][0])
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with postgres.database() as url:
        with pytest.raises(StoreError, match=CRAFTED[what][1]):
            restore_postgresql(saved, url)
        with closing(open_database(url, None)) as database:
            assert revision(database) is None
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.postgres
def test_rows_that_postgresql_does_not_take_leave_it_empty(postgres: PostgresServer, saved: Path) -> None:
    """A text with a NUL, in the last of several rows: the rows before it are not kept."""
    craft(saved, "INSERT INTO catalogs (name, fmt, body) VALUES ('fine', 1, x''), ('a' || char(0), 1, x'')")
    with postgres.database() as url:
        with pytest.raises(StoreError):
            restore_postgresql(saved, url)
        with closing(open_database(url, None)) as database:
            assert revision(database) is None


def test_a_good_backup_is_still_restored(saved: Path, tmp_path: Path) -> None:
    assert restore(saved, tmp_path / "other").revision == HEAD
    with closing(open_existing(None, tmp_path / "other")) as database:
        assert catalogs.names(database.reader()) == ["secret"]
