"""What a remote costs: a table of an Apache metastore read directly, and through metastored under another name."""

from __future__ import annotations

import contextlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

from benchmarks.client import Client, reply_length, request_for
from benchmarks.peers import apache
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, prepare
from metastored.wire.generated.databases import Database

HANGING = 100


@contextlib.contextmanager
def metastored_with_remotes(*definitions: str) -> Iterator[int]:
    """The port of a metastored server with these remote databases."""
    with tempfile.TemporaryDirectory(prefix="metastored-bench-", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "benchmarks.remote_server", folder, *definitions]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            assert process.stdout is not None
            process.stdout.close()


@contextlib.contextmanager
def silent_server() -> Iterator[int]:
    """Accepts connections and never answers."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    listening.settimeout(0.2)
    taken: list[socket.socket] = []
    stop = threading.Event()

    def accept() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                taken.append(listening.accept()[0])

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        stop.set()
        thread.join()
        for connection in (*taken, listening):
            connection.close()


def in_turn(places: list[tuple[int, bytes]], times: int) -> list[float]:
    """The median time at each place, asked in turn, so that all see the same machine."""
    host = "127.0.0.1"
    clients = [(Client(host, port), request, reply_length(host, port, request)) for port, request in places]
    taken: list[list[float]] = [[] for _ in places]
    for _ in range(times):
        for (client, request, length), times_of in zip(clients, taken, strict=True):
            start = time.perf_counter()
            client.exchange(request, length)
            times_of.append(time.perf_counter() - start)
    for client, _, _ in clients:
        client.close()
    return [statistics.median(each[times // 5 :]) for each in taken]


def run(results: Results, quick: bool) -> None:
    times = 400 if quick else 2000
    with apache() as peer, silent_server() as silent:
        prepare(peer)
        remotes = (f"far={DB}@thrift://{peer.host}:{peer.port}", f"dead={DB}@thrift://127.0.0.1:{silent}")
        with metastored_with_remotes(*remotes) as port:
            client = Client("127.0.0.1", port)
            client.call("create_database", Database(name="near"))
            client.close()
            direct_call, far_call = request_for("get_table", DB, "wide"), request_for("get_table", "far", "wide")
            local_call = request_for("get_database", "near")
            direct, through = in_turn([(peer.port, direct_call), (port, far_call)], times)
            results.add(compared("get_table through a remote, over the direct call", through, direct, 1.25, 1.10))
            local, remote = in_turn([(port, local_call), (port, far_call)], times)
            hanging = [Client("127.0.0.1", port) for _ in range(HANGING)]
            for each in hanging:
                each.socket.sendall(request_for("get_table", "dead", "wide"))
            local_then, remote_then = in_turn([(port, local_call), (port, far_call)], times)
            for each in hanging:
                each.close()
            results.add(compared(f"a local call while {HANGING} hang, over one before", local_then, local))
            results.add(compared(f"a remote call while {HANGING} hang, over one before", remote_then, remote))


def compared(name: str, now: float, base: float, least: float | None = None, aim: float | None = None) -> Row:
    """How many times longer: the smaller the better."""
    return Row(name, now * 1e3, base * 1e3, "ms", now / base, least, aim, higher_is_better=False)
