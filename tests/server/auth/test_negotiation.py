"""SASL through an authenticator: accepted clients, their users, and the errors of refused clients."""

from __future__ import annotations

from struct import pack, unpack

import pytest

from metastored.errors import AuthenticationError
from metastored.server.auth import negotiation as sasl
from tests.server.support import Peer, Running, serving


class Password:
    """A mechanism for tests: the client sends `user`, then a password; afterwards all bytes are reversed."""

    user = ""
    by_token = False
    frame_size = 1 << 16
    by_token = False

    @property
    def principal(self) -> str:
        return f"{self.user}@METASTORED"

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        if not self.user:
            self.user = payload.decode()
            return b"password?", False
        if payload != b"honey":
            raise AuthenticationError("a wrong password")
        return b"welcome", True

    def wrap(self, data: bytes) -> bytes:
        return data[::-1]

    def unwrap(self, data: bytes) -> bytes:
        if data.startswith(b"!"):
            raise ValueError("a broken seal")
        return data[::-1]


class Passwords:
    def start(self, mechanism: str, channel: sasl.Channel) -> Password:
        if mechanism != "PASSWORD":
            raise AuthenticationError(f"no mechanism {mechanism}; this server has PASSWORD")
        return Password()


def say(peer: Peer, status: int, payload: bytes) -> None:
    peer.socket.sendall(bytes((status,)) + pack(">I", len(payload)) + payload)


def exactly(peer: Peer, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = peer.socket.recv(count - len(data))
        assert more, "the server hung up"
        data += more
    return data


def hear(peer: Peer) -> tuple[int, bytes]:
    status, length = unpack(">BI", exactly(peer, 5))
    return status, exactly(peer, length)


def log_in(peer: Peer, password: bytes = b"honey") -> tuple[int, bytes]:
    say(peer, sasl.START, b"PASSWORD")
    say(peer, sasl.OK, b"maja")
    assert hear(peer) == (sasl.OK, b"password?")
    say(peer, sasl.OK, password)
    return hear(peer)


def test_an_authenticated_peer_is_served_under_its_name() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        assert log_in(peer) == (sasl.COMPLETE, b"welcome")
        message = peer.message("getName")[::-1]
        peer.socket.sendall(pack(">I", len(message)) + message)
        (length,) = unpack(">I", exactly(peer, 4))
        peer.wire.receive_data(exactly(peer, length)[::-1])
        assert peer.reply().body
        (session,) = server.handler.sessions
        assert (session.user, session.principal) == ("maja", "maja@METASTORED")
        assert session.authenticated


def test_long_replies_are_wrapped_too() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        log_in(peer)
        message = peer.message("get_config_value", "stream", str(1 << 21))[::-1]
        peer.socket.sendall(pack(">I", len(message)) + message)
        plain = b""
        while len(plain) < 1 << 21:
            (length,) = unpack(">I", exactly(peer, 4))
            plain += exactly(peer, length)[::-1]
        assert plain.count(b"x") == 1 << 21


def test_a_broken_seal_ends_the_connection_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer, server.peer() as other:
        log_in(peer)
        log_in(other)
        peer.socket.sendall(pack(">I", 1) + b"!")
        assert peer.rest() == b""
        message = other.message("getName")[::-1]
        other.socket.sendall(pack(">I", len(message)) + message)
        assert exactly(other, 4)
    assert "a broken seal" in caplog.text


def test_an_unauthenticated_peer_gets_the_reason_and_is_disconnected() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        assert log_in(peer, b"vinegar") == (sasl.ERROR, b"a wrong password")
        assert peer.rest() == b""


def test_an_unknown_mechanism_is_named() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        say(peer, sasl.START, b"GSSAPI")
        assert hear(peer) == (sasl.ERROR, b"no mechanism GSSAPI; this server has PASSWORD")


def test_a_client_that_ends_too_early_is_refused() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        say(peer, sasl.START, b"PASSWORD")
        say(peer, sasl.COMPLETE, b"maja")
        status, text = hear(peer)
        assert status == sasl.ERROR
        assert b"before it was complete" in text


def test_a_client_without_sasl_gets_the_advice_to_use_sasl() -> None:
    with serving(authenticator=Passwords()) as server, server.peer() as peer:
        peer.send("getName")
        assert b"requires authentication: connect with SASL" in peer.rest()
        assert server.handler.started == []


@pytest.mark.slow
def test_a_negotiation_that_stalls_is_dropped() -> None:
    with serving(authenticator=Passwords(), request_timeout="1") as server, server.peer() as peer:
        say(peer, sasl.START, b"PASSWORD")
        assert peer.rest() == b""


def test_a_sasl_client_of_a_server_without_authentication_gets_the_reason(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        say(peer, sasl.START, b"GSSAPI")
        status, text = hear(peer)
        assert status == sasl.ERROR
        assert b"connect without SASL" in text
        assert peer.rest() == b""
    assert "not authenticated" in caplog.text
