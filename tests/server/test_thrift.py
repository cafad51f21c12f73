"""One connection: its replies, their order, and its end."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from metastored.errors import ApplicationError, ConfigValSecurityException
from metastored.wire.message import EXCEPTION
from metastored.wire.methods import METHODS
from tests.server.handlers import CHUNK
from tests.server.support import Running, serving
from tests.support.waiting import eventually


@pytest.mark.parametrize("framed", [False, True], ids=["unframed", "framed"])
@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
def test_a_call_gets_its_reply(server: Running, protocol: str, framed: bool) -> None:
    with server.peer(protocol=protocol, framed=framed) as peer:
        assert peer.do("echo", "hello") == "hello"
        assert peer.do("echo", "again") == "again"


@pytest.mark.parametrize("what", ["wait", "pool", "block", "direct", "direct, then pool"])
def test_a_call_that_waits_gets_its_reply(server: Running, what: str) -> None:
    with server.peer() as peer:
        assert peer.do(what, "0.01") == "0.01"


def test_pipelined_calls_get_their_replies_in_order(server: Running) -> None:
    with server.peer() as peer:
        names = [("wait", "0.2"), ("direct", "0.1"), ("echo", "b"), ("pool", "c"), ("direct", "0"), ("wait", "0")]
        messages = [peer.message("get_config_value", *each) for each in names]
        peer.socket.sendall(b"".join(messages))
        got = []
        for seqid, _ in enumerate(names, 1):
            peer.wire._method, peer.wire._seqid = METHODS["get_config_value"], seqid
            got.append(peer.reply().value(METHODS["get_config_value"]))
        assert got == [value for _, value in names]


def test_many_pipelined_calls_leave_room_for_other_connections(server: Running) -> None:
    with server.peer() as greedy, server.peer() as other:
        greedy.socket.sendall(greedy.message("getName") * 5000)
        assert other.do("echo", "x") == "x"
        received = b""
        while received.count(b"getName") < 5000:
            data = greedy.socket.recv(1 << 20)
            assert data
            received += data


@pytest.mark.parametrize("what", ["wait", "direct"])
def test_a_peer_that_closes_its_sending_side_gets_its_replies(server: Running, what: str) -> None:
    with server.peer() as peer:
        peer.socket.sendall(peer.message("get_config_value", what, "0.1") + peer.message("getName"))
        peer.socket.shutdown(1)
        replies = peer.rest()
        assert b"get_config_value" in replies
        assert b"getName" in replies


def test_an_exception_of_the_api_is_passed_on(server: Running) -> None:
    with server.peer() as peer, pytest.raises(ApplicationError, match="Internal error processing get_config_value"):
        # get_config_value declares no MetaException, so the reply has no reason, as in Apache's server.
        peer.do("raise", "no")


def test_a_failure_of_the_handler_is_an_internal_error_and_logged(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        with pytest.raises(ApplicationError, match=r"^Internal error processing get_config_value$") as caught:
            peer.do("divide", "by zero")
        assert caught.value.type == ApplicationError.INTERNAL_ERROR
        assert peer.do("echo", "still there") == "still there"
    assert "ZeroDivisionError" in caplog.text


def test_a_failure_after_a_wait_without_a_task_is_that_of_the_call(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        assert peer.do("direct failure", "the connection was lost") == "the connection was lost"
        with pytest.raises(ApplicationError, match=r"^Internal error processing get_config_value$"):
            peer.do("direct, then fail", "0.01")
        assert peer.do("direct", "0.01") == "0.01"
    assert "ZeroDivisionError" in caplog.text


def test_a_stream_may_follow_a_wait_without_a_task(server: Running) -> None:
    with server.peer() as peer:
        assert peer.do("direct, then stream", str(CHUNK * 4)) == "x" * CHUNK * 4
        assert peer.do("echo", "and on") == "and on"


@pytest.mark.parametrize("what", ["direct", "direct, then pool", "direct, then stream"])
def test_a_peer_that_leaves_during_a_wait_without_a_task_leaves_nothing_behind(server: Running, what: str) -> None:
    handler = server.handler
    with server.peer() as peer:
        before, opened = len(handler.started), handler.opened
        peer.send("get_config_value", what, str(CHUNK) if "stream" in what else "0.1")
        eventually(lambda: len(handler.started) > before)
    eventually(lambda: handler.opened == handler.closed and handler.opened == opened + ("stream" in what))
    with server.peer() as other:
        assert other.do("direct", "0.01") == "0.01"


def test_an_unknown_method_is_named_and_the_connection_continues(server: Running) -> None:
    with server.peer() as peer:
        peer.socket.sendall(peer.message("getName").replace(b"getName", b"getNamf"))
        response = peer.socket.recv(1000)
        assert b"Invalid method name: 'getNamf'" in response
        assert peer.do("echo", "x") == "x"


def test_shutdown_closes_only_the_connection_of_the_caller(server: Running) -> None:
    with server.peer() as first, server.peer() as second:
        assert first.do("echo", "x") == "x"
        assert second.do("echo", "x") == "x"
        first.send("shutdown")
        assert first.rest() == b""
        assert second.do("echo", "y") == "y"


def test_malformed_arguments_get_an_error_before_the_connection_is_closed(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        message = peer.message("get_config_value", "echo", "x")
        # A type that does not exist, where the first field begins.
        at = message.index(b"get_config_value") + len("get_config_value") + 4
        peer.socket.sendall(message[:at] + b"\x7f" + message[at + 1 :] + b"z" * 100_000)
        response = peer.rest()
        assert response[3] == EXCEPTION
        assert b"get_config_value" in response
    assert "refused" in caplog.text


def test_bytes_that_are_no_thrift_end_the_connection_with_a_reason_in_the_log(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with server.peer() as peer:
        peer.socket.sendall(b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")
        assert peer.rest() == b""
    assert "no Thrift message: ff fe fd" in caplog.text


def test_an_http_request_to_the_thrift_port_gets_the_address_of_https(tmp_path: Path) -> None:
    with serving(http_port=0, data=str(tmp_path)) as server, server.peer() as peer:
        peer.socket.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        response = peer.rest().decode()
        assert response.startswith("HTTP/1.1 400 ")
        assert "serves Thrift" in response
        assert f"HTTPS is on port {server.http_port}." in response


@pytest.mark.slow
def test_a_peer_that_stalls_in_a_message_is_dropped_while_others_are_served() -> None:
    with serving(request_timeout="1") as server, server.peer() as stalled, server.peer() as other:
        stalled.socket.sendall(b"\x80")
        assert other.do("echo", "x") == "x"
        assert stalled.rest() == b""
        assert other.do("echo", "y") == "y"


@pytest.mark.slow
def test_a_peer_that_sends_nothing_is_dropped() -> None:
    with serving(request_timeout="1") as server, server.peer() as silent:
        assert silent.rest() == b""


@pytest.mark.slow
def test_a_peer_that_drips_bytes_is_dropped() -> None:
    with serving(request_timeout="1") as server, server.peer() as slow:
        message = slow.message("get_config_value", "echo", "x" * 100)
        with pytest.raises(OSError):
            for byte in message:
                slow.socket.sendall(bytes((byte,)))
                time.sleep(0.1)
        assert server.handler.started == []


@pytest.mark.slow
def test_an_idle_connection_is_closed() -> None:
    with serving(idle_timeout="1") as server, server.peer() as peer:
        assert peer.do("echo", "x") == "x"
        assert peer.rest() == b""


@pytest.mark.slow
def test_a_waiting_call_is_neither_idle_nor_a_slow_request() -> None:
    with serving(idle_timeout="0.5", request_timeout="0.5") as server, server.peer() as peer:
        assert peer.do("wait", "2.5") == "2.5"


@pytest.mark.slow
def test_a_peer_that_does_not_read_its_replies_is_dropped() -> None:
    with serving(request_timeout="1") as server, server.peer() as peer:
        peer.send("get_config_value", "stream", str(1 << 28))
        eventually(lambda: server.handler.closed == 1)
        eventually(lambda: not server.server.state.connections)


def test_slow_calls_are_logged_with_method_object_and_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "metastored.server")
    with serving(slow_call="0") as server, server.peer() as peer:
        with pytest.raises(Exception):  # noqa: B017  # the handler has no tables
            peer.call("get_table", "sales", "orders")
    assert "get_table sales.orders took 0.0" in caplog.text


def test_a_declared_exception_comes_back_as_itself(server: Running) -> None:
    with server.peer() as peer, pytest.raises(ConfigValSecurityException, match="secret"):
        peer.do("secret", "secret")
