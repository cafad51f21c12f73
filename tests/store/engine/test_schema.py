"""The schema: created at once or migrated, it is the same; and it is only ever brought forward."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from metastored.errors import StoreError
from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import HEAD, REVISIONS, alembic_config, ensure_schema, revision, upgrade
from metastored.store.objects import tables
from metastored.store.transactions import write_ids
from metastored.store.transactions.write_ids import Counter
from metastored.store.warehouse import jobs
from tests.store.conftest import Opener, make_table
from tests.support.processes import finish_python, start_python

pytestmark = pytest.mark.usefixtures("without_schema")


def _described(database: Database) -> list[tuple[Any, ...]]:
    """The complete schema and the first rows of a database."""
    if database.dialect == "sqlite":
        queries = [
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
            "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY idx",
        ]
    else:
        queries = [
            "SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_default, collation_name "
            "FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
            "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
            "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
        ]
    queries += ["SELECT name, value FROM counters ORDER BY name", "SELECT version_num FROM alembic_version"]
    with database.migration() as engine, engine.connect() as connection:
        rows = [tuple(row) for query in queries for row in connection.exec_driver_sql(query)]
    return [tuple(_plain(f) if isinstance(f, str) else f for f in row) for row in rows]


def _plain(text: str) -> str:
    """A text without line breaks, and without the spaces that SQLite leaves before the comma of an added column."""
    return re.sub(r" ?([,()]) ?", r"\1", " ".join(text.split()))


def _migrate(database: Database) -> None:
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection)


def test_creating_and_migrating_give_the_same_schema(opener: Opener, place: tuple[str | None, Path | None]) -> None:
    database = opener()
    ensure_schema(database)
    created = _described(database)
    with database.migration() as engine, engine.begin() as connection:
        schema.metadata.drop_all(connection)
        connection.execute(sa.text("DROP TABLE alembic_version"))
        if database.dialect == "sqlite":
            connection.execute(sa.text("DELETE FROM sqlite_stat1"))
    _migrate(database)
    migrated = _described(database)
    # SQLite keeps each table's text; only the bookkeeping table is written by Alembic in its own words.
    assert [row for row in migrated if "alembic_version" not in row] == [
        row for row in created if "alembic_version" not in row
    ]
    assert revision(database) == HEAD


def test_rows_of_an_older_schema_are_there_after_the_migration(opener: Opener) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, "0001")
        connection.execute(sa.text("INSERT INTO write_id_counters (cat, db, tbl, next) VALUES ('hive', 'd', 't', 8)"))
        connection.execute(sa.text("INSERT INTO write_ids (counter_id, write_id, txn_id) VALUES (1, 7, 3)"))
    ensure_schema(database)
    counter = write_ids.counter(database.reader(), TableName("hive", "d", "t"))
    assert counter == Counter(1, 8, stamp=0)
    assert write_ids.all(database.reader(), counter) == [(3, 7)]


def test_a_directory_job_that_failed_under_an_older_schema_is_due_at_once_and_blocks_only_its_own_path(
    opener: Opener,
) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, "0002")
        for number, attempts in ((1, 0), (2, 7)):
            connection.execute(
                sa.text(
                    "INSERT INTO warehouse_jobs (id, kind, source, created, attempts, error)"
                    f" VALUES ({number}, 'remove', 'file:/w/{number}', 5, {attempts}, 'why')"
                )
            )
    ensure_schema(database)
    pending, failed = jobs.all(database.reader())
    assert (pending.id, pending.is_failed) == (1, False)
    assert (failed.id, failed.is_failed, failed.attempts, failed.error) == (2, True, 7, "why")
    assert jobs.due(database.reader(), now=1_700_000_000) == [pending, failed]


def test_tables_of_an_older_schema_get_statistics_stamps_that_differ_from_each_other_and_from_a_new_tables(
    opener: Opener,
) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, "0007")
        connection.execute(sa.text("INSERT INTO catalogs (id, name, fmt, body) VALUES (1, 'hive', 1, '')"))
        connection.execute(sa.text("INSERT INTO databases (id, cat_id, name, fmt, body) VALUES (1, 1, 'db', 1, '')"))
        for name in ("a", "b"):
            connection.execute(
                sa.text(
                    "INSERT INTO tables (db_id, name, type, last_access, write_id, fmt, body)"
                    f" VALUES (1, '{name}', 'MANAGED_TABLE', 0, -1, 1, '')"
                )
            )
    ensure_schema(database)
    database.run(lambda tx: make_table(tx, "new"))
    stamps = {row.name: row.statistics_stamp for row in tables.rows(database.reader(), "hive", "db")}
    assert stamps["new"] == 0
    assert len(set(stamps.values())) == 3


def test_names_in_an_older_schema_get_stamps_and_changes_are_stamped_after_the_migration(opener: Opener) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        upgrade(connection, "0008")
        connection.execute(sa.text("INSERT INTO catalogs (id, name, fmt, body) VALUES (1, 'hive', 1, '')"))
        connection.execute(sa.text("INSERT INTO databases (id, cat_id, name, fmt, body) VALUES (1, 1, 'db', 1, '')"))
    # A server of the former version has the database open, and goes on after the migration.
    former = opener()
    former.run(lambda tx: make_table(tx, "before"))
    ensure_schema(database)
    before = tables.names_version(database.reader(), "hive", "db")
    assert before is not None
    former.run(lambda tx: make_table(tx, "after"))
    after = tables.names_version(database.reader(), "hive", "db")
    assert after not in (None, before)
    assert tables.names(database.reader(), "hive", "db") == ["after", "before"]


def test_the_migrations_lead_to_the_schema_in_the_code(opener: Opener) -> None:
    database = opener()
    _migrate(database)
    with database.migration() as engine, engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []


def test_the_list_of_revisions_matches_the_files() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    assert tuple(result.revision for result in reversed(list(script.walk_revisions()))) == REVISIONS


def test_an_existing_schema_is_left_alone(database: Database, opener: Opener) -> None:
    before = _described(database)
    ensure_schema(database)
    ensure_schema(opener())
    assert _described(database) == before


def test_a_newer_schema_is_refused_by_a_sentence(database: Database) -> None:
    with database.migration() as engine, engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"schema 9999 of a newer metastored.*upgrade metastored"):
        ensure_schema(database)


def test_a_foreign_database_is_refused_and_left_as_it_was(opener: Opener) -> None:
    database = opener()
    with database.migration() as engine, engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE tables (x INTEGER)"))
    with pytest.raises(StoreError, match="is not metastored's but has tables of the same names: tables"):
        ensure_schema(database)
    assert revision(database) is None


def test_many_servers_may_start_at_once(opener: Opener) -> None:
    opened = [opener() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ensure_schema, opened))
    assert {revision(database) for database in opened} == {HEAD}


def test_a_start_without_migrations_imports_neither_alembic_nor_sqlalchemy(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from metastored.store.engine.opening import open_database\n"
        "from metastored.store.engine.migrate import ensure_schema\n"
        "ensure_schema(open_database(None, Path(sys.argv[1])))\n"
        "print([name for name in ('alembic', 'sqlalchemy', 'psycopg', 'fsspec') if name in sys.modules])"
    )
    for _ in range(2):
        assert finish_python(start_python(program, str(tmp_path))) == "[]"
