"""Faults of servers that share a database: PostgreSQL killed, a server stopped, a clock that jumps, no space left.

What was acknowledged is there, nothing is half written, no update is lost, and the servers go on without a restart.

The rest is in tests/server/test_two_servers.py (two servers behave as one), tests/server/test_chaos.py (workers, a
server and PostgreSQL killed under load), tests/server/test_faults.py (PostgreSQL restarted, a full disk where one can
be mounted), tests/server/test_crash.py (SQLite) and tests/store/engine/test_postgresql.py (lost connections).
"""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

import psycopg
import pytest

from metastored.errors import (
    Error,
    MetaException,
    NoSuchLockException,
    NoSuchTxnException,
    StoreError,
    TxnAbortedException,
)
from metastored.service.transactions.state import TIMEOUT
from metastored.store.engine.clock import DatabaseClock
from metastored.store.engine.opening import open_database
from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.transaction import Transaction
from metastored.testing import RunningServer
from metastored.wire.generated.common import DataOperationType, EnvironmentContext
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockRequest,
    UnlockRequest,
)
from metastored.wire.generated.transactions import AbortTxnRequest, CommitTxnRequest, OpenTxnRequest
from metastored.wire.structs import replace
from tests.service.conftest import opener as opener
from tests.service.conftest import place as place
from tests.store.conftest import Opener
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.metastore import Clock, Metastore
from tests.support.objects import table
from tests.support.postgres import PostgresServer, running_postgres
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

# Two, so that each server goes on after the first; more with `make soak`.
KILLS, STOPS = ([2, pytest.param(many, marks=pytest.mark.soak)] for many in (3, 6))
EXCLUSIVE, ACQUIRED = 3, 1
CHANGED = "The table has been modified"
"""What a conditional change is refused with."""
SECONDS = TIMEOUT / 1000
"""After which a transaction or a lock without a heartbeat ends."""
DAY = 86_400.0


class Pair(NamedTuple):
    """Two servers on one PostgreSQL."""

    postgres: PostgresServer
    url: str
    one: RunningServer
    other: RunningServer


@contextmanager
def pair(options: str = "", **settings: Any) -> Iterator[Pair]:
    with ExitStack() as stack:
        server = stack.enter_context(running_postgres())
        url = stack.enter_context(server.database())
        both = [stack.enter_context(running_server(database_url=url + options, **settings)) for _ in range(2)]
        yield Pair(server, url, *both)


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    """PostgreSQL ends transactions here whose server says nothing for two seconds, not for a minute."""
    idle = "&options=-c%20idle_in_transaction_session_timeout%3D2000"
    with pair(idle, directories="off", compat="3.1") as running:
        with client_of(running.one) as client:
            client.call("create_database", Database(name="d"))
        yield running


def client_of(server: RunningServer) -> Client:
    return Client(server.host, server.port)


@contextmanager
def stopped(server: RunningServer) -> Iterator[None]:
    """The processes of a server stand still, as those of a machine that swaps or is moved do."""
    pids = {server.pid, *server.workers}
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


# Counting with conditional changes


def count_of(client: Client, name: str) -> int:
    return int(client.call("get_table", "d", name).parameters["n"])


def counted_up(client: Client, name: str) -> bool:
    """Adds one, unless another was faster."""
    found = client.call("get_table", "d", name)
    n = int(found.parameters["n"])
    changed = replace(found, parameters={**found.parameters, "n": str(n + 1)})
    condition = EnvironmentContext({"expected_parameter_key": "n", "expected_parameter_value": str(n)})
    try:
        client.call("alter_table_with_environment_context", "d", name, changed, condition)
    except MetaException as error:
        if CHANGED not in str(error):
            raise
        return False
    return True


class Counter(threading.Thread):
    """Counts up until `stopping` is set, and continues after each failure."""

    def __init__(self, server: RunningServer, name: str) -> None:
        super().__init__(daemon=True)
        self.client = client_of(server)
        self.name_of_table = name
        self.acknowledged = 0
        self.unknown = 0
        """Changes without a reply: each may have been made."""
        self.stopping = threading.Event()

    def run(self) -> None:
        for _ in range(100_000):
            if self.stopping.is_set():
                break
            try:
                self.acknowledged += counted_up(self.client, self.name_of_table)
            except (OSError, Error):
                self.unknown += 1
                self.stopping.wait(0.05)
        self.client.close()


def wait_for_each(counters: list[Counter]) -> None:
    """Until each has counted up once more."""
    before = [each.acknowledged for each in counters]
    eventually(lambda: all(each.acknowledged > n for each, n in zip(counters, before, strict=True)))


@contextmanager
def counting(servers: Pair, name: str) -> Iterator[list[Counter]]:
    """Two that count at each server."""
    counters = [Counter(server, name) for server in (servers.one, servers.other) for _ in range(2)]
    for each in counters:
        each.start()
    try:
        yield counters
    finally:
        for each in counters:
            each.stopping.set()
        for each in counters:
            each.join(60)


def check(servers: Pair, name: str, counters: list[Counter]) -> None:
    """All that was acknowledged was counted once, at both servers."""
    acknowledged, unknown = (sum(getattr(each, kind) for each in counters) for kind in ("acknowledged", "unknown"))
    for server in (servers.one, servers.other):
        with client_of(server) as client:
            assert acknowledged <= settled_count_of(client, name) <= acknowledged + unknown
        assert "Traceback" not in server.log


def settled_count_of(client: Client, name: str) -> int:
    """The count, when the server has replaced the connections that PostgreSQL has ended: one error for each."""
    found: list[int] = []

    def is_read() -> bool:
        eventually(partial(is_served, client))
        try:
            found.append(count_of(client, name))
        except MetaException as error:
            assert "the connection to PostgreSQL was lost" in str(error)
        return bool(found)

    eventually(is_read)
    return found[-1]


def is_served(client: Client) -> bool:
    try:
        return "d" in client.call("get_all_databases")
    except MetaException as error:
        assert "PostgreSQL" in str(error)
        return False


def make_counter(client: Client, name: str) -> None:
    client.call("create_table", replace(table("d", name), parameters={"n": "0"}))


# PostgreSQL is killed


@pytest.mark.postgres
@pytest.mark.parametrize("kills", KILLS)
def test_what_two_servers_acknowledged_survives_a_postgresql_that_is_killed_again_and_again(
    servers: Pair, kills: int
) -> None:
    with client_of(servers.one) as client:
        make_counter(client, f"killed{kills}")
    with counting(servers, f"killed{kills}") as counters:
        for _ in range(kills):
            wait_for_each(counters)
            servers.postgres.kill()
            servers.postgres.start()
        wait_for_each(counters)
    assert sum(each.unknown for each in counters), "no call failed although PostgreSQL was killed"
    check(servers, f"killed{kills}", counters)


@pytest.mark.postgres
def test_calls_while_postgresql_is_gone_say_so_on_both_servers_and_leave_nothing_behind(servers: Pair) -> None:
    with client_of(servers.one) as one, client_of(servers.other) as other:
        one.call("create_database", Database(name="gone"))
        servers.postgres.kill()
        try:
            for number, client in enumerate((one, other)):
                for _ in range(3):
                    with pytest.raises(MetaException, match="PostgreSQL"):
                        client.call("create_table", table("gone", f"t{number}"))
        finally:
            servers.postgres.start()
        for number, client in enumerate((one, other)):
            eventually(partial(is_served, client))
            client.call("create_table", table("gone", f"t{number}"))
        assert one.call("get_all_tables", "gone") == other.call("get_all_tables", "gone") == ("t0", "t1")


# A server is stopped


@pytest.mark.postgres
@pytest.mark.parametrize("stops", STOPS)
def test_no_update_is_lost_while_servers_are_stopped_in_the_middle_of_writes(servers: Pair, stops: int) -> None:
    with client_of(servers.one) as client:
        make_counter(client, f"stopped{stops}")
    with counting(servers, f"stopped{stops}") as counters:
        for number in range(stops):
            server, elsewhere = ((servers.one, counters[2:]), (servers.other, counters[:2]))[number % 2]
            with stopped(server):
                wait_for_each(elsewhere)
    check(servers, f"stopped{stops}", counters)


@pytest.mark.postgres
def test_a_server_stopped_within_a_transaction_does_not_keep_the_others_waiting(servers: Pair) -> None:
    """It holds the lock of a row. PostgreSQL ends its transaction, and its call fails when it goes on."""
    with client_of(servers.one) as one, client_of(servers.other) as other, ThreadPoolExecutor(1) as threads:
        make_counter(one, "held")
        with psycopg.connect(servers.url) as blocker:
            blocker.execute("SELECT 1 FROM tables WHERE name = 'held' FOR UPDATE")
            call = threads.submit(counted_up, one, "held")
            with psycopg.connect(servers.url, autocommit=True) as watcher:
                waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%tables%'"
                eventually(lambda: watcher.execute(waiting).fetchone() is not None)
                with stopped(servers.one):
                    blocker.rollback()
                    idle = "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'"
                    eventually(lambda: watcher.execute(idle).fetchone() is not None)
                    assert counted_up(other, "held")
        with pytest.raises(MetaException, match="the connection to PostgreSQL was lost"):
            call.result(60)
        assert count_of(one, "held") == count_of(other, "held") == 1
        assert counted_up(one, "held") and counted_up(other, "held")


@pytest.mark.postgres
@pytest.mark.parametrize("rows", [1, 3])
def test_a_transaction_that_wrote_rows_and_then_says_nothing_is_ended(servers: Pair, rows: int) -> None:
    """Also after several rows by one call, which psycopg sends as a pipeline."""
    idle = "&options=-c%20idle_in_transaction_session_timeout%3D500"
    insert = Statement(insert_into("counters", "name", "value"), positions=("name", "value"))
    with (
        closing(open_database(servers.url + idle, None, threads=1)) as database,
        psycopg.connect(servers.url, autocommit=True) as watcher,
    ):

        def write_and_wait(tx: Transaction) -> None:
            tx.many(insert, [(f"row {number} of {rows}", 0) for number in range(rows)])
            (pid,) = watcher.execute("SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
            eventually(lambda: watcher.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid).fetchone() is None)

        with pytest.raises(StoreError, match="the connection to PostgreSQL was lost"):
            database.run(write_and_wait)


@pytest.mark.postgres
def test_a_transaction_has_a_timeout_where_the_url_names_none(postgres: PostgresServer) -> None:
    with postgres.database() as url, closing(open_database(url, None, threads=1)) as database:
        found = database.reader()._connection.execute("SHOW idle_in_transaction_session_timeout")  # type: ignore[attr-defined]
        assert found.fetchone() == ("1min",)


def opened(client: Client) -> int:
    (txn,) = client.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
    return int(txn)


def locked(client: Client, name: str, txn: int | None = None) -> int:
    part = LockComponent(
        type=EXCLUSIVE,
        level=2,
        dbname="d",
        tablename=name,
        operationType=DataOperationType.UPDATE,
        isTransactional=True,
    )
    found = client.call("lock", LockRequest(component=(part,), txnid=txn, user="u", hostname="h"))
    assert found.state == ACQUIRED
    return int(found.lockid)


IN_FLIGHT: dict[str, Callable[[Client, int], Any]] = {
    "commit": lambda client, txn: client.call("commit_txn", CommitTxnRequest(txnid=txn)),
    "heartbeat": lambda client, txn: client.call("heartbeat", HeartbeatRequest(txnid=txn)),
    "lock": lambda client, txn: locked(client, "in_flight", txn),
}


@pytest.mark.postgres
@pytest.mark.parametrize("what", IN_FLIGHT)
def test_a_call_for_a_transaction_that_ended_while_its_server_was_stopped_is_refused(servers: Pair, what: str) -> None:
    """The client had sent it before; the transaction stays aborted."""
    with client_of(servers.one) as one, client_of(servers.other) as other, ThreadPoolExecutor(1) as threads:
        txn = opened(one)
        with stopped(servers.one):
            call = threads.submit(IN_FLIGHT[what], one, txn)
            other.call("abort_txn", AbortTxnRequest(txnid=txn))
        with pytest.raises((TxnAbortedException, NoSuchTxnException)):
            call.result(60)
        for client in (one, other):
            with pytest.raises((TxnAbortedException, NoSuchTxnException)):
                client.call("commit_txn", CommitTxnRequest(txnid=txn))


@pytest.mark.postgres
def test_a_lock_released_while_its_server_was_stopped_is_not_revived_by_a_heartbeat(servers: Pair) -> None:
    with client_of(servers.one) as one, client_of(servers.other) as other, ThreadPoolExecutor(1) as threads:
        lock = locked(one, "revived")
        with stopped(servers.one):
            call = threads.submit(one.call, "heartbeat", HeartbeatRequest(lockid=lock))
            other.call("unlock", UnlockRequest(lockid=lock))
            mine = locked(other, "revived")
        with pytest.raises(NoSuchLockException):
            call.result(60)
        with pytest.raises(NoSuchLockException):
            one.call("check_lock", CheckLockRequest(lockid=lock))
        assert one.call("check_lock", CheckLockRequest(lockid=mine)).state == ACQUIRED
        one.call("unlock", UnlockRequest(lockid=mine))


# A clock jumps


class Machine:
    """A machine with its own clock, which somebody sets, beside the one that counts on."""

    def __init__(self, database_time: Clock) -> None:
        self.wall = database_time.now
        self.counted = 0.0
        self.clock = DatabaseClock(database_time, lambda: self.counted)

    def passes(self, seconds: float) -> None:
        self.counted += seconds


def test_the_clock_of_a_server_is_that_of_the_database_whatever_the_machines_is() -> None:
    database = Clock()
    machine = Machine(database)
    for jump in (DAY, -DAY, 365 * DAY):
        machine.wall += jump
        database.forward(10)
        machine.passes(10)
        assert machine.clock() == pytest.approx(database.now)
    # A clock that counts too fast, or that stood still, is set again.
    machine.passes(500)
    assert machine.clock() == pytest.approx(database.now + 500)
    machine.clock.set()
    assert machine.clock() == pytest.approx(database.now)


@pytest.mark.postgres
def test_servers_on_postgresql_take_its_time(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.database() as url, closing(open_database(url, None, threads=1)) as database:
        right = database.clock()()
        monkeypatch.setattr("time.time", lambda: right + 365 * DAY)
        assert abs(database.clock()() - right) < DAY
        database.set_clock()
        assert abs(database.clock()() - right) < DAY


@pytest.fixture
def metastores(opener: Opener) -> Iterator[tuple[Metastore, Metastore]]:
    """Two metastores on one database, each with a clock of its own."""
    from metastored.store.engine.migrate import ensure_schema

    made = []
    for _ in range(2):
        database = opener()
        ensure_schema(database)
        made.append(Metastore(database, Clock()))
    yield made[0], made[1]
    for each in made:
        each.close()


def txn_of(metastore: Metastore) -> int:
    (txn,) = metastore.call("open_txns", OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids
    return int(txn)


def test_a_transaction_that_a_clock_ahead_has_ended_stays_ended(metastores: tuple[Metastore, Metastore]) -> None:
    """Also when that clock goes back: of two servers that disagree, no one revives what the other ended."""
    one, other = metastores
    txn = txn_of(one)
    other.clock.forward(SECONDS + 1)
    other.reap()
    other.clock.forward(-SECONDS - 1)
    for method, request in (
        ("commit_txn", CommitTxnRequest(txnid=txn)),
        ("heartbeat", HeartbeatRequest(txnid=txn)),
    ):
        for metastore in (one, other):
            with pytest.raises(TxnAbortedException):
                metastore.call(method, request)
    assert txn_of(one) > txn


def test_a_clock_that_goes_back_ends_nothing_and_gives_no_number_twice(
    metastores: tuple[Metastore, Metastore],
) -> None:
    one, other = metastores
    first = txn_of(one)
    other.clock.forward(-365 * DAY)
    other.reap()
    second = txn_of(other)
    assert second > first
    other.call("heartbeat", HeartbeatRequest(txnid=first))
    one.call("create_database", Database(name="before"))
    before = one.call("get_current_notificationEventId").eventId
    other.call("create_database", Database(name="after"))
    assert other.call("get_current_notificationEventId").eventId == before + 1
    other.call("commit_txn", CommitTxnRequest(txnid=second))


# There is no space left


@contextmanager
def little_space(server: RunningServer, more: int) -> Iterator[None]:
    """No file of the server may become longer than its longest one is now by so many bytes."""
    assert server.data is not None
    longest = max(file.stat().st_size for file in server.data.iterdir())
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in {server.pid, *server.workers}}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (longest + more, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("workers", [1, 2])
def test_without_space_writes_are_refused_reads_go_on_and_writes_come_back(workers: int) -> None:
    with running_server(workers=workers, directories="off") as server, ExitStack() as stack:
        clients = [stack.enter_context(client_of(server)) for _ in range(4)]
        clients[0].call("create_database", Database(name="d"))
        acknowledged: list[str] = []
        refused = 0
        with little_space(server, 300_000):
            for number in range(200):
                name = f"t{number:03}"
                large = replace(table("d", name), parameters={"large": "x" * 20_000})
                try:
                    clients[number % 4].call("create_table", large)
                    acknowledged.append(name)
                except MetaException as error:
                    assert "SQLite could not do it" in str(error)
                    refused += 1
                if refused > 8:
                    break
            assert refused and acknowledged
            for client in clients:
                assert client.call("get_all_tables", "d") == tuple(acknowledged)
                assert client.call("get_table", "d", acknowledged[-1]).tableName == acknowledged[-1]
        for number, client in enumerate(clients):
            client.call("create_table", table("d", f"z{number}"))
        everything = (*acknowledged, *(f"z{number}" for number in range(4)))
        assert clients[0].call("get_all_tables", "d") == everything
        events = clients[0].call("get_current_notificationEventId").eventId
        assert events == 1 + len(everything), "refused writes have left no event"
        assert "Traceback" not in server.log
        data = server.data
        assert data is not None
        with running_server(data=data) as again, client_of(again) as client:
            assert client.call("get_all_tables", "d") == everything


def test_two_servers_of_one_file_of_which_one_has_no_space(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The other one goes on writing, and the first one reads what it wrote."""
    folder = tmp_path_factory.mktemp("data") / "data"
    with (
        running_server(data=folder, directories="off") as poor,
        running_server(data=folder, directories="off") as rich,
        client_of(poor) as one,
        client_of(rich) as other,
    ):
        one.call("create_database", Database(name="d"))
        with little_space(poor, -1):
            for number in range(3):
                with pytest.raises(MetaException, match="SQLite could not do it"):
                    one.call("create_table", table("d", f"poor{number}"))
                other.call("create_table", table("d", f"rich{number}"))
                assert f"rich{number}" in one.call("get_all_tables", "d")
        one.call("create_table", table("d", "again"))
        assert other.call("get_all_tables", "d") == ("again", "rich0", "rich1", "rich2")
