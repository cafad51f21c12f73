"""Transports: TLS, HTTP with TJSON and binary, SASL PLAIN and Kerberos, and calls within the process."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.client.endpoints import Endpoint, endpoint_of, endpoints_of
from metastored.client.http import HttpWire
from metastored.client.retry import Retry
from metastored.client.sasl import kerberos, plain
from metastored.client.versions import HiveVersion
from metastored.errors import (
    AuthenticationError,
    ConnectError,
    ConnectionLost,
    Error,
    InvalidAddress,
    InvalidInputException,
    NotSupported,
    RemoteProtocolError,
    TransportError,
)
from metastored.wire.connection import NEED_DATA, Request, ServerConnection
from metastored.wire.message import Handler, Session
from metastored.wire.methods import METHODS
from tests.client.handlers import OnlyNine, WritableMetastore, table_of
from tests.server.support import certificate
from tests.support.apache import ApacheMetastore, apache_3_1
from tests.support.driven import connected
from tests.support.forks import running_server
from tests.support.kdc import Kdc
from tests.support.memory_metastore import MemoryMetastore
from tests.support.scripted import Peer, say_and_hang_up, scripted

pytestmark = pytest.mark.slow

FAST = Retry(first_delay=0.001)


# Addresses


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("thrift://hms:9084", ("hms", 9084, None, "thrift://hms:9084")),
        ("thrift://hms", ("hms", 9083, None, "thrift://hms:9083")),
        ("thrift://[::1]", ("::1", 9083, None, "thrift://[::1]:9083")),
        ("thrifts://hms", ("hms", 9083, None, "thrifts://hms:9083")),
        ("http://hms/api", ("hms", 80, "/api", "http://hms:80/api")),
        ("https://hms:30443/gateway/api?x=1", ("hms", 30443, "/gateway/api?x=1", "https://hms:30443/gateway/api?x=1")),
    ],
)
def test_an_address_is_parsed(uri: str, expected: tuple[Any, ...]) -> None:
    found = endpoint_of(uri)
    assert (found.host, found.port, found.path, found.uri) == expected


def test_several_addresses_are_in_one_string_or_in_a_list() -> None:
    assert [each.host for each in endpoints_of("thrift://a:1, thrift://b:2")] == ["a", "b"]
    assert [each.host for each in endpoints_of(["thrift://a:1,thrift://b:2", "thrift://c:3"])] == ["a", "b", "c"]


@pytest.mark.parametrize("uri", ["", " , ", "hms:9083", "ftp://hms", "thrift://", "thrift://a:x", "thrift://a/b"])
def test_an_invalid_address_is_refused_with_an_example(uri: str) -> None:
    with pytest.raises(InvalidAddress, match="thrift://host:9083"):
        metastored.connect(uri)


# Protocols


def speaks_compact_in_frames(host: str, port: int) -> bool:
    try:
        with metastored.connect(
            f"thrift://{host}:{port}",
            transport=metastored.TransportSettings(protocol="compact", framed=True),
            retry=FAST,
        ) as client:
            return bool(client.api.getName())
    except (TransportError, RemoteProtocolError):
        return False


@pytest.fixture(scope="module")
def compact_hive() -> Iterator[ApacheMetastore]:
    settings = {f"metastore.thrift.{name}.enabled": "true" for name in ("compact.protocol", "framed.transport")}
    with apache_3_1(settings, speaks_compact_in_frames) as server:
        yield server


@pytest.mark.apache
@pytest.mark.slow
def test_the_protocol_of_a_real_metastore_is_detected(half: str, compact_hive: ApacheMetastore) -> None:
    with connected(half, compact_hive.uri, user="ann") as client:
        assert "default" in client.databases()
        assert client.capabilities.version() == HiveVersion(3, 1)
    with connected(
        half, compact_hive.uri, transport=metastored.TransportSettings(protocol="binary"), retry=FAST
    ) as client:
        with pytest.raises(TransportError, match="closed"):
            client.databases()


# TLS


def test_thrift_inside_tls(half: str, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    trusted = ssl.create_default_context(cafile=str(cert))
    with running_server(tls_certificate=cert, tls_key=key) as server:
        uri = f"thrifts://localhost:{server.port}"
        with connected(half, uri, tls=trusted) as client:
            assert "default" in client.databases()
        with connected(half, uri, retry=FAST) as client:
            with pytest.raises(ConnectError, match=r"cannot connect to .*certificate verify failed"):
                client.databases()


# HTTP


@contextmanager
def http_server(handler: Handler, **options: Any) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Thrift over HTTP, by Python's own server: its address, and the headers of each request."""
    seen: list[dict[str, str]] = []

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append({**dict(self.headers.items()), "path": self.path})
            if options.get("authorization") not in (None, self.headers["Authorization"]):
                self.send_error(401)
                return
            wire = ServerConnection()
            wire.receive_data(data)
            event = wire.next_event()
            assert isinstance(event, Request)
            if event.call is None:
                assert event.error is not None
                body = wire.send_error(event, event.error)
            else:
                call = event.call

                async def answered() -> bytes:
                    return wire.send(event, await handler.handle(call, Session()))

                body = asyncio.run(answered())
            self.send_response(options.get("status", 200))
            if options.get("chunked"):
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for at in range(0, len(body), 100):
                    part = body[at : at + 100]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")
                return
            self.send_header("Content-Length", str(len(body)))
            if options.get("close"):
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/gateway/default/hmshttpthrift/api/hms", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("protocol", [None, "json", "binary"])
@pytest.mark.parametrize("options", [{}, {"chunked": True}, {"close": True}], ids=["length", "chunked", "close"])
def test_thrift_over_http(half: str, protocol: str | None, options: dict[str, Any]) -> None:
    there = WritableMetastore((table_of("sales", "orders"),))
    with http_server(there, **options) as (uri, seen):
        with connected(
            half,
            uri,
            transport=metastored.TransportSettings(protocol=protocol),
            user="ann",
            password="secret",
            cache=False,
        ) as client:
            assert client.table("sales.orders").tableName == "orders"
            assert client.databases() == ("sales",)
    assert seen[0]["path"] == "/gateway/default/hmshttpthrift/api/hms"
    assert seen[0]["Authorization"] == "Basic YW5uOnNlY3JldA=="
    expected = "application/x-thrift" if protocol == "binary" else "application/vnd.apache.thrift.json"
    assert seen[0]["Content-Type"] == expected


def test_a_server_with_nine_methods_is_filtered_by_the_client_and_missing_methods_are_named(half: str) -> None:
    class Nine(MemoryMetastore):
        def get_partition_names(self, db: str, name: str, limit: int) -> tuple[str, ...]:
            return tuple(f"ds={part.values[0]}" for part in self.get_partitions(db, name, limit) if part.values)

    there = Nine({"sales": ("orders",)})
    with http_server(OnlyNine(there)) as (uri, _), connected(half, uri, cache=False) as client:
        assert client.databases() == ("sales",)
        assert client.table("sales.orders").tableName == "orders"
        assert [part.values for part in client.partitions("sales.orders", where="ds >= '1'")] == [("1",), ("2",)]
        assert len(list(client.partitions("sales.orders"))) == 3
        assert client.partition_names("sales.orders", where="ds = '2'") == ("ds=2",)
        assert [table.tableName for table in client.table_objects("sales")] == ["orders"]
        assert client.capabilities.has_lock_service() is False
        with pytest.raises(NotSupported, match=r"is Hive 2\.3 as far as is known and has no show_locks"):
            client.capabilities.has_lock_service(check=True)
        assert client.capabilities.version() == HiveVersion(2, 3)
        assert client.capabilities.version_is_assumed


def test_a_wrong_token_is_an_error(half: str) -> None:
    with http_server(WritableMetastore(), authorization="Bearer good") as (uri, _):
        with connected(half, uri, token="bad") as client:
            with pytest.raises(AuthenticationError, match="401"):
                client.databases()
        with connected(
            half, uri, token="good", transport=metastored.TransportSettings(headers={"X-Catalog": "c"})
        ) as client:
            assert client.databases() == ("sales",)


def test_an_error_of_the_gateway_is_reported(half: str) -> None:
    with http_server(WritableMetastore(), status=502) as (uri, _), connected(half, uri) as client:
        with pytest.raises(RemoteProtocolError, match="502 Bad Gateway"):
            client.databases()


@pytest.mark.parametrize(
    "answer",
    [
        b"\x80\x01\x00\x02",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1,",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200" + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-fff\r\n" + b"x" * 5000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + b"e" * 70_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"t: v\r\n" * 20_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
        b"HTTP/1.1 200 OK\r\nx\x00: y\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 9999 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"\x16\x03\x01" + bytes(300),
    ],
)
def test_an_invalid_http_response_is_refused(half: str, answer: bytes) -> None:
    with scripted(None, otherwise=say_and_hang_up(answer)) as server:
        with connected(half, server.uri.replace("thrift", "http"), retry=FAST) as client:
            with pytest.raises(RemoteProtocolError):
                client.databases()


def test_an_http_response_may_arrive_in_pieces_after_an_informational_one() -> None:
    wire = HttpWire(Endpoint("h", 80, "binary", path="/"))
    method = METHODS["get_all_databases"]
    wire.send(method, b"\0")
    body = bytes.fromhex("80010002") + b"\0\0\0\x11get_all_databases" + b"\0\0\0\x01\0"
    whole = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    for at in range(len(whole) - 1):
        wire.receive_data(whole[at : at + 1])
        assert wire.next_part() is NEED_DATA
    wire.receive_data(whole[-1:])
    assert wire.next_part() is not NEED_DATA


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
    ],
)
def test_a_peer_that_sends_single_bytes_does_not_extend_the_deadline(half: str, first: bytes) -> None:
    def drip(peer: Peer, data: bytes) -> None:
        with suppress(OSError):
            peer.socket.sendall(first)
            for _ in range(200):
                peer.socket.sendall(b"1")
                time.sleep(0.05)

    with scripted(None, otherwise=drip) as server:
        with connected(half, server.uri.replace("thrift", "http"), retry=FAST, timeout=0.5) as client:
            with pytest.raises(Error):
                client.databases()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["first words", "a chunk", "chunks"],
)
def test_an_endless_response_ends_at_max_reply(half: str, first: bytes, then: bytes) -> None:
    def chatter(peer: Peer, data: bytes) -> None:
        with suppress(OSError):
            peer.socket.sendall(first)
            while True:
                peer.socket.sendall(then * 1000)

    with scripted(None, otherwise=chatter) as server:
        with connected(
            half,
            server.uri.replace("thrift", "http"),
            retry=FAST,
            transport=metastored.TransportSettings(max_reply=1 << 20),
        ) as client:
            with pytest.raises(RemoteProtocolError, match="more than 1048576 bytes"):
                client.databases()


def test_bytes_after_a_response_close_the_connection() -> None:
    wire = HttpWire(Endpoint("h", 80, "binary", path="/"))
    wire.send(METHODS["get_all_databases"], b"\0")
    body = bytes.fromhex("80010002") + b"\0\0\0\x11get_all_databases" + b"\0\0\0\x01\0"
    wire.receive_data(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body + b"HTTP/1.1 200 OK\r\n")
    assert wire.next_part() is not NEED_DATA
    assert wire.closes


def test_a_header_with_a_line_break_is_refused() -> None:
    with pytest.raises(AuthenticationError, match="line break"):
        HttpWire(Endpoint("h", 80, path="/", headers=(("X", "a\r\nY: b"),)))


# SASL


def sasl_server(peer: Peer, data: bytes) -> None:
    """PLAIN of Java's server: START and the password in one or two messages, then frames."""
    start, password = b"\x01\0\0\0\x05PLAIN", b"\x05\0\0\0\x0b\0ann\0secret"
    while len(data) < len(start + password):
        data += peer.socket.recv(65536)
    if data != start + password:
        text = b"\x03\0\0\0\x15Authentication failed"
        peer.socket.sendall(text)
        return
    peer.socket.sendall(b"\x05\0\0\0\0")
    while frame := peer.socket.recv(65536):
        answer = peer.reply(frame[4:])
        half = len(answer) // 2
        for part in (answer[:half], answer[half:]):
            peer.socket.sendall(len(part).to_bytes(4, "big") + part)


def test_a_user_is_authenticated_by_a_password_with_sasl(half: str) -> None:
    there = WritableMetastore((table_of("sales", "orders"),))
    with scripted(there, otherwise=sasl_server) as server:
        with connected(half, server.uri, user="ann", password="secret") as client:
            assert client.table("sales.orders").tableName == "orders"
            assert client.databases() == ("sales",)
        with connected(half, server.uri, sasl=plain("ann", "wrong!"), retry=FAST) as client:
            with pytest.raises(AuthenticationError, match="the server refuses PLAIN: Authentication failed"):
                client.databases()


@pytest.mark.parametrize("said", [b"\x80\x01\x00\x02\x00", b"\x02\0\0\0\x01x", b"\x02\xff\xff\xff\xff"])
def test_a_server_without_sasl_is_recognised(half: str, said: bytes) -> None:
    with scripted(None, otherwise=say_and_hang_up(said)) as server:
        with connected(half, server.uri, user="ann", password="x", retry=FAST) as client:
            with pytest.raises((TransportError, RemoteProtocolError, AuthenticationError), match=r"SASL|PLAIN"):
                client.databases()


def test_the_error_of_a_lost_negotiation_says_that_the_server_may_use_no_sasl(half: str) -> None:
    with scripted(None, otherwise=say_and_hang_up(b"")) as server:
        with connected(half, server.uri, user="ann", password="x", retry=FAST) as client:
            with pytest.raises((ConnectError, ConnectionLost), match="perhaps the server uses no SASL"):
                client.databases()


def test_a_password_with_a_zero_byte_and_an_unknown_protection_are_refused() -> None:
    with pytest.raises(AuthenticationError, match="zero byte"):
        plain("ann", "a\0b")("host")
    with pytest.raises(AuthenticationError, match="known are auth, auth-int, auth-conf"):
        kerberos("hive/_HOST@R", "much")


@pytest.mark.kerberos
@pytest.mark.parametrize("qop", ["auth", "auth-int", "auth-conf"])
def test_a_user_is_authenticated_by_kerberos(half: str, qop: str, kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(kdc.config))
    names = {"service": "hive/localhost", "alice": f"{half}{qop.replace('-', '')}"}
    service = kdc.principal(names["service"])
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kdc.kinit(kdc.principal(names['alice']))}")
    keytab = kdc.keytab(service)
    with running_server(
        kerberos_principal=service, kerberos_keytab=keytab, sasl_qop="auth,auth-int,auth-conf"
    ) as server:
        uri = f"thrift://localhost:{server.port}"
        with connected(half, uri, sasl=kerberos(f"hive/_HOST@{kdc.realm}", qop)) as client:
            assert "default" in client.databases()
            client.create_database("big")
            assert client.database("big").name == "big"
        with connected(half, uri, sasl=kerberos(f"nobody/_HOST@{kdc.realm}"), retry=FAST) as client:
            with pytest.raises(AuthenticationError, match=rf"nobody/localhost@{kdc.realm}.*kinit"):
                client.databases()


# No network


def test_a_handler_in_this_process_is_a_metastore_too(half: str) -> None:
    there = WritableMetastore((table_of("sales", "orders"),))
    with connected(half, handler=there, user="ann") as client:
        assert client.uri == "this process"
        assert client.table("sales.orders").tableName == "orders"
        assert client.pool_stats() is None
    assert there.users[0] == "ann"


def test_a_method_that_the_api_does_not_have_is_refused(half: str) -> None:
    with connected(half, handler=WritableMetastore()) as client:
        with pytest.raises(InvalidInputException, match="no method 'get_tabel'"):
            client.api.call("get_tabel")
        with pytest.raises(InvalidInputException, match="get_table takes 2 arguments, not 3"):
            client.api.call("get_table", "a", "b", "c")


def test_importing_metastored_does_not_import_the_client() -> None:
    import subprocess
    import sys

    code = (
        "import sys, metastored; assert not [m for m in sys.modules if m.startswith('metastored.')]; "
        "metastored.connect; metastored.aconnect"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        metastored.conect  # noqa: B018
