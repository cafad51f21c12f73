"""Peers that are disconnected, slow or hostile: they lose their own reply and affect no other peer."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from metastored.errors import ApplicationError, MetaException
from metastored.hive import limits
from metastored.server.budget import Budget
from metastored.server.log_lines import MAX_LINE, escaped
from metastored.server.state import MAX_STREAMS, ServerState
from metastored.server.streams import StreamSender, TooSlow
from metastored.testing import RunningServer
from metastored.threads import Pool
from metastored.wire.checks import needed_arguments
from metastored.wire.codec import binary
from metastored.wire.message import Stream
from metastored.wire.methods import METHODS
from metastored.wire.types import CALL
from tests.server.support import PATIENCE, Peer, Running, rest_of, serving
from tests.server.test_streams import SlowReader
from tests.support.client import Client
from tests.support.codecs import PROTOCOLS
from tests.support.forks import running_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

MIB = 1 << 20


def take_all_places(server: Running) -> None:
    """As if as many long replies were on their way as may be."""

    async def take() -> None:
        for _ in range(MAX_STREAMS):
            await server.server.state.streams.acquire()

    asyncio.run_coroutine_threadsafe(take(), server.loop).result(PATIENCE)


def give_back(server: Running) -> None:
    for _ in range(MAX_STREAMS):
        server.loop.call_soon_threadsafe(server.server.state.streams.release)


# --- disconnected peers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framed", [False, True])
def test_a_peer_that_hangs_up_while_it_waits_for_a_place_leaves_the_queue_at_once(framed: bool) -> None:
    with serving() as server:
        take_all_places(server)
        for _ in range(3):
            with server.peer(framed=framed) as peer:
                peer.send("get_config_value", "stream", str(64 * MIB))
                eventually(lambda: server.handler.opened > server.handler.closed)
            eventually(lambda: server.handler.opened == server.handler.closed)
        assert server.handler.produced == 0
        give_back(server)
        with server.peer() as peer:
            assert len(peer.do("stream", MIB)) == MIB


def test_a_peer_that_closed_only_its_sending_side_still_gets_a_long_reply() -> None:
    with serving() as server, server.peer() as peer:
        take_all_places(server)
        peer.send("get_config_value", "stream", str(3 * MIB))
        peer.socket.shutdown(socket.SHUT_WR)
        eventually(lambda: server.handler.opened == 1)
        give_back(server)
        assert len(peer.rest()) > 3 * MIB


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_a_call_in_flight_knows_that_its_peer_has_left(reset: bool) -> None:
    with serving() as server:
        with server.peer() as peer:
            peer.send("get_config_value", "wait", "5")
            eventually(lambda: len(server.handler.sessions) == 1)
            session = server.handler.sessions[0]
            assert not session.ended
            if reset:
                peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        eventually(lambda: session.gone if reset else session.ended)


def test_a_call_over_http_knows_that_its_peer_has_left() -> None:
    with serving(http_port=0, http_tls="off") as server:
        with small_buffered(server.http_port) as peer:
            send_call(peer, True, "wait", "5")
            eventually(lambda: len(server.handler.sessions) == 1)
            session = server.handler.sessions[0]
            assert not session.ended
        eventually(lambda: session.gone)


def test_a_sender_whose_peer_disconnects_while_waiting_takes_no_slot() -> None:
    async def main() -> None:
        pool, state, reader = Pool(1), ServerState(), SlowReader()
        for _ in range(MAX_STREAMS):
            await state.streams.acquire()
        closed: list[bool] = []

        def chunks() -> Iterator[bytes]:
            try:
                yield b"x"
            finally:
                closed.append(True)

        task = asyncio.create_task(StreamSender(Stream(chunks(), 1), b"", bytes, reader, pool, state).run())
        await asyncio.sleep(0)
        reader.lost = True
        reader.gone.set()
        async with asyncio.timeout(PATIENCE):
            await task
        assert closed == [True]
        assert reader.received == b""
        state.streams.release()
        assert not state.streams.locked()
        pool.close()

    asyncio.run(main())


# --- slow readers --------------------------------------------------------------------------------------------------


def test_a_slow_reader_whose_reply_does_not_fit_in_the_files_is_dropped_when_others_wait() -> None:
    with serving(spool_megabytes=1) as server:
        slow = [server.peer() for _ in range(MAX_STREAMS)]
        for peer in slow:
            peer.send("get_config_value", "stream", str(64 * MIB))
        eventually(lambda: server.server.state.open_streams == MAX_STREAMS)
        with server.peer() as other:
            assert len(other.do("stream", 8 * MIB)) == 8 * MIB
        assert server.server.state.spooled.held == 0
        for peer in slow:
            peer.socket.close()
        eventually(lambda: server.handler.closed == MAX_STREAMS + 1)


def test_a_slow_reader_keeps_its_snapshot_while_no_other_waits_for_it() -> None:
    async def main() -> None:
        pool, state, reader = Pool(1), ServerState(), SlowReader()
        state.spooled.most = 10
        stream = Stream(iter([b"x" * 100] * 4), 400)
        sender = StreamSender(stream, b"", bytes, reader, pool, state, max_age=0.01)
        task = asyncio.create_task(sender.run())
        async with asyncio.timeout(PATIENCE):
            while not task.done():
                await asyncio.sleep(0.1)
                reader.writable.set()
        await task
        assert reader.received == b"x" * 400
        pool.close()

    asyncio.run(main())


def test_bytes_in_temporary_files_are_counted_and_released() -> None:
    async def main() -> None:
        pool, state = Pool(1), ServerState()
        state.spooled.most = 500
        readers = [SlowReader(), SlowReader()]
        senders = [
            StreamSender(Stream(iter([b"x" * 100] * 4), 400), b"", bytes, reader, pool, state, max_age=0.01)
            for reader in readers
        ]
        state.streams = asyncio.Semaphore(2)
        tasks = [asyncio.create_task(sender.run()) for sender in senders]
        async with asyncio.timeout(PATIENCE):
            while not any(task.done() for task in tasks):
                assert state.spooled.held <= 500
                await asyncio.sleep(0.01)
            refused, kept = sorted(tasks, key=lambda task: not task.done())
            with pytest.raises(TooSlow, match="spool_megabytes"):
                await refused
            while state.spooled.held != 300:  # The other reader's bytes may still be on their way to its file.
                await asyncio.sleep(0.01)
            while not kept.done():
                for reader in readers:
                    reader.writable.set()
                await asyncio.sleep(0)
            await kept
        assert state.spooled.held == 0
        pool.close()

    asyncio.run(main())


@pytest.mark.parametrize("over_http", [False, True], ids=["Thrift", "HTTP"])
def test_a_reader_of_a_little_now_and_then_is_dropped(over_http: bool, caplog: pytest.LogCaptureFixture) -> None:
    with serving(request_timeout=2, http_port=0, http_tls="off") as server:
        port = server.http_port if over_http else server.port
        with small_buffered(port) as peer:
            send_call(peer, over_http, "echo", "x")
            peer.recv(1 << 16)
            # The kernel's buffers would hide for a minute how slowly a peer reads.
            (connection,) = server.server.state.connections
            sending = connection.transport if over_http else connection._transport  # type: ignore[attr-defined]
            sending.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            send_call(peer, over_http, "stream", str(1024 * MIB))
            read_slowly(peer)
        eventually(lambda: server.handler.closed == 1)
        assert f"dropped: it read its {'response' if over_http else 'reply'} at less than" in caplog.text


def small_buffered(port: int) -> socket.socket:
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.settimeout(PATIENCE)
    peer.connect(("127.0.0.1", port))
    return peer


def send_call(peer: socket.socket, over_http: bool, what: str, value: str) -> None:
    method = METHODS["get_config_value"]
    message = PROTOCOLS["binary"].write(CALL, method.name_bytes, 1, binary.encode_args(method, (what, value)), method)
    head = b"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n"
    peer.sendall(head % len(message) + message if over_http else message)


def read_slowly(peer: socket.socket) -> None:
    """About 8 KB a second, until the other side hangs up."""
    wait = threading.Event()
    for _ in range(400):
        try:
            if not peer.recv(400):
                return
        except ConnectionResetError:
            return
        wait.wait(0.05)
    pytest.fail("it was never dropped")


# --- memory --------------------------------------------------------------------------------------------------------


def test_calls_with_long_replies_wait_while_too_many_bytes_are_held_and_short_ones_do_not() -> None:
    with serving(reply_megabytes=1) as server, server.peer() as slow, server.peer() as other:
        slow.send("get_config_value", "echo", "x" * 24 * MIB)
        eventually(lambda: server.server.state.replies.held > MIB)
        other.send("get_all_databases")
        eventually(lambda: server.server.state.replies.waiting == 1)
        with server.peer() as third:
            assert third.do("echo", "short") == "short"
        assert "get_all_databases" not in server.handler.started
        assert len(slow.reply().value(METHODS["get_config_value"])) == 24 * MIB
        assert other.reply().value(METHODS["get_all_databases"]) == ("default",)
        eventually(lambda: server.server.state.replies.held == 0)


def test_a_reply_above_the_budget_is_still_sent() -> None:
    with serving(reply_megabytes=1) as server, server.peer(protocol="compact") as peer:
        for _ in range(2):
            assert len(peer.do("stream", 3 * MIB)) == 3 * MIB
        eventually(lambda: server.server.state.replies.held == 0)  # The peer may be faster than the server.


def test_a_peer_that_hangs_up_gives_its_bytes_back() -> None:
    with serving(reply_megabytes=1) as server, server.peer() as other:
        with server.peer() as slow:
            slow.send("get_config_value", "echo", "x" * 24 * MIB)
            eventually(lambda: server.server.state.replies.held > MIB)
            other.send("get_all_databases")
        assert other.reply().value(METHODS["get_all_databases"]) == ("default",)


def test_a_budget_serves_in_order_and_skips_cancelled_waiters() -> None:
    async def main() -> None:
        budget, served = Budget(10), list[str]()

        async def take(name: str, size: int) -> None:
            await budget.room(size)
            served.append(name)

        assert budget.reserve(8)
        tasks = [asyncio.create_task(take(name, size)) for name, size in (("a", 9), ("b", 1), ("huge", 50), ("c", 1))]
        await asyncio.sleep(0)
        assert (served, budget.waiting) == ([], 4)
        tasks[1].cancel()
        await asyncio.sleep(0)
        budget.change(-8)
        await asyncio.sleep(0)
        assert (served, budget.held) == (["a"], 9)
        budget.change(-9)
        await asyncio.sleep(0)
        assert (served, budget.held) == (["a", "huge"], 50)
        budget.change(-50)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (served, budget.held, budget.waiting) == (["a", "huge", "c"], 1, 0)

    asyncio.run(main())


# --- what reaches the functions, and the log -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    settings: dict[str, Any] = {"http_port": 0, "http_tls": "off", "audit": "on"}
    with running_server(**settings) as server:
        yield server


def test_a_missing_request_struct_is_named_by_every_method_that_needs_it(server: RunningServer) -> None:
    needing = [method for method in METHODS.values() if needed_arguments(method) and not method.oneway]
    assert len(needing) > 130
    with Client(server.host, server.port) as client:
        for method in needing:
            _, name = needed_arguments(method)[0]
            with pytest.raises((MetaException, ApplicationError)) as refused:
                client.call(method.name)
            assert str(refused.value) == f"{method.name} was called without its argument {name}"
    assert "Traceback" not in server.log


@pytest.mark.parametrize(
    ("method", "args", "most"),
    [
        ("get_table", ("default", "t" * 2000), limits.MAX_NAME),
        ("get_database", ("d" * 4000,), limits.MAX_FULL_NAME),
        ("get_tables", ("default", "a*|" * 30_000), limits.MAX_PATTERN),
        ("get_databases", ("a" * MIB,), limits.MAX_PATTERN),
        ("partition_name_to_spec", ("a" * MIB,), limits.MAX_PARTITION_NAME),
        ("partition_name_to_vals", ("a=" * MIB,), limits.MAX_PARTITION_NAME),
    ],
)
@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
def test_a_name_above_its_limit_is_refused_with_the_limit(
    server: RunningServer, protocol: str, method: str, args: tuple[str, ...], most: int
) -> None:
    with Peer(server.port, protocol=protocol) as peer, pytest.raises(MetaException, match=f"at most {most} are"):
        peer.call(method, *args)


def test_a_long_partition_name_is_taken_apart(server: RunningServer) -> None:
    with Client(server.host, server.port) as client:
        name = "/".join(f"k{number}={'v' * 50}" for number in range(700))
        assert len(client.call("partition_name_to_spec", name)) == 700


FORGED = "2026-01-01 00:00:00,000 INFO [1] user=root peer=- method=drop_table object=d.t outcome=ok ms=1"


def test_no_text_of_a_client_begins_a_line_of_the_log(server: RunningServer) -> None:
    name = f"x\n{FORGED}".encode()
    calls = [
        struct.pack(">II", 0x80010001, len(name)) + name + struct.pack(">iB", 7, 0),
        b"\x01" + struct.pack(">I", len(name)) + name,
        b"\x04" + struct.pack(">I", len(name)) + name,
    ]
    for call in calls:
        with Peer(server.port) as peer:
            peer.socket.sendall(call)
            peer.socket.shutdown(socket.SHUT_WR)
            peer.rest()
    with Client(server.host, server.port) as client:
        client.call("set_ugi", f"eve\r\n{FORGED}", ())
        for method, args in (
            ("get_table", (f"d\n{FORGED}", f"t\u2028{FORGED}")),
            ("get_database", (f"\x1b[2Jd\n{FORGED}",)),
        ):
            with pytest.raises(Exception, match="drop_table"):
                client.call(method, *args)
    log = server.log
    assert FORGED in log.replace("\\", "")
    assert not [line for line in re.split(r"[\n\r\x0b\x0c\x85\u2028\u2029]", log) if line.startswith(FORGED)]
    assert "\x1b" not in log


def test_a_user_that_is_no_text_is_refused(server: RunningServer) -> None:
    assert server.http_port is not None
    for actor in (b"\xff", b"a" * 5000):
        with socket.create_connection((server.host, server.http_port), timeout=PATIENCE) as peer:
            body = b'[1,"get_all_databases",1,1,{}]'
            peer.sendall(
                b"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nConnection: close\r\n"
                b"x-actor-username: %s\r\nContent-Length: %d\r\n\r\n" % (actor, len(body)) + body
            )
            assert rest_of(peer).startswith(b"HTTP/1.1 400 ")
    assert "Traceback" not in server.log


def test_a_reply_to_a_disconnected_peer_logs_no_traceback(server: RunningServer) -> None:
    assert server.http_port is not None
    body = b'[1,"get_all_databases",1,1,{}]'
    head = b"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n"
    for _ in range(50):
        with socket.create_connection((server.host, server.http_port), timeout=PATIENCE) as peer:
            peer.sendall((head % len(body) + body) * 5)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with Client(server.host, server.port) as client:
        client.call("get_all_databases")
    assert "Traceback" not in server.log


def test_a_line_of_the_log_is_bounded() -> None:
    assert escaped("a" * MAX_LINE) == "a" * MAX_LINE
    assert escaped("a" * MAX_LINE + "bc").endswith("… (2 more characters)")
    assert escaped("größe \u202e \x00 \n \udcff") == "größe \\u202e \\x00 \\x0a \\udcff"
