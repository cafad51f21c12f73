"""Transactions and write ids as clients see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from metastored.errors import ApplicationError, MetaException, NoSuchTxnException, TxnAbortedException
from metastored.hive.generation import Generation
from metastored.hive.transactions.snapshots import ValidTxnList, encode_bits
from metastored.model.names import TableName
from metastored.service.core.changes import unpack
from metastored.service.transactions.transactions import FEW
from metastored.store.objects import events, tables
from metastored.store.transactions import resources, write_ids
from metastored.wire.generated.common import (
    CreationMetadata,
    DataOperationType,
    FieldSchema,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from metastored.wire.generated.compaction import ShowCompactRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import HeartbeatRequest, LockComponent, LockRequest
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AbortTxnsRequest,
    AddDynamicPartitions,
    AllocateTableWriteIdsRequest,
    CommitTxnKeyValue,
    CommitTxnRequest,
    GetOpenTxnsRequest,
    GetValidWriteIdsRequest,
    HeartbeatTxnRangeRequest,
    MaxAllocatedTableWriteIdRequest,
    OpenTxnRequest,
    ReplLastIdInfo,
    ReplTblWriteIdStateRequest,
    SeedTableWriteIdsRequest,
    SeedTxnIdRequest,
    TxnToWriteId,
    TxnType,
)
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import sales_table as table

T = TableName("hive", "db", "t")
INTERNAL = "Internal error processing "


def opened(metastore: Metastore, count: int = 1, **other: object) -> tuple[int, ...]:
    request = OpenTxnRequest(num_txns=count, user="u", hostname="h", **other)  # type: ignore[arg-type]
    ids: tuple[int, ...] = metastore.call("open_txns", request).txn_ids
    return ids


def commit(metastore: Metastore, txn: int, **other: object) -> None:
    metastore.call("commit_txn", CommitTxnRequest(txnid=txn, **other))  # type: ignore[arg-type]


def abort(metastore: Metastore, txn: int) -> None:
    metastore.call("abort_txn", AbortTxnRequest(txnid=txn))


def allocated(metastore: Metastore, *txns: int, table: str = "t") -> list[int]:
    request = AllocateTableWriteIdsRequest(dbName="db", tableName=table, txnIds=txns)
    return [pair.writeId for pair in metastore.call("allocate_table_write_ids", request).txnToWriteIds]


def valid(metastore: Metastore, snapshot: str | None = None, table: str = "db.t") -> tuple[object, ...]:
    """hwm, invalid ids, lowest open, bits."""
    request = GetValidWriteIdsRequest(fullTableNames=(table,), validTxnList=snapshot)
    (result,) = metastore.call("get_valid_write_ids", request).tblValidWriteIds
    assert result.fullTableName == table
    return result.writeIdHighWaterMark, result.invalidWriteIds, result.minOpenWriteId, result.abortedBits


def write(metastore: Metastore, txn: int, op: int, part: str | None = None, table: str = "t") -> None:
    """A transaction registers what it writes to, by a shared lock."""
    component = LockComponent(
        type=1, level=2, dbname="db", tablename=table, partitionname=part, operationType=op, isTransactional=True
    )
    metastore.call("lock", LockRequest(component=(component,), txnid=txn, user="u", hostname="h"))


def logged(metastore: Metastore, kind: str) -> Iterator[dict[str, bytes]]:
    for event in events.since(metastore.database.reader(), 0):
        if event.type == kind:
            yield dict(unpack(event.body))


# --- opening and ending -------------------------------------------------------------------------------------------


def test_ids_follow_one_another(metastore: Metastore) -> None:
    assert opened(metastore, 2) == (1, 2)
    assert opened(metastore) == (3,)


def test_no_more_than_a_thousand_are_opened_at_once(metastore: Metastore) -> None:
    assert len(opened(metastore, 5000)) == 1000


def test_a_number_below_one_is_refused(metastore: Metastore) -> None:
    with pytest.raises(ApplicationError, match=INTERNAL + "open_txns"):
        opened(metastore, 0)
    assert opened(metastore) == (1,)


def test_open_transactions_are_listed_with_the_aborted_ones_marked(metastore: Metastore) -> None:
    opened(metastore, 4)
    commit(metastore, 1)
    abort(metastore, 2)
    result = metastore.call("get_open_txns")
    assert result == (4, (2, 3, 4), 3, b"\x01")


@pytest.mark.parametrize("count", [FEW - 1, FEW, FEW + 1, FEW + 2])
def test_many_open_transactions_are_listed_as_a_few_are(metastore: Metastore, count: int) -> None:
    ids = opened(metastore, count)
    abort(metastore, ids[-1])
    assert metastore.call("get_open_txns") == (count, ids, 1, encode_bits([count - 1]))


def test_a_reply_that_is_known_is_not_used_after_another_server_has_allocated_a_write_id(start: Starter) -> None:
    first, second = start(), start()
    for number in range(1, 4):
        (txn,) = opened(second)
        assert allocated(second, txn) == [number]
        commit(second, txn)
        assert [valid(first, "9:9223372036854775807::") for _ in range(2)] == [(number, (), None, b"")] * 2
    assert first.call("get_open_txns") == second.call("get_open_txns") == (3, (), None, b"")


def test_clients_of_2_3_get_a_set(start: Starter) -> None:
    metastore = start(Generation.HIVE_2_3)
    opened(metastore, 2)
    assert metastore.call("get_open_txns") == (2, frozenset({1, 2}), 1, None)


def test_nothing_is_open_at_first(metastore: Metastore) -> None:
    assert metastore.call("get_open_txns") == (0, (), None, b"")


def test_readers_are_omitted_from_snapshots_unless_requested(hive_4: Metastore) -> None:
    opened(hive_4, txn_type=TxnType.READ_ONLY)
    opened(hive_4)
    assert hive_4.call("get_open_txns").open_txns == (2,)
    assert hive_4.call("get_open_txns").min_open_txn == 1
    assert hive_4.call("get_open_txns_req", GetOpenTxnsRequest()).open_txns == (1, 2)


def test_open_transactions_are_listed_with_their_details(metastore: Metastore) -> None:
    opened(metastore, agentInfo="a")
    metastore.clock.forward(5)
    metastore.call("heartbeat", HeartbeatRequest(txnid=1))
    (info,) = metastore.call("get_open_txns_info").open_txns
    started = 1_700_000_000_000
    assert (info.id, info.state, info.user, info.hostname, info.agentInfo) == (1, 3, "u", "h", "Unknown")
    assert (info.startedTime, info.lastHeartbeatTime) == (started, started + 5000)


def test_committing_twice_is_no_error(metastore: Metastore) -> None:
    opened(metastore)
    commit(metastore, 1)
    commit(metastore, 1)
    with pytest.raises(NoSuchTxnException, match=r"^Transaction txnid:1 is already committed\.$"):
        abort(metastore, 1)


def test_aborting_twice_is_no_error(metastore: Metastore) -> None:
    opened(metastore)
    abort(metastore, 1)
    abort(metastore, 1)
    with pytest.raises(TxnAbortedException, match=r"^Transaction txnid:1 already aborted$"):
        commit(metastore, 1)
    with pytest.raises(TxnAbortedException, match=r"^Transaction txnid:1 already aborted$"):
        metastore.call("heartbeat", HeartbeatRequest(txnid=1))


def test_unknown_transactions_are_named(metastore: Metastore) -> None:
    text = "^No such transaction txnid:99999$"
    with pytest.raises(NoSuchTxnException, match=text):
        commit(metastore, 99999)
    with pytest.raises(NoSuchTxnException, match=text):
        abort(metastore, 99999)
    with pytest.raises(NoSuchTxnException, match=text):
        metastore.call("heartbeat", HeartbeatRequest(txnid=99999))


def test_aborting_many_skips_those_that_are_not_open(metastore: Metastore) -> None:
    opened(metastore, 3)
    commit(metastore, 3)
    metastore.call("abort_txns", AbortTxnsRequest(txn_ids=(1, 2, 3, 99999)))
    assert metastore.call("get_open_txns") == (3, (1, 2), None, b"\x03")


def test_a_range_of_heartbeats_returns_the_aborted_and_missing_ids(metastore: Metastore) -> None:
    opened(metastore, 4)
    abort(metastore, 2)
    commit(metastore, 3)
    result = metastore.call("heartbeat_txn_range", HeartbeatTxnRangeRequest(min=1, max=5))
    assert result == (frozenset({2}), frozenset({3, 5}))
    assert metastore.call("heartbeat_txn_range", HeartbeatTxnRangeRequest(min=4, max=4)) == (frozenset(), frozenset())


def test_the_next_id_can_be_seeded_but_not_lowered(hive_4: Metastore) -> None:
    hive_4.call("seed_txn_id", SeedTxnIdRequest(seedTxnId=100))
    assert opened(hive_4) == (100,)
    with pytest.raises(MetaException, match="Invalid txnId seed 50, the highWaterMark is 100"):
        hive_4.call("seed_txn_id", SeedTxnIdRequest(seedTxnId=50))
    assert opened(hive_4) == (101,)


# --- time-outs ----------------------------------------------------------------------------------------------------


def test_a_silent_transaction_is_aborted_by_any_server(start: Starter) -> None:
    one, other = start(), start()
    opened(one, 2)
    one.clock.forward(200)
    one.call("heartbeat", HeartbeatRequest(txnid=2))
    one.clock.forward(101)
    other.reap()
    assert one.call("get_open_txns") == (2, (1, 2), 2, b"\x01")
    with pytest.raises(TxnAbortedException):
        commit(one, 1)
    commit(one, 2)


def test_transactions_of_a_replica_have_a_longer_timeout(hive_4: Metastore) -> None:
    opened(hive_4, replPolicy="db.*", replSrcTxnIds=(7,), txn_type=TxnType.REPL_CREATED)
    hive_4.clock.forward(10 * 86_400)
    hive_4.reap()
    assert hive_4.call("get_open_txns").abortedBits == b""
    hive_4.clock.forward(2 * 86_400)
    hive_4.reap()
    assert hive_4.call("get_open_txns").abortedBits == b"\x01"


def test_ended_transactions_are_deleted_and_their_ids_never_reused(metastore: Metastore) -> None:
    opened(metastore, 3)
    commit(metastore, 1)
    abort(metastore, 2)
    metastore.clock.forward(250)
    metastore.clock.forward(3600)
    metastore.call("heartbeat", HeartbeatRequest(txnid=3))
    metastore.reap()
    assert metastore.call("get_open_txns") == (3, (3,), 3, b"")
    with pytest.raises(NoSuchTxnException, match="No such transaction txnid:2"):
        commit(metastore, 2)
    assert opened(metastore) == (4,)


def test_an_aborted_transaction_that_wrote_is_kept(metastore: Metastore) -> None:
    opened(metastore)
    allocated(metastore, 1)
    write(metastore, 1, DataOperationType.INSERT)
    abort(metastore, 1)
    metastore.clock.forward(10_000)
    metastore.reap()
    assert metastore.call("get_open_txns") == (1, (1,), None, b"\x01")
    assert valid(metastore) == (1, (1,), None, b"\x01")


# --- write ids ----------------------------------------------------------------------------------------------------


def test_write_ids_of_a_table_begin_at_one_and_stay(metastore: Metastore) -> None:
    opened(metastore, 3)
    assert allocated(metastore, 2, 1) == [1, 2]
    assert allocated(metastore, 1) == [1]
    assert allocated(metastore, 3, 2) == [2, 3]
    assert allocated(metastore, 3, table="other") == [1]


def test_only_open_writers_get_write_ids(hive_4: Metastore) -> None:
    opened(hive_4, 2)
    opened(hive_4, txn_type=TxnType.READ_ONLY)
    commit(hive_4, 1)
    for bad in (1, 3, 99999):
        with pytest.raises(ApplicationError, match=INTERNAL + "allocate_table_write_ids"):
            allocated(hive_4, 2, bad)
    request = MaxAllocatedTableWriteIdRequest(dbName="db", tableName="t")
    assert hive_4.call("get_max_allocated_table_write_id", request).maxWriteId == 0
    allocated(hive_4, 2)
    assert hive_4.call("get_max_allocated_table_write_id", request).maxWriteId == 1


def test_a_write_id_can_be_reallocated(hive_4: Metastore) -> None:
    opened(hive_4, 2)
    allocated(hive_4, 1)
    allocated(hive_4, 2)
    request = AllocateTableWriteIdsRequest(dbName="db", tableName="t", txnIds=(1,), reallocate=True)
    assert hive_4.call("allocate_table_write_ids", request).txnToWriteIds == (TxnToWriteId(1, 3),)
    assert allocated(hive_4, 1) == [3]


def test_a_table_that_was_never_written_has_nothing_to_see(metastore: Metastore) -> None:
    assert valid(metastore) == (0, (), None, b"")


def test_a_snapshot_excepts_open_and_aborted_writers(metastore: Metastore) -> None:
    opened(metastore, 4)
    allocated(metastore, 1, 2, 3, 4)
    commit(metastore, 1)
    abort(metastore, 2)
    assert valid(metastore) == (4, (2, 3, 4), 3, b"\x01")
    assert valid(metastore, "2:2:2:") == (2, (2,), 2, b"")
    assert valid(metastore, "4:9223372036854775807::2") == (4, (2,), None, b"\x01")


def test_the_mark_of_a_snapshot_is_the_highest_id_of_a_transaction_it_knows(metastore: Metastore) -> None:
    opened(metastore, 3)
    allocated(metastore, 3)
    allocated(metastore, 1)
    # Transaction 3 is not known to the snapshot, but its id is below the mark.
    assert valid(metastore, "2:9223372036854775807::") == (2, (1,), 1, b"")


def test_from_4_0_only_the_first_invisible_id_is_returned_when_none_is_visible(hive_4: Metastore) -> None:
    opened(hive_4, 3)
    allocated(hive_4, 1, 2, 3)
    abort(hive_4, 2)
    assert valid(hive_4) == (1, (1,), 1, b"")
    abort(hive_4, 1)
    assert valid(hive_4)[:2] == (1, (1,))
    commit(hive_4, 3)
    assert valid(hive_4) == (3, (1, 2), None, b"\x03")


def test_a_snapshot_can_be_that_of_a_write_id(hive_4: Metastore) -> None:
    opened(hive_4, 3)
    allocated(hive_4, 1, 2, 3)
    commit(hive_4, 1)
    request = GetValidWriteIdsRequest(fullTableNames=("db.t",), writeId=2)
    (result,) = hive_4.call("get_valid_write_ids", request).tblValidWriteIds
    assert (result.writeIdHighWaterMark, result.invalidWriteIds) == (2, ())
    with pytest.raises(MetaException, match=r"invalid write id 9 for table db\.t"):
        hive_4.call("get_valid_write_ids", GetValidWriteIdsRequest(fullTableNames=("db.t",), writeId=9))


def test_a_snapshot_that_cannot_be_read_is_refused(metastore: Metastore) -> None:
    with pytest.raises(MetaException, match="cannot be read"):
        valid(metastore, "nonsense")
    opened(metastore)
    allocated(metastore, 1)
    long = ",".join(map(str, range(2, 3000)))
    with pytest.raises(MetaException, match=r"cannot be read: .* is not an id in '9:1:,2,3,.*…$"):
        valid(metastore, f"9:1:,{long}:")
    with pytest.raises(MetaException, match=r"db\.table"):
        valid(metastore, None, "a.b.c.d")


def test_write_ids_can_be_seeded_once(hive_4: Metastore) -> None:
    seed = SeedTableWriteIdsRequest(dbName="db", tableName="t", seedWriteId=7)
    hive_4.call("seed_write_id", seed)
    opened(hive_4)
    assert allocated(hive_4, 1) == [8]
    with pytest.raises(MetaException, match="has write ids already"):
        hive_4.call("seed_write_id", seed)


def test_old_write_ids_are_deleted_except_those_that_a_reader_excludes(metastore: Metastore) -> None:
    opened(metastore, 2)
    allocated(metastore, 1)
    opened(metastore)  # This reader's snapshots except transaction 1.
    snapshot = str(ValidTxnList.of_reply(*_reply(metastore), own_txn=3))
    commit(metastore, 1)
    commit(metastore, 2)
    metastore.reap()
    assert valid(metastore, snapshot) == (1, (1,), 1, b"")
    commit(metastore, 3)
    metastore.reap()
    reader = metastore.database.reader()
    counter = write_ids.counter(reader, T)
    assert counter is not None
    assert write_ids.all(reader, counter) == []
    assert valid(metastore) == (1, (), None, b"")


@pytest.mark.parametrize("ends", ["is open", "was aborted"])
@pytest.mark.parametrize("generation", [Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_a_write_with_a_deleted_id_is_visible_even_if_a_later_transaction_began_before_it(
    start: Starter, generation: Generation, ends: str
) -> None:
    """By Hive's rule, which counts only stored ids, readers would not see the ids up to it."""
    metastore = start(generation)
    opened(metastore, 2)
    allocated(metastore, 2)
    assert allocated(metastore, 1) == [2]
    commit(metastore, 1)
    if ends == "was aborted":
        abort(metastore, 2)
    before = valid(metastore)
    metastore.reap()
    assert valid(metastore) == before
    assert before[:2] == (2, (1,))


def _reply(metastore: Metastore) -> tuple[int, tuple[int, ...], bytes]:
    result = metastore.call("get_open_txns")
    return result.txn_high_water_mark, result.open_txns, result.abortedBits


def test_files_that_a_reader_needs_are_kept_until_it_ends(hive_4: Metastore) -> None:
    opened(hive_4)
    hive_4.call("add_write_ids_to_min_history", 1, {"db.t": 4})
    with pytest.raises(MetaException, match="No such transaction txnid:99"):
        hive_4.call("add_write_ids_to_min_history", 99, {"db.t": 4})


# --- conflicts ----------------------------------------------------------------------------------------------------

INS, U, D = DataOperationType.INSERT, DataOperationType.UPDATE, DataOperationType.DELETE


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        (INS, INS, False, False),
        (INS, U, False, False),
        (U, U, True, True),
        (U, D, True, True),
        (D, U, True, True),
        (D, D, False, True),
    ],
)
@pytest.mark.parametrize("generation", [Generation.HIVE_3_1, Generation.HIVE_4_0])
def test_the_first_committer_wins(
    start: Starter, generation: Generation, first: int, second: int, old: bool, new: bool
) -> None:
    metastore = start(generation)
    opened(metastore, 2)
    write(metastore, 1, first)
    write(metastore, 2, second)
    commit(metastore, 2, exclWriteEnabled=False)
    if not (old if generation < Generation.HIVE_4_0 else new):
        commit(metastore, 1, exclWriteEnabled=False)
        assert metastore.call("get_open_txns") == (2, (), None, b"")
        return
    letters = {U: "u", D: "d"}
    with pytest.raises(TxnAbortedException) as error:
        commit(metastore, 1, exclWriteEnabled=False)
    assert str(error.value) == (
        f"Aborting [txnid:1,2] due to a write conflict on db/t committed by [txnid:2,2]"
        f" {letters[first]}/{letters[second]}"
    )
    assert metastore.call("get_open_txns") == (2, (1,), None, b"\x01")


def test_transactions_after_one_another_do_not_conflict(metastore: Metastore) -> None:
    opened(metastore)
    write(metastore, 1, U)
    commit(metastore, 1)
    opened(metastore)
    write(metastore, 2, U)
    commit(metastore, 2)
    assert metastore.call("get_open_txns") == (2, (), None, b"")


def test_different_partitions_do_not_conflict(metastore: Metastore) -> None:
    opened(metastore, 3)
    write(metastore, 1, U, "p=1")
    write(metastore, 2, U, "p=2")
    write(metastore, 3, U, "p=2")
    commit(metastore, 1)
    commit(metastore, 2)
    with pytest.raises(TxnAbortedException, match=r"on db/t/p=2 committed by \[txnid:2,3\] u/u"):
        commit(metastore, 3)


def test_partitions_that_are_named_later_conflict_too(metastore: Metastore) -> None:
    opened(metastore, 2)
    for txn in (1, 2):
        named = AddDynamicPartitions(
            txnid=txn, writeid=txn, dbname="db", tablename="t", partitionnames=("p=1",), operationType=U
        )
        metastore.call("add_dynamic_partitions", named)
    commit(metastore, 1)
    with pytest.raises(TxnAbortedException, match="on db/t/p=1"):
        commit(metastore, 2)


def test_writers_with_exclusive_locks_are_not_judged_again(hive_4: Metastore) -> None:
    opened(hive_4, 4)
    for txn in (1, 2, 3):
        write(hive_4, txn, U)
    commit(hive_4, 1, exclWriteEnabled=True)
    commit(hive_4, 2)
    with pytest.raises(TxnAbortedException):
        commit(hive_4, 3, exclWriteEnabled=False)


def test_the_latest_conflict_is_returned_before_the_commit(hive_4: Metastore) -> None:
    opened(hive_4, 3)
    for txn in (1, 2, 3):
        write(hive_4, txn, U)
    assert hive_4.call("get_latest_txnid_in_conflict", 1) == 0
    commit(hive_4, 2)
    commit(hive_4, 3)
    assert hive_4.call("get_latest_txnid_in_conflict", 1) == 3


def test_write_sets_are_deleted_when_no_transaction_can_conflict_with_them(metastore: Metastore) -> None:
    opened(metastore, 2)
    write(metastore, 1, U)
    write(metastore, 2, U)
    commit(metastore, 1)
    metastore.reap()
    with pytest.raises(TxnAbortedException):
        commit(metastore, 2)


def test_partitions_of_an_ended_transaction_are_refused(metastore: Metastore) -> None:
    opened(metastore)
    commit(metastore, 1)
    named = AddDynamicPartitions(
        txnid=1, writeid=1, dbname="db", tablename="t", partitionnames=("p=1",), operationType=INS
    )
    with pytest.raises(NoSuchTxnException, match="already committed"):
        metastore.call("add_dynamic_partitions", named)


# --- replication --------------------------------------------------------------------------------------------------


def replayed(metastore: Metastore, *sources: int) -> tuple[int, ...]:
    return opened(metastore, len(sources), replPolicy="db.*", replSrcTxnIds=sources, txn_type=TxnType.REPL_CREATED)


def test_events_of_a_source_may_be_replayed_twice(hive_4: Metastore) -> None:
    opened(hive_4)
    assert replayed(hive_4, 70, 71) == (2, 3)
    assert replayed(hive_4, 70, 71) == (2, 3)
    assert hive_4.call("get_replayed_txns_for_policy", "db.*").replTxnMapEntry == {"70": "2", "71": "3"}
    pairs = (TxnToWriteId(70, 5), TxnToWriteId(71, 6))
    request = AllocateTableWriteIdsRequest(dbName="db", tableName="t", replPolicy="db.*", srcTxnToWriteIdList=pairs)
    assert hive_4.call("allocate_table_write_ids", request).txnToWriteIds == (TxnToWriteId(2, 5), TxnToWriteId(3, 6))
    for _ in range(2):
        commit(hive_4, 70, replPolicy="db.*", txn_type=TxnType.REPL_CREATED)
        aborting = AbortTxnRequest(txnid=71, replPolicy="db.*", txn_type=TxnType.REPL_CREATED)
        hive_4.call("abort_txn", aborting)
    assert hive_4.call("get_replayed_txns_for_policy", "db.*").replTxnMapEntry == {}
    assert hive_4.call("get_open_txns") == (3, (1, 3), 1, b"\x02")
    assert valid(hive_4) == (6, (6,), None, b"\x01")
    assert hive_4.call("allocate_table_write_ids", request).txnToWriteIds == ()


def test_a_replica_that_loses_a_transaction_is_marked(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="db"))
    replayed(hive_4, 70)
    abort(hive_4, 1)
    assert hive_4.call("get_database", "db").parameters == {"repl.incompatible": "true"}


def test_a_copied_table_gets_the_write_ids_of_its_source(metastore: Metastore) -> None:
    request = ReplTblWriteIdStateRequest(
        validWriteIdlist="db.t:9:9223372036854775807::3,5", user="u", hostName="h", dbName="db", tableName="t"
    )
    metastore.call("repl_tbl_writeid_state", request)
    metastore.call("repl_tbl_writeid_state", request)
    assert valid(metastore)[1:] == ((3, 5), None, b"\x03")
    (txn,) = opened(metastore)
    assert allocated(metastore, txn) == [10]
    assert [row.tablename for row in metastore.call("show_compact", ShowCompactRequest()).compacts] == ["t"]


def test_a_commit_stores_the_state_of_a_replica(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="db"))
    opened(hive_4, 2)
    commit(hive_4, 1, replLastIdInfo=ReplLastIdInfo(database="db", lastReplId=77))
    assert hive_4.call("get_database", "db").parameters == {"repl.last.id": "77"}
    with pytest.raises(ApplicationError):
        commit(hive_4, 2, replLastIdInfo=ReplLastIdInfo(database="nodb", lastReplId=77))
    with pytest.raises(ApplicationError):
        commit(hive_4, 2, replLastIdInfo=ReplLastIdInfo(database="@#", lastReplId=77))
    assert hive_4.call("get_open_txns").open_txns == (2,)


def test_a_commit_changes_a_property_that_must_be_there(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="db"))
    sd = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo())
    view = Table(tableName="v", dbName="db", tableType="VIRTUAL_VIEW", parameters={"_meta1": "a"}, sd=sd)
    hive_4.call("create_table", view)
    id = _table_id(hive_4)
    opened(hive_4, 3)
    commit(hive_4, 1, keyValue=CommitTxnKeyValue(tableId=id, key="_meta1", value="b"))
    assert hive_4.call("get_table", "db", "v").parameters["_meta1"] == "b"
    for key in ("_meta2", "other"):
        with pytest.raises(ApplicationError, match=INTERNAL + "commit_txn"):
            commit(hive_4, 2, keyValue=CommitTxnKeyValue(tableId=id, key=key, value="b"))
    assert hive_4.call("get_open_txns").open_txns == (2, 3)


def _table_id(metastore: Metastore) -> int:
    row = tables.find(metastore.database.reader(), "hive", "db", "v")
    assert row is not None
    return row.id


# --- names, events, views -----------------------------------------------------------------------------------------


def test_a_rename_carries_write_ids_along(metastore: Metastore) -> None:
    opened(metastore, 2)
    allocated(metastore, 1, 2)
    new = TableName("hive", "db", "renamed")
    metastore.database.run(lambda tx: resources.table_renamed(tx, T, new))
    assert valid(metastore, table="db.renamed")[0] == 2
    assert valid(metastore) == (0, (), None, b"")


def test_recorded_writes_follow_a_renamed_table(metastore: Metastore) -> None:
    opened(metastore, 2)
    write(metastore, 1, U, "p=1")
    write(metastore, 2, U, "p=1")
    new = TableName("hive", "db", "renamed")
    metastore.database.run(lambda tx: resources.table_renamed(tx, T, new))
    metastore.database.run(lambda tx: resources.partition_renamed(tx, new, "p=1", "p=9"))
    commit(metastore, 1)
    with pytest.raises(TxnAbortedException, match="on db/renamed/p=9"):
        commit(metastore, 2)


def test_a_recreated_table_has_new_write_ids(metastore: Metastore) -> None:
    opened(metastore, 2)
    allocated(metastore, 1)
    write(metastore, 1, U)
    metastore.database.run(lambda tx: resources.table_dropped(tx, T))
    assert valid(metastore) == (0, (), None, b"")
    assert allocated(metastore, 2) == [1]
    metastore.database.run(lambda tx: resources.database_dropped(tx, "hive", "db"))
    assert valid(metastore) == (0, (), None, b"")


def test_events_report_transactions(hive_4: Metastore) -> None:
    opened(hive_4, 3)
    opened(hive_4, txn_type=TxnType.READ_ONLY)
    allocated(hive_4, 1, 2)
    commit(hive_4, 1)
    commit(hive_4, 4)
    abort(hive_4, 2)
    hive_4.clock.forward(1000)
    hive_4.reap()
    assert [(event["first"], event["last"]) for event in logged(hive_4, "OPEN_TXN")] == [(b"1", b"3")]
    (ids,) = logged(hive_4, "ALLOC_WRITE_ID_EVENT")
    assert (ids["txns"], ids["write_ids"]) == (b"1,2", b"1,2")
    (committed,) = logged(hive_4, "COMMIT_TXN")
    assert (committed["txn"], committed["type"], committed["write"]) == (b"1", b"0", b"hive\0db\0t\x001")
    assert [event["txn"] for event in logged(hive_4, "ABORT_TXN")] == [b"2", b"3"]


def test_an_update_after_a_view_was_filled_is_noticed(metastore: Metastore) -> None:
    opened(metastore, 2)
    allocated(metastore, 1)
    write(metastore, 1, INS)
    commit(metastore, 1)
    filled = CreationMetadata(
        catName="hive",
        dbName="db",
        tblName="v",
        tablesUsed=frozenset({"db.t"}),
        validTxnList="1$db.t:1:9223372036854775807::",
    )
    always = "9:9223372036854775807::"
    assert metastore.call("get_materialization_invalidation_info", filled, always) == (False, False)
    allocated(metastore, 2)
    write(metastore, 2, U)
    commit(metastore, 2)
    assert metastore.call("get_materialization_invalidation_info", filled, always) == (True, False)
    before = "1:9223372036854775807::"
    assert metastore.call("get_materialization_invalidation_info", filled, before) == (False, False)


def test_two_servers_are_one(start: Starter) -> None:
    one, other = start(), start()
    opened(one)
    assert opened(other) == (2,)
    assert allocated(other, 1) == [1]
    commit(other, 1)
    assert one.call("get_open_txns").open_txns == (2,)
    assert valid(one) == (1, (), None, b"")


def _allocate_one_more(metastore: Metastore) -> None:
    allocated(metastore, 3)


def _take_an_id_back(metastore: Metastore) -> None:
    request = AllocateTableWriteIdsRequest(dbName="db", tableName="t", txnIds=(2,), reallocate=True)
    metastore.call("allocate_table_write_ids", request)


def _forget_old_ids(metastore: Metastore) -> None:
    for txn in (1, 2, 3):
        commit(metastore, txn)
    metastore.reap()


def _create_table(metastore: Metastore) -> None:
    metastore.call("create_table", replace(table("t"), dbName="db"))


def _recreate_the_table(metastore: Metastore) -> None:
    metastore.call("drop_table", "db", "t", True)
    _create_table(metastore)
    allocated(metastore, 3)
    allocated(metastore, 1)


def _give_it_another_name(metastore: Metastore) -> None:
    metastore.call("alter_table", "db", "t", replace(metastore.call("get_table", "db", "t"), tableName="other"))


SHORT, LONG = "9:2:2:", f"99999:2:{','.join(['2', *map(str, range(1000, 3000))])}:"
"""Snapshots of readers; the long one is longer than most calls that are served on the event loop."""


@pytest.mark.parametrize("snapshot", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    "change",
    [_allocate_one_more, _take_an_id_back, _forget_old_ids, _recreate_the_table, _give_it_another_name],
    ids=lambda change: change.__name__.strip("_"),
)
def test_cached_write_ids_are_not_returned_after_a_change(
    hive_4: Metastore, change: Callable[[Metastore], None], snapshot: str
) -> None:
    """A second server on the same database, with an empty cache, returns the same."""
    hive_4.call("create_database", Database(name="db"))
    _create_table(hive_4)
    opened(hive_4, 3)
    allocated(hive_4, 1, 2)
    before = valid(hive_4, snapshot)
    assert valid(hive_4, snapshot) == before
    change(hive_4)
    other = Metastore(hive_4.database, hive_4.clock, hive_4.generation)
    try:
        assert valid(hive_4, snapshot) == valid(other, snapshot)
        assert valid(hive_4, snapshot) != before
    finally:
        other.close()


def test_no_counter_ever_has_the_stamp_of_another_or_an_earlier_one(hive_4: Metastore) -> None:
    stamps = []
    for number in range(3):
        opened(hive_4)
        allocated(hive_4, number + 1)
        counter = write_ids.counter(hive_4.database.reader(), T)
        assert counter is not None
        stamps.append(counter.stamp)
    assert len(set(stamps)) == 3
