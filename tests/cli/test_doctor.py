"""`metastored doctor`, run as a person runs it, on databases with and without something wrong."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema, upgrade
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from tests.store.conftest import Opener
from tests.store.conftest import opener as opener
from tests.store.conftest import place as place
from tests.store.conftest import without_schema as without_schema
from tests.support.forks import run_command

pytestmark = pytest.mark.slow


AREAS = ["configuration", "HTTP", "versions", "database", "warehouse", "clocks", "server", "remotes"]

Doctor = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def doctor(place: tuple[str | None, Path | None]) -> Doctor:
    url, data = place
    where = ["--database-url", url] if url is not None else ["--data", str(data)]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return run_command("doctor", *where, *words, timeout=60)

    return run


@pytest.fixture
def database(opener: Opener) -> Database:
    found = opener()
    ensure_schema(found)
    return found


def _failed_removal(database: Database, tmp_path: Path) -> int:
    """A job that cannot be done: it is to remove a symbolic link."""
    root = tmp_path / "warehouse"
    root.mkdir()
    (root / "t").symlink_to(tmp_path)
    id = database.run(lambda tx: jobs.add(tx, "remove", f"file:{root}/t", created=1))
    assert len(Warehouse(f"file:{root}").finish_jobs(database, now=1_700_000_000)) == 1
    return id


def test_a_database_with_nothing_wrong_ends_with_exit_code_0(database: Database, doctor: Doctor) -> None:
    done = doctor()
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "nothing is wrong", "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:-1]] == [f"ok      {area}" for area in AREAS]
    done = doctor("--output", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["findings"], list(found["checks"])) == (0, [], AREAS)


def test_a_failed_job_is_listed_with_path_reason_attempts_and_advice(
    database: Database, doctor: Doctor, tmp_path: Path
) -> None:
    id = _failed_removal(database, tmp_path)
    done = doctor()
    assert done.returncode == 1
    assert f"job {id}: remove file:{tmp_path}/warehouse/t\n" in done.stdout
    assert (
        f"reason: file:{tmp_path}/warehouse/t is not removed: {tmp_path}/warehouse/t is a symbolic link" in done.stdout
    )
    assert "attempts: 1, the next at 2023-11-14 22:14:20 UTC" in done.stdout
    assert "what would help: remove the link" in done.stdout
    (found,) = json.loads(doctor("--output", "json").stdout)["findings"]
    assert (found["kind"], found["job"], found["action"], found["attempts"]) == ("job", id, "remove", 1)
    assert found["path"] == f"file:{tmp_path}/warehouse/t"
    assert "symbolic link" in found["reason"] and "remove the link" in found["advice"]


def test_a_job_can_be_given_up(database: Database, doctor: Doctor, tmp_path: Path) -> None:
    id = _failed_removal(database, tmp_path)
    done = doctor("--delete-job", str(id))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "nothing is wrong")
    assert (tmp_path / "warehouse" / "t").is_symlink()
    done = doctor("--delete-job", str(id))
    assert (done.returncode, done.stderr.startswith(f"metastored: there is no job {id}")) == (2, True)


def test_a_job_that_no_server_attempts_is_listed(database: Database, doctor: Doctor) -> None:
    database.run(lambda tx: jobs.add(tx, "move", "file:/w/a", "file:/w/b", created=1_700_000_000))
    done = doctor()
    assert done.returncode == 1
    assert "move file:/w/a to file:/w/b" in done.stdout
    assert "start a server on this database" in done.stdout


@pytest.mark.usefixtures("without_schema")
def test_an_older_schema_is_listed_and_left_as_it_is(opener: Opener, doctor: Doctor) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, "0002")
    for _ in range(2):
        done = doctor()
        assert (done.returncode, "the database has the schema 0002" in done.stdout) == (1, True)


def test_a_database_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    done = run_command("doctor", "--data", str(tmp_path / "typo"), timeout=60)
    assert (done.returncode, "there is no database" in done.stderr) == (2, True)
    assert not (tmp_path / "typo").exists()


def test_a_damaged_database_is_listed(opener: Opener, doctor: Doctor, place: tuple[str | None, Path | None]) -> None:
    database = opener()
    ensure_schema(database)
    if place[1] is None:
        with database.migration() as engine, engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE tokens")
        expected = "table tokens cannot be read"
    else:
        sqlite = sqlite3.connect(place[1] / "metastored.db")
        sqlite.execute("PRAGMA foreign_keys = OFF")
        sqlite.execute("INSERT INTO databases (cat_id, name, fmt, body) VALUES (77, 'd', 1, x'00')")
        sqlite.commit()
        sqlite.close()
        expected = "a row of databases refers to a row of catalogs that does not exist"
    done = doctor()
    assert (done.returncode, expected in done.stdout) == (1, True), done.stdout
