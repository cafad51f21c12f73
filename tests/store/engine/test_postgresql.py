"""Tests for PostgreSQL only: lost connections, and its locks."""

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from metastored.errors import StoreError
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.engine.snapshot_connections import SNAPSHOT_LIMIT
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import catalogs, databases, events, tables
from tests.store.conftest import make_table
from tests.support.postgres import PostgresServer, running_postgres

_NAMES = Statement("SELECT name FROM catalogs")

pytestmark = pytest.mark.postgres


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    with postgres.database() as url:
        database = open_database(url, None)
        ensure_schema(database)
        yield database
        database.close()


def test_a_restarted_server_costs_one_call_and_the_next_works() -> None:
    with running_postgres() as server, server.database() as url:
        database = open_database(url, None)
        ensure_schema(database)
        # A second thread has a connection of its own, which is lost as well.
        step, reached = threading.Barrier(2, timeout=60), list[object]()

        def other() -> None:
            catalogs.names(database.reader())
            step.wait()
            step.wait()
            reached.append(catalogs.names(database.reader()))

        thread = threading.Thread(target=other)
        thread.start()
        step.wait()
        server.restart()
        with pytest.raises(StoreError, match=r"connection to PostgreSQL was lost.*the next call makes a new one"):
            database.run(lambda tx: catalogs.insert(tx, "a", b""))
        database.run(lambda tx: catalogs.insert(tx, "b", b""))
        step.wait()
        thread.join()
        assert catalogs.names(database.reader()) == ["b"]
        assert reached == [["b"]]
        with database.snapshot() as snapshot:
            assert catalogs.names(snapshot) == ["b"]
        database.close()


def test_a_restarted_server_costs_one_snapshot_and_the_next_works() -> None:
    with running_postgres() as server, server.database() as url:
        database = open_database(url, None)
        ensure_schema(database)
        database.snapshot().close()
        server.restart()
        with pytest.raises(StoreError, match="connection to PostgreSQL was lost"):
            database.snapshot()
        opened = [database.snapshot() for _ in range(SNAPSHOT_LIMIT)]
        rows = opened[0].each(_NAMES)
        server.restart()
        with pytest.raises(StoreError, match="connection to PostgreSQL was lost"):
            list(rows)
        for snapshot in opened:
            snapshot.close()
        assert catalogs.names(database.reader()) == []
        database.close()


def test_a_connection_lost_within_a_transaction_writes_nothing() -> None:
    with running_postgres() as server, server.database() as url:
        database = open_database(url, None)
        ensure_schema(database)

        def work(tx: Transaction) -> None:
            catalogs.insert(tx, "a", b"")
            server.restart()
            catalogs.insert(tx, "b", b"")

        with pytest.raises(StoreError, match="was lost"):
            database.run(work)
        assert catalogs.names(database.reader()) == []
        database.close()


def test_a_server_that_is_not_there_is_named(postgres: PostgresServer) -> None:
    with pytest.raises(StoreError, match=r"PostgreSQL does not respond.*nowhere"):
        open_database(postgres.url("nowhere"), None)


def test_transactions_that_lock_crosswise_both_end_well(database: Database) -> None:
    one, two = database.run(lambda tx: (make_table(tx, "one"), make_table(tx, "two")))
    barrier = threading.Barrier(2, timeout=30)
    calls: list[int] = []

    def crosswise(first: int, second: int) -> None:
        met = False

        def work(tx: Transaction) -> None:
            nonlocal met
            calls.append(first)
            tables.lock(tx, first)
            if not met:
                met = True
                barrier.wait()
            tables.lock(tx, second)

        database.run(work)

    threads = [threading.Thread(target=crosswise, args=pair) for pair in ((one, two), (two, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 3


@pytest.mark.parametrize(
    "change",
    ["DEALLOCATE ALL", "ALTER TABLE catalogs ALTER COLUMN name TYPE varchar(200)"],
    ids=["the statement is gone", "its table was changed"],
)
def test_a_transaction_whose_prepared_statement_cannot_be_used_is_tried_again(database: Database, change: str) -> None:
    for name in ("a", "b", "c"):
        database.run(partial(catalogs.insert, name=name, body=b""))
        database.run(catalogs.names)
    database.run(lambda tx: tx.run(Statement(change)))
    assert database.run(catalogs.names) == ["a", "b", "c"]
    database.run(lambda tx: catalogs.insert(tx, "d", b""))
    assert database.run(catalogs.names) == ["a", "b", "c", "d"]


def test_a_transaction_is_tried_again_if_only_the_statement_of_its_commit_is_gone(database: Database) -> None:
    database.run(lambda tx: catalogs.insert(tx, "a", b""))
    # The version is counted with each commit that changes something, by a statement that is prepared by now.
    double = Statement("UPDATE catalogs SET body = body || body")
    database.run(lambda tx: tx.run(Statement("UPDATE catalogs SET body = 'x'")))
    database.run(lambda tx: tx.run(Statement("UPDATE catalogs SET body = 'y'")))
    database.run(lambda tx: tx.run(Statement("DEALLOCATE ALL")))
    before, tries = database.version(), []

    def change(tx: Transaction) -> None:
        tries.append(tx.run(double))

    database.run(change)
    assert tries == [1, 1]
    assert database.reader().all(Statement("SELECT body FROM catalogs")) == [(b"yy",)]
    assert database.version() == before + 1


def test_a_shared_lock_keeps_a_database_from_being_dropped(database: Database) -> None:
    database.run(make_table)
    row = databases.find(database.reader(), "hive", "db")
    assert row is not None
    order: list[str] = []

    def drop(tx: Transaction) -> None:
        databases.lock(tx, row.id, exclusive=True)
        order.append("locked")

    with database.write() as tx:
        assert databases.lock(tx, row.id)
        thread = threading.Thread(target=lambda: database.run(drop))
        thread.start()
        thread.join(0.2)
        order.append("released")
    thread.join()
    assert order == ["released", "locked"]


def test_event_ids_follow_the_order_of_commits(database: Database) -> None:
    """The later of two transactions waits for the id of the earlier one, and gets that id if it is rolled back."""
    ids: list[int] = []

    def append(tx: Transaction) -> None:
        ids.append(events.append(tx, 0, "X", None, None, None, 1, b""))

    with pytest.raises(KeyError), database.write() as tx:
        append(tx)
        thread = threading.Thread(target=lambda: database.run(append))
        thread.start()
        thread.join(0.2)
        raise KeyError
    thread.join()
    assert ids == [1, 1]
    assert [event.id for event in events.since(database.reader(), 0)] == [1]
