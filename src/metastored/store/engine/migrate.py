"""Upgrades a database to the schema of this version of metastored. It never downgrades.

Alembic is slow to import, so it is only used when there is something to migrate. An empty database gets the
tables of `schema` and is marked with the newest revision at once.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from metastored.errors import StoreError
from metastored.store.engine import schema
from metastored.store.engine.database import Database
from metastored.store.engine.statements import SQLITE, Statement

if TYPE_CHECKING:
    from alembic.config import Config

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
"""Every revision, oldest first. A test compares them with the files in `migrations/versions`."""

HEAD = REVISIONS[-1]

VERSION_TABLE = "alembic_version"
_CREATE_VERSION_TABLE = text(
    f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
    f"CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
)
_STAMP = text(f"INSERT INTO {VERSION_TABLE} (version_num) VALUES (:revision)")
_READ_REVISION = Statement(text(f"SELECT version_num FROM {VERSION_TABLE}"))


def _exists(dialect: str) -> str:
    if dialect == SQLITE:
        return f"SELECT count(*) FROM sqlite_schema WHERE name = '{VERSION_TABLE}'"
    return f"SELECT count(to_regclass('{VERSION_TABLE}'))"


_HAS_REVISION = Statement(lambda dialect: text(_exists(dialect)))


def revision(database: Database) -> str | None:
    """The revision of a database's schema, None for an empty database."""
    tx = database.reader()
    if tx.one(_HAS_REVISION) == (0,):
        return None
    row = tx.one(_READ_REVISION)
    return None if row is None else str(row[0])


def ensure_schema(database: Database) -> None:
    """Creates or migrates the schema if it is not the newest. Several servers may do this at once."""
    if _is_newest(revision(database)):
        return
    with database.migration() as engine:
        # Another server may have done it while this one waited.
        current = revision(database)
        if _is_newest(current):
            return
        try:
            with engine.begin() as connection:
                if current is None:
                    create(connection)
                else:
                    upgrade(connection)
        except DBAPIError as error:
            # Such as a user of PostgreSQL who may not create tables, or a full disk.
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


def create(connection: Connection) -> None:
    """Creates all tables in an empty database."""
    strangers = set(inspect(connection).get_table_names()) & set(schema.metadata.tables)
    if strangers:
        names = ", ".join(sorted(strangers))
        raise StoreError(
            f"the database is not metastored's but has tables of the same names: {names}; give metastored its own"
        )
    schema.metadata.create_all(connection, checkfirst=False)
    connection.execute(
        schema.counters.insert(), [{"name": name, "value": value} for name, value in schema.FIRST_COUNTERS]
    )
    if connection.dialect.name == SQLITE:
        # It creates the table of statistics and leaves it empty.
        connection.exec_driver_sql("ANALYZE sqlite_schema")
        connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", list(schema.SQLITE_STATISTICS))
    connection.execute(_CREATE_VERSION_TABLE)
    connection.execute(_STAMP, {"revision": HEAD})


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the migrations that a database lacks, by Alembic, in the transaction of the connection."""
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def alembic_config() -> "Config":
    """Alembic's settings: where the migrations are. There is no file with settings."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
