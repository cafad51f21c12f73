"""Simple models of the lock manager and of snapshot isolation agree with the server, whatever clients do.

The models are independent of the implementation: they keep everything in lists and scan all of it at every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from metastored.errors import MetastoreError, NoSuchLockException, TxnAbortedException, TxnOpenException
from metastored.hive.generation import Generation
from metastored.hive.transactions.snapshots import ValidTxnList
from metastored.store.engine.statements import SQLITE, Statement
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
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
)
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.soak import scaled

pytestmark = pytest.mark.slow

SMALL = settings(
    max_examples=120,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
LARGE = settings(SMALL, max_examples=scaled(300), stateful_step_count=60)

_TABLES = (
    *("txns", "txn_components", "completed_components", "write_sets", "write_ids", "write_id_counters"),
    *("locks", "events", "min_history"),
)
_EMPTY = [Statement(f"DELETE FROM {name}") for name in _TABLES]
_BACK_TO_ZERO = Statement("UPDATE counters SET value = 0")

GENERATIONS = (Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0)
TIMEOUT = 300


def emptied(metastore: Metastore) -> Metastore:
    def work(tx: Any) -> None:
        for statement in _EMPTY:
            tx.run(statement)
        tx.run(_BACK_TO_ZERO)

    metastore.database.run(work)
    return metastore


class Machine(RuleBasedStateMachine):
    """A model beside a server. Steps may come from clients of several servers that share a database."""

    servers: ClassVar[dict[Generation, list[Metastore]]]

    def __init__(self) -> None:
        super().__init__()
        self.generation = Generation.HIVE_3_1
        self.steps = 0
        self.now = 0.0
        self.heard: dict[int, float] = {}
        self.open: dict[int, bool] = {}
        """Every transaction, and whether it is open."""
        emptied(self.servers[self.generation][0])

    @initialize(generation=st.sampled_from(GENERATIONS))
    def choose(self, generation: Generation) -> None:
        self.generation = generation

    def call(self, name: str, *args: Any) -> Any:
        self.steps += 1
        servers = self.servers[self.generation]
        return servers[self.steps % len(servers)].call(name, *args)

    def opens(self) -> int:
        (txn,) = self.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
        id = len(self.open) + 1
        assert txn == id
        self.open[id] = True
        self.heard[id] = self.now
        return id

    def waits(self, seconds: float) -> None:
        self.now += seconds
        self.servers[self.generation][0].clock.forward(seconds)


# --- locks --------------------------------------------------------------------------------------------------------

NAMES = {1: "read", 2: "write", 3: "exclusive", 4: "excl_write"}
OBJECTS: tuple[tuple[str, ...], ...] = (("a",), ("a", "t"), ("a", "t", "p=1"), ("a", "t", "p=2"), ("a", "u"), ("b",))


@dataclass
class Request:
    id: int
    txn: int
    wanted: list[tuple[tuple[str, ...], str]]
    held: bool = False
    heard: float = 0.0


def exclude(one: str, other: str, generation: Generation) -> bool:
    """Whether two types cannot be held together; the order does not matter."""
    pair = {one, other}
    if "exclusive" in pair:
        return True
    if "excl_write" in pair:
        return "read" not in pair
    return pair == {"write"} and generation < Generation.HIVE_4_0


def conflict(mine: Request, its: Request, generation: Generation) -> bool:
    if mine.id == its.id or (mine.txn and mine.txn == its.txn):
        return False
    for place, type in mine.wanted:
        for other_place, other_type in its.wanted:
            shorter = min(len(place), len(other_place))
            if place[:shorter] != other_place[:shorter] or not exclude(type, other_type, generation):
                continue
            # A reader of a database does not conflict with changes of its tables.
            if {(len(place) == 1, type), (len(other_place) == 1, other_type)} == {(True, "read"), (False, "exclusive")}:
                continue
            return True
    return False


class Locks(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []

    def may_have(self, mine: Request) -> bool:
        strength = ["read", "write", "excl_write", "exclusive"].index
        for its in self.requests:
            if its.id > mine.id and not its.held:
                continue
            if self.generation is Generation.HIVE_2_3 and not its.held:
                # Only locks that are not stronger block each component.
                weaker = [
                    (place, type)
                    for place, type in its.wanted
                    if any(strength(type) <= strength(own) for _, own in mine.wanted)
                ]
                if len(mine.wanted) == 1 and not conflict(mine, Request(its.id, its.txn, weaker), self.generation):
                    continue
            if conflict(mine, its, self.generation):
                return False
        return True

    def expire(self) -> None:
        """A waiting request takes the locks of clients that timed out and block it; others may stay a little longer."""
        gone = [txn for txn, open in self.open.items() if open and self.now - self.heard[txn] > TIMEOUT]
        for txn in gone:
            self.open[txn] = False
        self.requests = [
            one for one in self.requests if (self.open[one.txn] if one.txn else self.now - one.heard <= TIMEOUT)
        ]

    @rule()
    def begins(self) -> None:
        self.opens()

    @rule(
        place=st.sampled_from(OBJECTS),
        type=st.integers(1, 4),
        also=st.none() | st.tuples(st.sampled_from(OBJECTS), st.integers(1, 4)),
        in_txn=st.booleans(),
        data=st.data(),
    )
    def requests_a_lock(self, place: tuple[str, ...], type: int, also: Any, in_txn: bool, data: st.DataObject) -> None:
        running = [txn for txn, open in self.open.items() if open]
        txn = data.draw(st.sampled_from(running)) if in_txn and running else 0
        # In 2.3 a request of several types may be passed by some of its components only: too intricate a model.
        expected = [(place, type)] if also is None or self.generation is Generation.HIVE_2_3 else [(place, type), also]
        components = tuple(
            LockComponent(
                type=kind,
                level=len(names),
                dbname=names[0],
                tablename=names[1] if len(names) > 1 else None,
                partitionname=names[2] if len(names) > 2 else None,
                operationType=1,
            )
            for names, kind in expected
        )
        reply = self.call("lock", LockRequest(component=components, txnid=txn, user="u", hostname="h"))
        mine = Request(reply.lockid, txn, [(names, NAMES[kind]) for names, kind in expected], heard=self.now)
        mine.held = self.may_have(mine)
        self.requests.append(mine)
        assert reply.state == (1 if mine.held else 2)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def checks(self, data: st.DataObject) -> None:
        mine = data.draw(st.sampled_from(self.requests))
        reply = self.call("check_lock", CheckLockRequest(lockid=mine.id))
        mine.heard = self.now
        if mine.txn:
            self.heard[mine.txn] = self.now
        mine.held = mine.held or self.may_have(mine)
        assert reply.state == (1 if mine.held else 2)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def gives_back(self, data: st.DataObject) -> None:
        mine = data.draw(st.sampled_from(self.requests))
        if mine.txn and mine.held:
            with pytest.raises(TxnOpenException):
                self.call("unlock", UnlockRequest(lockid=mine.id))
            return
        self.call("unlock", UnlockRequest(lockid=mine.id))
        self.requests.remove(mine)
        with pytest.raises(NoSuchLockException):
            self.call("check_lock", CheckLockRequest(lockid=mine.id))

    @precondition(lambda self: any(self.open.values()))
    @rule(data=st.data(), commits=st.booleans())
    def ends(self, data: st.DataObject, commits: bool) -> None:
        txn = data.draw(st.sampled_from([txn for txn, open in self.open.items() if open]))
        if commits:
            self.call("commit_txn", CommitTxnRequest(txnid=txn))
        else:
            self.call("abort_txn", AbortTxnRequest(txnid=txn))
        self.open[txn] = False
        self.requests = [one for one in self.requests if one.txn != txn]

    @rule(data=st.data())
    def goes_silent(self, data: st.DataObject) -> None:
        """Time passes; some clients send heartbeats, the others time out."""
        self.waits(200)
        for one in self.requests:
            if not one.txn and data.draw(st.booleans()):
                self.call("heartbeat", HeartbeatRequest(lockid=one.id))
                one.heard = self.now
        for txn, open in self.open.items():
            if open and data.draw(st.booleans()):
                self.call("heartbeat", HeartbeatRequest(txnid=txn))
                self.heard[txn] = self.now
        self.servers[self.generation][-1].reap()
        self.expire()

    @invariant()
    def what_is_shown_is_what_the_model_holds(self) -> None:
        shown = self.call("show_locks", ShowLocksRequest()).locks
        expected = sorted((one.id, number, one.held) for one in self.requests for number in range(len(one.wanted)))
        assert sorted((lock.lockid, lock.lockIdInternal - 1, lock.state == 1) for lock in shown) == expected

    @invariant()
    def nothing_that_excludes_is_held_together(self) -> None:
        held = [one for one in self.requests if one.held]
        assert not any(conflict(one, other, self.generation) for one in held for other in held)


# --- snapshots ------------------------------------------------------------------------------------------------------


@dataclass
class Txn:
    id: int
    state: str = "open"
    write_ids: dict[str, int] = field(default_factory=dict)
    changed: set[tuple[str, str, str]] = field(default_factory=set)
    committed_at: int = 0
    snapshot: ValidTxnList | None = None


class Snapshots(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.txns: list[Txn] = []

    def running(self) -> list[Txn]:
        return [txn for txn in self.txns if txn.state == "open"]

    @rule()
    def begins(self) -> None:
        txn = Txn(self.opens())
        self.txns.append(txn)
        result = self.call("get_open_txns")
        known = [one.id for one in self.txns if one.state != "committed"]
        assert (result.txn_high_water_mark, sorted(result.open_txns)) == (len(self.txns), known)
        assert result.min_open_txn == min(one.id for one in self.running())
        if self.generation is not Generation.HIVE_2_3:
            txn.snapshot = ValidTxnList.of_reply(len(self.txns), result.open_txns, result.abortedBits, own_txn=txn.id)
            aborted = tuple(one.id for one in self.txns if one.state == "aborted")
            assert txn.snapshot.aborted == aborted

    @precondition(lambda self: self.running())
    @rule(data=st.data(), table=st.sampled_from(["t", "u"]))
    def gets_a_write_id(self, data: st.DataObject, table: str) -> None:
        txn = data.draw(st.sampled_from(self.running()))
        request = AllocateTableWriteIdsRequest(dbName="db", tableName=table, txnIds=(txn.id,))
        (pair,) = self.call("allocate_table_write_ids", request).txnToWriteIds
        given = [one.write_ids[table] for one in self.txns if table in one.write_ids]
        expected = txn.write_ids.setdefault(table, max(given, default=0) + 1)
        assert (pair.txnId, pair.writeId) == (txn.id, expected)
        # From here on this is a client of 3.1 or later.
        self.generation = max(self.generation, Generation.HIVE_3_1)

    @precondition(lambda self: self.running())
    @rule(
        data=st.data(),
        table=st.sampled_from(["t", "u"]),
        part=st.sampled_from(["", "p=1"]),
        op=st.sampled_from([2, 3, 3, 4]),
    )
    def writes(self, data: st.DataObject, table: str, part: str, op: int) -> None:
        txn = data.draw(st.sampled_from(self.running()))
        component = LockComponent(
            type=1,
            level=3 if part else 2,
            dbname="db",
            tablename=table,
            partitionname=part or None,
            operationType=op,
            isTransactional=True,
        )
        self.call("lock", LockRequest(component=(component,), txnid=txn.id, user="u", hostname="h"))
        txn.changed.add((table, part, "iud"[op - 2]))

    @precondition(lambda self: self.running())
    @rule(data=st.data())
    def commits(self, data: st.DataObject) -> None:
        txn = data.draw(st.sampled_from(self.running()))
        collides = any(
            (table, part) == (its_table, its_part)
            and "i" not in (op, its_op)
            and ("u" in (op, its_op) or self.generation >= Generation.HIVE_4_0)
            for other in self.txns
            if other.state == "committed" and other.committed_at >= txn.id
            for table, part, op in txn.changed
            for its_table, its_part, its_op in other.changed
        )
        request = CommitTxnRequest(txnid=txn.id, exclWriteEnabled=False)
        if collides:
            with pytest.raises(TxnAbortedException, match="due to a write conflict on db/"):
                self.call("commit_txn", request)
            txn.state = "aborted"
        else:
            self.call("commit_txn", request)
            txn.state, txn.committed_at = "committed", len(self.txns)
        self.open[txn.id] = False

    @precondition(lambda self: self.running())
    @rule(data=st.data())
    def aborts(self, data: st.DataObject) -> None:
        txn = data.draw(st.sampled_from(self.running()))
        self.call("abort_txn", AbortTxnRequest(txnid=txn.id))
        txn.state = "aborted"
        self.open[txn.id] = False

    @precondition(lambda self: len(self.txns) > 0)
    @rule(data=st.data())
    def comes_too_late(self, data: st.DataObject) -> None:
        """Calls for ended transactions report that they ended; nothing changes."""
        txn = data.draw(st.sampled_from(self.txns))
        if txn.state == "committed":
            self.call("commit_txn", CommitTxnRequest(txnid=txn.id))
        elif txn.state == "aborted":
            self.call("abort_txn", AbortTxnRequest(txnid=txn.id))
            with pytest.raises(MetastoreError, match="already aborted"):
                self.call("commit_txn", CommitTxnRequest(txnid=txn.id))

    @rule()
    def is_tidied(self) -> None:
        """Housekeeping never changes the state that clients see."""
        self.servers[self.generation][-1].reap()

    @invariant()
    def every_reader_sees_what_was_committed_before_it_began(self) -> None:
        for reader in self.running():
            if reader.snapshot is None:
                continue
            for table in ("t", "u"):
                request = GetValidWriteIdsRequest(fullTableNames=(f"db.{table}",), validTxnList=str(reader.snapshot))
                (result,) = self.call("get_valid_write_ids", request).tblValidWriteIds
                for txn in self.txns:
                    if table not in txn.write_ids:
                        continue
                    write_id = txn.write_ids[table]
                    seen = write_id <= result.writeIdHighWaterMark and write_id not in result.invalidWriteIds
                    assert seen == reader.snapshot.is_valid(txn.id), (reader, txn, result)


# --- running ------------------------------------------------------------------------------------------------------


def beside_servers(kind: type[Machine], start: Starter) -> type[Machine]:
    """The model beside two servers of each generation on one database."""
    servers = {generation: [start(generation), start(generation)] for generation in GENERATIONS}
    return type(kind.__name__, (kind,), {"servers": servers})


@pytest.mark.parametrize("kind", [Locks, Snapshots])
def test_the_model_agrees(kind: type[Machine], start: Starter) -> None:
    model = beside_servers(kind, start)
    on_sqlite = model.servers[Generation.HIVE_3_1][0].database.dialect == SQLITE
    # The model needs many examples to reach rare cases; one database may run most of them.
    run_state_machine_as_test(model, settings=SMALL if on_sqlite else settings(SMALL, max_examples=30))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", [Locks, Snapshots])
def test_the_model_agrees_for_long(kind: type[Machine], start: Starter) -> None:
    run_state_machine_as_test(beside_servers(kind, start), settings=LARGE)
