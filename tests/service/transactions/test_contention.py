"""Eight processes contend for locks and transactions: no update is lost, no process waits for ever, no lock remains."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from metastored.hive.transactions.locks import LockState
from metastored.model.names import TableName
from metastored.store.engine.statements import Statement
from metastored.store.objects import events
from metastored.store.transactions import write_ids
from metastored.wire.generated.locks import LockComponent, LockRequest, ShowLocksRequest
from tests.service.conftest import Starter
from tests.support.processes import finish_python, start_python

pytestmark = pytest.mark.slow

Place = tuple[str | None, Path | None]

_CLIENT = """
import sys, time
from pathlib import Path
from metastored.errors import TxnAbortedException
from metastored.service.transactions import locks, transactions, write_ids
from metastored.service.core.context import Context, Service
from metastored.store.engine.opening import open_database
from metastored.store.engine.statements import Statement
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.locks import CheckLockRequest, LockComponent, LockRequest, UnlockRequest
from metastored.wire.generated.transactions import (
    AllocateTableWriteIdsRequest, CommitTxnRequest, OpenTxnRequest
)
from metastored.wire.message import Session

READ = Statement("SELECT value FROM meta WHERE key = :name")
WRITE = Statement("UPDATE meta SET value = :value WHERE key = :name")

url, data, times, number, task = sys.argv[1:]
database = open_database(url or None, Path(data) if data else None)
ctx = Context(Service(database, Warehouse("file:/nowhere", "off")), Session("client"))

def increase(name):
    # Not in one transaction: only the lock keeps others away.
    value = int(database.reader().one(READ, name=name)[0])
    database.run(lambda tx: tx.run(WRITE, name=name, value=str(value + 1)))

def ask(table, kind, txn=None, op=1):
    part = LockComponent(type=kind, level=2, dbname="db", tablename=table, operationType=op)
    return locks.lock(ctx, LockRequest(component=(part,), txnid=txn, user="u", hostname="h"))

def wait(found):
    deadline = time.monotonic() + 100
    while found.state != 1:
        if time.monotonic() > deadline:
            raise SystemExit(f"lock {found.lockid} was never given")
        time.sleep(0.002)
        found = locks.check_lock(ctx, CheckLockRequest(lockid=found.lockid))
    return found

def alone(table):
    found = wait(ask(table, 3))
    increase(table)
    locks.unlock(ctx, UnlockRequest(lockid=found.lockid))

def update(table):
    while True:
        (txn,) = transactions.open_txns(ctx, OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
        write_ids.allocate_table_write_ids(
            ctx, AllocateTableWriteIdsRequest(dbName="db", tableName=table, txnIds=(txn,))
        )
        ask(table, 1, txn, 3)
        try:
            transactions.commit_txn(ctx, CommitTxnRequest(txnid=txn))
            return
        except TxnAbortedException:
            pass

if task == "hold":
    found = wait(ask("t", 3))
    print("holding", flush=True)
    time.sleep(600)
for turn in range(int(times)):
    alone("tu"[(turn + int(number)) % 2])
    update("w")
print("done")
"""

_BEGIN = Statement("INSERT INTO meta (key, value) VALUES (:name, '0')")
_VALUE = Statement("SELECT value FROM meta WHERE key = :name")


def _arguments(place: Place, times: int, number: int, task: str = "work") -> tuple[str, ...]:
    return place[0] or "", str(place[1] or ""), str(times), str(number), task


def contend(start: Starter, place: Place, times: int) -> None:
    metastore = start()
    for name in ("t", "u"):
        metastore.database.run(lambda tx, name=name: tx.run(_BEGIN, name=name))  # type: ignore[misc]
    clients = [start_python(_CLIENT, *_arguments(place, times, number)) for number in range(8)]
    assert [finish_python(client, timeout=1500) for client in clients] == ["done"] * 8
    reader = metastore.database.reader()
    increased = [int((reader.one(_VALUE, name=name) or ("0",))[0]) for name in ("t", "u")]
    assert sum(increased) == 8 * times
    assert metastore.call("show_locks", ShowLocksRequest()).locks == ()
    result = metastore.call("get_open_txns")
    assert result.min_open_txn is None
    # Every transaction got the write id of its turn, with no gap and none twice.
    counter = write_ids.counter(reader, TableName("hive", "db", "w"))
    assert counter is not None
    given = write_ids.all(reader, counter)
    assert sorted(write_id for _, write_id in given) == list(range(1, len(given) + 1))
    assert len(given) == result.txn_high_water_mark
    assert len(given) - len(result.open_txns) == 8 * times
    logged = [event.id for event in events.since(reader, 0)]
    assert logged == list(range(1, len(logged) + 1))


def test_eight_clients_lose_no_update_and_leave_no_lock(start: Starter, place: Place) -> None:
    contend(start, place, 6)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_eight_clients_lose_no_update_in_20_000_operations(start: Starter, place: Place) -> None:
    # A turn is at least seven calls: lock, unlock, open, allocate, lock, commit, and a check.
    contend(start, place, 360)


def test_the_lock_of_a_killed_process_is_gone_after_its_time_out(start: Starter, place: Place) -> None:
    metastore = start()
    client = start_python(_CLIENT, *_arguments(place, 0, 0, "hold"))
    try:
        assert client.stdout is not None
        assert client.stdout.readline().strip() == "holding"
    finally:
        client.send_signal(signal.SIGKILL)
        client.communicate()
    (lock,) = metastore.call("show_locks", ShowLocksRequest()).locks
    metastore.clock.now = lock.lastheartbeat / 1000
    expected = LockComponent(type=3, level=2, dbname="db", tablename="t", operationType=1)
    request = LockRequest(component=(expected,), user="u", hostname="h")
    metastore.clock.forward(299)
    assert metastore.call("lock", request).state == LockState.WAITING
    metastore.clock.forward(200)
    metastore.reap()
    assert [one.lockid for one in metastore.call("show_locks", ShowLocksRequest()).locks] == [2]
