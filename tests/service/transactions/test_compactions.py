"""The compaction queue as clients, workers and cleaners see it."""

from __future__ import annotations

import pytest

from metastored.errors import ApplicationError, MetaException
from metastored.hive.generation import Generation
from metastored.model.names import TableName
from metastored.service.core.changes import unpack
from metastored.service.housekeeping import outdated
from metastored.store.objects import events
from metastored.store.transactions import compactions, components, resources, transactions
from metastored.store.transactions.compactions import CompactionRow
from metastored.wire.generated.common import CompactionInfoStruct, CompactionType, DataOperationType
from metastored.wire.generated.compaction import (
    AbortCompactionRequest,
    AbortCompactionResponseElement,
    CompactionMetricsDataRequest,
    CompactionMetricsDataStruct,
    CompactionRequest,
    CompactionResponse,
    FindNextCompactRequest,
    GetLatestCommittedCompactionInfoRequest,
    ShowCompactRequest,
    ShowCompactResponseElement,
)
from metastored.wire.generated.locks import LockComponent, LockRequest
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    OpenTxnRequest,
    TxnType,
)
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

MINOR, MAJOR = CompactionType.MINOR, CompactionType.MAJOR
T = TableName("hive", "db", "t")
NOW = 1_700_000_000_000
NOT_ONE = r"^The update count was 0 which is not the expected\. Rolling back\.$"


def compact(metastore: Metastore, table: str = "t", part: str | None = None, **other: object) -> CompactionResponse:
    request = {"dbname": "db", "tablename": table, "partitionname": part, "type": MAJOR} | other
    reply: CompactionResponse = metastore.call("compact2", CompactionRequest(**request))  # type: ignore[arg-type]
    return reply


def taken(metastore: Metastore, pool: str | None = None) -> CompactionInfoStruct | None:
    request = FindNextCompactRequest(workerId="w", workerVersion="4", poolName=pool)
    result: CompactionInfoStruct | None = metastore.call("find_next_compact2", request).ci
    return result


def shown(metastore: Metastore, **filters: object) -> tuple[ShowCompactResponseElement, ...]:
    request = ShowCompactRequest(**filters)  # type: ignore[arg-type]
    result: tuple[ShowCompactResponseElement, ...] = metastore.call("show_compact", request).compacts
    return result


def states(metastore: Metastore) -> list[tuple[int | None, str | None]]:
    return sorted((row.id or 0, row.state) for row in shown(metastore))


def opened(metastore: Metastore, type: int = TxnType.DEFAULT) -> int:
    request = OpenTxnRequest(num_txns=1, user="u", hostname="h", txn_type=type)
    ids: tuple[int, ...] = metastore.call("open_txns", request).txn_ids
    return ids[0]


def written(metastore: Metastore, *, commits: bool = True) -> int:
    """A transaction that writes to the table; its write id."""
    txn = opened(metastore)
    allocate = AllocateTableWriteIdsRequest(dbName="db", tableName="t", txnIds=(txn,))
    (pair,) = metastore.call("allocate_table_write_ids", allocate).txnToWriteIds
    component = LockComponent(
        type=1, level=2, dbname="db", tablename="t", operationType=DataOperationType.INSERT, isTransactional=True
    )
    metastore.call("lock", LockRequest(component=(component,), txnid=txn, user="u", hostname="h"))
    if commits:
        metastore.call("commit_txn", CommitTxnRequest(txnid=txn))
    else:
        metastore.call("abort_txn", AbortTxnRequest(txnid=txn))
    write_id: int = pair.writeId
    return write_id


# --- asking for one -----------------------------------------------------------------------------------------------


def test_a_compaction_is_queued_once(metastore: Metastore) -> None:
    metastore.call("compact", CompactionRequest(dbname="db", tablename="t", type=MAJOR))
    assert compact(metastore) == CompactionResponse(1, "initiated", False)
    assert compact(metastore, type=MINOR) == CompactionResponse(1, "initiated", False)
    assert compact(metastore, part="p=1") == CompactionResponse(2, "initiated", True)
    assert compact(metastore, part="p=2") == CompactionResponse(3, "initiated", True)


def test_from_4_0_a_second_one_is_refused_with_its_reason(hive_4: Metastore) -> None:
    compact(hive_4)
    text = "Compaction is already scheduled with state='initiated' and id=1"
    assert compact(hive_4) == CompactionResponse(-1, "refused", False, text)
    taken(hive_4)
    text = "Compaction is already scheduled with state='working' and id=1"
    assert compact(hive_4) == CompactionResponse(-1, "refused", False, text)


def test_from_4_0_one_that_waits_for_the_cleaner_counts_until_something_is_written(hive_4: Metastore) -> None:
    highest = written(hive_4)
    compact(hive_4)
    info = taken(hive_4)
    assert info is not None
    txn = opened(hive_4, TxnType.COMPACTION)
    hive_4.call("update_compactor_state", replace(info, highestWriteId=highest), txn)
    hive_4.call("mark_compacted", info)
    assert compact(hive_4).state == "refused"
    written(hive_4)
    assert compact(hive_4).accepted is True


def test_unknown_types_are_refused(metastore: Metastore) -> None:
    with pytest.raises(ApplicationError, match="Internal error processing compact2"):
        compact(metastore, type=CompactionType.REBALANCE)
    assert shown(metastore) == ()


def test_a_waiting_compaction_is_shown_with_its_fields(start: Starter) -> None:
    old, new = start(Generation.HIVE_3_1), start(Generation.HIVE_4_0)
    compact(old, runas="me", properties={"a": "1", "bc": "xyz"})
    (row,) = shown(old)
    assert (row.dbname, row.tablename, row.partitionname, row.type, row.state) == ("db", "t", None, MAJOR, "initiated")
    assert (row.id, row.runAs, row.workerid, row.start, row.hightestTxnId) == (1, "me", None, None, None)
    (row,) = shown(new)
    assert (row.poolName, row.enqueueTime, row.txnId, row.hightestTxnId) == ("default", NOW, 0, 0)
    info = taken(new)
    assert info is not None
    assert info.properties == "2:1:a1:12:bc3:xyz"


def test_compactions_can_be_filtered_ordered_and_limited(hive_4: Metastore) -> None:
    for table in ("a", "b", "c"):
        compact(hive_4, table, poolName="p" if table == "b" else None)
    assert [row.tablename for row in shown(hive_4, tbName="b")] == ["b"]
    assert [row.tablename for row in shown(hive_4, poolName="p")] == ["b"]
    assert [row.tablename for row in shown(hive_4, id=3)] == ["c"]
    assert [row.tablename for row in shown(hive_4, state="w")] == []
    assert [row.tablename for row in shown(hive_4, order='"CC_TABLE" desc', limit=2)] == ["c", "b"]
    with pytest.raises(ApplicationError):
        shown(hive_4, order="1; DROP TABLE x")


# --- working on one ---------------------------------------------------------------------------------------------


def test_workers_take_the_oldest_first_and_each_only_once(hive_4: Metastore) -> None:
    compact(hive_4, "a")
    compact(hive_4, "b")
    first, second = taken(hive_4), hive_4.call("find_next_compact", "w2").ci
    assert first is not None
    assert (first.id, first.tablename, first.workerId, first.start, first.state) == (1, "a", "w", NOW, "w")
    assert (second.id, second.tablename, second.workerId) == (2, "b", "w2")
    assert taken(hive_4) is None
    assert states(hive_4) == [(1, "working"), (2, "working")]


def test_pools_have_their_own_workers(hive_4: Metastore) -> None:
    compact(hive_4, "a", poolName="pool")
    assert taken(hive_4) is None
    assert taken(hive_4, "other") is None
    result = taken(hive_4, "pool")
    assert result is not None and result.poolname == "pool"


def test_a_compaction_that_waits_too_long_in_a_pool_is_for_any_worker(hive_4: Metastore) -> None:
    compact(hive_4, "a", poolName="pool")
    hive_4.clock.forward(12 * 3600 + 1)
    assert taken(hive_4) is not None


def test_a_worker_that_never_comes_back_loses_its_compaction(hive_4: Metastore) -> None:
    compact(hive_4)
    taken(hive_4)
    hive_4.clock.forward(86_401)
    hive_4.reap()
    assert states(hive_4) == [(1, "initiated")]
    assert taken(hive_4) is not None


def test_the_way_of_a_compaction(hive_4: Metastore) -> None:
    written(hive_4)
    highest = written(hive_4)
    compact(hive_4)
    info = taken(hive_4)
    assert info is not None
    txn = opened(hive_4, TxnType.COMPACTION)
    info = replace(info, highestWriteId=highest, runas="me")
    hive_4.call("update_compactor_state", info, txn)
    hive_4.call("set_hadoop_jobid", "job_1", info.id)
    hive_4.call("commit_txn", CommitTxnRequest(txnid=txn))
    hive_4.call("mark_compacted", info)
    (row,) = shown(hive_4)
    assert (row.state, row.hadoopJobId, row.runAs, row.workerid) == ("ready for cleaning", "job_1", "me", None)
    assert (row.txnId, row.nextTxnId, row.commitTime, row.hightestTxnId) == (txn, txn, NOW, highest)
    hive_4.call("mark_cleaned", info)
    (row,) = shown(hive_4)
    assert (row.state, row.endTime) == ("succeeded", NOW)
    assert components.changed_by(hive_4.database.reader(), T, 0, [], 99) == []
    (event,) = (event for event in events.since(hive_4.database.reader(), 0) if event.type == "COMMIT_COMPACTION_EVENT")
    assert (event.db, event.tbl, dict(unpack(event.body))["compaction"]) == ("db", "t", b"1")


def test_cleaning_deletes_the_recorded_writes_of_aborted_transactions(hive_4: Metastore) -> None:
    highest = written(hive_4, commits=False)
    later = written(hive_4, commits=False)
    compact(hive_4)
    info = taken(hive_4)
    assert info is not None
    hive_4.call("mark_cleaned", replace(info, highestWriteId=highest))
    hive_4.clock.forward(4000)
    hive_4.reap()
    assert later == 2
    assert hive_4.call("get_open_txns").open_txns == (2,)


def test_an_aborted_write_of_unknown_partitions_is_forgotten_when_its_table_is_cleaned(hive_4: Metastore) -> None:
    """Its record names no partition: a compaction of a partition does not clear it."""
    aborted = written(hive_4, commits=False)
    compact(hive_4, part="ds=1")
    info = taken(hive_4)
    assert info is not None
    hive_4.call("mark_cleaned", replace(info, highestWriteId=aborted))
    hive_4.clock.forward(4000)
    hive_4.reap()
    assert hive_4.call("get_open_txns").open_txns == (1,)
    clean = CompactionInfoStruct(
        id=0, dbname="db", tablename="t", type=CompactionType.ABORT_TXN_CLEANUP, highestWriteId=aborted
    )
    hive_4.call("mark_cleaned", clean)
    hive_4.reap()
    assert hive_4.call("get_open_txns").open_txns == ()


def test_failures_and_refusals_are_history(hive_4: Metastore) -> None:
    for table in ("a", "b"):
        compact(hive_4, table)
    failed, refused = taken(hive_4), taken(hive_4)
    assert failed is not None and refused is not None
    hive_4.call("mark_failed", replace(failed, errorMessage="disk full"))
    hive_4.call("mark_refused", replace(refused, errorMessage="nothing to do"))
    assert states(hive_4) == [(1, "failed"), (2, "refused")]
    assert {row.errorMessage for row in shown(hive_4)} == {"disk full", "nothing to do"}
    assert compact(hive_4, "a").accepted is True


def test_one_that_never_was_in_the_queue_can_fail(start: Starter) -> None:
    hive_4, old = start(Generation.HIVE_4_0), start(Generation.HIVE_3_1)
    hive_4.call("mark_failed", CompactionInfoStruct(id=0, dbname="db", tablename="t", type=MINOR, errorMessage="e"))
    assert states(hive_4) == [(1, "did not initiate")]
    assert states(old) == [(1, "attempted")]


def test_ids_that_are_not_in_the_queue_change_nothing(hive_4: Metastore) -> None:
    info = CompactionInfoStruct(id=9, dbname="db", tablename="t", type=MAJOR)
    with pytest.raises(MetaException, match=NOT_ONE):
        hive_4.call("mark_compacted", info)
    with pytest.raises(ApplicationError, match="Internal error processing mark_failed"):
        hive_4.call("mark_failed", info)
    with pytest.raises(ApplicationError, match="Internal error processing mark_refused"):
        hive_4.call("mark_refused", info)
    with pytest.raises(ApplicationError, match="Internal error processing set_hadoop_jobid"):
        hive_4.call("set_hadoop_jobid", "j", 9)
    with pytest.raises(ApplicationError, match="Internal error processing update_compactor_state"):
        hive_4.call("update_compactor_state", info, opened(hive_4))
    hive_4.call("mark_cleaned", info)
    assert shown(hive_4) == ()


def test_only_a_waiting_compaction_can_be_aborted(hive_4: Metastore) -> None:
    compact(hive_4, "a")
    taken(hive_4)
    compact(hive_4, "b")
    reply = hive_4.call("abort_Compactions", AbortCompactionRequest(compactionIds=(1, 2, 3))).abortedcompacts
    bad = "Error while aborting compaction as compaction is in state-working"
    assert reply == {
        1: AbortCompactionResponseElement(1, "Error", bad),
        2: AbortCompactionResponseElement(2, "Success", "Successfully aborted compaction"),
        3: AbortCompactionResponseElement(3, "Error", "No Such Compaction Id Available"),
    }
    assert states(hive_4) == [(1, "working"), (2, "aborted")]
    with pytest.raises(ApplicationError):
        hive_4.call("abort_Compactions", AbortCompactionRequest(compactionIds=()))


def test_the_latest_result_of_each_partition(hive_4: Metastore) -> None:
    for part in ("p=1", "p=2", "p=1"):
        compact(hive_4, part=part)
        info = taken(hive_4)
        assert info is not None
        hive_4.call("mark_compacted", info)
        if part == "p=2":
            hive_4.call("mark_cleaned", info)
    request = GetLatestCommittedCompactionInfoRequest(dbname="db", tablename="t")
    result = hive_4.call("get_latest_committed_compaction_info", request).compactions
    assert [(row.id, row.partitionname) for row in result] == [(3, "p=1"), (2, "p=2")]
    request = replace(request, partitionnames=("p=2",), lastCompactionId=1)
    result = hive_4.call("get_latest_committed_compaction_info", request).compactions
    assert [row.id for row in result] == [2]
    request = replace(request, lastCompactionId=2)
    assert hive_4.call("get_latest_committed_compaction_info", request).compactions == ()


# --- the cleaner's boundary -----------------------------------------------------------------------------------------


def ready(metastore: Metastore) -> list[int]:
    """The compactions that may be cleaned now."""
    with metastore.database.read() as tx:
        before = int(metastore.clock() * 1000) + 1
        return [row.id for row in compactions.ready_to_clean(tx, transactions.min_open(tx), before)]


def test_old_files_stay_while_a_reader_needs_them(hive_4: Metastore) -> None:
    reader = opened(hive_4, TxnType.READ_ONLY)
    request = CompactionRequest(dbname="db", tablename="t", type=MAJOR)
    txn = opened(hive_4, TxnType.SOFT_DELETE)
    assert hive_4.call("submit_for_cleanup", request, 5, txn) is True
    hive_4.call("commit_txn", CommitTxnRequest(txnid=txn))
    assert ready(hive_4) == []
    hive_4.call("commit_txn", CommitTxnRequest(txnid=reader))
    later = opened(hive_4)
    assert ready(hive_4) == [1]
    hive_4.call("add_write_ids_to_min_history", later, {"db.t": 5})
    assert ready(hive_4) == []
    hive_4.call("commit_txn", CommitTxnRequest(txnid=later))
    assert ready(hive_4) == [1]


def test_a_drop_keeps_the_compaction_that_removes_its_files(hive_4: Metastore) -> None:
    compact(hive_4)
    txn = opened(hive_4, TxnType.SOFT_DELETE)
    hive_4.call("submit_for_cleanup", CompactionRequest(dbname="db", tablename="t", type=MAJOR), 5, txn)
    hive_4.database.run(lambda tx: resources.table_dropped(tx, T, txn_id=txn))
    assert states(hive_4) == [(2, "ready for cleaning")]


def test_a_rename_carries_the_queue_along(metastore: Metastore) -> None:
    compact(metastore, part="p=1")
    new = TableName("hive", "db", "renamed")
    metastore.database.run(lambda tx: resources.table_renamed(tx, T, new))
    metastore.database.run(lambda tx: resources.partition_renamed(tx, new, "p=1", "p=2"))
    assert [(row.tablename, row.partitionname) for row in shown(metastore)] == [("renamed", "p=2")]
    metastore.database.run(lambda tx: resources.partitions_dropped(tx, new, ["p=2"]))
    assert shown(metastore) == ()


# --- history and metrics ------------------------------------------------------------------------------------------


def ended(id: int, state: str, type: int = MAJOR, start: int = 0, part: str | None = None) -> CompactionRow:
    return CompactionRow(id, *T, part, state, type, start=start)


def test_three_successes_and_failures_and_two_that_did_not_begin_are_kept() -> None:
    for state, kept in (("s", 3), ("f", 3), ("c", 3), ("a", 2)):
        history = [ended(id, state, start=10) for id in range(9, 0, -1)]
        assert list(outdated(history, before=5)) == list(range(9 - kept, 0, -1))


def test_old_failures_go_when_a_later_compaction_succeeded() -> None:
    history = [ended(3, "s", MINOR), ended(2, "f", MAJOR), ended(1, "f", MINOR)]
    assert list(outdated(history, before=5)) == [1]
    history = [ended(3, "s", MAJOR), ended(2, "f", MAJOR), ended(1, "f", MINOR, start=9)]
    assert list(outdated(history, before=5)) == [2]
    assert list(outdated([ended(2, "s", part="p=1"), ended(1, "f", part="p=2")], before=5)) == []


def test_history_is_shortened_by_any_server(hive_4: Metastore) -> None:
    for _ in range(5):
        compact(hive_4)
        info = taken(hive_4)
        assert info is not None
        hive_4.call("mark_failed", info)
    hive_4.reap()
    assert [id for id, _ in states(hive_4)] == [3, 4, 5]


def test_metrics_are_kept_while_they_are_over_their_threshold(hive_4: Metastore) -> None:
    def metrics() -> list[tuple[str, int, int, int]]:
        return compactions.metrics(hive_4.database.reader(), T)

    data = CompactionMetricsDataStruct("db", "t", None, 1, 7, 1, 5)
    assert hive_4.call("update_compaction_metrics_data", data) is True
    assert hive_4.call("update_compaction_metrics_data", replace(data, metricvalue=9)) is True
    assert metrics() == [("", 1, 9, 2)]
    assert hive_4.call("update_compaction_metrics_data", replace(data, metricvalue=2)) is True
    assert metrics() == []
    hive_4.call("update_compaction_metrics_data", data)
    hive_4.call("remove_compaction_metrics_data", CompactionMetricsDataRequest("db", "t", None, 1))
    assert metrics() == []
