"""The database of a metastored that is measured: its size, and many tables in it without a call for each of them.

A million `create_table` calls take half an hour. Copies of one table's rows take seconds, and their columns are those
that the call wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.sqlite import FILE

DIGITS: Final = 8
"""Names of copied tables have as many digits, so they sort as their numbers do."""


class Store:
    """A connection of its own to the database of a running server."""

    def __init__(self, address: str) -> None:
        self._engine: Final = sa.create_engine(address)
        self.kind: Final = "SQLite" if self._engine.dialect.name == "sqlite" else "PostgreSQL"

    @classmethod
    def of_folder(cls, folder: Path) -> Store:
        return cls(f"sqlite:///{folder / FILE}")

    @classmethod
    def of_url(cls, url: str) -> Store:
        return cls(url.replace("postgresql://", "postgresql+psycopg://", 1))

    @property
    def size(self) -> int:
        """The bytes of all tables and indexes. SQLite's log is not counted: it is emptied from time to time."""
        statement = (
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            if self.kind == "SQLite"
            else "SELECT pg_database_size(current_database())"
        )
        with self._engine.connect() as connection:
            return int(connection.execute(sa.text(statement)).scalar_one())

    def copy_table(self, database: str, name: str, count: int) -> None:
        """Adds this many tables, named by `copied`, with the columns and parameters of one that exists.

        The triggers of the database tell the caches of names; nothing else tells a server about these rows.
        """
        columns = ", ".join(f'"{column.name}"' for column in schema.tables.columns if column.name not in _OWN)
        with self._engine.begin() as connection:
            seed = connection.execute(_FIND, {"database": database, "name": name}).one()
            connection.execute(
                sa.text(
                    f"INSERT INTO tables (name, {columns}) "
                    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count) "
                    f"SELECT 'c' || substr(CAST({10**DIGITS} + n.i AS TEXT), 2), {columns} "
                    "FROM n CROSS JOIN tables WHERE id = :id"
                ),
                {"count": count, "id": seed.id},
            )
            connection.execute(_COPY_PARAMETERS, {"database": seed.db_id, "id": seed.id})

    def analyze(self) -> None:
        """Gives PostgreSQL's planner the statistics that autovacuum gives it after a minute; SQLite's are fixed."""
        if self.kind == "PostgreSQL":
            with self._engine.connect() as connection:
                connection.execute(sa.text("ANALYZE"))
                connection.commit()

    def close(self) -> None:
        self._engine.dispose()


_OWN: Final = ("id", "name")
_FIND: Final = sa.text(
    "SELECT t.id, t.db_id FROM tables t JOIN databases d ON d.id = t.db_id WHERE d.name = :database AND t.name = :name"
)
_COPY_PARAMETERS: Final = sa.text(
    'INSERT INTO table_params (table_id, "key", value) SELECT t.id, p."key", p.value FROM tables t '
    "CROSS JOIN table_params p WHERE t.db_id = :database AND t.id != :id AND p.table_id = :id"
)


def copied(number: int) -> str:
    """The name of a copied table."""
    return f"c{number:0{DIGITS}}"
