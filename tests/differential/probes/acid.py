"""Transactions, write ids, locks and the compaction queue.

Ids continue from call to call and from script to script. The first probe reads the present ids of each side, and from
there on both count from 1: in arguments `txn(1)` and `lock(1)` are replaced by ids, in replies ids are counted back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from metastored.errors import ApplicationError, MetastoreError, TransportError
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.compaction import CompactionRequest, ShowCompactRequest
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockRequest,
    ShowLocksRequest,
    UnlockRequest,
)
from metastored.wire.generated.transactions import (
    AbortTxnRequest,
    AbortTxnsRequest,
    AddDynamicPartitions,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    HeartbeatTxnRangeRequest,
    OpenTxnRequest,
)
from metastored.wire.structs import Struct, fields
from tests.differential.peer import Peer
from tests.differential.script import ALL, BEFORE_4, SINCE_3_1, Probe

READ, WRITE, EXCLUSIVE = 1, 2, 3
SELECT, INSERT, UPDATE, DELETE = (getattr(DataOperationType, name) for name in ("SELECT", "INSERT", "UPDATE", "DELETE"))

FAR = 1_000_000_000
"""Ids in arguments are this far above those of any server."""


class Base(NamedTuple):
    txn: int
    lock: int
    compaction: int


_bases: dict[int, Base] = {}


def base_of(peer: Peer) -> Base:
    return _bases[id(peer)]


def txn(number: int) -> int:
    return FAR + number


def lock(number: int) -> int:
    return 2 * FAR + number


def given(value: Any, base: Base) -> Any:
    if isinstance(value, Struct):
        return tuple.__new__(type(value), [given(item, base) for item in value])
    if isinstance(value, tuple):
        return tuple(given(item, base) for item in value)
    if isinstance(value, str):
        return re.sub(r"\{(\d+)\}", lambda match: str(base.txn + int(match[1])), value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= FAR:
        return value - 2 * FAR + base.lock if value >= 2 * FAR else value - FAR + base.txn
    return value


def _answered(value: Any, base: Base, role: str | None = None) -> Any:
    if isinstance(value, Struct):
        roles = {field.name: field.role for field in fields(type(value))}
        named = zip(roles, value, strict=False) if len(roles) == len(value) else []
        return tuple.__new__(type(value), [_answered(item, base, roles[name]) for name, item in named] or list(value))
    if isinstance(value, frozenset):
        return frozenset(result for result in (_answered(item, base, role) for item in value) if result > 0)
    if isinstance(value, tuple) and value and isinstance(value[0], int):
        return tuple(result for result in (_answered(item, base, role) for item in value) if result > 0)
    if isinstance(value, tuple):
        return tuple(_answered(item, base, role) for item in value)
    if isinstance(value, int) and value > 0:
        return value - {"txn_id": base.txn, "lock_id": base.lock}.get(role or "", 0)
    return value


def told(text: str, base: Base) -> str:
    text = re.sub(r"\[txnid:(\d+),(\d+)\]", lambda m: f"[txn {int(m[1]) - base.txn},{int(m[2]) - base.txn}]", text)
    text = re.sub(r"txnid:([1-9]\d*)", lambda match: f"txn {int(match[1]) - base.txn}", text)
    return re.sub(r"lockid:(\d+)", lambda match: f"lock {int(match[1]) - base.lock}", text)


@dataclass(frozen=True)
class Count:
    """Where the ids of a side are."""

    label: str = "where ids begin"
    versions: Sequence[str] = ALL
    kind: ClassVar[str] = ""

    def run(self, peer: Peer) -> str:
        (opened,) = peer.ask("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
        peer.ask("commit_txn", CommitTxnRequest(txnid=opened))
        result = peer.ask("lock", asked(READ, db="counting", table="x"))
        peer.ask("unlock", UnlockRequest(lockid=result.lockid))
        queued = peer.ask("compact2", CompactionRequest(dbname="counting", tablename="x", type=1))
        _bases[id(peer)] = Base(opened, result.lockid, queued.id)
        return "counted"


@dataclass(frozen=True)
class Call:
    """One call whose ids are counted from where they began."""

    label: str
    method: str
    args: tuple[Any, ...]
    show: Callable[[Any], Any] | None
    versions: Sequence[str]
    kind: ClassVar[str] = ""

    def run(self, peer: Peer) -> str:
        base = base_of(peer)
        try:
            result = peer.ask(self.method, *(given(arg, base) for arg in self.args))
        except (MetastoreError, ApplicationError, TransportError) as error:
            return told(peer.shown_error(error), base)
        counted = _answered(result, base)
        return peer.shown(counted if self.show is None else self.show(counted))


def ask(
    label: str,
    method: str,
    *args: Any,
    show: Callable[[Any], Any] | None = None,
    versions: Sequence[str] = ALL,
) -> Call:
    return Call(f"{method}: {label}", method, args, show, versions)


def asked(
    type: int,
    number: int | None = None,
    *,
    db: str = "acid",
    table: str | None = "t",
    part: str | None = None,
    op: int = SELECT,
    transactional: bool = True,
) -> LockRequest:
    component = LockComponent(
        type=type,
        level=1 if table is None else 2 if part is None else 3,
        dbname=db,
        tablename=table,
        partitionname=part,
        operationType=op,
        isTransactional=transactional,
    )
    id = None if number is None else txn(number)
    return LockRequest(component=(component,), txnid=id, user="u", hostname="h", agentInfo="a")


def opened(label: str, count: int) -> Call:
    return ask(label, "open_txns", OpenTxnRequest(num_txns=count, user="u", hostname="h"))


def commit(label: str, number: int) -> Call:
    return ask(label, "commit_txn", CommitTxnRequest(txnid=txn(number)))


def abort(label: str, number: int) -> Call:
    return ask(label, "abort_txn", AbortTxnRequest(txnid=txn(number)))


def alloc(label: str, *numbers: int, table: str = "t") -> Call:
    request = AllocateTableWriteIdsRequest(dbName="acid", tableName=table, txnIds=tuple(map(txn, numbers)))
    return ask(label, "allocate_table_write_ids", request, versions=SINCE_3_1)


def valid(label: str, snapshot: str) -> Call:
    request = GetValidWriteIdsRequest(fullTableNames=("acid.t", "acid.never"), validTxnList=snapshot)
    return ask(label, "get_valid_write_ids", request, versions=SINCE_3_1)


def dynamic(label: str, number: int, *parts: str, op: int = INSERT) -> Call:
    request = AddDynamicPartitions(
        txnid=txn(number), writeid=1, dbname="acid", tablename="t", partitionnames=parts, operationType=op
    )
    # From 4.0 on, Hive stumbles over one that was committed.
    return ask(label, "add_dynamic_partitions", request, versions=("3.1",) if number == 1 else SINCE_3_1)


def of_this(result: Any) -> Any:
    """The transactions of these scripts: other tests may have left some."""
    return tuple(row for row in result.compacts if row.dbname == "acid")


def locks_of_this(result: Any) -> Any:
    return tuple(row for row in result.locks if row.dbname in ("acid", "acid2"))


def infos(result: Any) -> Any:
    return result.txn_high_water_mark, tuple(info for info in result.open_txns if info.id > 0)


TRANSACTIONS: list[Probe] = [
    opened("two", 2),
    ask(
        "two", "get_open_txns", show=lambda result: (result.txn_high_water_mark, result.open_txns, result.min_open_txn)
    ),
    ask("two", "get_open_txns_info", show=infos),
    opened("none", 0),
    opened("less than none", -1),
    ask("some", "heartbeat_txn_range", HeartbeatTxnRangeRequest(min=txn(1), max=txn(3))),
    ask("one", "heartbeat", HeartbeatRequest(txnid=txn(1))),
    ask("missing transaction", "heartbeat", HeartbeatRequest(txnid=txn(9999))),
    ask("missing lock", "heartbeat", HeartbeatRequest(lockid=lock(9999))),
    ask("both missing", "heartbeat", HeartbeatRequest()),
    alloc("two", 1, 2),
    alloc("again", 1),
    alloc("missing", 9999),
    alloc("of another table", 2, table="u"),
    valid("two open", "{2}:{1}:{1},{2}:"),
    valid("as the first sees it", "{1}:{1}:{1}:"),
    valid("all committed", "{2}:9223372036854775807::"),
    ask("in a transaction", "lock", asked(READ, 1, op=INSERT)),
    commit("first", 1),
    commit("first again", 1),
    abort("committed", 1),
    abort("second", 2),
    abort("second again", 2),
    commit("aborted", 2),
    commit("missing", 9999),
    abort("missing", 9999),
    ask("aborted", "heartbeat", HeartbeatRequest(txnid=txn(2))),
    ask("some missing", "abort_txns", AbortTxnsRequest(txn_ids=(txn(9999), txn(2)))),
    valid("one aborted", "{2}:9223372036854775807::{2}"),
    ask("one aborted", "get_open_txns", show=lambda result: (result.txn_high_water_mark, result.open_txns)),
    dynamic("of an aborted one", 2, "p=1"),
    dynamic("of a committed one", 1, "p=1"),
    dynamic("of a missing one", 9999, "p=1"),
    opened("four for updates", 4),
    alloc("for updates", 3, 4, 5, 6),
    ask("updates a partition", "lock", asked(READ, 3, part="p=1", op=UPDATE)),
    ask("updates the same", "lock", asked(READ, 4, part="p=1", op=UPDATE)),
    ask("deletes another", "lock", asked(READ, 5, part="p=2", op=DELETE)),
    ask("deletes the same", "lock", asked(READ, 6, part="p=2", op=DELETE)),
    commit("updates", 3),
    commit("updates too", 4),
    commit("deletes", 5),
    commit("deletes too", 6),
    valid("after updates", "{6}:9223372036854775807::{2},{4}"),
    opened("two more", 2),
    ask("updates a table", "lock", asked(READ, 7, table="n", op=UPDATE)),
    ask("deletes from it", "lock", asked(READ, 8, table="n", op=DELETE)),
    commit("deletes from a table", 8),
    commit("updates a table", 7),
]

LOCKS: list[Probe] = [
    ask("reads", "lock", asked(READ)),
    ask("reads too", "lock", asked(READ)),
    ask("wants it alone", "lock", asked(EXCLUSIVE)),
    ask("wants it alone", "check_lock", CheckLockRequest(lockid=lock(10))),
    ask("reads while one waits", "lock", asked(READ)),
    # From 4.0 on, Hive names any of the locks that a request waits for.
    ask(
        "while one waits",
        "show_locks",
        ShowLocksRequest(dbname="acid", tablename="t"),
        show=locks_of_this,
        versions=BEFORE_4,
    ),
    ask("of another table", "show_locks", ShowLocksRequest(dbname="acid", tablename="zz"), show=locks_of_this),
    ask("the first reader", "unlock", UnlockRequest(lockid=lock(8))),
    ask("the second reader", "unlock", UnlockRequest(lockid=lock(9))),
    ask("alone beside the late reader", "check_lock", CheckLockRequest(lockid=lock(10))),
    ask("the late reader", "check_lock", CheckLockRequest(lockid=lock(11))),
    ask("the late reader", "unlock", UnlockRequest(lockid=lock(11))),
    ask("has it alone", "check_lock", CheckLockRequest(lockid=lock(10))),
    ask("has it alone", "unlock", UnlockRequest(lockid=lock(10))),
    ask("again", "unlock", UnlockRequest(lockid=lock(10))),
    ask("missing", "check_lock", CheckLockRequest(lockid=lock(10))),
    opened("for locks", 2),
    ask("a transaction writes", "lock", asked(WRITE, 9, op=INSERT)),
    ask("another writes", "lock", asked(WRITE, 10, op=INSERT)),
    ask("the first wants it alone", "lock", asked(EXCLUSIVE, 9, table="v", op=INSERT)),
    ask("of a transaction", "unlock", UnlockRequest(lockid=lock(12))),
    ask("the waiting one", "unlock", UnlockRequest(lockid=lock(13))),
    ask("of transactions", "show_locks", ShowLocksRequest(dbname="acid"), show=locks_of_this),
    commit("with locks", 9),
    ask("after the commit", "show_locks", ShowLocksRequest(dbname="acid"), show=locks_of_this),
    # From 4.0 on, Hive grants it a lock, which cannot be released.
    ask("of a committed one", "lock", asked(READ, 9), versions=BEFORE_4),
    ask("of a missing one", "lock", asked(READ, 9999)),
    abort("with locks", 10),
    ask("of an aborted one", "lock", asked(READ, 10)),
]

PAIRS = [
    ("read a database", asked(READ, table=None), "a table alone", asked(EXCLUSIVE)),
    ("a database alone", asked(EXCLUSIVE, table=None), "read a table", asked(READ)),
    ("a partition alone", asked(EXCLUSIVE, part="p=1"), "read its table", asked(READ)),
    ("one partition alone", asked(EXCLUSIVE, part="p=1"), "another alone", asked(EXCLUSIVE, part="p=2")),
    ("write a database", asked(WRITE, table=None), "write a table", asked(WRITE)),
    *(
        (f"has {one}", asked(one, table="m"), f"wants {other}", asked(other, table="m"))
        for one in (READ, WRITE, EXCLUSIVE)
        for other in (READ, WRITE, EXCLUSIVE)
    ),
]
"""The held and the requested lock."""

FIRST_PAIR = 15


def pairs() -> list[Probe]:
    result: list[Probe] = []
    for place, (one, first, other, second) in enumerate(PAIRS):
        number = FIRST_PAIR + 2 * place
        result += (
            ask(f"{one}; {other}: first", "lock", first),
            ask(f"{one}; {other}: second", "lock", second),
            ask(f"{one}; {other}: first", "unlock", UnlockRequest(lockid=lock(number))),
            ask(f"{one}; {other}: second", "check_lock", CheckLockRequest(lockid=lock(number + 1))),
            ask(f"{one}; {other}: second", "unlock", UnlockRequest(lockid=lock(number + 1))),
        )
    return result


COMPACTIONS: list[Probe] = [
    ask("a table", "compact", CompactionRequest(dbname="acid", tablename="t", type=2)),
    ask("again", "compact2", CompactionRequest(dbname="acid", tablename="t", type=1), show=lambda result: result[1:]),
    ask(
        "a partition",
        "compact2",
        CompactionRequest(dbname="acid", tablename="t", partitionname="p=1", type=1, runas="me"),
        show=lambda result: result[1:],
    ),
    ask("both", "show_compact", ShowCompactRequest(), show=of_this),
    # Last, since it costs Hive an id.
    ask("of nothing", "lock", LockRequest(component=(), user="u", hostname="h")),
]

SCRIPT: list[Probe] = [Count(), *TRANSACTIONS, *LOCKS, *pairs(), *COMPACTIONS]
