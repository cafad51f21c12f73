"""Leases: a process at work has a lock with heartbeats, on every metastore. Host names and pids decide nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import metastored
from metastored.client._sync.leases import Lease
from metastored.errors import LeaseHeld, LockFailed
from metastored.hive.transactions import leases
from metastored.hive.transactions.leases import LEASES, Seen, agent, lease_table
from metastored.structs import (
    LockComponent,
    LockLevel,
    LockRequest,
    LockType,
    ShowLocksRequest,
    ShowLocksResponseElement,
    UnlockRequest,
)
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres
from tests.support.waiting import eventually

HOLDER = """
import sys
import metastored
from metastored.hive.transactions import leases
leases.HEARTBEAT, leases.EXPIRES = float(sys.argv[2]), float(sys.argv[3])
with metastored.connect(sys.argv[1], user="ann") as client, client.lease(sys.argv[4]):
    print("held", flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.slow


@pytest.fixture(
    scope="module",
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.postgres),
        pytest.param("hive_2_3", marks=pytest.mark.apache),
        # The oldest and the newest; those between them with `make soak`.
        pytest.param("hive_3_1", marks=[pytest.mark.apache, pytest.mark.soak]),
        pytest.param("hive_4_0_1", marks=[pytest.mark.peers, pytest.mark.soak]),
        pytest.param("hive_4_1_0", marks=pytest.mark.peers),
    ],
)
def uri(request: pytest.FixtureRequest) -> Iterator[str]:
    """A metastore of each kind."""
    if request.param == "sqlite":
        with running_server() as server:
            yield server.uri
    elif request.param == "postgresql":
        with shared_postgres().database() as url, running_server(database_url=url) as server:
            yield server.uri
    else:
        yield request.getfixturevalue(request.param).uri


@pytest.fixture
def client(uri: str) -> Iterator[metastored.Client]:
    with metastored.connect(uri, user="ben", cache=False) as found:
        yield found


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A lease of its own for each test."""
    return str(request.node.name)


@contextmanager
def holder(uri: str, name: str, heartbeat: float = 0.2, expires: float = 1.5) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a lease, until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, uri, str(heartbeat), str(expires), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> float:
    """Leases that are over after a second and a half."""
    monkeypatch.setattr(leases, "HEARTBEAT", 0.2)
    monkeypatch.setattr(leases, "EXPIRES", 1.5)
    return leases.EXPIRES


def locks(client: metastored.Client, name: str) -> list[ShowLocksResponseElement]:
    found = client.api.show_locks(ShowLocksRequest(dbname=LEASES)).locks or ()
    return [each for each in found if each.tablename == lease_table(name)]


def is_taken(client: metastored.Client, name: str) -> bool:
    try:
        with client.lease(name):
            return True
    except LeaseHeld:
        return False


def test_a_second_process_is_told_who_holds_the_lease_and_since_when(
    uri: str, client: metastored.Client, name: str
) -> None:
    with holder(uri, name, 10.0, 60.0) as process:
        with pytest.raises(LeaseHeld) as refused:
            client.lease(name, "the pipeline daily").__enter__()
        (lock,) = locks(client, name)
        who = Seen(0, True, 0, lock.acquiredat or 0, "ann", socket.gethostname(), agent(process.pid)).text
        assert f"ann on {socket.gethostname()}, process {process.pid} since 20" in who
        assert str(refused.value).startswith(f"{who} has the pipeline daily. ")
        process.communicate("")
    assert not locks(client, name), "it is released at the end, and those who were refused left nothing"
    with client.lease(name), client.lease("hourly"):
        pass


def test_the_lease_of_a_killed_process_is_taken_once_it_is_over(
    uri: str, client: metastored.Client, name: str, short: float
) -> None:
    with holder(uri, name) as process:
        assert not is_taken(client, name)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not is_taken(client, name), "that the process is gone is not known before"
        eventually(lambda: is_taken(client, name))


def test_a_holder_whose_heartbeats_stop_is_told_that_its_lease_was_lost(
    uri: str, client: metastored.Client, name: str, short: float
) -> None:
    with holder(uri, name) as process:
        os.kill(process.pid, signal.SIGSTOP)
        eventually(lambda: is_taken(client, name))
        os.kill(process.pid, signal.SIGCONT)
    own = client.lease(f"another {name}", "the week")
    with own:
        client.api.unlock(UnlockRequest(lockid=own.id))
        with pytest.raises(LockFailed, match="the lease of the week was lost, and another process may have it"):
            own.renew()
        eventually(lambda: failed(own))


def failed(lease: Lease) -> bool:
    try:
        lease.check()
    except LockFailed:
        return True
    return False


def test_a_holder_that_lives_longer_than_its_lease_keeps_it(
    uri: str, client: metastored.Client, name: str, short: float
) -> None:
    with holder(uri, name):
        first = locks(client, name)[0].lastheartbeat or 0
        eventually(lambda: (locks(client, name)[0].lastheartbeat or 0) - first > 1.3 * short * 1000)
        assert not is_taken(client, name)


def test_a_lock_of_another_program_with_the_name_of_a_lease_is_left_alone(
    client: metastored.Client, name: str, short: float
) -> None:
    component = LockComponent(
        type=LockType.EXCLUSIVE, level=LockLevel.TABLE, dbname=LEASES, tablename=lease_table(name)
    )
    hostile = "metastored lease of process 1\nof mine"
    with client.lock(f"{LEASES}.other"):
        taken = client.api.lock(
            LockRequest(component=(component,), user="\x1b[31mred", hostname="a\nb", agentInfo=hostile)
        )
        try:
            first = locks(client, name)[0].lastheartbeat or 0

            def now() -> int:
                with client.lock(f"{LEASES}.clock", type="shared_read") as clock:
                    shown = client.api.show_locks(ShowLocksRequest(dbname=LEASES)).locks or ()
                    return next(each.lastheartbeat or 0 for each in shown if each.lockid == clock.id)

            eventually(lambda: now() - first > short * 1000)
            with pytest.raises(LeaseHeld) as refused:
                client.lease(name).__enter__()
            assert str(refused.value).startswith("\\x1b[31mred on a\\nb since ")
        finally:
            client.api.unlock(UnlockRequest(lockid=taken.lockid))


def test_a_lease_at_a_table_does_not_stop_its_readers_and_writers(uri: str, client: metastored.Client) -> None:
    with client.lease("one", table="default.t"):
        for type in ("shared_read", "shared_write"):
            with client.lock("default.t", type=type, timeout=5.0):
                pass
        assert not client.lease("one", table="default.t").is_free()
        assert client.lease("two", table="default.t").is_free()
        assert client.lease("one", table="default.u").is_free()
    assert client.lease("one", table="default.t").is_free()


def test_a_reader_of_the_table_makes_a_lease_look_held(client: metastored.Client) -> None:
    with client.lock("default.t", type="shared_read"):
        assert not client.lease("one", table="default.t").is_free()


@pytest.mark.parametrize("host", ["worker-1-1", "worker-11"])
def test_names_of_hosts_are_shown_and_compared_nowhere(
    client: metastored.Client, name: str, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "worker-11")
    with client.lease(name):
        monkeypatch.setattr(socket, "gethostname", lambda: host)
        monkeypatch.setattr(os, "getpid", lambda: 77)
        with pytest.raises(LeaseHeld, match="ben on worker-11, process"):
            client.lease(name).__enter__()


def test_the_asynchronous_client_has_leases_too(uri: str, name: str) -> None:
    async def use() -> None:
        async with metastored.aconnect(uri, user="ann", cache=False) as client:
            async with client.lease(name) as lease:
                await lease.renew()
                lease.check()
                assert not await client.lease(name).is_free()
            assert await client.lease(name).is_free()

    asyncio.run(use())
