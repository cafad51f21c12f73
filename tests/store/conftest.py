"""Every test that takes `database` runs twice: on SQLite, and on a real PostgreSQL.

The schema is created once a session; each test gets a copy of that database.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.engine.sqlite import FILE
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, databases, tables

Opener = Callable[[], Database]

BOTH = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))


@cache
def sqlite_template() -> bytes:
    """The file of an SQLite database with the newest schema and no rows."""
    with tempfile.TemporaryDirectory() as name:
        create_schema(None, Path(name))
        return (Path(name) / FILE).read_bytes()


def create_schema(url: str | None, folder: Path | None = None) -> None:
    """Creates the newest schema in an empty database."""
    database = open_database(url, folder, threads=1)
    ensure_schema(database)
    database.close()


@pytest.fixture
def without_schema() -> None:
    """For tests that create the schema themselves: their database has no tables."""


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str | None, Path | None]]:
    """Where a database without rows is: a URL or a data folder, as Database.open takes them."""
    copies = "without_schema" not in request.fixturenames
    if request.param == "sqlite":
        if copies:
            (tmp_path / FILE).write_bytes(sqlite_template())
        yield None, tmp_path
    else:
        with request.getfixturevalue("postgres").database(create_schema if copies else None) as url:
            yield url, None


@pytest.fixture
def opener(place: tuple[str | None, Path | None]) -> Iterator[Opener]:
    """Opens the same database several times, as other processes would."""
    opened: list[Database] = []

    def open_again() -> Database:
        opened.append(open_database(*place, threads=32))
        return opened[-1]

    yield open_again
    for database in opened:
        database.close()


@pytest.fixture
def database(opener: Opener) -> Database:
    """A database with the newest schema and no rows."""
    database = opener()
    ensure_schema(database)
    return database


def make_table(tx: Transaction, name: str = "t", db: str = "db") -> int:
    """A table in `hive.db`, which is made when it is missing; its id."""
    catalog = catalogs.find(tx, "hive")
    cat_id = catalogs.insert(tx, "hive", b"") if catalog is None else catalog.id
    result = databases.find(tx, "hive", db)
    db_id = databases.insert(tx, cat_id, db, b"") if result is None else result.id
    return tables.insert(
        tx, db_id, name, type="MANAGED_TABLE", owner="o", last_access=0, write_id=-1, body=b"", params={}
    )


@pytest.fixture
def table_id(database: Database) -> int:
    """The id of an empty table `hive.db.t`."""
    return database.run(make_table)
