"""Calls for transactions and the compaction queue that only Hive 4 has: those of compactors, and seeds.

Ids are counted as in `acid`. A compactor sends back the compaction it took, so the probes here store it for each side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from metastored.errors import ApplicationError, MetastoreError, TransportError
from metastored.wire.generated.common import CompactionInfoStruct
from metastored.wire.generated.compaction import (
    AbortCompactionRequest,
    CompactionMetricsDataRequest,
    CompactionMetricsDataStruct,
    CompactionRequest,
    FindNextCompactRequest,
    GetLatestCommittedCompactionInfoRequest,
    ShowCompactRequest,
)
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetOpenTxnsRequest,
    MaxAllocatedTableWriteIdRequest,
    OpenTxnRequest,
    ReplTblWriteIdStateRequest,
    SeedTableWriteIdsRequest,
    SeedTxnIdRequest,
    TxnType,
)
from metastored.wire.structs import replace
from tests.differential.peer import Peer
from tests.differential.probes import acid
from tests.differential.probes.acid import Call, Count, asked, base_of, given, told, txn
from tests.differential.script import HIVE_4, Probe

DB = "cmp4"
POOL = "pool4"
MISSING = CompactionInfoStruct(id=999_999, dbname=DB, tablename="t", type=2)

_taken: dict[int, CompactionInfoStruct] = {}
"""The compaction that a side's compactor works on."""


def ask(label: str, method: str, *args: Any, show: Any = None, versions: Sequence[str] = HIVE_4) -> Call:
    return acid.ask(label, method, *args, show=show, versions=versions)


@dataclass(frozen=True)
class Take:
    """A compactor requests work."""

    label: str
    method: str = "find_next_compact2"
    pool: str | None = POOL
    versions: Sequence[str] = HIVE_4
    kind: ClassVar[str] = "take: "

    def run(self, peer: Peer) -> str:
        if self.method == "find_next_compact":
            result = peer.ask(self.method, "w1")
        else:
            result = peer.ask(self.method, FindNextCompactRequest("w1", "4", self.pool))
        if result.ci is not None:
            _taken[id(peer)] = result.ci
        return peer.shown(result)


@dataclass(frozen=True)
class Report:
    """A compactor reports the result of the compaction it took; the rest of the arguments follows."""

    label: str
    method: str
    args: tuple[Any, ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)
    versions: Sequence[str] = HIVE_4
    kind: ClassVar[str] = "report: "

    def run(self, peer: Peer) -> str:
        base = base_of(peer)
        taken = replace(_taken[id(peer)], **self.changes)
        try:
            if self.method == "set_hadoop_jobid":
                return peer.shown(peer.ask(self.method, *self.args, taken.id))
            if self.method == "abort_Compactions":
                result = peer.ask(self.method, AbortCompactionRequest(compactionIds=(taken.id or 0,)))
                return peer.shown([tuple(one)[1:] for one in result.abortedcompacts.values()])
            return peer.shown(peer.ask(self.method, taken, *(given(arg, base) for arg in self.args)))
        except (MetastoreError, ApplicationError, TransportError) as error:
            return told(peer.shown_error(error), base)


@dataclass(frozen=True)
class Refused:
    """A call whose reply is compared without its numbers, which are each server's own."""

    label: str
    method: str
    args: tuple[Any, ...]
    versions: Sequence[str] = HIVE_4
    kind: ClassVar[str] = "refused: "

    def run(self, peer: Peer) -> str:
        return re.sub(r"\d+", "#", peer.answer(self.method, *self.args))


def compact(label: str, part: str | None = None, **other: Any) -> Call:
    request = CompactionRequest(dbname=DB, tablename="t", partitionname=part, type=2, poolName=POOL, **other)
    return ask(label, "compact2", request, show=lambda result: result[1:3])


def rows(result: Any) -> Any:
    return tuple(replace(row, id=None) for row in result.compacts)


def shown(label: str, **other: Any) -> Call:
    return ask(label, "show_compact", ShowCompactRequest(poolName=POOL, **other), show=rows)


def latest(label: str, **other: Any) -> Call:
    request = GetLatestCommittedCompactionInfoRequest(dbname=DB, tablename="t", **other)
    return ask(
        label,
        "get_latest_committed_compaction_info",
        request,
        show=lambda result: tuple(replace(row, id=None) for row in result.compactions or ()),
    )


def opened(label: str, type: int) -> Call:
    return ask(label, "open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h", txn_type=type))


def commit(label: str, number: int) -> Call:
    return ask(label, "commit_txn", CommitTxnRequest(txnid=txn(number)))


def abort(label: str, number: int) -> Call:
    return ask(label, "abort_txn", AbortTxnRequest(txnid=txn(number)))


def highest(label: str, table: str = "t", versions: Sequence[str] = HIVE_4) -> Call:
    request = MaxAllocatedTableWriteIdRequest(dbName=DB, tableName=table)
    return ask(label, "get_max_allocated_table_write_id", request, versions=versions)


def alloc(label: str, *numbers: int, table: str = "t") -> Call:
    request = AllocateTableWriteIdsRequest(dbName=DB, tableName=table, txnIds=tuple(map(txn, numbers)))
    return ask(label, "allocate_table_write_ids", request)


def seed(label: str, number: int, table: str) -> Call:
    return ask(label, "seed_write_id", SeedTableWriteIdsRequest(dbName=DB, tableName=table, seedWriteId=number))


def open_ones(result: Any) -> Any:
    return result.txn_high_water_mark, result.open_txns


TRANSACTIONS: list[Probe] = [
    opened("a writer", TxnType.DEFAULT),
    opened("a reader", TxnType.READ_ONLY),
    opened("a compactor", TxnType.COMPACTION),
    ask("all", "get_open_txns_req", GetOpenTxnsRequest(()), show=open_ones),
    ask("without readers", "get_open_txns_req", GetOpenTxnsRequest((TxnType.READ_ONLY,)), show=open_ones),
    highest("none"),
    alloc("of a reader", 2),
    alloc("one", 1),
    highest("one"),
    highest("of another table", "zz"),
    seed("new", 7, "seeded"),
    highest("seeded", "seeded"),
    seed("again", 9, "seeded"),
    alloc("after a seed", 1, table="seeded"),
    ask("plain", "add_write_ids_to_min_history", txn(1), {f"{DB}.t": 1}),
    ask("nothing", "add_write_ids_to_min_history", txn(1), {}),
    ask("nothing yet", "get_latest_txnid_in_conflict", txn(1)),
    ask("of a missing one", "get_latest_txnid_in_conflict", txn(9999)),
    ask("a table", "lock", asked(acid.WRITE, 1, db=DB, op=acid.UPDATE)),
    ask("with a lock", "get_latest_txnid_in_conflict", txn(1)),
    commit("the writer", 1),
    commit("the reader", 2),
    abort("the compactor", 3),
    ask(
        "of a copy",
        "repl_tbl_writeid_state",
        ReplTblWriteIdStateRequest(f"{DB}.copy:9:9223372036854775807::", "u", "h", DB, "copy"),
    ),
    highest("of a copy", "copy"),
    ask(
        "again",
        "repl_tbl_writeid_state",
        ReplTblWriteIdStateRequest(f"{DB}.copy:12:9223372036854775807::", "u", "h", DB, "copy"),
    ),
    highest("of a copy, again", "copy"),
]

COMPACTIONS: list[Probe] = [
    compact("a table"),
    shown("one waits"),
    Take("of another pool", pool="nobody"),
    Take("a table"),
    shown("one is worked on"),
    compact("while it is worked on"),
    opened("for the compaction", TxnType.COMPACTION),
    Report("its transaction", "update_compactor_state", (txn(4),), {"highestWriteId": 1, "runas": "me"}),
    Report("its job", "set_hadoop_jobid", ("job_1",)),
    Report("no columns", "find_columns_with_stats"),
    shown("with a transaction and a job"),
    Report("done", "mark_compacted"),
    Report("done again", "mark_compacted"),
    shown("one waits for the cleaner"),
    latest("before its commit"),
    commit("of the compaction", 4),
    latest("after its commit"),
    latest("of a partition", partitionnames=("p=1",)),
    shown("committed"),
    Report("cleaned", "mark_cleaned"),
    Report("cleaned again", "mark_cleaned"),
    shown("cleaned"),
    latest("cleaned"),
    latest("since the last", lastCompactionId=999_999),
    compact("a partition", "p=1", runas="me", properties={"a": "b"}, initiatorId="i", initiatorVersion="4"),
    Take("a partition"),
    Report("failed", "mark_failed", (), {"errorMessage": "because"}),
    shown("failed", partName="p=1"),
    compact("a partition again", "p=2"),
    Take("a partition again"),
    Report("refused", "mark_refused", (), {"errorMessage": "no need"}),
    shown("refused", partName="p=2"),
    compact("one to be aborted", "p=3"),
    Report("of one that has ended", "abort_Compactions"),
    ask(
        "missing",
        "abort_Compactions",
        AbortCompactionRequest(compactionIds=(999_999,)),
        show=lambda result: [tuple(one) for one in result.abortedcompacts.values()],
    ),
    Take("one to be aborted"),
    Report("of one that is worked on", "abort_Compactions"),
    shown("not aborted", partName="p=3"),
    ask(
        "directly",
        "submit_for_cleanup",
        CompactionRequest(dbname=DB, tablename="t", partitionname="p=9", type=1, poolName=POOL),
        5,
        txn(4),
    ),
    ask(
        "none",
        "remove_compaction_metrics_data",
        CompactionMetricsDataRequest(dbName=DB, tblName="t", type=1),
    ),
    ask(
        "new",
        "update_compaction_metrics_data",
        CompactionMetricsDataStruct(DB, "t", None, 1, 12, 1, 10),
    ),
    ask(
        "below the threshold",
        "update_compaction_metrics_data",
        CompactionMetricsDataStruct(DB, "t", None, 1, 8, 2, 10),
    ),
    ask(
        "again",
        "remove_compaction_metrics_data",
        CompactionMetricsDataRequest(dbName=DB, tblName="t", type=1),
    ),
    ask("missing", "mark_compacted", MISSING),
    ask("missing", "mark_failed", MISSING),
    ask("missing", "mark_refused", MISSING),
    ask("missing", "mark_cleaned", MISSING),
    ask("missing", "set_hadoop_jobid", "job_2", 999_999),
    ask("of nothing", "find_columns_with_stats", replace(MISSING, tablename="nope")),
    ask("missing", "update_compactor_state", MISSING, txn(4)),
    Take("of any pool, by the older call", "find_next_compact"),
]

SEEDS: list[Probe] = [
    # Last, since other scripts count on.
    Refused("lower than there is", "seed_txn_id", (SeedTxnIdRequest(1),)),
]

SCRIPT: list[Probe] = [Count(versions=HIVE_4), *TRANSACTIONS, *COMPACTIONS, *SEEDS]
