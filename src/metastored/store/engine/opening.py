"""Opens a database of either kind, SQLite or PostgreSQL. The driver of the other kind is never imported."""

from pathlib import Path

from metastored.errors import StoreError
from metastored.store.engine.database import THREADS, Database
from metastored.store.engine.migrate import check_schema


def open_database(url: str | None, data: Path | None, *, threads: int = THREADS, create: bool = True) -> Database:
    """Open the database at a `postgresql://` URL or, without one, the SQLite file in the data folder.

    Without `create`, a folder that has no database is refused and stays as it is. `migrate` checks whether a database
    has tables of metastored.
    """
    if url is None:
        if data is None:
            raise StoreError("no database was given: name a data folder for SQLite, or a postgresql:// URL")
        from metastored.store.engine.sqlite import SqliteDatabase

        return SqliteDatabase(data, threads, create=create)
    scheme = url.partition(":")[0]
    if scheme in ("postgresql", "postgres") and "://" in url:
        from metastored.store.engine.postgresql import PostgresDatabase

        return PostgresDatabase(url, threads)
    raise StoreError(
        f"a database URL that begins with {scheme!r} is not known: use postgresql://user@host/name, "
        "or no URL and a data folder for SQLite"
    )


def open_existing(url: str | None, data: Path | None, *, threads: int = THREADS) -> Database:
    """Opens a database that metastored created before. Creates and migrates nothing; raises StoreError otherwise."""
    database = open_database(url, data, threads=threads, create=False)
    try:
        check_schema(database)
    except BaseException:
        database.close()
        raise
    return database
