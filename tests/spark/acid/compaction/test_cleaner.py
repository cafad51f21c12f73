"""The cleaner, with a real metastore and directories without rows: what it removes, and what it leaves for readers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.model.names import TableName
from metastored.spark.acid.compaction.cleaner import Cleaned, clean, due
from metastored.spark.acid.compaction.queue import READY, Entry
from metastored.spark.acid.compaction.waiting import find_holder
from metastored.spark.files import files_of
from tests.spark.acid.compaction.places import ORDERS, Place, place

pytestmark = pytest.mark.slow


@pytest.fixture
def orders() -> Iterator[Place]:
    with place() as found:
        yield found


def cleaned(orders: Place) -> list[Cleaned]:
    return clean(orders.client, lambda location: files_of(None, location))


def test_directories_that_a_compaction_has_replaced_are_removed(orders: Place) -> None:
    orders.write(), orders.write()
    transaction = orders.compact()
    (done,) = cleaned(orders)
    assert done.error is None and len(done.removed) == 2
    assert orders.names() == [f"base_0000002_v{transaction:07d}"]
    assert [each.state for each in orders.queue()] == ["succeeded"]
    assert cleaned(orders) == []


def test_a_reader_that_started_before_the_compaction_keeps_its_files(orders: Place) -> None:
    orders.write(), orders.write()
    with orders.client.read(ORDERS):
        orders.compact()
        assert cleaned(orders) == []
        assert len(orders.names()) == 3
    assert len(cleaned(orders)) == 1
    assert len(orders.names()) == 1


def test_the_transaction_that_the_cleaner_waits_for_is_named(orders: Place) -> None:
    orders.write(), orders.write()
    with orders.client.transaction() as forgotten:
        assert find_holder(orders.client) is None  # Nothing is to be cleaned.
        orders.compact()
        with orders.client.read(ORDERS):
            held = find_holder(orders.client)
        assert held is not None and held.transaction == forgotten.id
        assert [each.table for each in held.compactions] == [ORDERS]
        assert f"metastored transactions --abort {forgotten.id}" in str(held)
        forgotten.abort()
    with orders.client.transaction():  # It began after the compaction.
        assert find_holder(orders.client) is None
    assert len(cleaned(orders)) == 1


def test_a_reader_that_starts_after_the_compaction_does_not_delay_the_cleaner(orders: Place) -> None:
    orders.write(), orders.write()
    orders.compact()
    with orders.client.read(ORDERS):
        assert len(cleaned(orders)) == 1


def test_later_writes_stay(orders: Place) -> None:
    orders.write(), orders.write()
    orders.compact()
    orders.write()
    cleaned(orders)
    assert [name.partition("_v")[0] for name in orders.names()] == ["base_0000002", "delta_0000003_0000003_0000"]


def test_files_of_aborted_transactions_and_of_killed_workers_are_removed(orders: Place) -> None:
    orders.write(), orders.write(abort=True)
    aborted = orders.compact(abort=True)
    orders.make(f"_tmp_compact_{aborted}")
    orders.write()
    orders.compact()
    (done,) = cleaned(orders)
    assert f"base_0000002_v{aborted:07d}" in done.removed and f"_tmp_compact_{aborted}" in done.removed
    assert len(orders.names()) == 1


def test_a_compaction_of_a_table_that_was_dropped_is_done(orders: Place) -> None:
    orders.write(), orders.write()
    orders.compact()
    orders.client.drop_table(ORDERS)
    assert all(each.removed == () for each in cleaned(orders))


def test_a_failure_leaves_the_compaction_in_the_queue(orders: Place) -> None:
    orders.write(), orders.write()
    orders.compact()

    class Broken:
        def __getattr__(self, name: str) -> object:
            raise OSError("the disk is gone")

    (done,) = clean(orders.client, lambda _: Broken())  # type: ignore[arg-type,return-value]
    assert done.error == "the disk is gone"
    assert [each.state for each in orders.queue()] == [READY]


def test_only_the_oldest_compaction_of_an_object_is_cleaned_at_a_time() -> None:
    table = TableName("", "a", "b")
    queue = [
        Entry(1, table, None, 2, READY, next_txn_id=10),
        Entry(2, table, None, 2, READY, next_txn_id=11),
        Entry(3, table, "p=1", 2, READY, next_txn_id=20),
        Entry(4, table, "p=2", 2, "working"),
        Entry(5, table, "p=3", 2, READY),
    ]
    assert [each.id for each in due(queue, 15)] == [1, 5]
