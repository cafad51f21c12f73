"""Several writers of one ACID table: no row is lost and none is doubled, on metastored and on Apache's metastores.

The order of the calls is set by the tests: what another writer does is done inside a call of the first one, or by calls
of the client in the order of Hive's own (open, write id, lock).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import metastored
from metastored.client._sync.acid import Write
from metastored.client._sync.locks import Transaction as ClientTransaction
from metastored.client.acid import lock_type, write_components
from metastored.errors import LockFailed, NotSupported, TransactionFailed
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.files.statistics import _Recorder
from metastored.wire.structs import replace
from tests.spark.acid.conftest import Warehouse, WrittenOnce, rows_of
from tests.support.apache import ApacheMetastore

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint", "amount": "bigint"}


Filled = Callable[..., str]
"""Makes the table `t` with rows of these amounts. Returns its name."""


@pytest.fixture
def filled(spark: Any, each_spark_warehouse: Warehouse, written_once: WrittenOnce) -> Filled:
    def table(*amounts: int) -> str:
        name = each_spark_warehouse.create("t", COLUMNS)
        with written_once.statements(f"amounts {amounts}"):
            acid.insert(spark, name, numbered(spark, *amounts), client=each_spark_warehouse.client)
        return name

    return table


def numbered(spark: Any, *amounts: int) -> Any:
    rows = ", ".join(f"({at}L, {amount}L)" for at, amount in enumerate(amounts, 1))
    return spark.sql(f"SELECT * FROM VALUES {rows} AS v(id, amount)").coalesce(1)


def rows(spark: Any, warehouse: Warehouse, name: str) -> list[tuple[Any, ...]]:
    with acid.snapshot(spark, warehouse.client) as snapshot:
        return rows_of(snapshot.read(name))


def before_its_lock(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> None:
    """The next transaction that takes a lock is interrupted by this work: it has its write id, and no lock yet."""
    hold, done = ClientTransaction.hold, threading.Event()

    def interrupted(transaction: Any, *args: Any) -> None:
        if not done.is_set():
            done.set()
            work()
        hold(transaction, *args)

    monkeypatch.setattr(ClientTransaction, "hold", interrupted)


def overwritten_by_hive(spark: Any, warehouse: Warehouse, name: str) -> None:
    """An overwrite by an engine that, as Hive does, does not look for open writers with earlier write ids."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Write, "_problem", lambda *_: None)
        acid.insert_overwrite(spark, name, numbered(spark, 7), client=warehouse.client)


# Updates


def test_a_transaction_that_began_earlier_changes_the_newest_rows(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled
) -> None:
    name, client = filled(1, 1), each_spark_warehouse.client
    with acid.transaction(spark, client) as transaction:
        acid.update(spark, name, {"amount": "amount + 10"}, "id = 1", client=client)
        transaction.update(name, {"amount": "amount * 2"}, "id = 1")
    assert rows(spark, each_spark_warehouse, name) == [(1, 22), (2, 1)]


def test_a_merge_in_a_transaction_that_began_earlier_merges_into_the_newest_rows(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled
) -> None:
    name, client = filled(1, 1), each_spark_warehouse.client
    with acid.transaction(spark, client) as transaction:
        acid.delete(spark, name, "id = 2", client=client)
        transaction.merge(
            name, numbered(spark, 5, 6), "target.id = source.id",
            matched={"amount": "target.amount + source.amount"}, not_matched="*",
        )  # fmt: skip
    assert rows(spark, each_spark_warehouse, name) == [(1, 6), (2, 6)]


def test_an_update_that_another_one_outruns_changes_the_newest_rows(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client = filled(1, 1), each_spark_warehouse.client
    before_its_lock(monkeypatch, lambda: acid.update(spark, name, {"amount": "amount + 10"}, "id = 1", client=client))
    acid.update(spark, name, {"amount": "amount * 2"}, "id = 1", client=client)
    assert rows(spark, each_spark_warehouse, name) == [(1, 22), (2, 1)]


@pytest.mark.parametrize("change", ["update", "delete", "merge", "overwrite"])
def test_a_change_of_rows_that_were_read_before_another_changed_them_fails(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled, change: str
) -> None:
    name, client = filled(1, 1), each_spark_warehouse.client
    with pytest.raises(TransactionFailed), acid.transaction(spark, client) as transaction:
        seen = transaction.read(name).where("id = 1").collect()[0].amount
        acid.update(spark, name, {"amount": "amount + 10"}, "id = 1", client=client)
        match change:
            case "update":
                transaction.update(name, {"amount": str(seen * 2)}, "id = 1")
            case "delete":
                transaction.delete(name, "amount = 1")
            case "merge":
                transaction.merge(
                    name, numbered(spark, 5), "target.id = source.id", matched={"amount": "target.amount + 5"}
                )
            case "overwrite":
                transaction.insert_overwrite(name, transaction.read(name))
    assert rows(spark, each_spark_warehouse, name) == [(1, 11), (2, 1)]


def test_the_second_statement_of_a_transaction_conflicts_with_changes_since_its_snapshot(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled
) -> None:
    name, client = filled(1, 1), each_spark_warehouse.client
    other = each_spark_warehouse.create("other", COLUMNS)
    with pytest.raises(TransactionFailed), acid.transaction(spark, client) as transaction:
        transaction.insert(other, numbered(spark, 1))
        acid.delete(spark, name, "id = 1", client=client)
        transaction.update(name, {"amount": "amount * 2"})
    assert rows(spark, each_spark_warehouse, name) == [(2, 1)]
    assert rows(spark, each_spark_warehouse, other) == []


def test_changes_of_different_partitions_do_not_conflict(spark: Any, each_spark_warehouse: Warehouse) -> None:
    client = each_spark_warehouse.client
    name = each_spark_warehouse.create("t", COLUMNS, keys={"ds": "string"})
    both = numbered(spark, 1, 1).selectExpr("*", "concat('d', id) as ds")
    acid.insert(spark, name, both, client=client)
    with acid.transaction(spark, client) as transaction:
        transaction.read(name)
        acid.update(spark, name, {"amount": "amount + 10"}, "ds = 'd1'", client=client)
        transaction.update(name, {"amount": "amount * 2"}, "ds = 'd2'")
    assert rows(spark, each_spark_warehouse, name) == [(1, 11, "d1"), (2, 2, "d2")]
    with pytest.raises(TransactionFailed), acid.transaction(spark, client) as transaction:
        transaction.read(name)
        acid.update(spark, name, {"amount": "amount + 10"}, "ds = 'd1'", client=client)
        transaction.update(name, {"amount": "amount * 2"}, "ds = 'd1'")
    assert rows(spark, each_spark_warehouse, name) == [(1, 21, "d1"), (2, 2, "d2")]


# Overwrites


def test_an_insert_that_an_overwrite_outruns_is_not_hidden_by_it(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client = filled(1), each_spark_warehouse.client
    before_its_lock(monkeypatch, lambda: overwritten_by_hive(spark, each_spark_warehouse, name))
    acid.insert(spark, name, numbered(spark, 8), client=client)
    assert rows(spark, each_spark_warehouse, name) == [(1, 7), (1, 8)]


def test_an_insert_that_an_overwrite_outruns_fails_if_its_transaction_has_done_something(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client = filled(1), each_spark_warehouse.client
    other = each_spark_warehouse.create("other", COLUMNS)
    with pytest.raises(TransactionFailed, match="another transaction was faster"):
        with acid.transaction(spark, client) as transaction:
            transaction.insert(other, numbered(spark, 1))
            before_its_lock(monkeypatch, lambda: overwritten_by_hive(spark, each_spark_warehouse, name))
            transaction.insert(name, numbered(spark, 8))
    assert (rows(spark, each_spark_warehouse, name), rows(spark, each_spark_warehouse, other)) == ([(1, 7)], [])


def test_an_overwrite_that_an_insert_outruns_replaces_its_rows(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client = filled(1), each_spark_warehouse.client
    before_its_lock(monkeypatch, lambda: acid.insert(spark, name, numbered(spark, 8), client=client))
    acid.insert_overwrite(spark, name, numbered(spark, 7), client=client)
    assert rows(spark, each_spark_warehouse, name) == [(1, 7)]


def test_an_overwrite_by_the_rows_of_the_table_does_not_lose_an_insert(
    spark: Any, each_spark_warehouse: Warehouse, filled: Filled
) -> None:
    name, client = filled(1, 2), each_spark_warehouse.client
    with pytest.raises(TransactionFailed, match="rows that others have committed since its snapshot"):
        with acid.transaction(spark, client) as transaction:
            kept = transaction.read(name, where="amount = 2")
            acid.insert(spark, name, numbered(spark, 9), client=client)
            transaction.insert_overwrite(name, kept)
    assert rows(spark, each_spark_warehouse, name) == [(1, 1), (1, 9), (2, 2)]


def test_an_overwrite_waits_for_a_writer_that_has_a_write_id_and_no_lock(each_warehouse: Warehouse) -> None:
    """Hive's own writers allocate the write id first: a base with a later id would hide their rows."""
    name, client = each_warehouse.create("t", COLUMNS), each_warehouse.client
    with client.transaction() as insert:
        allocated = insert.write_id(name)
        with pytest.raises(LockFailed, match=rf"writers that are still open \(write ids {allocated}\)"):
            with client.write(name, "overwrite", timeout=0.5):
                raise AssertionError("it was given")
        lock = lock_type("insert", client.capabilities.version(), exclusive=True)
        insert.locked(write_components(table_name(name), "insert", lock, (), False), 10).take()
    with client.write(name, "overwrite") as write:
        assert write.write_id > allocated and write.snapshot.is_valid(allocated)


def test_a_second_insert_of_a_transaction_does_not_wait_for_an_overwrite_that_waits_for_it(
    each_warehouse: Warehouse,
) -> None:
    name, client = each_warehouse.create("t", COLUMNS), each_warehouse.client
    errors: list[Exception] = []

    def overwrite() -> None:
        with metastored.connect(client.uri, user="ann") as other:
            try:
                with other.write(name, "overwrite", timeout=60):
                    pass
            except Exception as error:
                errors.append(error)

    with client.transaction() as transaction:
        with client.write(name, transaction=transaction) as write:
            own = write.write_id
        waiting = threading.Thread(target=overwrite)
        waiting.start()
        while len(client.api.show_locks(show_locks_of(name)).locks or ()) < 2:
            pass
        with client.write(name, transaction=transaction, timeout=1):
            pass
    waiting.join(60)
    assert not errors and not waiting.is_alive()
    with client.read(name) as read:
        assert read.snapshots[name].high_watermark > own


def show_locks_of(name: str) -> Any:
    from metastored.wire.generated.locks import ShowLocksRequest

    database, _, table = name.partition(".")
    return ShowLocksRequest(dbname=database, tablename=table)


# Definitions


@pytest.mark.parametrize("keys", [None, {"ds": "string"}], ids=["table", "partition"])
def test_a_write_does_not_undo_an_alter_of_the_table(
    spark: Any, each_spark_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, keys: dict[str, str] | None
) -> None:
    """Others alter the table, or its partition, while the write counts its files; on metastored at any moment."""
    client = each_spark_warehouse.client
    # Hive 2.3 alters an ACID table only if it has buckets.
    buckets = ("id", 1) if each_spark_warehouse.server == "metastored 2.3" else None
    name = each_spark_warehouse.create("t", COLUMNS, keys=keys, buckets=buckets)
    new = numbered(spark, 1) if keys is None else numbered(spark, 1).selectExpr("*", "'a' as ds")
    acid.insert(spark, name, new, client=client)
    # Apache's metastores have no such condition: what is altered between the last read and the write is lost.
    moment = "_visible" if each_spark_warehouse.server.startswith("hive") else "_changed"
    recorded, altered = getattr(_Recorder, moment), threading.Event()

    def and_then_altered(recorder: Any, *args: Any) -> Any:
        if not altered.is_set():
            altered.set()
            with metastored.connect(client.uri, user="bob") as other:
                other.alter(name, with_parameters(other.table(name)))
                for part in other.partitions(name):
                    other.api.alter_partitions(each_spark_warehouse.database, "t", (with_parameters(part),))
        return recorded(recorder, *args)

    monkeypatch.setattr(_Recorder, moment, and_then_altered)
    acid.insert(spark, name, new, client=client)
    # Hive 3.1 has no call for statistics of a write.
    assert altered.is_set() == (each_spark_warehouse.server != "hive 3.1.3")
    if altered.is_set():
        objects: list[Any] = [client.fresh_table(name), *client.partitions(name)]
        assert [(each.parameters or {}).get("theirs") for each in objects] == ["1"] * len(objects)
        assert (objects[-1].parameters or {}).get("numRows") == "2"
    assert len(rows(spark, each_spark_warehouse, name)) == 2


def with_parameters(each: Any) -> Any:
    return replace(each, parameters={**(each.parameters or {}), "theirs": "1"})


# Writes by calls of the client alone


def test_an_overwrite_does_not_wait_for_aborted_writers(each_warehouse: Warehouse) -> None:
    name, client = each_warehouse.create("t", COLUMNS), each_warehouse.client
    with client.transaction() as insert:
        insert.write_id(name)
        insert.abort()
        assert client.transaction_state(insert.id) == "aborted"
    with client.write(name, "overwrite", timeout=1) as write:
        assert client.transaction_state(write.transaction.id) == "open"
    assert client.transaction_state(write.transaction.id) == "committed"


@pytest.mark.apache
def test_hive_2_3_itself_is_refused(hive_2_3: ApacheMetastore) -> None:
    with metastored.connect(hive_2_3.uri, user="ann") as client:
        with pytest.raises(NotSupported, match=r"3\.0"), client.transaction():
            raise AssertionError("it was opened")


def test_a_write_sees_all_that_was_committed_before_its_lock(each_warehouse: Warehouse) -> None:
    name, client = each_warehouse.create("t", COLUMNS), each_warehouse.client
    with client.transaction() as early, client.transaction() as late:
        with client.write(name, "update", transaction=late) as first:
            pass
        late.commit()
        with client.write(name, "delete", transaction=early) as second:
            assert second.snapshot.is_valid(first.write_id)
        checked = second.exclusive is not True
        if checked:
            with pytest.raises(TransactionFailed):
                early.commit()


def test_several_writes_of_a_transaction_are_checked_for_conflicts(each_warehouse: Warehouse) -> None:
    name, other = (each_warehouse.create(each, COLUMNS) for each in ("t", "other"))
    client = each_warehouse.client
    with pytest.raises(TransactionFailed), client.transaction() as transaction:
        with client.write(other, "update", transaction=transaction):
            pass
        with client.write(name, "update") as faster:
            pass
        with client.write(name, "update", transaction=transaction) as write:
            assert not write.snapshot.is_valid(faster.write_id)
