"""Copies between SQLite and PostgreSQL, in both directions: every row, exactly, and all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Table, select

from metastored.errors import StoreError
from metastored.store.engine import schema
from metastored.store.engine.backup import back_up_postgresql, restore_postgresql
from metastored.store.engine.copying import copy_database
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import HEAD, ensure_schema, revision, upgrade
from metastored.store.engine.opening import open_database
from metastored.store.objects import catalogs, databases, tables
from tests.store.conftest import make_table
from tests.support.postgres import PostgresServer


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database: the target."""
    if request.param == "sqlite":
        with closing(open_database(None, tmp_path / "other", threads=4)) as database:
            yield database
        return
    with request.getfixturevalue("postgres").database() as url:
        with closing(open_database(url, None, threads=4)) as database:
            yield database


@pytest.fixture
def filled(database: Database) -> Database:
    """A database with a table, booleans, numbers that are none, and ids that were used and are free again."""
    table = database.run(make_table)
    grant = {"role": "r", "principal": "ann", "principal_type": 1, "grant_option": True, "create_time": 1}
    column = {"column_name": "c", "engine": "hive", "type": "double", "kind": "double", "last_analyzed": 1, "fmt": 1}
    with database.migration() as engine, engine.begin() as connection:
        connection.execute(schema.roles.insert(), {"name": "r", "create_time": 1})
        connection.execute(schema.role_grants.insert(), grant)
        connection.execute(
            schema.table_statistics.insert(),
            {**column, "table_id": table, "body": b"\x00\xff", "double_low": float("nan"), "double_high": 1.5},
        )
        connection.execute(schema.databases.insert(), {"id": 77, "cat_id": 1, "name": "gone", "fmt": 1, "body": b""})
        connection.execute(schema.databases.delete().where(schema.databases.c.id == 77))
    return database


def rows_of(database: Database, table: Table) -> list[str]:
    """All rows, without the stamps, which belong to a database."""
    columns = [column for column in table.columns if column.name != "statistics_stamp"]
    with database.migration() as engine, engine.begin() as connection:
        return sorted(repr(tuple(row)).replace("nan", "None") for row in connection.execute(select(*columns)))


def test_every_row_of_every_table_is_copied(filled: Database, other: Database) -> None:
    counted: list[tuple[int, int]] = []
    done = copy_database(filled, other, lambda now, total: counted.append((now, total)))
    assert revision(other) == HEAD
    assert counted[-1] == (done, done)
    for table in schema.own_rows():
        assert rows_of(other, table) == rows_of(filled, table), table.name


def test_the_target_has_stamps_of_its_own(filled: Database, other: Database) -> None:
    """A cache that knows the source's, or an earlier copy at the same place, has nothing for this one."""
    copy_database(filled, other)
    before, after = (tables.names_version(each.reader(), "hive", "db") for each in (filled, other))
    assert before is not None and after is not None
    assert (after[0], after[1] != before[1]) == (before[0], True)
    assert (
        len({row.statistics_stamp for each in (filled, other) for row in tables.rows(each.reader(), "hive", "db")}) == 2
    )
    other.run(lambda tx: make_table(tx, "new"))
    assert tables.names_version(other.reader(), "hive", "db") not in (None, after)


def test_ids_that_were_used_are_not_used_again(filled: Database, other: Database) -> None:
    if filled.dialect == "postgresql":
        # An id that a client chose does not move PostgreSQL's sequence.
        with filled.migration() as engine, engine.begin() as connection:
            connection.exec_driver_sql("SELECT setval('databases_id_seq', 77)")
    copy_database(filled, other)
    assert other.run(lambda tx: databases.insert(tx, 1, "new", b"")) == 78


def test_a_copy_is_one_state_although_others_write(filled: Database, other: Database) -> None:
    def write(done: int, total: int) -> None:
        filled.run(lambda tx: catalogs.insert(tx, f"later {done}", b""))

    copy_database(filled, other, write)
    assert catalogs.names(other.reader()) == ["hive"]
    assert len(catalogs.names(filled.reader())) > 1


def test_a_database_that_has_tables_already_is_not_overwritten(filled: Database, other: Database) -> None:
    ensure_schema(other)
    with pytest.raises(StoreError, match="is not overwritten"):
        copy_database(filled, other)
    assert catalogs.names(other.reader()) == []


def test_a_copy_that_fails_leaves_an_empty_database(filled: Database, other: Database) -> None:
    def fail(done: int, total: int) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        copy_database(filled, other, fail)
    assert revision(other) is None
    copy_database(filled, other)


def test_a_source_with_an_old_schema_is_refused(tmp_path: Path, other: Database) -> None:
    with closing(open_database(None, tmp_path / "old", threads=1)) as old:
        with old.migration() as engine, engine.begin() as connection:
            upgrade(connection, "0002")
        with pytest.raises(StoreError, match="0002 of an older metastored"):
            copy_database(old, other)


@pytest.mark.postgres
def test_a_backup_of_postgresql_is_one_file_and_fails_without_one(postgres: PostgresServer, tmp_path: Path) -> None:
    with postgres.database() as url:
        with pytest.raises(StoreError, match="the database is empty"):
            back_up_postgresql(url, tmp_path / "saved.db")
        assert list(tmp_path.iterdir()) == []
        with closing(open_database(url, None, threads=1)) as database:
            ensure_schema(database)
            database.run(make_table)
        assert back_up_postgresql(url, tmp_path / "saved.db").revision == HEAD
        assert [each.name for each in tmp_path.iterdir()] == ["saved.db"]
        with pytest.raises(StoreError, match="exists already"):
            back_up_postgresql(url, tmp_path / "saved.db")
        with pytest.raises(StoreError, match="is not overwritten"):
            restore_postgresql(tmp_path / "saved.db", url)
