"""Compaction with Spark: minor and major, of full ACID, partitioned, bucketed and insert-only tables, and failures.

The rows of a table are the same before and after each step, for new readers and for those that started before.
"""

from __future__ import annotations

import gc
import random
import time
from contextlib import ExitStack
from typing import Any

import pytest

import metastored
from metastored.hive.orc import read_tail
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction import jobs, worker
from metastored.spark.acid.compaction.cleaner import clean
from metastored.spark.acid.compaction.queue import entries, request
from metastored.spark.acid.compaction.worker import Done, work
from metastored.spark.files import files_of
from tests.spark.acid.conftest import INSERT_ONLY, Warehouse, WrittenOnce, new_warehouse, rows_of
from tests.spark.acid.test_histories import KINDS, found, started
from tests.support.soak import SEED, scaled

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MINOR, MAJOR = CompactionKind.MINOR, CompactionKind.MAJOR


class Lab:
    """A table with a history, and the steps of a compaction."""

    def __init__(self, spark: Any, warehouse: Warehouse, name: str) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.client = warehouse.client
        self.name = name

    def insert(self, *rows: tuple[Any, ...]) -> None:
        with acid.snapshot(self.spark, self.client) as snapshot:
            schema = snapshot.read(self.name).schema
        acid.insert(self.spark, self.name, self.spark.createDataFrame(list(rows), schema), client=self.client)

    def delete(self, where: str) -> None:
        acid.delete(self.spark, self.name, where, client=self.client)

    def update(self, where: str) -> None:
        acid.update(self.spark, self.name, {"x": "x + 1"}, where, client=self.client)

    def compact(self, kind: CompactionKind, partition: str | None = None) -> Done:
        id = request(self.client, table_name(self.name), partition, kind, "test")
        done = work(self.spark, self.client, "test-1")
        assert done is not None and done.id == id
        return done

    def clean(self) -> None:
        """Cleans when the reads of other tests have ended: the garbage collector ends some of them."""
        for _ in range(100):
            gc.collect()
            done = clean(self.client, lambda location: files_of(self.spark, location))
            if found := [each.error for each in done if each.entry.table == table_name(self.name)]:
                assert found == [None]
                return
            time.sleep(0.1)
        raise AssertionError("a reader is still open")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        with acid.snapshot(self.spark, self.client) as snapshot:
            return rows_of(snapshot.read(self.name))

    @property
    def ids(self) -> list[tuple[Any, ...]]:
        """The ids of the rows, which a compaction keeps."""
        with acid.snapshot(self.spark, self.client) as snapshot:
            return rows_of(snapshot.read(self.name, columns=["id", "ROW__ID"]))

    @property
    def directories(self) -> set[str]:
        """The directories that have data, without the numbers of transactions."""
        return {path.rsplit("/", 1)[0].partition("_v")[0] for path in self.warehouse.files(self.name)}


@pytest.fixture
def lab(spark: Any, warehouse: Warehouse, written_once: WrittenOnce) -> Lab:
    made = Lab(spark, warehouse, warehouse.create("t", {"id": "int", "x": "int", "text": "string"}))
    with written_once.statements("lab"):
        made.insert((1, 10, "a"), (2, 20, "b"), (3, 30, "c"))
        made.insert((4, 40, "d"), (5, 50, None))
        made.delete("id = 2")
        made.update("id = 4")
    return made


def test_a_major_compaction_writes_a_base_with_the_same_rows_and_ids(lab: Lab) -> None:
    rows, ids = lab.rows, lab.ids
    assert rows == [(1, 10, "a"), (3, 30, "c"), (4, 41, "d"), (5, 50, None)]
    done = lab.compact(MAJOR)
    assert (done.outcome, done.reason) == ("compacted", None)
    assert lab.rows == rows and lab.ids == ids
    lab.clean()
    assert lab.directories == {"base_0000004"}
    assert lab.rows == rows and lab.ids == ids
    lab.delete("id = 1")
    assert lab.rows == rows[1:]


def test_a_minor_compaction_keeps_deletes_and_can_be_followed_by_others(lab: Lab) -> None:
    rows, ids = lab.rows, lab.ids
    assert lab.compact(MINOR).outcome == "compacted"
    assert lab.rows == rows and lab.ids == ids
    lab.clean()
    assert lab.directories == {"delta_0000001_0000004", "delete_delta_0000001_0000004"}
    assert lab.rows == rows and lab.ids == ids
    lab.insert((6, 60, "f"))
    lab.delete("id = 3")
    expected = lab.rows
    assert lab.compact(MINOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == expected
    assert lab.compact(MAJOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == expected and lab.directories == {"base_0000006"}


def test_a_reader_that_started_before_keeps_its_files(lab: Lab) -> None:
    with acid.snapshot(lab.spark, lab.client) as before:
        frame = before.read(lab.name)
        assert lab.compact(MAJOR).outcome == "compacted"
        cleaned = clean(lab.client, lambda location: files_of(lab.spark, location))
        assert not [each for each in cleaned if each.entry.table == table_name(lab.name)]
        lab.delete("id = 5")
        assert len(rows_of(frame)) == 4 and len(lab.rows) == 3
    lab.clean()
    assert len(lab.rows) == 3


def test_open_and_aborted_transactions_are_left_out(lab: Lab) -> None:
    with pytest.raises(ZeroDivisionError), acid.transaction(lab.spark, lab.client) as aborted:
        aborted.delete(lab.name, "id = 1")
        raise ZeroDivisionError
    rows = lab.rows
    with acid.transaction(lab.spark, lab.client) as opened:
        opened.delete(lab.name, "id = 3")
        assert lab.compact(MAJOR).outcome == "compacted"
        assert lab.rows == rows
    assert lab.rows == [row for row in rows if row[0] != 3]
    lab.clean()
    assert lab.rows == [row for row in rows if row[0] != 3]


def test_all_rows_can_be_deleted(lab: Lab) -> None:
    lab.delete("true")
    assert lab.compact(MAJOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == []
    lab.insert((7, 70, "g"))
    assert lab.rows == [(7, 70, "g")]


def test_a_compaction_with_nothing_to_do_is_refused(lab: Lab) -> None:
    assert lab.compact(MAJOR).outcome == "compacted"
    lab.clean()
    done = lab.compact(MAJOR)
    assert (done.outcome, done.reason) == ("refused", "there is nothing to compact: too few directories")
    assert entries(lab.client)[-1].state == "refused"


def test_a_compaction_that_fails_leaves_nothing_and_says_why(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, files = lab.rows, lab.warehouse.files(lab.name, hidden=True)

    def fail(*_: Any) -> list[str]:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(worker, "run", fail)
        done = lab.compact(MAJOR)
    assert (done.outcome, done.reason) == ("failed", "OSError: the disk is full")
    assert entries(lab.client)[-1].error == "OSError: the disk is full"
    assert lab.rows == rows and lab.warehouse.files(lab.name, hidden=True) == files
    assert lab.compact(MAJOR).outcome == "compacted"
    assert lab.rows == rows


def test_a_partition_is_compacted_alone(spark: Any, warehouse: Warehouse) -> None:
    name = warehouse.create("days", {"id": "int", "x": "int"}, keys={"ds": "string"})
    lab = Lab(spark, warehouse, name)
    for at in range(3):
        lab.insert((at, at, "a b"), (at, at, "c"))
    lab.delete("id = 1")
    rows = lab.rows
    done = lab.compact(MAJOR)
    assert done.outcome == "refused" and "is partitioned" in (done.reason or "")
    assert lab.compact(MAJOR, "ds=a b").outcome == "compacted"
    lab.clean()
    assert lab.rows == rows
    assert "ds=a b/base_0000004" in lab.directories
    assert any(each.startswith("ds=c/delta_0000001_0000001_") for each in lab.directories)


def test_a_bucketed_table_keeps_its_buckets(spark: Any, warehouse: Warehouse) -> None:
    lab = Lab(spark, warehouse, warehouse.create("b", {"id": "int", "x": "int"}, buckets=("id", 2)))
    lab.insert(*((at, at) for at in range(10)))
    lab.insert(*((at, at) for at in range(10, 20)))
    lab.delete("id in (3, 12)")
    rows, ids = lab.rows, lab.ids
    assert lab.compact(MAJOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == rows and lab.ids == ids
    assert {path.rsplit("/", 1)[1] for path in warehouse.files(lab.name)} == {"bucket_00000", "bucket_00001"}


@pytest.mark.parametrize("kind", [MINOR, MAJOR])
def test_a_large_bucket_is_compacted_by_several_tasks(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, kind: CompactionKind
) -> None:
    rows, ids = lab.rows, lab.ids
    monkeypatch.setattr(jobs, "PART", 1)
    assert lab.compact(kind).outcome == "compacted"
    lab.clean()
    assert lab.rows == rows and lab.ids == ids
    data = next(path for path in lab.warehouse.files(lab.name) if not path.startswith("delete"))
    assert data.endswith("/bucket_00000")
    assert len(read_tail((lab.warehouse.path(lab.name) / data).read_bytes()).stripes) > 1  # One of each task.
    lab.delete("id = 1")
    assert lab.rows == rows[1:]


@pytest.mark.parametrize("kind", [MINOR, MAJOR])
def test_a_table_with_many_buckets_is_shuffled(lab: Lab, monkeypatch: pytest.MonkeyPatch, kind: CompactionKind) -> None:
    rows, ids = lab.rows, lab.ids
    monkeypatch.setattr(jobs, "MANY_PARTS", 0)
    assert lab.compact(kind).outcome == "compacted"
    lab.clean()
    assert lab.rows == rows and lab.ids == ids


@pytest.mark.parametrize("format", ["parquet", "orc", "textfile"])
def test_an_insert_only_table_is_compacted_in_its_own_format(spark: Any, warehouse: Warehouse, format: str) -> None:
    name = warehouse.create("log", {"id": "int", "x": "int"}, properties=INSERT_ONLY, format=format)
    lab = Lab(spark, warehouse, name)
    for at in range(3):
        lab.insert((at, at), (at, at + 1))
    rows = lab.rows
    assert lab.compact(MINOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == rows and lab.directories == {"delta_0000001_0000003"}
    lab.insert((9, 9))
    assert lab.compact(MAJOR).outcome == "compacted"
    lab.clean()
    assert lab.rows == [*rows, (9, 9)] and lab.directories == {"base_0000004"}


# Random histories


def compact_all(lab: Lab, chance: random.Random) -> None:
    """Compactions of the table, or of some of its partitions, and perhaps a cleaning."""
    names: list[str | None] = list(lab.client.partition_names(lab.name)) or [None]
    for partition in names:
        kind = chance.choice((MINOR, MAJOR))
        if chance.random() < 0.6 and request(lab.client, table_name(lab.name), partition, kind, "test") is not None:
            done = work(lab.spark, lab.client, "test-1")
            assert done is not None and done.outcome in ("compacted", "refused"), done
    if chance.random() < 0.7:
        cleaned = clean(lab.client, lambda location: files_of(lab.spark, location))
        assert not [each for each in cleaned if each.error is not None]


def run_with_compactions(spark: Any, warehouse: Warehouse, kind: str, seed: int, transactions: int) -> None:
    history = started(spark, warehouse, kind, seed)
    lab, chance = Lab(spark, warehouse, history.name), random.Random(seed)
    with ExitStack() as stack:
        snapshots: list[tuple[Any, dict[int, int]]] = []
        for _ in range(transactions):
            if chance.random() < 0.3:
                snapshot = stack.enter_context(acid.snapshot(spark, lab.client))
                snapshots.append((snapshot.read(history.name), dict(history.rows)))
                history.readers += 1
            history.transaction()
            compact_all(lab, chance)
            with acid.snapshot(spark, lab.client) as now:
                assert found(now.read(history.name)) == history.rows
        for frame, rows in snapshots:
            assert found(frame) == rows, "a snapshot stays as it was"


@pytest.mark.parametrize(("seed", "transactions"), [(329, 2), pytest.param(5, 3, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kind", ["partitioned", "bucketed", "insert-only", "converted"])
def test_compactions_between_random_statements_change_no_snapshot(
    spark: Any, warehouse: Warehouse, kind: str, seed: int, transactions: int
) -> None:
    """Two transactions of each kind of table, with a compaction, a cleaning and a snapshot that is read again later.

    Three transactions, and those of PostgreSQL but one, are in `make soak`.
    """
    run_with_compactions(spark, warehouse, kind, seed, transactions)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "kind",
    ["partitioned", *(pytest.param(each, marks=pytest.mark.soak) for each in ("bucketed", "insert-only", "converted"))],
)
def test_compactions_between_random_statements_change_no_snapshot_on_postgresql(
    spark: Any, postgres_client: metastored.Client, kind: str
) -> None:
    with new_warehouse(postgres_client) as warehouse:
        run_with_compactions(spark, warehouse, kind, seed=5, transactions=3)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(scaled(1)))
@pytest.mark.parametrize("kind", KINDS)
def test_compactions_in_long_histories_change_no_snapshot(
    spark: Any, either_warehouse: Warehouse, kind: str, number: int
) -> None:
    run_with_compactions(spark, either_warehouse, kind, SEED + number, transactions=7)
