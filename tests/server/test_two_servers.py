"""Two servers on one PostgreSQL behave as one: what is done at one is seen, and finished, at the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from metastored.errors import NoSuchLockException, TxnAbortedException
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import (
    CheckLockRequest,
    LockComponent,
    LockRequest,
    ShowLocksRequest,
    UnlockRequest,
)
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
)
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.objects import table
from tests.support.postgres import shared_postgres

pytestmark = pytest.mark.postgres

ACQUIRED, WAITING = 1, 2
SHARED, EXCLUSIVE = 1, 3
Both = tuple[Client, Client]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    warehouse = tmp_path_factory.mktemp("warehouse").as_uri()
    with (
        shared_postgres().database() as url,
        running_server(database_url=url, warehouse=warehouse, compat="3.1") as one,
        running_server(database_url=url, warehouse=warehouse, compat="3.1") as other,
        Client(one.host, one.port) as to_one,
        Client(other.host, other.port) as to_other,
    ):
        yield to_one, to_other


def lock(client: Client, name: str, type: int, txn: int | None = None, op: int = DataOperationType.SELECT) -> Any:
    part = LockComponent(type=type, level=2, dbname="two", tablename=name, operationType=op, isTransactional=True)
    return client.call("lock", LockRequest(component=(part,), txnid=txn, user="u", hostname="h"))


def opened(client: Client) -> int:
    (txn,) = client.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
    return int(txn)


def write_id(client: Client, name: str, txn: int) -> int:
    request = AllocateTableWriteIdsRequest(dbName="two", tableName=name, txnIds=(txn,))
    (pair,) = client.call("allocate_table_write_ids", request).txnToWriteIds
    return int(pair.writeId)


def test_a_lock_taken_at_one_is_seen_at_the_other(both: Both) -> None:
    one, other = both
    held = lock(one, "a", EXCLUSIVE)
    assert held.state == ACQUIRED
    (seen,) = other.call("show_locks", ShowLocksRequest(dbname="two", tablename="a")).locks
    assert seen.lockid == held.lockid
    waiting = lock(other, "a", SHARED)
    assert waiting.state == WAITING
    other.call("unlock", UnlockRequest(lockid=held.lockid))
    with pytest.raises(NoSuchLockException):
        one.call("check_lock", CheckLockRequest(lockid=held.lockid))
    assert one.call("check_lock", CheckLockRequest(lockid=waiting.lockid)).state == ACQUIRED
    one.call("unlock", UnlockRequest(lockid=waiting.lockid))


def test_a_transaction_opened_at_one_is_committed_at_the_other(both: Both) -> None:
    one, other = both
    txn = opened(one)
    assert txn in other.call("get_open_txns").open_txns
    assert write_id(one, "b", txn) == 1
    held = lock(one, "b", SHARED, txn, DataOperationType.INSERT)
    other.call("commit_txn", CommitTxnRequest(txnid=txn))
    assert txn not in one.call("get_open_txns").open_txns
    assert not one.call("show_locks", ShowLocksRequest(dbname="two", tablename="b")).locks
    assert held.state == ACQUIRED
    (seen,) = one.call("get_valid_write_ids", GetValidWriteIdsRequest(("two.b",))).tblValidWriteIds
    assert (seen.writeIdHighWaterMark, seen.invalidWriteIds) == (1, ())


def test_the_first_committer_wins_wherever_it_commits(both: Both) -> None:
    one, other = both
    first, second = opened(one), opened(other)
    assert [write_id(one, "c", first), write_id(other, "c", second)] == [1, 2]
    for client, txn in ((one, first), (other, second)):
        assert lock(client, "c", SHARED, txn, DataOperationType.UPDATE).state == ACQUIRED
    other.call("commit_txn", CommitTxnRequest(txnid=first))
    with pytest.raises(TxnAbortedException):
        one.call("commit_txn", CommitTxnRequest(txnid=second))


def test_a_transaction_opened_at_one_is_aborted_at_the_other(both: Both) -> None:
    one, other = both
    txn = opened(one)
    other.call("abort_txn", AbortTxnRequest(txnid=txn))
    with pytest.raises(TxnAbortedException):
        one.call("commit_txn", CommitTxnRequest(txnid=txn))


def test_one_server_sees_and_changes_the_objects_and_events_of_the_other(both: Both) -> None:
    one, other = both
    before = one.call("get_current_notificationEventId").eventId
    one.call("create_database", Database(name="two"))
    other.call("create_table", table("two", "t"))
    assert one.call("get_all_tables", "two") == ("t",)
    one.call("drop_table", "two", "t", False)
    assert other.call("get_all_tables", "two") == ()
    events = other.call("get_next_notification", NotificationEventRequest(lastEvent=before)).events
    assert [event.eventType for event in events] == ["CREATE_DATABASE", "CREATE_TABLE", "DROP_TABLE"]
    assert [event.eventId for event in events] == [before + 1, before + 2, before + 3]
