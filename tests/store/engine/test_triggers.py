"""The stamp of the names of a database's tables: a new one after each change, whatever program writes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, tables
from tests.store.conftest import Opener, make_table

Write = Callable[[Transaction, int], object]
Version = tuple[int, int] | None

_BY_HAND = (
    "INSERT INTO tables (db_id, name, type, last_access, write_id, fmt, body) VALUES (1, '{}', 'VIEW', 0, -1, 1, '')"
)


def version(database: Database, db: str = "db") -> Version:
    return tables.names_version(database.reader(), "hive", db)


def by_hand(text: str) -> Write:
    return lambda tx, id: tx.run(Statement(text))


def in_place(tx: Transaction, id: int, **changed: object) -> None:
    row = tables.find_by_id(tx, id)
    assert row is not None
    values = {"type": row.type, "owner": "new", "last_access": 9, "write_id": 9, "body": b"new", "params": {"a": "b"}}
    tables.update(tx, id, **{**values, **changed})  # type: ignore[arg-type]


CHANGES: dict[str, Write] = {
    "a new table": lambda tx, id: make_table(tx, "new"),
    "a dropped table": lambda tx, id: tables.delete(tx, id),
    "another name": lambda tx, id: tables.rename(tx, id, 1, "new"),
    "another name, with the rest": lambda tx, id: in_place(tx, id, named=(1, "new")),
    "another type": lambda tx, id: in_place(tx, id, type="VIEW"),
    "a row typed by hand": by_hand(_BY_HAND.format("new")),
    "a name typed by hand": by_hand("UPDATE tables SET name = name || 'x' WHERE db_id = 1"),
    "rows deleted by hand": by_hand("DELETE FROM tables WHERE db_id = 1"),
}

OTHERS: dict[str, Write] = {
    "an altered table": in_place,
    "the same name again": lambda tx, id: tables.rename(tx, id, 1, "t"),
    "statistics": tables.set_statistics_stamp,
    "another database": lambda tx, id: make_table(tx, "t", "other"),
    "no row": by_hand("DELETE FROM tables WHERE id = 77"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_names_or_types_gives_the_database_a_new_stamp(
    database: Database, table_id: int, change: str
) -> None:
    database.run(lambda tx: make_table(tx, "kept", "other"))
    before, other = version(database), version(database, "other")
    database.run(lambda tx: CHANGES[change](tx, table_id))
    after = version(database)
    assert before is not None and after is not None
    assert (after[0], after[1] != before[1]) == (before[0], True)
    assert version(database, "other") == other


@pytest.mark.parametrize("write", OTHERS)
def test_other_writes_keep_the_stamp(database: Database, table_id: int, write: str) -> None:
    before = version(database)
    database.run(lambda tx: OTHERS[write](tx, table_id))
    assert version(database) == before


def test_a_table_that_moves_gives_both_databases_new_stamps(database: Database, table_id: int) -> None:
    database.run(lambda tx: make_table(tx, "kept", "other"))
    before, other = version(database), version(database, "other")
    assert other is not None
    database.run(lambda tx: tables.rename(tx, table_id, other[0], "t"))
    assert version(database) != before and version(database, "other") != other


def test_a_rolled_back_change_keeps_the_stamp(database: Database, table_id: int) -> None:
    before = version(database)

    def fail(tx: Transaction) -> None:
        make_table(tx, "new")
        raise LookupError

    with pytest.raises(LookupError):
        database.run(fail)
    assert version(database) == before
    database.run(lambda tx: make_table(tx, "new"))
    assert version(database) != before


def test_one_connection_writes_a_new_stamp_in_each_transaction(database: Database, table_id: int) -> None:
    seen = {version(database)}
    for number in range(5):
        database.run(lambda tx, number=number: make_table(tx, f"t{number}"))  # type: ignore[misc]
        seen.add(version(database))
    assert len(seen) == 6


def test_a_database_that_is_dropped_with_its_tables_leaves_no_stamp(database: Database, table_id: int) -> None:
    def drop(tx: Transaction) -> None:
        tables.delete(tx, table_id)
        databases.delete(tx, 1)

    database.run(drop)
    assert database.reader().all(Statement("SELECT * FROM table_name_stamps")) == []


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
@pytest.mark.parametrize("how", ["INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR ABORT"])
def test_what_a_statement_does_on_a_conflict_does_not_keep_the_stamp(
    database: Database, table_id: int, how: str
) -> None:
    before = version(database)
    statement = Statement(_BY_HAND.format("new").replace("INSERT", how))
    database.run(lambda tx: tx.run(statement))
    assert version(database) not in (None, before)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_row_that_replaces_one_of_another_database_leaves_that_without_its_stamp(
    database: Database, table_id: int
) -> None:
    database.run(lambda tx: make_table(tx, "kept", "other"))
    replacing = _BY_HAND.format("new").replace("INSERT", "INSERT OR REPLACE")
    replacing = replacing.replace("(db_id", "(id, db_id").replace("(1, ", f"({table_id}, 2, ")
    database.run(lambda tx: tx.run(Statement(replacing)))
    assert tables.names(database.reader(), "hive", "other") == ["kept", "new"]
    assert version(database) is None


@pytest.mark.postgres
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_transactions_that_create_tables_do_not_wait_for_each_other(opener: Opener, database: Database) -> None:
    database.run(make_table)
    with opener().write() as slow:
        make_table(slow, "slow")
        with opener().write() as fast:
            fast.run(Statement("SET LOCAL lock_timeout = 5000"))
            make_table(fast, "fast")
        between = version(database)
        assert tables.names(database.reader(), "hive", "db") == ["fast", "t"]
    assert version(database) != between


@pytest.mark.postgres
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_constraint_that_is_checked_at_once_does_not_keep_the_stamp(database: Database, table_id: int) -> None:
    before = version(database)

    def write(tx: Transaction) -> None:
        tx.run(Statement("SET CONSTRAINTS ALL IMMEDIATE"))
        tx.run(Statement("SAVEPOINT s"))
        make_table(tx, "undone")
        tx.run(Statement("ROLLBACK TO SAVEPOINT s"))
        make_table(tx, "new")

    database.run(write)
    assert version(database) not in (None, before)


@pytest.mark.postgres
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_tables_that_are_truncated_leave_no_stamp(database: Database, table_id: int) -> None:
    database.run(lambda tx: tx.run(Statement("TRUNCATE tables CASCADE")))
    assert version(database) is None
