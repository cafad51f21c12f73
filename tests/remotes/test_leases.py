"""Locks and transactions over several metastores: local numbers for the client, leases at the remotes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.errors import ApplicationError, MetaException, NoSuchLockException
from metastored.hive.transactions.snapshots import ValidTxnList
from metastored.testing import RunningServer
from metastored.wire.generated.common import DataOperationType, SerDeInfo
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockResponse,
    LockState,
    LockType,
    ShowLocksRequest,
    UnlockRequest,
)
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    HeartbeatTxnRangeRequest,
    OpenTxnRequest,
    TableValidWriteIds,
)
from metastored.wire.structs import replace
from tests.remotes.test_server import Connect, table, uris
from tests.support.client import Client
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

WAIT = 20.0
ORC = {
    "inputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "outputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
    "serdeInfo": SerDeInfo("", "org.apache.hadoop.hive.ql.io.orc.OrcSerde", {}),
}


@pytest.fixture
def there(far: RunningServer, connect: Connect) -> Iterator[Client]:
    """The remote metastore, with a transactional table `acid.t` in it."""
    client = connect(far)
    client.call("create_database", Database(name="acid"))
    plain = table("acid", "t", parameters={"transactional": "true"}, partitionKeys=())
    assert plain.sd is not None
    client.call("create_table", replace(plain, sd=replace(plain.sd, **ORC)))
    yield client
    client.call("drop_database", "acid", True, True)


@pytest.fixture
def here(server: RunningServer, connect: Connect, far: RunningServer, there: Client) -> Client:
    """A metastore with `rows`, which is the remote's `acid`, and a local table `default.mine`."""
    client = connect(server)
    client.call("create_database", Database(name="rows", parameters=uris(far) | {"metastored.remote": "acid"}))
    client.call("create_table", table("default", "mine", partitionKeys=()))
    return client


def opened(client: Client) -> int:
    txn: int = client.call("open_txns", OpenTxnRequest(num_txns=1, user="ann", hostname="h")).txn_ids[0]
    return txn


def lock(client: Client, *names: str, txn: int | None = None, type: int = LockType.SHARED_READ) -> LockResponse:
    components = tuple(
        LockComponent(
            type=type,
            level=LockLevel.TABLE,
            dbname=name.split(".")[0],
            tablename=name.split(".")[1],
            operationType=DataOperationType.SELECT,
        )
        for name in names
    )
    found: LockResponse = client.call("lock", LockRequest(component=components, txnid=txn, user="ann", hostname="h"))
    return found


def held(client: Client) -> list[tuple[str, str | None, int]]:
    """What is locked, and by which transaction."""
    shown = client.call("show_locks", ShowLocksRequest())
    return sorted((each.dbname, each.tablename, each.txnid or 0) for each in shown.locks)


def write_ids(client: Client, name: str, txn: int) -> TableValidWriteIds:
    """The write ids that a transaction sees, as Hive asks for them."""
    listed = client.call("get_open_txns")
    seen = ValidTxnList.of_reply(listed.txn_high_water_mark, sorted(listed.open_txns), listed.abortedBits or b"", txn)
    request = GetValidWriteIdsRequest(fullTableNames=(name,), validTxnList=str(seen))
    found: TableValidWriteIds = client.call("get_valid_write_ids", request).tblValidWriteIds[0]
    return found


def written(client: Client) -> None:
    """A transaction that writes to the remote table, and commits."""
    txn = opened(client)
    request = AllocateTableWriteIdsRequest(dbName="acid", tableName="t", txnIds=(txn,))
    client.call("allocate_table_write_ids", request)
    client.call("commit_txn", CommitTxnRequest(txnid=txn))


def test_a_lock_over_local_and_remote_tables_is_held_by_both_until_the_transaction_ends(
    here: Client, there: Client
) -> None:
    for end in ("commit_txn", "abort_txn"):
        txn = opened(here)
        found = lock(here, "default.mine", "rows.t", txn=txn)
        assert found.state == LockState.ACQUIRED
        assert held(here) == [("default", "mine", txn), ("rows", "t", txn)]
        assert held(there) == [("acid", "t", 0)]
        request = CommitTxnRequest(txnid=txn) if end == "commit_txn" else AbortTxnRequest(txnid=txn)
        here.call(end, request)
        assert held(here) == []
        eventually(lambda: held(there) == [])


def test_a_lock_on_a_name_of_nothing_does_not_end_the_call_of_a_router(here: Client, there: Client) -> None:
    component = LockComponent(type=LockType.SHARED_READ, level=LockLevel.TABLE, dbname="@#", tablename="t")
    with pytest.raises((MetaException, ApplicationError), match=r"catalog marker|Internal error processing lock$"):
        here.call("lock", LockRequest(component=(component,), user="ann", hostname="here"))
    assert held(there) == []


def test_a_lock_without_a_transaction_is_given_back_at_the_remote_too(here: Client, there: Client) -> None:
    found = lock(here, "rows.t")
    assert held(there) == [("acid", "t", 0)]
    here.call("unlock", UnlockRequest(lockid=found.lockid))
    eventually(lambda: held(there) == [])


def test_a_lock_waits_for_who_has_locked_the_table_at_the_remote(here: Client, there: Client) -> None:
    other = lock(there, "acid.t", type=LockType.EXCLUSIVE)
    found = lock(here, "default.mine", "rows.t")
    assert found.state == LockState.WAITING
    checking = CheckLockRequest(lockid=found.lockid)
    assert here.call("check_lock", checking).state == LockState.WAITING
    there.call("unlock", UnlockRequest(lockid=other.lockid))
    assert here.call("check_lock", checking).state == LockState.ACQUIRED
    here.call("unlock", UnlockRequest(lockid=found.lockid))
    eventually(lambda: held(there) == [])


def test_if_one_of_several_servers_does_not_lock_none_does(here: Client, there: Client) -> None:
    gone = {"hive.metastore.uris": "thrift://127.0.0.1:1", "metastored.remote.timeout": "2"}
    here.call("create_database", Database(name="zzz", parameters=gone))
    with pytest.raises(ApplicationError, match="remote database 'zzz'"):
        lock(here, "default.mine", "rows.t", "zzz.t")
    assert held(here) == []
    eventually(lambda: held(there) == [])


def test_an_exclusive_lock_is_not_taken_at_a_remote_that_is_only_read(here: Client, there: Client) -> None:
    assert lock(here, "rows.t", type=LockType.EXCLUSIVE).state == LockState.ACQUIRED
    assert held(there) == []


def test_a_heartbeat_reaches_the_remote_and_tells_what_is_gone_there(here: Client, there: Client) -> None:
    found = lock(here, "rows.t")
    beat = HeartbeatRequest(lockid=found.lockid)
    here.call("heartbeat", beat)
    remote = there.call("show_locks", ShowLocksRequest()).locks[0].lockid
    there.call("unlock", UnlockRequest(lockid=remote))
    with pytest.raises(NoSuchLockException, match="held at a remote for this is gone"):
        here.call("heartbeat", beat)
    here.call("unlock", UnlockRequest(lockid=found.lockid))


def test_write_ids_of_a_remote_table_are_those_of_the_remote_and_stay_for_the_transaction(
    here: Client, there: Client
) -> None:
    written(there)
    txn = opened(here)
    found = write_ids(here, "rows.t", txn)
    assert (found.fullTableName, found.writeIdHighWaterMark) == ("rows.t", 1)
    assert len(there.call("get_open_txns_info").open_txns) == 1, "a transaction of the remote keeps the files there"
    written(there)
    assert write_ids(here, "rows.t", txn).writeIdHighWaterMark == 1, "the same snapshot"
    assert write_ids(here, "rows.t", opened(here)).writeIdHighWaterMark == 2
    assert len(there.call("get_open_txns_info").open_txns) == 2
    assert here.call("heartbeat_txn_range", HeartbeatTxnRangeRequest(min=txn, max=txn)).nosuch == frozenset()
    here.call("commit_txn", CommitTxnRequest(txnid=txn))
    eventually(lambda: len(there.call("get_open_txns_info").open_txns) == 1)
    here.call("abort_txn", AbortTxnRequest(txnid=txn + 1))
    eventually(lambda: there.call("get_open_txns_info").open_txns == ())


def test_local_and_remote_tables_have_their_own_write_ids_in_one_request(here: Client, there: Client) -> None:
    written(there)
    txn = opened(here)
    listed = here.call("get_open_txns")
    seen = ValidTxnList.of_reply(listed.txn_high_water_mark, sorted(listed.open_txns), b"", txn)
    request = GetValidWriteIdsRequest(fullTableNames=("default.mine", "rows.t"), validTxnList=str(seen))
    found = here.call("get_valid_write_ids", request).tblValidWriteIds
    assert {(each.fullTableName, each.writeIdHighWaterMark) for each in found} == {("default.mine", 0), ("rows.t", 1)}
    here.call("abort_txn", AbortTxnRequest(txnid=txn))
    eventually(lambda: there.call("get_open_txns_info").open_txns == ())


def test_rows_of_a_remote_transactional_table_are_not_written(here: Client, there: Client, far: RunningServer) -> None:
    parameters = uris(far) | {"metastored.remote": "acid", "metastored.remote.access": "write"}
    here.call("create_database", Database(name="open", parameters=parameters))
    request = AllocateTableWriteIdsRequest(dbName="open", tableName="t", txnIds=(opened(here),))
    with pytest.raises(Exception, match="no transaction spans two metastores"):
        here.call("allocate_table_write_ids", request)
