"""Many connections to the HTTP port, and bad ones among them: others are served, and memory stays bounded."""

from __future__ import annotations

import resource
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from metastored.server.http.thrift import MAX_HELD, SHORT, Bodies, Refusal
from metastored.testing import RunningServer
from metastored.wire.limits import MAX_MESSAGE
from tests.server.http.support import ALL, THRIFT, browser, connect, head, http_server, status, trusting
from tests.server.support import PATIENCE, certificate, rest_of, serving
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

MiB = 1024 * 1024


@contextmanager
def open_files(wanted: int) -> Iterator[None]:
    """Raises the limit of open files of this process and its children."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this machine lets a process open {hard} files, and {wanted} are needed: ulimit -Hn says so")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def memory(server: RunningServer) -> int:
    """Bytes that the server's process holds."""
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


def most_memory(server: RunningServer) -> int:
    """The most that it ever held."""
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    (found,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found) * 1024


def serve_all(kept: list[ssl.SSLSocket]) -> None:
    """A call on each, all under way at the same time."""
    for connection in kept:
        connection.sendall(head(len(ALL)) + ALL)
    assert {status(connection) for connection in kept} == {200}


def test_a_thousand_kept_connections_are_served_at_the_same_time(tmp_path: Path) -> None:
    with open_files(2000), http_server(tmp_path) as server, ExitStack() as stack:
        assert server.http_port is not None
        tls, kept = trusting(), list[ssl.SSLSocket]()
        for _ in range(1000):
            kept.append(stack.enter_context(connect(server.http_port, tls)))
        serve_all(kept)
        before = memory(server)
        for _ in range(3):
            serve_all(kept[::-1])
        assert memory(server) - before < 100 * MiB
        assert memory(server) < 1024 * MiB


@pytest.mark.soak
def test_ten_thousand_idle_connections_leave_room_for_others(tmp_path: Path) -> None:
    """Idle after the handshake, after a call, and without a word."""
    with (
        open_files(10_500),
        http_server(tmp_path, max_connections=20_000, request_timeout=600) as server,
        ExitStack() as stack,
    ):
        assert server.http_port is not None
        port, tls = server.http_port, trusting()
        for number in range(10_000):
            if number % 4 == 3:
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
                continue
            connection = stack.enter_context(connect(port, tls))
            if number % 4 == 2:
                connection.sendall(head(len(ALL)) + ALL)
                assert status(connection) == 200
        with browser(server) as other:
            for _ in range(100):
                assert other.post(ALL).status == 200
            # The figure is put there once a second.
            eventually(lambda: b"metastored_connections 10001.0" in other.request("GET", "/metrics").body)
        held = memory(server)
        print(f"10,000 idle connections: {held / MiB:.0f} MiB")
        assert held < 1024 * MiB


def test_slow_bodies_block_no_other_request_and_take_little_memory(tmp_path: Path) -> None:
    """A hundred clients that announce bodies of the maximum size, and send them byte by byte."""
    with open_files(1000), http_server(tmp_path) as server, ExitStack() as stack:
        assert server.http_port is not None
        tls = trusting()
        slow = [stack.enter_context(connect(server.http_port, tls)) for _ in range(100)]
        for connection in slow:
            connection.sendall(head(MAX_MESSAGE, "/metastore", THRIFT) + b"[")
        before = memory(server)
        with browser(server) as other:
            for _ in range(20):
                for connection in slow:
                    connection.sendall(b" ")
                assert other.post(ALL).status == 200
        assert memory(server) - before < 50 * MiB


def test_half_open_handshakes_block_no_other_connection(tmp_path: Path) -> None:
    with open_files(1000), http_server(tmp_path, request_timeout=2) as server, ExitStack() as stack:
        assert server.http_port is not None
        half = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.http_port), timeout=PATIENCE))
            for _ in range(200)
        ]
        for number, connection in enumerate(half):
            # A record that is announced and does not come; or not even its head.
            connection.sendall(b"\x16\x03\x01\x02\x00\x01"[: 1 + number % 6])
        with browser(server) as other:
            assert other.post(ALL).status == 200
            for connection in half:
                assert rest_of(connection) == b""
            assert other.post(ALL).status == 200


def test_oversized_bodies_are_refused_and_the_bytes_of_all_bodies_are_bounded(tmp_path: Path) -> None:
    """Six clients send a hundred MiB each: requests that do not fit in memory get the advice to retry."""
    body = b'[1,"get_all_databases",1,1,{}]' + b" " * (MAX_MESSAGE - 1000)
    with http_server(tmp_path, threads=2) as server:
        assert server.http_port is not None
        port, tls = server.http_port, trusting()

        def send_call(number: int) -> int:
            with connect(port, tls) as connection:
                connection.settimeout(120)
                connection.sendall(head(len(body), "/metastore", THRIFT))
                for at in range(0, len(body), MiB):
                    connection.sendall(body[at : at + MiB])
                return status(connection)

        with ThreadPoolExecutor(6) as threads, browser(server) as other:
            statuses = threads.map(send_call, range(6))
            for _ in range(20):
                assert other.post(ALL).status == 200
            found = set(statuses)
        assert found <= {200, 503} and 200 in found
        # Bodies in pieces, then each as a whole, then what is made of it.
        assert most_memory(server) < 3 * MAX_HELD + 256 * MiB


def test_long_bodies_beyond_the_bound_are_refused_and_short_ones_are_not() -> None:
    bodies = Bodies(10 * SHORT)
    bodies.grow(0, 9 * SHORT)
    with pytest.raises(Refusal, match="too many long requests") as refusal:
        bodies.grow(0, 2 * SHORT)
    assert refusal.value.status == 503
    bodies.grow(0, SHORT)
    bodies.grow(0, SHORT)
    assert bodies.held == 11 * SHORT


def test_the_memory_of_a_request_is_released_however_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = Bodies(4 * SHORT)
    monkeypatch.setattr("metastored.server.http.app.Bodies", lambda: bodies)
    chain, key = certificate(tmp_path)
    with serving(tls_certificate=str(chain), tls_key=str(key), http_port=0) as server:
        tls = trusting()
        start = f"POST /metastore HTTP/1.1\r\nHost: x\r\nContent-Type: {THRIFT}\r\nContent-Length: %d\r\n\r\n".encode()
        whole, nonsense = ALL + b" " * 3 * SHORT, b"x" * 3 * SHORT
        with connect(server.http_port, tls) as kept:
            for body, expected in ((whole, 200), (nonsense, 400), (b"x" * 5 * SHORT, 503), (whole, 200), (ALL, 200)):
                kept.sendall(start % len(body) + body)
                assert status(kept) == expected
        with connect(server.http_port, tls) as leaving:
            leaving.sendall(start % (len(whole) + 1) + whole)
            eventually(lambda: bodies.held == len(whole))
        eventually(lambda: bodies.held == 0)
