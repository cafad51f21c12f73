"""Locks as clients see them."""

from __future__ import annotations

import pytest

from metastored.errors import (
    ApplicationError,
    NoSuchLockException,
    NoSuchTxnException,
    TxnAbortedException,
    TxnOpenException,
)
from metastored.hive.generation import Generation
from metastored.hive.transactions.locks import LockState, LockType
from metastored.model.names import TableName
from metastored.store.transactions import resources
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockMaterializationRebuildRequest,
    LockRequest,
    LockResponse,
    ShowLocksRequest,
    UnlockRequest,
)
from metastored.wire.generated.transactions import AbortTxnRequest, CommitTxnRequest, OpenTxnRequest, TxnType
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

READ, WRITE, EXCLUSIVE, EXCL_WRITE = 1, 2, 3, 4
ACQUIRED, WAITING, NOT_ACQUIRED = LockState.ACQUIRED, LockState.WAITING, LockState.NOT_ACQUIRED


def part(
    type: int, table: str | None = "t", partition: str | None = None, db: str = "db", **other: object
) -> LockComponent:
    level = 1 if table is None else 2 if partition is None else 3
    other.setdefault("operationType", DataOperationType.SELECT)
    return LockComponent(
        type=type,
        level=level,
        dbname=db,
        tablename=table,
        partitionname=partition,
        **other,  # type: ignore[arg-type]
    )


def request_lock(
    metastore: Metastore, *components: LockComponent, txn: int | None = None, **other: object
) -> LockResponse:
    request = LockRequest(
        component=components,
        txnid=txn,
        user="u",
        hostname="h",
        agentInfo="a",
        **other,  # type: ignore[arg-type]
    )
    reply: LockResponse = metastore.call("lock", request)
    return reply


def state(metastore: Metastore, *components: LockComponent, txn: int | None = None) -> int | None:
    return request_lock(metastore, *components, txn=txn).state


def check(metastore: Metastore, id: int) -> int:
    result: int = metastore.call("check_lock", CheckLockRequest(lockid=id)).state
    return result


def unlock(metastore: Metastore, id: int) -> None:
    metastore.call("unlock", UnlockRequest(lockid=id))


def opened(metastore: Metastore, count: int = 1, type: int = TxnType.DEFAULT) -> tuple[int, ...]:
    request = OpenTxnRequest(num_txns=count, user="u", hostname="h", txn_type=type)
    ids: tuple[int, ...] = metastore.call("open_txns", request).txn_ids
    return ids


def held(metastore: Metastore, **filters: object) -> list[tuple[int, int]]:
    """(id, state) in the order in which they are shown."""
    result = metastore.call("show_locks", ShowLocksRequest(**filters)).locks  # type: ignore[arg-type]
    return [(lock.lockid, lock.state) for lock in result]


# --- asking, waiting, giving back -----------------------------------------------------------------------------------

TABLE_BEFORE_4 = {
    (READ, EXCLUSIVE),
    (WRITE, WRITE),
    (WRITE, EXCLUSIVE),
    (EXCLUSIVE, READ),
    (EXCLUSIVE, WRITE),
    (EXCLUSIVE, EXCLUSIVE),
}
TABLE_SINCE_4 = (TABLE_BEFORE_4 - {(WRITE, WRITE)}) | {
    *((EXCL_WRITE, WRITE), (EXCL_WRITE, EXCL_WRITE), (EXCL_WRITE, EXCLUSIVE)),
    *((WRITE, EXCL_WRITE), (EXCLUSIVE, EXCL_WRITE)),
}
"""Pairs of a held and a requested lock that conflict, as observed of 2.3.10 and 3.1.3 and read of 4.x."""


@pytest.mark.parametrize("generation", [Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_the_matrix_of_types(start: Starter, generation: Generation) -> None:
    metastore = start(generation)
    since_4 = generation >= Generation.HIVE_4_0
    types = (READ, WRITE, EXCLUSIVE, *((EXCL_WRITE,) if since_4 else ()))
    for one in types:
        for other in types:
            first, second = request_lock(metastore, part(one)), request_lock(metastore, part(other))
            waits = (one, other) in (TABLE_SINCE_4 if since_4 else TABLE_BEFORE_4)
            assert (first.state, second.state) == (ACQUIRED, WAITING if waits else ACQUIRED), (one, other)
            unlock(metastore, first.lockid or 0)
            unlock(metastore, second.lockid or 0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (part(READ, None), part(EXCLUSIVE), ACQUIRED),
        (part(READ, None), part(EXCLUSIVE, "t", "p=1"), ACQUIRED),
        (part(EXCLUSIVE), part(READ, None), ACQUIRED),
        (part(READ, None), part(EXCLUSIVE, None), WAITING),
        (part(EXCLUSIVE, None), part(READ), WAITING),
        (part(WRITE, None), part(EXCLUSIVE), WAITING),
        (part(EXCLUSIVE, "t", "p=1"), part(READ), WAITING),
        (part(EXCLUSIVE), part(READ, "t", "p=1"), WAITING),
        (part(EXCLUSIVE, "t", "p=1"), part(EXCLUSIVE, "t", "p=2"), ACQUIRED),
        (part(EXCLUSIVE, "t", "P=1"), part(EXCLUSIVE, "T", "p=1"), WAITING),
        (part(EXCLUSIVE), part(EXCLUSIVE, "other"), ACQUIRED),
        (part(EXCLUSIVE), part(EXCLUSIVE, "t", None, "db2"), ACQUIRED),
        (part(EXCLUSIVE), part(EXCLUSIVE, "t", None, "@cat2#db"), ACQUIRED),
    ],
)
def test_locks_on_objects_above_and_below(
    metastore: Metastore, first: LockComponent, second: LockComponent, expected: int
) -> None:
    assert state(metastore, first) == ACQUIRED
    assert state(metastore, second) == expected


def test_a_waiting_request_gets_the_lock_when_it_is_released(metastore: Metastore) -> None:
    request_lock(metastore, part(READ))
    assert state(metastore, part(EXCLUSIVE)) == WAITING
    assert check(metastore, 2) == WAITING
    unlock(metastore, 1)
    assert check(metastore, 2) == ACQUIRED
    assert check(metastore, 2) == ACQUIRED


def test_locks_are_granted_in_the_order_of_the_requests(metastore: Metastore) -> None:
    request_lock(metastore, part(READ))
    request_lock(metastore, part(EXCLUSIVE))
    assert state(metastore, part(READ)) == WAITING
    unlock(metastore, 2)
    assert check(metastore, 3) == ACQUIRED


def test_in_2_3_a_reader_is_granted_before_a_stronger_waiting_request(start: Starter) -> None:
    metastore = start(Generation.HIVE_2_3)
    request_lock(metastore, part(READ))
    assert state(metastore, part(EXCLUSIVE)) == WAITING
    assert state(metastore, part(READ)) == ACQUIRED
    unlock(metastore, 1)
    # Hive 2.3 would give it here, beside the reader.
    assert check(metastore, 2) == WAITING
    unlock(metastore, 3)
    assert check(metastore, 2) == ACQUIRED


def test_all_components_are_granted_or_none(metastore: Metastore) -> None:
    request_lock(metastore, part(EXCLUSIVE, "a"))
    assert state(metastore, part(EXCLUSIVE, "b"), part(EXCLUSIVE, "a")) == WAITING
    shown = metastore.call("show_locks", ShowLocksRequest(tablename="b")).locks
    assert [(lock.state, lock.lockIdInternal, lock.blockedByExtId) for lock in shown] == [(WAITING, 1, None)]
    shown = metastore.call("show_locks", ShowLocksRequest(dbname="DB", tablename="A")).locks
    assert [(lock.lockid, lock.lockIdInternal, lock.blockedByExtId, lock.blockedByIntId) for lock in shown] == [
        (1, 1, None, None),
        (2, 2, 1, 1),
    ]
    assert state(metastore, part(READ, "b")) == WAITING


def test_components_of_one_request_do_not_conflict(metastore: Metastore) -> None:
    assert state(metastore, part(READ), part(EXCLUSIVE), part(EXCLUSIVE, "t", "p=1")) == ACQUIRED


def test_a_transaction_does_not_wait_for_itself(metastore: Metastore) -> None:
    one, other = opened(metastore, 2)
    assert state(metastore, part(READ), txn=one) == ACQUIRED
    assert state(metastore, part(EXCLUSIVE), txn=one) == ACQUIRED
    assert state(metastore, part(READ), txn=other) == WAITING


def test_a_transaction_holds_its_locks_until_it_ends(metastore: Metastore) -> None:
    one, other = opened(metastore, 2)
    request_lock(metastore, part(EXCLUSIVE), txn=one)
    with pytest.raises(TxnOpenException) as error:
        unlock(metastore, 1)
    assert str(error.value) == (
        "Unlocking locks associated with transaction not permitted.  lockid:1 intLockId:1 txnid:1"
        " db:db table:t partition:null state:ACQUIRED type:EXCLUSIVE"
    )
    assert state(metastore, part(READ), txn=other) == WAITING
    unlock(metastore, 2)  # Who waits may give up.
    assert held(metastore) == [(1, ACQUIRED)]
    metastore.call("commit_txn", CommitTxnRequest(txnid=one))
    assert held(metastore) == []


def test_an_aborted_transaction_loses_its_locks(metastore: Metastore) -> None:
    (txn,) = opened(metastore)
    request_lock(metastore, part(EXCLUSIVE), txn=txn)
    metastore.call("abort_txn", AbortTxnRequest(txnid=txn))
    assert state(metastore, part(EXCLUSIVE)) == ACQUIRED


def test_ended_and_unknown_transactions_get_no_lock(metastore: Metastore) -> None:
    one, other = opened(metastore, 2)
    metastore.call("abort_txn", AbortTxnRequest(txnid=one))
    metastore.call("commit_txn", CommitTxnRequest(txnid=other))
    with pytest.raises(TxnAbortedException, match="Transaction txnid:1 already aborted"):
        request_lock(metastore, part(READ), txn=one)
    with pytest.raises(NoSuchTxnException, match="Transaction txnid:2 is already committed"):
        request_lock(metastore, part(READ), txn=other)
    with pytest.raises(NoSuchTxnException, match="No such transaction txnid:99"):
        request_lock(metastore, part(READ), txn=99)
    assert held(metastore) == []


def test_a_request_without_components_is_refused(metastore: Metastore) -> None:
    with pytest.raises(ApplicationError, match="Internal error processing lock"):
        request_lock(metastore)


def test_a_write_component_must_name_its_operation(metastore: Metastore) -> None:
    (txn,) = opened(metastore)
    with pytest.raises(ApplicationError, match="Internal error processing lock"):
        request_lock(metastore, part(READ, operationType=DataOperationType.UNSET), txn=txn)
    plain = part(READ, isTransactional=False, operationType=DataOperationType.UNSET)
    assert state(metastore, plain, txn=txn) == ACQUIRED
    insert = part(READ, isTransactional=True, operationType=DataOperationType.INSERT)
    assert state(metastore, insert, txn=txn) == ACQUIRED


def test_locks_that_do_not_exist(metastore: Metastore) -> None:
    unlock(metastore, 5)
    with pytest.raises(NoSuchLockException, match=r"^No such lock lockid:5$"):
        check(metastore, 5)
    with pytest.raises(NoSuchLockException, match=r"^No such lock: lockid:5$"):
        metastore.call("heartbeat", HeartbeatRequest(lockid=5))


def test_a_heartbeat_for_two_changes_nothing_when_one_is_gone(metastore: Metastore) -> None:
    (txn,) = opened(metastore)
    metastore.clock.forward(200)
    with pytest.raises(NoSuchLockException):
        metastore.call("heartbeat", HeartbeatRequest(txnid=txn, lockid=99))
    metastore.clock.forward(101)
    metastore.reap()
    with pytest.raises(TxnAbortedException):
        metastore.call("heartbeat", HeartbeatRequest(txnid=txn))


def test_a_request_that_does_not_wait_is_refused_at_once(hive_4: Metastore) -> None:
    one, other = opened(hive_4, 2)
    request_lock(hive_4, part(EXCLUSIVE), txn=one)
    reply = request_lock(hive_4, part(READ), txn=other, zeroWaitReadEnabled=True)
    by = "lockid:1 intLockId:1 txnid:1 db:db table:t partition:null state:ACQUIRED type:EXCLUSIVE"
    assert reply == LockResponse(
        2, NOT_ACQUIRED, f"Unable to acquire read lock due to an existing exclusive lock {{{by}}}"
    )
    assert request_lock(hive_4, part(EXCLUSIVE), txn=other, zeroWaitReadEnabled=True).state == WAITING
    reply = request_lock(hive_4, part(EXCL_WRITE), txn=other, exclusiveCTAS=True)
    assert reply.state == NOT_ACQUIRED
    assert held(hive_4) == [(1, ACQUIRED), (3, WAITING)]


# --- time-outs ----------------------------------------------------------------------------------------------------


def test_a_lock_of_a_killed_client_is_gone_after_its_time_out(metastore: Metastore) -> None:
    request_lock(metastore, part(EXCLUSIVE))
    metastore.clock.forward(299)
    assert state(metastore, part(EXCLUSIVE)) == WAITING
    metastore.clock.forward(2)
    assert check(metastore, 2) == ACQUIRED
    assert held(metastore) == [(2, ACQUIRED)]


def test_a_lock_of_a_killed_client_is_released_without_a_waiting_request(start: Starter) -> None:
    one, other = start(), start()
    request_lock(one, part(EXCLUSIVE))
    one.clock.forward(301)
    other.reap()
    assert held(one) == []


def test_a_lock_is_held_while_its_client_sends_heartbeats(metastore: Metastore) -> None:
    request_lock(metastore, part(EXCLUSIVE))
    for _ in range(4):
        metastore.clock.forward(200)
        metastore.call("heartbeat", HeartbeatRequest(lockid=1))
        metastore.reap()
    assert state(metastore, part(READ)) == WAITING


def test_waiting_keeps_a_request_alive(metastore: Metastore) -> None:
    request_lock(metastore, part(EXCLUSIVE))
    request_lock(metastore, part(READ))
    for _ in range(4):
        metastore.clock.forward(200)
        metastore.call("heartbeat", HeartbeatRequest(lockid=1))
        assert check(metastore, 2) == WAITING
        metastore.reap()
    assert held(metastore) == [(1, ACQUIRED), (2, WAITING)]


def test_a_transaction_without_heartbeats_loses_its_locks_to_a_waiting_request(metastore: Metastore) -> None:
    (silent,) = opened(metastore)
    request_lock(metastore, part(EXCLUSIVE), txn=silent)
    metastore.clock.forward(301)
    assert state(metastore, part(READ)) == ACQUIRED
    with pytest.raises(TxnAbortedException):
        metastore.call("commit_txn", CommitTxnRequest(txnid=silent))


# --- showing ------------------------------------------------------------------------------------------------------


def test_all_that_is_shown_of_a_lock(metastore: Metastore) -> None:
    request_lock(metastore, part(READ, "t", "p=1"))
    (lock,) = metastore.call("show_locks", ShowLocksRequest()).locks
    now = 1_700_000_000_000
    assert (lock.dbname, lock.tablename, lock.partname, lock.catname) == ("db", "t", "p=1", "hive")
    assert (lock.state, lock.type, lock.txnid) == (ACQUIRED, LockType.SHARED_READ, 0)
    assert (lock.lastheartbeat, lock.acquiredat, lock.lockIdInternal) == (now, now, 1)
    assert (lock.user, lock.hostname, lock.agentInfo) == ("u", "h", "a")


def test_locks_are_shown_held_first_then_by_strength_and_age(metastore: Metastore) -> None:
    request_lock(metastore, part(READ))
    request_lock(metastore, part(READ))
    request_lock(metastore, part(EXCLUSIVE))
    request_lock(metastore, part(READ))
    assert held(metastore) == [(1, ACQUIRED), (2, ACQUIRED), (4, WAITING), (3, WAITING)]
    shown = metastore.call("show_locks", ShowLocksRequest()).locks
    assert [lock.blockedByExtId for lock in shown] == [None, None, 3, 2]


def test_locks_can_be_filtered(hive_4: Metastore) -> None:
    (txn,) = opened(hive_4)
    request_lock(hive_4, part(READ), txn=txn)
    request_lock(hive_4, part(READ, "t", "p=1"))
    request_lock(hive_4, part(READ, "u"))
    request_lock(hive_4, part(READ, None, None, "other"))
    assert held(hive_4, dbname="db") == [(1, ACQUIRED), (2, ACQUIRED), (3, ACQUIRED)]
    assert held(hive_4, dbname="db", tablename="t") == [(1, ACQUIRED), (2, ACQUIRED)]
    assert held(hive_4, dbname="db", tablename="t", partname="p=1") == [(2, ACQUIRED)]
    assert held(hive_4, txnid=txn) == [(1, ACQUIRED)]
    assert held(hive_4, dbname="nodb") == []


# --- the rest -----------------------------------------------------------------------------------------------------


def test_one_at_a_time_rebuilds_a_view(metastore: Metastore) -> None:
    one, other = opened(metastore, 2)
    assert metastore.call("get_lock_materialization_rebuild", "db", "v", one) == LockResponse(one, ACQUIRED)
    assert metastore.call("get_lock_materialization_rebuild", "DB", "V", other) == LockResponse(other, NOT_ACQUIRED)
    assert metastore.call("heartbeat_lock_materialization_rebuild", "db", "v", one) is True
    assert metastore.call("heartbeat_lock_materialization_rebuild", "db", "v", other) is False
    metastore.call("commit_txn", CommitTxnRequest(txnid=one))
    request = LockMaterializationRebuildRequest(catName="hive", dbName="db", tableName="v", txnId=other)
    assert metastore.call("get_lock_materialization_rebuild_req", request) == LockResponse(other, ACQUIRED)
    assert metastore.call("heartbeat_lock_materialization_rebuild_req", request) is True


def test_the_right_to_rebuild_ends_with_its_transaction(metastore: Metastore) -> None:
    (txn,) = opened(metastore)
    metastore.call("get_lock_materialization_rebuild", "db", "v", txn)
    metastore.call("get_lock_materialization_rebuild", "db", "w", 99)
    metastore.clock.forward(200)
    metastore.call("heartbeat", HeartbeatRequest(txnid=txn))
    metastore.clock.forward(101)
    metastore.reap()
    assert metastore.call("heartbeat_lock_materialization_rebuild", "db", "v", txn) is True
    assert metastore.call("heartbeat_lock_materialization_rebuild", "db", "w", 99) is False


def test_a_rename_carries_locks_along(metastore: Metastore) -> None:
    request_lock(metastore, part(EXCLUSIVE))
    old, new = TableName("hive", "db", "t"), TableName("hive", "db2", "renamed")
    metastore.database.run(lambda tx: resources.table_renamed(tx, old, new))
    assert state(metastore, part(READ)) == ACQUIRED
    assert state(metastore, part(READ, "renamed", None, "db2")) == WAITING


def test_a_lock_taken_at_one_server_is_seen_at_another(start: Starter) -> None:
    one, other = start(), start()
    request_lock(one, part(EXCLUSIVE))
    assert state(other, part(READ)) == WAITING
    unlock(other, 1)
    assert check(one, 2) == ACQUIRED
