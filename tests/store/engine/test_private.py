"""Only its owner reads a database: the modes of a data folder and of the files in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.errors import StoreError
from metastored.store.engine import private
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database, open_existing
from metastored.store.engine.sqlite import FILE
from metastored.store.objects import catalogs


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: mode(file) for file in folder.iterdir()}


def test_a_new_folder_and_all_files_in_it_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    database = open_database(None, folder)
    ensure_schema(database)
    database.run(lambda tx: catalogs.insert(tx, "a", b""))
    with database.claim("something"):
        result = modes(folder)
    database.close()
    assert mode(folder) == 0o700
    assert {FILE, f"{FILE}-wal", f"{FILE}-shm", "metastored.lock"} < result.keys()
    assert set(result.values()) == {0o600}


def test_files_that_others_could_read_are_mended_when_the_database_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    database = open_database(None, folder)
    ensure_schema(database)
    (folder / "import-0.journal").touch()
    (folder / "http-key.pem").touch()
    (folder / "something else").touch()
    for file in folder.iterdir():
        file.chmod(0o644)
    again = open_existing(None, folder)
    result = modes(folder)
    again.close()
    database.close()
    assert result.pop("something else") == 0o644
    assert set(result.values()) == {0o600}


def test_a_folder_that_existed_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_database(None, tmp_path).close()
    assert mode(tmp_path) == 0o755
    assert private.exposed(tmp_path) == "its group may read, everybody may read"


def test_a_folder_to_which_everybody_may_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(StoreError, match=r"everybody may write to the data folder .*chmod o-w"):
        open_database(None, tmp_path)
    assert not (tmp_path / FILE).exists()


def test_opening_an_existing_database_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no database .* does not exist.*metastored serve --data"):
        open_existing(None, tmp_path / "typo")
    with pytest.raises(StoreError, match=r"there is no database .* exists, without one"):
        open_existing(None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_tables_is_no_existing_one(tmp_path: Path) -> None:
    open_database(None, tmp_path).close()
    with pytest.raises(StoreError, match="is empty"):
        open_existing(None, tmp_path)
