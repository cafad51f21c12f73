"""One port for plain clients, TLS clients, and clients that send nothing."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
import uvloop

from metastored.config import load
from metastored.errors import ConfigError, ConnectError
from metastored.server.listener import listen
from metastored.server.tls import thrift_tls
from tests.server.support import Running, certificate, serving

LOOPS = pytest.mark.parametrize(
    "loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
)


def trusting(chain: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(chain))


@LOOPS
def test_tls_and_plain_clients_share_a_port(tmp_path: Path, loop_factory: Any) -> None:
    chain, key = certificate(tmp_path)
    with serving(loop_factory=loop_factory, tls_certificate=str(chain), tls_key=str(key)) as server:
        context = trusting(chain)
        context.check_hostname = False
        with server.peer() as plain, server.peer(tls=context) as secret:
            assert plain.do("echo", "plain") == "plain"
            assert secret.do("echo", "secret") == "secret"
            assert secret.do("wait", "0.01") == "0.01"
            assert plain.do("stream", 1 << 21) == secret.do("stream", 1 << 21)


@LOOPS
def test_the_first_byte_of_a_handshake_may_come_alone(tmp_path: Path, loop_factory: Any) -> None:
    chain, key = certificate(tmp_path)
    with serving(loop_factory=loop_factory, tls_certificate=str(chain), tls_key=str(key)) as server:
        context = trusting(chain)
        context.check_hostname = False
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing)
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        hello = outgoing.read()
        with server.peer() as peer:
            peer.socket.sendall(hello[:1])
            with server.peer() as other:
                assert other.do("echo", "meanwhile") == "meanwhile"
            peer.socket.sendall(hello[1:])
            assert peer.socket.recv(1) == b"\x16"


def test_without_a_certificate_a_handshake_is_refused_with_a_reason_in_the_log(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with pytest.raises(OSError):
        server.peer(tls=context)
    assert "no certificate" in caplog.text


def test_a_broken_handshake_affects_no_other_connection(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    with serving(tls_certificate=str(chain), tls_key=str(key)) as server:
        with server.peer() as broken, server.peer() as other:
            broken.socket.sendall(b"\x16\x03\x01\x00\x05nonsense")
            broken.rest()
            assert other.do("echo", "x") == "x"


def test_more_connections_than_allowed_are_refused() -> None:
    with serving(max_connections=2) as server, server.peer() as first, server.peer() as second:
        assert first.do("echo", "1") == "1"
        assert second.do("echo", "2") == "2"
        with server.peer() as third:
            assert third.rest() == b""
        assert first.do("echo", "3") == "3"


def test_replies_are_sent_without_delay_and_dead_peers_are_detected(server: Running) -> None:
    with server.peer() as peer:
        peer.do("echo", "x")
        (connection,) = server.server.state.connections
        accepted: socket.socket = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_a_port_in_use_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConnectError, match=f"cannot listen on 127.0.0.1:{port}: .*in use.*--port"):
            listen("127.0.0.1", port)


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    settings = load(environment={}, flags={"tls_certificate": str(tmp_path / "none.pem")})
    with pytest.raises(ConfigError, match=r"tls_certificate .*none\.pem: No such file"):
        thrift_tls(settings)


def test_ipv6_addresses_can_be_listened_on() -> None:
    with listen("::1", 0) as listening:
        assert listening.family is socket.AF_INET6
