"""The processes of a server, with real signals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from metastored.errors import ConnectError
from metastored.testing import RunningServer
from metastored.wire.methods import METHODS
from tests.server.support import COMMAND, PATIENCE, Peer
from tests.support.forks import running_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow


def serving_pids(server: RunningServer, tries: int = 40) -> set[int]:
    """The processes that serve a number of new connections."""
    found = set()
    for _ in range(tries):
        with Peer(server.port) as peer:
            found.add(int(peer.call("getName")))
    return found


def spread(server: RunningServer, connections: int) -> Counter[int]:
    """How many of these connections, all open at once, each process serves."""
    with ExitStack() as stack:
        peers = [stack.enter_context(Peer(server.port)) for _ in range(connections)]
        return Counter(int(peer.call("getName")) for peer in peers)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie process is dead, too.
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_one_worker_serves_in_the_process_itself() -> None:
    with running_server(COMMAND) as server:
        assert server.workers == (server.pid,)
        assert serving_pids(server, 3) == {server.pid}


def test_two_workers_serve() -> None:
    with running_server(COMMAND, workers=2) as server:
        workers = set(server.workers)
        assert len(workers) == 2
        assert server.pid not in workers


def test_connections_are_spread_over_the_workers() -> None:
    with running_server(COMMAND, workers=2) as server:
        eventually(lambda: len(spread(server, 8)) == 2)
        served = spread(server, 64)
        assert served.keys() == set(server.workers)
        # Any free worker accepts a connection, so the numbers need not be equal; but each worker gets some.
        assert min(served.values()) >= 16


def test_a_killed_worker_comes_back() -> None:
    with running_server(COMMAND, workers=2) as server:
        killed, kept = server.workers
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: killed not in server.workers and len(server.workers) == 2)
        assert kept in server.workers
        assert serving_pids(server) <= set(server.workers)
        assert f"worker {killed} ended (signal SIGKILL)" in server.log


def test_all_workers_killed_at_once_come_back() -> None:
    with running_server(COMMAND, workers=2) as server:
        before = server.workers
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: len(server.workers) == 2 and not set(before) & set(server.workers))
        assert serving_pids(server, 5) <= set(server.workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_lets_a_call_in_flight_finish(workers: int) -> None:
    with running_server(COMMAND, workers=workers) as server:
        pids = (server.pid, *server.workers)
        with Peer(server.port) as busy, Peer(server.port) as idle:
            idle.call("getName")
            busy.call("getName")
            busy.send("get_config_value", "wait", "1")
            eventually(lambda: "waiting for 1 s" in server.log)
            os.kill(server.pid, signal.SIGTERM)
            assert idle.rest() == b""
            with pytest.raises(OSError):
                while True:
                    with Peer(server.port) as late:
                        late.call("getName")
            assert busy.reply().value(METHODS["get_config_value"]) == "1"
            assert busy.rest() == b""
        eventually(lambda: not server.ready_file.exists())
        eventually(lambda: not any(map(is_alive, pids[1:])) or workers == 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_sigterm_does_not_abort_calls_in_flight(workers: int) -> None:
    # Service managers send it to all processes of a service, and the parent sends it to its workers again.
    with running_server(COMMAND, workers=workers) as server:
        with Peer(server.port) as busy, Peer(server.port) as idle:
            idle.call("getName")
            busy.call("getName")
            busy.send("get_config_value", "wait", "1")
            eventually(lambda: "waiting for 1 s" in server.log)
            for pid in (server.pid, *server.workers):
                with suppress(ProcessLookupError):  # One without a call in flight may have ended already.
                    os.kill(pid, signal.SIGTERM)
            assert idle.rest() == b""
            os.kill(server.pid, signal.SIGTERM)
            assert busy.reply().value(METHODS["get_config_value"]) == "1"


@pytest.mark.parametrize("workers", [1, 2])
def test_sigquit_aborts_calls_in_flight(workers: int) -> None:
    with running_server(COMMAND, workers=workers) as server, Peer(server.port) as busy:
        busy.send("get_config_value", "wait", "60")
        eventually(lambda: "waiting for 60 s" in server.log)
        os.kill(server.pid, signal.SIGQUIT)
        assert busy.rest() == b""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_ctrl_c_aborts_calls_in_flight(workers: int) -> None:
    with running_server(COMMAND, workers=workers) as server:
        with Peer(server.port) as busy, Peer(server.port) as idle:
            idle.call("getName")
            busy.call("getName")
            busy.send("get_config_value", "wait", "60")
            eventually(lambda: "waiting for 60 s" in server.log)
            os.kill(server.pid, signal.SIGINT)
            assert idle.rest() == b""
            os.kill(server.pid, signal.SIGINT)
            assert busy.rest() == b""


def test_workers_end_when_their_parent_is_killed() -> None:
    with running_server(COMMAND, workers=2) as server:
        workers = server.workers
        os.kill(server.pid, signal.SIGKILL)
        eventually(lambda: not any(map(is_alive, workers)))


def test_a_server_that_cannot_start_prints_the_reason_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConnectError, match=f"cannot listen on 127.0.0.1:{port}"):
            with running_server(COMMAND, port=port):
                pass


def test_a_worker_that_cannot_start_ends_the_server(tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text(
        "from metastored.config import load\n"
        "from metastored.errors import StoreError\n"
        "from metastored.server.workers import run\n"
        "def build(settings):\n"
        "    raise StoreError('no database here')\n"
        "raise SystemExit(run(load(environment={}, flags={'port': 0, 'workers': 3, 'data': '"
        + str(tmp_path / "data")
        + "'}), build))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "metastored: no database here"


def test_the_banner_prints_how_to_connect_from_spark() -> None:
    with running_server(COMMAND) as server:
        assert f"spark.hadoop.hive.metastore.uris={server.uri}" in server.log


def test_a_server_open_to_the_network_without_authentication_warns() -> None:
    with running_server(COMMAND, host="0.0.0.0") as server:
        assert "listening on 0.0.0.0 without authentication" in server.log


def test_a_server_on_the_loopback_does_not_warn() -> None:
    with running_server(COMMAND) as server:
        assert "without authentication" not in server.log


@pytest.mark.parametrize(("hard", "expected"), [(2048, 1500), (1024, 1024)])
def test_as_many_files_may_be_open_as_connections_need_if_the_machine_lets_it(hard: int, expected: int) -> None:
    """In a process of its own: a limit that was lowered cannot be raised again."""
    program = (
        "import logging, resource; from metastored.server.workers import allow_files; logging.basicConfig()\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard})); allow_files(1500)\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert int(done.stdout) == expected
    assert ("max_connections will not be reached" in done.stderr) == (expected < 1500)
