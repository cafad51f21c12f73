"""The processor time of one call, piece by piece: get_table of a table with 50 columns.

    python -m benchmarks.one_call                                on SQLite
    python -m benchmarks.one_call --postgres                     on PostgreSQL
    python -m benchmarks.one_call --against other/bin/python     beside a server of another Python

All figures are µs of processor time, because elapsed time depends on what else the machine does. The complete call is
measured over sockets, in the server's process. A piece is the difference of two measurements in this process: one with
the piece and one without it. Each figure is the median of many short turns. All measurements take turns, because other
work of the machine slows the processor down, too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import select
import shlex
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, cast

from benchmarks.client import Client, reply_length, request_for
from benchmarks.objects import table
from metastored.config import load
from metastored.hive.generation import Compat
from metastored.server.assemble import guarded, with_remotes
from metastored.server.state import ServerState
from metastored.server.thrift import Service as ConnectionService
from metastored.server.thrift import ThriftConnection
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core import rows
from metastored.service.core.context import Service
from metastored.service.local import Local
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.engine.sqlite import FILE, connect
from metastored.store.objects import tables
from metastored.store.objects.tables import _FIND as FIND
from metastored.store.warehouse.directories import Warehouse
from metastored.testing import SERVE, running_server
from metastored.threads import Pool
from metastored.wire.connection import Request, ServerConnection
from metastored.wire.generated.databases import Database
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import METHODS

CATALOG, DB, TABLE = "hive", "bench", "wide"
NAMES = {"cat": CATALOG, "db": DB, "name": TABLE}
METHOD = METHODS["get_table"]
REQUEST = request_for(METHOD.name, DB, TABLE)
CALLS = 200
"""In each turn."""
WARM_UP = 5
"""Turns that do not count."""
MANY = 64
"""Connections of the second measurement over sockets."""

Turn = Callable[[], float]
"""Measures some calls, and returns the µs of one."""
Figures = dict[str, float]


def in_turn(measured: Mapping[str, Turn], turns: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(turns + WARM_UP):
        for name, turn in measured.items():
            used = turn()
            if number >= WARM_UP:
                taken[name].append(used)
    return taken


def medians(measured: Mapping[str, Turn], turns: int) -> Figures:
    return {name: statistics.median(taken) for name, taken in in_turn(measured, turns).items()}


def line(name: str, cost: float, note: str = "") -> None:
    print(f"{name:<72}{cost:7.1f} µs   {note}".rstrip(), flush=True)


# --- over sockets -----------------------------------------------------------------------------------------------


class Used(NamedTuple):
    """What processes have used of the processor: nanoseconds, and the clock's ticks in user and in system mode."""

    nanoseconds: int
    user: int
    system: int

    @classmethod
    def by(cls, pids: tuple[int, ...]) -> Used:
        threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        return cls(
            sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads),
            sum(int(each[11]) for each in fields),
            sum(int(each[12]) for each in fields),
        )


class Process:
    """Processes whose time is measured while a port is called."""

    def __init__(self, name: str, port: int, pids: tuple[int, ...], length: int = 0) -> None:
        self.name = name
        self.port = port
        self.pids = pids
        self.length = length or reply_length("127.0.0.1", port, REQUEST)
        self._clients: list[Client] = []
        self._start = Used(0, 0, 0)

    def connect(self, number: int) -> Turn:
        """A measurement over this many connections, instead of those before."""
        self.disconnect()
        self._clients = [Client("127.0.0.1", self.port) for _ in range(number)]
        self.exchange(max(CALLS, number))
        self._start = Used.by(self.pids)
        return self._turn

    def _turn(self) -> float:
        before = Used.by(self.pids)
        self.exchange(CALLS)
        return (Used.by(self.pids).nanoseconds - before.nanoseconds) / 1000 / CALLS

    def exchange(self, calls: int) -> None:
        """This many calls, over all connections at once."""
        if len(self._clients) == 1:
            for _ in range(calls):
                self._clients[0].exchange(REQUEST, self.length)
            return
        missing = {}
        with select.epoll() as poll:
            for client in self._clients:
                poll.register(client.socket, select.EPOLLIN)
                missing[client.socket.fileno()] = client, self.length
                client.socket.sendall(REQUEST)
            sent, done = len(self._clients), 0
            while done < sent:
                for descriptor, _ in poll.poll():
                    client, rest = missing[descriptor]
                    rest -= len(client.socket.recv(1 << 16))
                    if rest == 0:
                        done += 1
                        if sent < calls:
                            client.socket.sendall(REQUEST)
                            sent, rest = sent + 1, self.length
                    missing[descriptor] = client, rest

    @property
    def system(self) -> float:
        """The share of the kernel since the connections were opened."""
        now = Used.by(self.pids)
        ticks = now.user - self._start.user + now.system - self._start.system
        return (now.system - self._start.system) / max(ticks, 1)

    def disconnect(self) -> None:
        for client in self._clients:
            client.close()
        self._clients = []


class Echo(asyncio.Protocol):
    """Replies to each piece of data with the same bytes: what sockets and the event loop cost."""

    reply = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(self.reply)


def serve_echo(pipe: Connection, length: int) -> None:
    async def serve() -> None:
        Echo.reply = bytes(length)
        server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve())


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The event loop that a server would use."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


@contextlib.contextmanager
def echoing(length: int) -> Iterator[Process]:
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=serve_echo, args=(there, length), daemon=True)
    process.start()
    assert process.pid is not None
    try:
        yield Process("sockets and event loop alone", here.recv(), (process.pid,), length)
    finally:
        process.terminate()
        process.join()


@contextlib.contextmanager
def serving(name: str, command: tuple[str, ...] = SERVE, url: str | None = None) -> Iterator[Process]:
    with running_server(command, **({} if url is None else {"database_url": url})) as server:
        client = Client(server.host, server.port)
        if DB not in client.call("get_all_databases"):
            client.call("create_database", Database(name=DB))
            client.call("create_table", table(DB, TABLE))
        client.close()
        yield Process(name, server.port, tuple({server.pid, *server.workers}))


# --- in this process --------------------------------------------------------------------------------------------


class Discarding(asyncio.Transport):
    """A transport that sends nothing."""

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None: ...

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...


class Ready:
    """A handler whose reply is there already."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def handle(self, call: Call, session: Session) -> Reply:
        return self._reply


class Here:
    """The layers of a server, in this process."""

    def __init__(self, folder: Path, url: str | None) -> None:
        flags = {"data": str(folder / "data")} if url is None else {"database_url": url}
        self._settings = settings = load(environment={}, flags={**flags, "warehouse": str(folder / "warehouse")})
        self.database = open_database(url, settings.data, threads=settings.threads + 8)
        ensure_schema(self.database)
        self._service = Service(self.database, Warehouse(str(folder / "warehouse")))
        ensure_defaults(self._service)
        self._pool = Pool(settings.threads)
        self.local = Local(self._service, self._pool)

    async def create(self) -> None:
        for name, value in (("create_database", Database(name=DB)), ("create_table", table(DB, TABLE))):
            (await self.local.handle(Call(METHODS[name], (value,)), Session())).value(METHODS[name])

    def layers(self, inner: Handler) -> Handler:
        """A handler behind the gate and the routing, as a server without further settings has it."""
        remotes = with_remotes(inner, self._settings, self._service, self._pool)
        return guarded(remotes.handler, self._settings, self._service, self._pool, remotes.owns).handler

    async def connection(self, handler: Handler) -> Callable[[], None]:
        """A function that passes one request to a connection."""
        pool, settings = self._pool, self._settings
        shared = ConnectionService(handler, pool, pool, pool, settings, ServerState(), Compat.of(settings.compat))
        protocol = ThriftConnection(shared)
        protocol.connection_made(Discarding({"peername": ("127.0.0.1", 0)}))
        return lambda: protocol.data_received(REQUEST)

    def close(self) -> None:
        self._pool.close()
        self.database.close()


def repeated(piece: Callable[[], object]) -> Turn:
    def turn() -> float:
        start = time.process_time()
        for _ in range(CALLS):
            piece()
        return (time.process_time() - start) * 1e6 / CALLS

    return turn


def awaited(runner: asyncio.Runner, piece: Callable[[], Awaitable[object]]) -> Turn:
    async def calls() -> float:
        start = time.process_time()
        for _ in range(CALLS):
            await piece()
        return (time.process_time() - start) * 1e6 / CALLS

    return lambda: runner.run(calls())


def pieces_on_sqlite(here: Here, runner: asyncio.Runner, folder: Path) -> dict[str, Turn]:
    runner.run(here.create())
    wire = ServerConnection()

    def parse() -> Request:
        wire.receive_data(REQUEST)
        request = wire.next_event()
        wire.next_event()
        assert isinstance(request, Request)
        return request

    request, reader = parse(), here.database.reader()
    reply = runner.run(here.local.handle(Call(METHOD, (DB, TABLE)), Session()))
    row = tables.find(reader, CATALOG, DB, TABLE)
    assert row is not None
    raw, ready = connect(folder / "data" / FILE), Ready(reply)
    pieces: dict[str, Callable[[], object]] = {
        "all": runner.run(here.connection(here.layers(here.local))),
        "without local": runner.run(here.connection(here.layers(ready))),
        "without layers": runner.run(here.connection(ready)),
        "parse": parse,
        "send": lambda: wire.send(request, reply),
        "find": lambda: tables.find(reader, CATALOG, DB, TABLE),
        "raw find": lambda: raw.execute(FIND.sqlite, NAMES).fetchone(),
        "version": here.database.version,
        "raw version": lambda: raw.execute("PRAGMA data_version").fetchone(),
        "struct": lambda: rows.table_reply(rows.table_struct(row, None, DB)),
    }
    return {name: repeated(piece) for name, piece in pieces.items()}


def print_sqlite(cost: Figures) -> None:
    line("protocol in this process, without a socket", cost["all"])
    line("  parse the request", cost["parse"])
    line("  connection: turns, session, log, write", cost["without layers"] - cost["parse"] - cost["send"])
    line("  gate and routing", cost["without local"] - cost["without layers"] - cost["version"])
    line("  service: checks, context, names", cost["all"] - cost["without local"] - cost["find"] - cost["struct"])
    line("  SQLite: the row", cost["raw find"])
    line("  SQLite: the version of the database", cost["raw version"])
    around = cost["find"] - cost["raw find"] + cost["version"] - cost["raw version"]
    line("  store: around the two statements", around)
    line("  encode the table", cost["struct"])
    line("  frame the reply", cost["send"])


def pieces_on_postgres(here: Here, runner: asyncio.Runner, find: Callable[[], None]) -> dict[str, Turn]:
    reader, session = here.database.loop_reader(), Session()
    assert reader is not None

    async def read() -> object:
        pending = reader.read(FIND, NAMES)
        return pending and await pending

    async def wait_for_connection() -> None:
        while await read() is None:
            await asyncio.sleep(0.05)

    runner.run(wait_for_connection())
    layers = here.layers(here.local)
    return {
        "all": awaited(runner, lambda: layers.handle(Call(METHOD, (DB, TABLE), size=len(REQUEST)), session)),
        "local": awaited(runner, lambda: here.local.handle(Call(METHOD, (DB, TABLE), size=len(REQUEST)), session)),
        "read": awaited(runner, read),
        "raw": repeated(find),
    }


def print_postgres(cost: Figures) -> None:
    line("handler in this process, without a connection of a client", cost["all"])
    line("  libpq and its socket", cost["raw"])
    line("  event loop and future for the statement, values of the row", cost["read"] - cost["raw"])
    line("  service: both runs of the function", cost["local"] - cost["read"])
    line("  gate and routing", cost["all"] - cost["local"])


@contextlib.contextmanager
def libpq(url: str) -> Iterator[Callable[[], None]]:
    """A function that finds the table by libpq alone, with the statement prepared and in pipeline mode."""
    import psycopg

    text, names = FIND.numbered
    params = [NAMES[name].encode() for name in names]
    with psycopg.connect(url, autocommit=True) as connection, select.epoll() as poll:
        raw = connection.pgconn
        raw.prepare(b"find", text)
        raw.nonblocking = 1
        raw.enter_pipeline_mode()
        poll.register(raw.socket, select.EPOLLIN)

        def find() -> None:
            raw.send_query_prepared(b"find", params, None, 1)
            raw.pipeline_sync()
            raw.flush()
            synced = False
            while not synced:
                poll.poll()
                raw.consume_input()
                while not synced and not raw.is_busy():
                    result = raw.get_result()
                    if result is not None:
                        [result.get_value(0, column) for column in range(result.nfields if result.ntuples else 0)]
                        synced = result.status == psycopg.pq.ExecStatus.PIPELINE_SYNC

        yield find


# --- the run ----------------------------------------------------------------------------------------------------


def print_libraries(process: Process) -> None:
    """The shares of the interpreter, the libraries and the kernel, where the machine has perf."""
    if shutil.which("perf") is None:
        return
    process.connect(1)
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-p", str(process.pids[0]), "-o", data]
        recording = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        process.exchange(20_000)
        recording.send_signal(signal.SIGINT)
        recording.wait()
        command = ["perf", "report", "-i", data, "--sort", "dso", "--stdio", "--percent-limit", "0.5"]
        report = subprocess.run(command, capture_output=True, text=True).stdout
    for each in report.splitlines():
        if each.strip() and not each.startswith("#"):
            print(f"  {each.strip()}")


def compare(processes: list[Process], turns: int) -> None:
    """Prints the complete call of each process, over one connection and over many, and how it compares to the first."""
    for number in (1, MANY):
        taken = in_turn({each.name: each.connect(number) for each in processes}, turns)
        print(f"over {number} connection{'s' * (number > 1)}:")
        for each in processes:
            used = taken[each.name]
            ratio = statistics.median(first / own for first, own in zip(taken[processes[0].name], used, strict=True))
            line(f"  {each.name}", statistics.median(used), f"kernel {each.system:3.0%}   {ratio:5.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_call", description=__doc__)
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--against", action="append", default=[], help="the command of another Python; may be repeated")
    parser.add_argument("--turns", type=int, default=60)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = None
        if options.postgres:
            from tests.support.postgres import running_postgres

            url = stack.enter_context(stack.enter_context(running_postgres()).database())
        server = stack.enter_context(serving("server", SERVE, url))
        if options.against:
            others = [(*shlex.split(each), *SERVE[1:]) for each in options.against]
            names = zip(options.against, others, strict=True)
            compare([server, *(stack.enter_context(serving(*each, url)) for each in names)], options.turns)
            return
        echo = stack.enter_context(echoing(server.length))
        here = Here(folder, url)
        stack.callback(here.close)
        runner = stack.enter_context(asyncio.Runner(loop_factory=loop_factory()))
        if url is None:
            pieces = pieces_on_sqlite(here, runner, folder)
        else:
            pieces = pieces_on_postgres(here, runner, stack.enter_context(libpq(url)))
        found = medians({each.name: each.connect(1) for each in (server, echo)} | pieces, options.turns)
        for each in (server, echo):
            line(f"{each.name}, over sockets", found[each.name], f"kernel {each.system:3.0%}")
        print_sqlite(found) if url is None else print_postgres(found)
        compare([server, echo], options.turns)
        print_libraries(server)


if __name__ == "__main__":
    main()
