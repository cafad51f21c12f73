"""Locks and transactions: the wait for them, heartbeats, loss, commit and abort."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from metastored.errors import (
    ApplicationError,
    CommitUnknown,
    ConnectionLost,
    InvalidInputException,
    LockFailed,
    NoSuchLockException,
    NoSuchTxnException,
    PermissionDenied,
    TransactionFailed,
    TxnAbortedException,
)
from metastored.wire.generated.locks import LockLevel, LockState, LockType
from metastored.wire.generated.transactions import GetOpenTxnsResponse, TxnToWriteId
from metastored.wire.message import Call, Reply, Session
from tests.client.handlers import LockingMetastore
from tests.support.driven import connected
from tests.support.waiting import eventually

BEAT = 0.01


def test_a_lock_is_waited_for(half: str) -> None:
    there = LockingMetastore()
    there.states = [LockState.WAITING, LockState.WAITING, LockState.ACQUIRED]
    with connected(half, handler=there, user="ann") as client:
        with client.lock("sales.orders", "sales", type="shared_write") as held:
            assert held.id == 5
    assert there.called.count("check_lock") == 2
    table, database = there.locked[0].component or ()
    assert (table.dbname, table.tablename, table.level, table.type) == (
        "sales", "orders", LockLevel.TABLE, LockType.SHARED_WRITE,
    )  # fmt: skip
    assert (database.dbname, database.tablename, database.level) == ("sales", None, LockLevel.DB)
    assert there.locked[0].user == "ann"
    assert there.unlocked == [5]


def test_a_lock_that_is_not_acquired_in_time_is_released(half: str) -> None:
    there = LockingMetastore()
    there.states = [LockState.WAITING]
    with connected(half, handler=there) as client:
        with pytest.raises(LockFailed, match=r"no exclusive lock on sales\.orders within 0\.12 s.*show_locks"):
            with client.lock(("sales", "orders"), timeout=0.12):
                raise AssertionError("it was given")
    assert there.unlocked == [5]


def test_the_error_of_a_refused_lock_has_the_reason(half: str) -> None:
    there = LockingMetastore()
    there.states = [LockState.NOT_ACQUIRED]
    with connected(half, handler=there) as client:
        with pytest.raises(LockFailed, match=r"on sales\.orders was not given: NOT_ACQUIRED"):
            with client.lock("sales.orders"):
                raise AssertionError("it was given")


def test_a_lock_is_kept_alive(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with client.lock("sales.orders", heartbeat=BEAT) as held:
            eventually(lambda: len(there.beats) >= 2, client)
            held.check()
    assert there.beats[0].lockid == 5


def test_a_lost_lock_is_an_error_at_the_end_and_in_check(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with pytest.raises(LockFailed, match=r"the exclusive lock 5 on sales\.orders was lost: No such lock 5"):
            with client.lock("sales.orders", heartbeat=BEAT) as held:
                there.lost = NoSuchLockException("No such lock 5")
                eventually(lambda: len(there.beats) >= 1, client)
                eventually(lambda: not _is_fine(held), client)
                with pytest.raises(LockFailed):
                    held.check()


def _is_fine(held: Any) -> bool:
    try:
        held.check()
    except LockFailed:
        return False
    return True


def test_a_heartbeat_that_fails_does_not_end_the_lock(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with client.lock("sales.orders", heartbeat=BEAT), client.transaction(heartbeat=BEAT):
            there.broken = True
            eventually(lambda: there.called.count("heartbeat") >= 3, client)
            there.broken = False


def test_an_error_inside_the_block_is_not_hidden_by_a_lost_lock(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with pytest.raises(RuntimeError, match="on purpose"):
            with client.lock("sales.orders", heartbeat=BEAT):
                there.lost = NoSuchLockException("gone")
                eventually(lambda: len(there.beats) >= 1, client)
                raise RuntimeError("on purpose")


def test_a_lock_needs_a_known_type_and_a_name(half: str) -> None:
    with connected(half, handler=LockingMetastore()) as client:
        with pytest.raises(InvalidInputException, match="known are shared_read, shared_write, excl_write, exclusive"):
            client.lock("sales.orders", type="strong")
        with pytest.raises(InvalidInputException, match="name of a table or a database"):
            client.lock()


def test_a_transaction_is_kept_alive_and_committed(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with client.transaction(heartbeat=BEAT) as transaction:
            assert transaction.id == 7
            assert transaction.write_id("sales.orders") == 3
            with transaction.lock("sales.orders"):
                eventually(lambda: len(there.beats) >= 2, client)
    assert there.ended == ["commit"]
    assert there.unlocked == [], "its locks end with the transaction"
    assert there.locked[0].txnid == 7


def test_a_transaction_that_ends_early_is_not_ended_again(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with client.transaction() as transaction:
            transaction.abort()
    assert there.ended == ["abort"]


def test_a_transaction_that_the_server_aborted_is_an_error(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with pytest.raises(TransactionFailed, match="transaction 7 was aborted: conflict"):
            with client.transaction():
                there.lost = TxnAbortedException("conflict")


def test_the_outcome_of_a_commit_whose_reply_is_lost_is_not_known(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with pytest.raises(CommitUnknown, match="whether transaction 7 was committed is not known") as raised:
            with client.within(0.5).transaction():
                there.broken = True
    assert raised.value.transaction == 7
    assert not isinstance(raised.value, TransactionFailed), "programs repeat a transaction after that error"


class LosingReplies(LockingMetastore):
    """All replies to commits are lost, or errors of the server. The transaction is then as the test says."""

    def __init__(self, state: str, error: Exception) -> None:
        super().__init__()
        self.state = state
        self.error = error

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name != "commit_txn":
            return await super().handle(call, session)
        if isinstance(self.error, ConnectionLost):
            raise self.error
        return Reply.raised(call.method, self.error)

    def get_open_txns(self) -> GetOpenTxnsResponse:
        listed = () if self.state == "committed" else (7,)
        aborted = b"\x01" if self.state == "aborted" else b""
        return GetOpenTxnsResponse(txn_high_water_mark=9, open_txns=listed, min_open_txn=9, abortedBits=aborted)


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionLost("the line is dead"),
        ApplicationError(ApplicationError.INTERNAL_ERROR, "Internal error processing commit_txn"),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize(
    ("state", "error"), [("committed", None), ("aborted", TransactionFailed), ("open", CommitUnknown)]
)
def test_the_outcome_of_a_commit_is_asked_for_if_its_reply_is_lost_or_says_nothing_of_it(
    half: str, state: str, error: type[Exception] | None, failure: Exception
) -> None:
    there = LosingReplies(state, failure)
    with connected(half, handler=there) as client:
        with pytest.raises(error) if error is not None else nullcontext(), client.within(0.5).transaction():
            pass
        assert client.transaction_state(7) == state
        with pytest.raises(NoSuchTxnException, match="no transaction 10"):
            client.transaction_state(10)


def test_a_commit_that_the_server_did_not_begin_is_refused_for_its_reason(half: str) -> None:
    refusal = "Permission denied: user bob needs to have opened each of these transactions"
    there = LosingReplies("open", ApplicationError(ApplicationError.INTERNAL_ERROR, refusal))
    with connected(half, handler=there) as client:
        with pytest.raises(PermissionDenied), client.transaction():
            pass


def test_the_abort_of_a_transaction_that_no_longer_exists_is_no_error(half: str) -> None:
    there = LockingMetastore()
    with connected(half, handler=there) as client:
        with pytest.raises(RuntimeError, match="on purpose"):
            with client.transaction():
                there.lost = NoSuchTxnException("gone")
                raise RuntimeError("on purpose")


def test_a_transaction_without_a_write_id_is_an_error(half: str) -> None:
    there = LockingMetastore()
    there.write_ids = (TxnToWriteId(8, 3),)
    with connected(half, handler=there) as client, client.transaction() as transaction:
        with pytest.raises(TransactionFailed, match=r"transaction 7 got no write id for sales\.orders"):
            transaction.write_id("sales.orders")
