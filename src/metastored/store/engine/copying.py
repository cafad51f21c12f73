"""Copies all rows of one database into an empty one, SQLite or PostgreSQL, and compares both. It only reads its source.

The source is read from one snapshot, so servers may write to it meanwhile. The target gets its tables and all rows in
one transaction: it is complete, or as empty as before. Stamps are new in the target: they tell caches what they hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from sqlalchemy import Boolean, Connection, Double, Table, select, text
from sqlalchemy.exc import DBAPIError

from metastored.errors import StoreError
from metastored.store.engine import schema
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import check_schema, check_unused, creation_statements, revision
from metastored.store.engine.stamps import new_stamp
from metastored.store.engine.statements import SQLITE, Statement, column_list
from metastored.store.engine.transaction import Row, Transaction

ROWS_AT_ONCE: Final = 1000

_STAMP: Final = "statistics_stamp"

Progress = Callable[[int, int], None]
"""Rows that are done, and rows in all."""


def copy_database(source: Database, target: Database, progress: Progress | None = None) -> int:
    """Copies all rows and returns their number. Raises StoreError; then the target is empty.

    The source has the newest schema, and the target none. Ids that the source has used are not used again.
    """
    check_schema(source)
    if revision(target) is not None:
        raise StoreError("the target has tables of metastored's already and is not overwritten: name an empty database")
    check_unused(target.reader())
    snapshot = source.snapshot()
    try:
        total = sum(_count(snapshot, table) for table in schema.own_rows())
        done = 0
        try:
            with target.migration() as engine, engine.begin() as connection:
                for statement in creation_statements(target.dialect):
                    connection.exec_driver_sql(statement)
                connection.execute(schema.counters.delete())
                for table in schema.own_rows():
                    for rows in _batches(snapshot, table):
                        connection.execute(table.insert(), _with_new_stamps(table, rows))
                        done += len(rows)
                        if progress is not None:
                            progress(done, total)
                    _continue_ids(connection, table, _last_id(snapshot, table))
                _compare(snapshot, connection)
        except DBAPIError as error:
            raise StoreError(f"the copy was refused: {' '.join(str(error.orig).split())}") from error
        return done
    finally:
        snapshot.close()


def _count(tx: Transaction, table: Table) -> int:
    row = tx.one(Statement(f"SELECT count(*) FROM {table.name}"))
    assert row is not None
    return int(row[0])


def _batches(tx: Transaction, table: Table) -> Iterator[list[dict[str, Any]]]:
    names = [column.name for column in table.columns]
    rows = tx.each(_all(table))
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        yield [dict(zip(names, _plain(table, row), strict=True)) for row in batch]


def _with_new_stamps(table: Table, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows as the target gets them.

    A server may have cached what it read at the target's address before: no entry is valid for a table of the copy,
    although ids and the stamp may be those that it knew.
    """
    if table is schema.tables:
        for row in rows:
            row[_STAMP] = new_stamp()
    return rows


def _all(table: Table) -> Statement:
    return Statement(f"SELECT {column_list(*(column.name for column in table.columns))} FROM {table.name}")


def _plain(table: Table, row: Row) -> Row:
    """Values that are the same in both databases: SQLite has no booleans, and stores no number that is none as NULL."""
    values: list[Any] = []
    for column, value in zip(table.columns, row, strict=True):
        if isinstance(column.type, Boolean) and value is not None:
            values.append(bool(value))
        elif isinstance(column.type, Double) and value != value:
            values.append(None)
        else:
            values.append(value)
    return tuple(values)


# --- ids ------------------------------------------------------------------------------------------------------


def _has_own_ids(table: Table) -> bool:
    return table.autoincrement_column is not None


def _last_id(tx: Transaction, table: Table) -> int:
    """The highest id that a table has given to a row, which may be deleted; 0 if there was none."""
    if not _has_own_ids(table):
        return 0
    highest = tx.one(Statement(f"SELECT max(id) FROM {table.name}"))
    last = int(highest[0] or 0) if highest is not None else 0
    if tx.dialect != SQLITE:
        row = tx.one(Statement(f"SELECT last_value, is_called FROM {table.name}_id_seq"))
        return max(last, int(row[0]) if row is not None and row[1] else 0)
    row = tx.one(Statement(f"SELECT seq FROM sqlite_sequence WHERE name = '{table.name}'"))
    return max(last, int(row[0]) if row is not None else 0)


def _continue_ids(connection: Connection, table: Table, last: int) -> None:
    """The next id of a table is higher than all that were used."""
    if not last:
        return
    if connection.dialect.name != SQLITE:
        connection.execute(text(f"SELECT setval('{table.name}_id_seq', :last)"), {"last": last})
    elif table.dialect_options["sqlite"]["autoincrement"]:
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        connection.execute(
            text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), {"name": table.name, "last": last}
        )


# --- comparison -----------------------------------------------------------------------------------------------


def _compare(source: Transaction, target: Connection) -> None:
    """Raises StoreError when a table of the target has other rows than the source, but for new stamps."""
    for table in schema.own_rows():
        before = _digest(table, source.each(_all(table)))
        rows = target.execute(select(table), execution_options={"yield_per": ROWS_AT_ONCE})
        after = _digest(table, (tuple(row) for row in rows))
        if before != after:
            raise StoreError(f"the rows of {table.name} were not copied exactly; nothing was written")


def _compared(table: Table, row: Row) -> Row:
    values = _plain(table, row)
    if table is not schema.tables:
        return values
    at = list(table.columns.keys()).index(_STAMP)
    return (*values[:at], *values[at + 1 :])


def _digest(table: Table, rows: Iterator[Row]) -> tuple[int, int]:
    """The number of rows, and the sum of their hashes: the order of rows does not matter."""
    number = total = 0
    for row in rows:
        number += 1
        text_of_row = repr(_compared(table, row)).encode()
        total += int.from_bytes(hashlib.blake2b(text_of_row, digest_size=16).digest())
    return number, total & (2**128 - 1)
