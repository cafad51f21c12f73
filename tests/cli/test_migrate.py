"""`metastored migrate` on SQLite and PostgreSQL: what it would do, what it does, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.store.engine.migrate import HEAD, REVISIONS, ensure_schema, revision, upgrade
from tests.cli.running import Done, refused, run
from tests.store.conftest import Opener
from tests.store.conftest import opener as opener
from tests.store.conftest import place as place
from tests.store.conftest import without_schema as without_schema

pytestmark = pytest.mark.usefixtures("without_schema")

Place = tuple[str | None, Path | None]
OLD = "0002"


def migrate(place: Place, *words: str) -> Done:
    url, data = place
    return run("migrate", *(("--database-url", url) if url is not None else ("--data", str(data))), *words)


@pytest.fixture
def old(opener: Opener) -> Opener:
    """A database with an old schema."""
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, OLD)
    return opener


def test_a_dry_run_lists_the_migrations_and_changes_nothing(old: Opener, place: Place) -> None:
    done = migrate(place, "--dry-run")
    assert done.code == 1
    assert "0003: Transactions and locks get the caller who opened them." in done.out
    assert f"has the schema {OLD} and would be upgraded to {HEAD}" in done.out
    found = migrate(place, "--dry-run", "--output", "json").json
    assert (found["before"], found["after"], found["newest"]) == (OLD, OLD, HEAD)
    assert [each["revision"] for each in found["migrations"]] == [each for each in REVISIONS if each > OLD]
    assert revision(old()) == OLD


def test_the_schema_is_upgraded_once(old: Opener, place: Place) -> None:
    done = migrate(place)
    assert (done.code, f"was upgraded from {OLD} to {HEAD}" in done.out) == (0, True)
    assert revision(old()) == HEAD
    done = migrate(place)
    assert (done.code, f"has the newest schema, {HEAD}" in done.out) == (0, True)
    assert migrate(place, "--dry-run", "--output", "json").json["migrations"] == []


def test_a_schema_of_a_newer_metastored_is_refused(opener: Opener, place: Place) -> None:
    database = opener()
    ensure_schema(database)
    with database.migration() as engine, engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    done = migrate(place)
    assert (done.code, done.out) == (2, "") and "9999 of a newer metastored" in done.err


def test_a_folder_without_a_database_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    refused(("migrate", "--data", str(tmp_path / "typo")), "there is no database")
    assert list(tmp_path.iterdir()) == []
