"""The overhead of a remote: an Apache metastore read directly, and through metastored under another name.

Also the rate and the memory with many connections, how long a list of many remote databases takes, the memory for a
long reply, and whether broken remotes slow down calls for the others.

Waggle Dance, the proxy that remotes replace, is not among the peers: no release of it is on Maven Central, from where
`make peers` downloads. Its figures would be those of a proxy in front of the same Apache metastore, so that the direct
calls are the upper bound for both, and its memory is that of a JVM like the metastore's own.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator

from benchmarks.broken import garbage, listening, relay
from benchmarks.client import Client, rate, reply_length, request_for
from benchmarks.objects import batches, table
from benchmarks.peers import Peer, apache
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, add_partitions, prepare
from metastored.testing import RunningServer, running_server
from metastored.wire.codec.binary import unpack_u
from metastored.wire.generated.databases import Database
from metastored.wire.methods import METHODS

HANGING = 100
REMOTES = 20
CONNECTIONS = 64
RESTART = 1.0
SLOW = 2.0
MEGABYTE = 1024 * 1024


def make_remote(client: Client, name: str, remote_name: str, uri: str) -> None:
    """Creates a remote database as any client does."""
    parameters = {"hive.metastore.uris": uri, "metastored.remote": remote_name}
    client.call("create_database", Database(name=name, parameters=parameters))


def in_turn(targets: list[tuple[int, bytes]], times: int) -> list[float]:
    """The median time at each address, measured in turn, so that all have the same load."""
    host = "127.0.0.1"
    clients = [(Client(host, port), request, reply_length(host, port, request)) for port, request in targets]
    taken: list[list[float]] = [[] for _ in targets]
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
    parts = 2_000 if quick else 10_000
    with apache() as peer, listening() as silent:
        prepare(peer)
        add_partitions(peer, parts)
        with running_server() as server:
            port = server.port
            client = Client("127.0.0.1", port)
            client.call("create_database", Database(name="near"))
            make_remote(client, "far", DB, f"thrift://{peer.host}:{peer.port}")
            make_remote(client, "dead", DB, f"thrift://127.0.0.1:{silent}")
            client.close()
            direct_call, far_call = request_for("get_table", DB, "wide"), request_for("get_table", "far", "wide")
            local_call = request_for("get_database", "near")
            direct, through = in_turn([(peer.port, direct_call), (port, far_call)], times)
            results.add(compared("get_table through a remote, over the direct call", through, direct, 1.25, 1.15))
            long_direct = request_for("get_partitions", DB, "parts", -1)
            long_far = request_for("get_partitions", "far", "parts", -1)
            direct, through = in_turn([(peer.port, long_direct), (port, long_far)], 5 if quick else 15)
            results.add(
                compared(f"get_partitions of {parts:,} through a remote, over direct", through, direct, 1.35, 1.15)
            )
            many(results, peer, server, direct_call, far_call, 2.0 if quick else 6.0)
            local, remote = in_turn([(port, local_call), (port, far_call)], times)
            hanging = [Client("127.0.0.1", port) for _ in range(HANGING)]
            for each in hanging:
                each.socket.sendall(request_for("get_table", "dead", "wide"))
            local_then, remote_then = in_turn([(port, local_call), (port, far_call)], times)
            for each in hanging:
                each.close()
            results.add(compared(f"a local call while {HANGING} hang, over one before", local_then, local))
            results.add(compared(f"a remote call while {HANGING} hang, over one before", remote_then, remote))

        chaos(results, peer, times)
    listing(results, 100 if quick else 1_000, times)
    memory(results, 5_000 if quick else 100_000)


def many(
    results: Results, peer: Peer, server: RunningServer, direct_call: bytes, far_call: bytes, seconds: float
) -> None:
    """Calls per second at many connections, of both the better of two runs in turn, and the memory while it is busy."""
    here = Peer("metastored", "127.0.0.1", server.port, tuple({server.pid, *server.workers}), 0.0)
    direct = through = 0.0
    for _ in range(2):
        direct = max(direct, rate(peer.host, peer.port, direct_call, CONNECTIONS, seconds))
        through = max(through, rate(here.host, here.port, far_call, CONNECTIONS, seconds))
    name = f"get_table through a remote, {CONNECTIONS} connections, and direct"
    results.add(Row(name, through, direct, "call/s", through / direct))
    memory, theirs = here.memory / MEGABYTE, peer.memory / MEGABYTE
    results.add(Row("memory after it, of metastored and of the remote", memory, theirs, "MB", theirs / memory, 5, 10))


def chaos(results: Results, peer: Peer, times: int) -> None:
    """Of some remotes one hangs, one is dead, one sends garbage, one is slow and one restarts every second."""
    with contextlib.ExitStack() as stack:
        ports = [
            stack.enter_context(listening()),
            1,
            stack.enter_context(listening(garbage)),
            stack.enter_context(listening(relay(peer.port, SLOW))),
            stack.enter_context(listening(relay(peer.port), RESTART)),
        ]
        server = stack.enter_context(running_server())
        client = Client("127.0.0.1", server.port)
        for number in range(REMOTES):
            if number == REMOTES - 1:
                at = peer.port  # Measured without a relay, which runs in this process beside the callers.
            else:
                at = ports[number] if number < len(ports) else stack.enter_context(listening(relay(peer.port)))
            make_remote(client, f"r{number}", DB, f"thrift://127.0.0.1:{at}")
        client.close()
        healthy = [(server.port, request_for("get_table", f"r{REMOTES - 1}", "wide"))]
        (quiet,) = in_turn(healthy, times)
        with called_meanwhile(server, [f"r{number}" for number in range(len(ports))]):
            (broken,) = in_turn(healthy, times)
        results.add(compared(f"a remote of {REMOTES} while five are broken, over quiet", broken, quiet, 1.2))


@contextlib.contextmanager
def called_meanwhile(server: RunningServer, databases: list[str]) -> Iterator[None]:
    """Each of these is called all the time, on a connection of its own. Replies are read, whatever they are."""
    stop = threading.Event()

    def work(database: str) -> None:
        client = Client("127.0.0.1", server.port)
        client.socket.settimeout(0.5)
        request = request_for("get_table", database, "wide")
        while not stop.is_set():
            client.socket.sendall(request)
            with contextlib.suppress(TimeoutError):
                while client.socket.recv(1 << 16)[-1:] != b"\0":
                    pass
            stop.wait(0.01)  # Broken remotes fail at once while their circuit is open.
        client.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in databases]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def listing(results: Results, count: int, times: int) -> None:
    """Names of remote databases are in the store: to list them calls nobody."""
    with running_server() as here, running_server() as plain:
        for server, remote in ((here, True), (plain, False)):
            client = Client("127.0.0.1", server.port)
            for number in range(count):
                if remote:
                    make_remote(client, f"db{number:05}", DB, f"thrift://127.0.0.1:{1 + number}")
                else:
                    client.call("create_database", Database(name=f"db{number:05}"))
            client.close()
        request = request_for("get_all_databases")
        ours, local = in_turn([(here.port, request), (plain.port, request)], max(50, times // 10))
        results.add(compared(f"list of {count:,} remote databases, over local ones", ours, local, 1.5, 1.1))


def memory(results: Results, count: int) -> None:
    """What a long reply adds to the memory of the server in front. The remote is a metastored: Derby takes too long."""
    with running_server() as far, running_server() as here:
        client = Client("127.0.0.1", far.port)
        client.call("create_database", Database(name=DB))
        client.call("create_table", table(DB, "parts", partitioned=True))
        for batch in batches(DB, "parts", count):
            client.call("add_partitions", batch)
        client.close()
        client = Client("127.0.0.1", here.port)
        make_remote(client, "far", DB, far.uri)
        client.call("get_all_tables", "far")
        peer = Peer("metastored", "127.0.0.1", here.port, (here.pid, *here.workers), 0.0)
        idle = most = peer.memory
        done = threading.Event()

        def watch() -> None:
            nonlocal most
            while not done.wait(0.05):
                most = max(most, peer.memory)

        thread = threading.Thread(target=watch)
        thread.start()
        reply = client.request("get_partitions", "far", "parts", -1)
        done.set()
        thread.join()
        if not isinstance(reply.body, bytes) or unpack_u(reply.body, 4)[0] != count:
            raise AssertionError(
                f"the reply has not {count} partitions: {reply.value(METHODS['get_partitions'])!r}"[:500]
            )
        client.close()
        added = (most - idle) / MEGABYTE
        results.add(
            Row(
                f"memory above idle for {count:,} partitions",
                added,
                200.0,
                "MB",
                added / 200.0,
                1.0,
                0.5,
                higher_is_better=False,
                note="the peer's figure is the goal",
            )
        )


def compared(name: str, now: float, base: float, least: float | None = None, aim: float | None = None) -> Row:
    """How many times longer: the smaller the better."""
    return Row(name, now * 1e3, base * 1e3, "ms", now / base, least, aim, higher_is_better=False)
