"""The initiator and the queue, with a real metastore and directories without rows."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import TransactionFailed
from metastored.hive.locations import join
from metastored.hive.transactions.compaction import CompactionKind, Thresholds
from metastored.model.names import TableName
from metastored.spark.acid.compaction.initiator import initiate, is_blocked
from metastored.spark.acid.compaction.queue import (
    Entry,
    interrupted,
    request,
    requeue_interrupted,
    worker_id,
    worker_lease,
)
from metastored.spark.files import files_of
from metastored.wire.generated.compaction import FindNextCompactRequest
from metastored.wire.generated.transactions import TxnType
from tests.spark.acid.compaction.places import ORDERS, Place, place

pytestmark = pytest.mark.slow

PATIENCE = 120.0


@pytest.fixture
def orders() -> Iterator[Place]:
    with place() as found:
        yield found


def initiated(orders: Place, thresholds: Thresholds = Thresholds(deltas=1)) -> list[tuple[str, str | None, str]]:  # noqa: B008
    done = initiate(orders.client, lambda location: files_of(None, location), thresholds)
    return [(str(each.table), each.partition, each.kind.name) for each in done]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metastored", "compact", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)


def test_a_table_above_a_threshold_is_requested_once(orders: Place) -> None:
    orders.write()
    assert initiated(orders) == []
    orders.write()
    assert initiated(orders) == [("shop.orders", None, "MAJOR")]
    assert initiated(orders) == []
    assert [(each.state, each.kind) for each in orders.queue()] == [("initiated", "major")]


def test_small_deltas_beside_a_base_need_a_minor_compaction(orders: Place) -> None:
    orders.write()
    orders.make("base_0000001", 10_000)
    orders.write(), orders.write()
    assert initiated(orders) == [("shop.orders", None, "MINOR")]


def test_each_partition_is_looked_at(orders: Place) -> None:
    client = orders.client
    table = metastored.table(
        "shop.days", {"id": "int"}, partitioned_by={"ds": "string"}, format="orc", properties={"transactional": "true"}
    )
    client.create_table(table)
    client.add_partitions("shop.days", [{"ds": "1"}, {"ds": "2"}])
    location = client.partition("shop.days", {"ds": "2"}).sd.location or ""  # type: ignore[union-attr]
    for _ in range(2):
        with client.write("shop.days") as write:
            files = files_of(None, location)
            name = join(location, f"delta_{write.write_id:07d}_{write.write_id:07d}_0000")
            files.make(name)
            files.write(join(name, "bucket_00000"), b"x")
            write.wrote("ds=2")
    assert initiated(orders) == [("shop.days", "ds=2", "MAJOR")]


def test_a_table_without_automatic_compaction_is_left_alone() -> None:
    with place(no_auto_compaction="true") as orders:
        orders.write(), orders.write()
        assert initiated(orders) == []


def test_a_table_has_its_own_threshold() -> None:
    with place(**{"compactorthreshold.hive.compactor.delta.num.threshold": "2"}) as orders:
        orders.write(), orders.write()
        assert initiated(orders) == []
        orders.write()
        assert initiated(orders) == [("shop.orders", None, "MAJOR")]


def test_nothing_is_requested_after_two_failures_in_a_row() -> None:
    table = TableName("", "a", "b")
    failed = [Entry(at, table, None, 2, "failed") for at in (1, 2)]
    assert is_blocked(failed, table, None)
    assert not is_blocked(failed[:1], table, None) and not is_blocked(failed, table, "p=1")
    assert not is_blocked([*failed, Entry(3, table, None, 2, "succeeded")], table, None)
    assert is_blocked([Entry(3, table, None, 2, "working")], table, None)


def test_a_compaction_of_a_worker_whose_lease_is_free_is_requested_again(orders: Place) -> None:
    orders.write(), orders.write()
    request(orders.client, ORDERS, None, CompactionKind.MINOR, "test")
    worker = worker_id()
    with worker_lease(orders.client, worker):
        info = orders.client.api.find_next_compact2(FindNextCompactRequest(workerId=worker)).ci
        assert info is not None
        assert requeue_interrupted(orders.client) == [], "it is at work"
        slow = orders.client.transaction(type=TxnType.COMPACTION).__enter__()
        orders.client.api.update_compactor_state(info, slow.id)
        assert requeue_interrupted(orders.client) == []
    assert [each.id for each in requeue_interrupted(orders.client)] == [1]
    assert [(each.state, each.kind) for each in orders.queue()] == [("failed", "minor"), ("initiated", "minor")]
    with pytest.raises(TransactionFailed):
        slow.commit()


def test_a_worker_has_another_name_each_time_and_one_that_every_metastore_can_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "a" * 250)
    assert worker_id() != worker_id()
    assert len(worker_id()) <= 128


def test_compactions_of_workers_at_work_and_of_hive_are_left_alone() -> None:
    table = TableName("", "a", "b")
    ours = "metastored-{}-7-0123456789abcdef"
    queue = [
        Entry(1, table, None, 1, "working", worker=ours.format("worker-1-1")),
        Entry(2, table, None, 1, "working", worker=ours.format("worker-11")),
        Entry(3, table, None, 1, "working", worker="metastored-worker-11-7"),
        Entry(4, table, None, 1, "initiated", worker=ours.format("worker-11")),
        Entry(5, table, None, 1, "working", worker="hive-host-31"),
        Entry(6, table, None, 1, "working"),
    ]
    assert [each.id for each in interrupted(queue, lambda worker: worker != queue[0].worker)] == [2]


def test_a_compaction_whose_transaction_was_aborted_is_requested_again_on_any_host(orders: Place) -> None:
    orders.write(), orders.write()
    request(orders.client, ORDERS, None, CompactionKind.MINOR, "test")
    info = orders.client.api.find_next_compact2(FindNextCompactRequest(workerId="elsewhere-7")).ci
    assert info is not None
    transaction = orders.client.transaction(type=TxnType.COMPACTION).__enter__()
    orders.client.api.update_compactor_state(info, transaction.id)
    assert requeue_interrupted(orders.client) == []
    transaction.abort()
    assert [each.id for each in requeue_interrupted(orders.client)] == [1]
    assert [(each.state, each.kind) for each in orders.queue()] == [("failed", "minor"), ("initiated", "minor")]


# On the command line


def test_a_compaction_is_requested_and_listed_on_the_command_line(orders: Place) -> None:
    done = run("request", "shop.orders", "--kind", "minor", "--uri", orders.uri)
    assert (done.returncode, done.stdout) == (0, "1 shop.orders minor requested\n")
    done = run("request", "shop.orders", "--uri", orders.uri)
    assert done.returncode == 2 and "waits or runs already" in done.stderr
    done = run("request", "shop.nothing", "--uri", orders.uri)
    assert done.returncode == 2 and "shop.nothing" in done.stderr
    found = json.loads(run("list", "--output", "json", "--uri", orders.uri).stdout)
    assert found["rows"] == [[1, "shop.orders", None, "minor", "initiated", None, None, None]]
    assert "shop.orders" in run("list", "--uri", orders.uri).stdout


def test_the_initiator_and_the_cleaner_run_once_without_spark(orders: Place) -> None:
    orders.write(), orders.write()
    done = run("initiator", "--once", "--deltas", "1", "--uri", orders.uri)
    assert (done.returncode, done.stdout) == (0, "1 shop.orders major requested\n")
    orders.client.api.mark_failed(orders.queue()[0].info)
    orders.compact()
    done = run("cleaner", "--once", "--uri", orders.uri)
    assert (done.returncode, done.stdout) == (0, "2 shop.orders removed 2 directories\n")
    assert len(orders.names()) == 1
