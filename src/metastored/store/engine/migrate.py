"""Creates the schema in an empty database, and upgrades one to the schema of this version. It never downgrades.

An empty database gets all tables by the statements of `creating.py` and is marked with the newest revision at once.
Only an older schema needs SQLAlchemy and Alembic, which are slow to import.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metastored.errors import StoreError
from metastored.store.engine.creating import creation, table_names
from metastored.store.engine.database import Database
from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.transaction import Transaction
from metastored.store.engine.triggers import trigger_statements

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""Every revision, oldest first. A test compares them with the files in `migrations/versions`."""

HEAD = REVISIONS[-1]

VERSION_TABLE = "alembic_version"
_READ_REVISION = Statement(f"SELECT version_num FROM {VERSION_TABLE}")


def _has_revision(dialect: str) -> str:
    if dialect == SQLITE:
        return f"SELECT count(*) FROM sqlite_schema WHERE name = '{VERSION_TABLE}'"
    return f"SELECT count(to_regclass('{VERSION_TABLE}'))"


def _tables(dialect: str) -> str:
    if dialect == SQLITE:
        return "SELECT name FROM sqlite_schema WHERE type = 'table'"
    return "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


_HAS_REVISION = Statement(_has_revision)
_TABLES = Statement(_tables)


def revision(database: Database) -> str | None:
    """The revision of a database's schema, None for an empty database."""
    tx = database.reader()
    if tx.one(_HAS_REVISION) == (0,):
        return None
    row = tx.one(_READ_REVISION)
    return None if row is None else str(row[0])


def ensure_schema(database: Database) -> None:
    """Creates or migrates the schema if it is not the newest. Several servers may do this at once."""
    current = revision(database)
    if current is None:
        _create(database)
        current = revision(database)
    if not _is_newest(current):
        _migrate(database)


def _create(database: Database) -> None:
    try:
        with database.creation() as tx:
            # Another server may have done it while this one waited.
            if revision(database) is None:
                check_unused(tx)
                for statement in creation_statements(tx.dialect):
                    tx.run(Statement(statement))
    except StoreError as error:
        # Such as a user of PostgreSQL who may not create tables, or a full disk.
        raise StoreError(f"the schema cannot be set up: {error}") from error


def _migrate(database: Database) -> None:
    from sqlalchemy.exc import DBAPIError

    with database.migration() as engine:
        if _is_newest(revision(database)):
            return
        try:
            with engine.begin() as connection:
                upgrade(connection)
        except DBAPIError as error:
            raise StoreError(f"the schema cannot be set up: {' '.join(str(error.orig).split())}") from error


def check_schema(database: Database) -> None:
    """Raises StoreError when the database does not reply, or has a schema that this metastored does not support."""
    current = revision(database)
    if _is_newest(current):
        return
    if current is None:
        raise StoreError(
            "the database is empty: no metastored has used it yet. Name another one, or let metastored serve set it up"
        )
    raise StoreError(
        f"the database has the schema {current} of an older metastored; this one needs {HEAD}: metastored serve "
        "upgrades it"
    )


class Migration(NamedTuple):
    """One step of an upgrade."""

    revision: str
    description: str


def pending(database: Database) -> list[Migration]:
    """The migrations that a database lacks, oldest first. Raises StoreError for the schema of a newer metastored."""
    current = revision(database)
    if _is_newest(current):
        return []
    if current is None:
        return [Migration(HEAD, "All tables are created.")]
    from alembic.script import ScriptDirectory

    revisions = ScriptDirectory.from_config(alembic_config()).iterate_revisions(HEAD, current)
    return [Migration(each.revision, " ".join((each.doc or "").split())) for each in revisions][::-1]


def _is_newest(current: str | None) -> bool:
    if current is not None and current not in REVISIONS:
        raise StoreError(
            f"the database has the schema {current} of a newer metastored; this one supports schemas up to {HEAD}:"
            f" upgrade metastored"
        )
    return current == HEAD


def check_unused(tx: Transaction) -> None:
    """Raises StoreError when a database without a schema of metastored's has tables of the same names."""
    strangers = {name for (name,) in tx.all(_TABLES)}.intersection(table_names())
    if strangers:
        names = ", ".join(sorted(strangers))
        raise StoreError(
            f"the database is not metastored's but has tables of the same names: {names}; give metastored its own"
        )


def creation_statements(dialect: str) -> tuple[str, ...]:
    """The statements that give an empty database all tables, their triggers and the newest revision."""
    return (
        *creation(dialect),
        *trigger_statements(dialect),
        f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
        f"CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))",
        f"INSERT INTO {VERSION_TABLE} (version_num) VALUES ('{HEAD}')",
    )


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that a database lacks, by Alembic, in the transaction of the connection."""
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def alembic_config() -> Config:
    """Alembic's settings: where the migrations are. There is no file with settings."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
