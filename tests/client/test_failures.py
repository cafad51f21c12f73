"""Failures of connections, scripted byte by byte: retries, failover, lookups and error messages."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from metastored.client.retry import Retry
from metastored.errors import (
    ApplicationError,
    ConnectError,
    ConnectionLost,
    RemoteProtocolError,
    ReplyRefused,
    TableAlreadyExists,
    TimeoutExceeded,
    TransportError,
)
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected, grouped
from tests.support.forks import running_server
from tests.support.scripted import (
    Act,
    answer,
    closing_at_once,
    cut,
    hang_up,
    in_pieces,
    say,
    say_and_hang_up,
    scripted,
    stall,
)

FAST = Retry(first_delay=0.001)
SASL_REFUSAL = b"\x04\x00\x00\x00\x13Invalid status -128"


def metastore() -> WritableMetastore:
    return WritableMetastore((table_of("sales", "orders"),))


def options(**given: Any) -> dict[str, Any]:
    return grouped(**{"retry": FAST, "cache": False, "protocol": "binary", "framed": False, **given})


@pytest.mark.parametrize("after", [0, 1, 4, 20, 100])
def test_a_read_that_is_cut_off_is_retried(half: str, after: int) -> None:
    with scripted(metastore(), cut(after), cut(after)) as server, connected(half, server.uri, **options()) as client:
        assert client.table("sales.orders").tableName == "orders"
        assert server.called == ["get_table_req"] * 3
        assert server.accepted == 3


def test_after_three_attempts_a_read_fails(half: str) -> None:
    with scripted(metastore(), *[hang_up] * 3) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(ConnectionLost, match=rf"get_all_databases at {server.uri}: the connection was closed"):
            client.databases()
        assert len(server.requests) == 3
        assert client.databases() == ("sales",)


def test_a_reply_may_arrive_in_single_bytes(half: str) -> None:
    with scripted(metastore(), in_pieces(1)) as server, connected(half, server.uri, **options()) as client:
        assert client.table("sales.orders").tableName == "orders"


def test_a_server_that_stalls_is_an_error_after_the_deadline(half: str) -> None:
    with scripted(metastore(), stall) as server, connected(half, server.uri, **options(timeout=0.2)) as client:
        with pytest.raises(TimeoutExceeded, match=r"the reply to get_all_databases took longer than 0\.2 s"):
            client.databases()
        assert client.within(30.0).databases() == ("sales",)
        assert server.accepted == 2, "an answer that comes late must not be taken for the next one"


def test_a_server_that_stalls_in_the_middle_of_a_reply_is_an_error_after_the_deadline(half: str) -> None:
    with scripted(metastore(), say(b"\x80\x01\x00\x02")) as server:
        with connected(half, server.uri, **options(timeout=0.2)) as client:
            with pytest.raises(TimeoutExceeded):
                client.databases()


def test_garbage_is_an_error_that_shows_it(half: str) -> None:
    with scripted(None, otherwise=say(b"\xde\xad\xbe\xef\xde\xad\xbe\xef")) as server:
        with connected(half, server.uri, **options()) as client:
            with pytest.raises(RemoteProtocolError, match=f"get_all_databases at {server.uri}"):
                client.databases()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (SASL_REFUSAL, r"the server requires SASL \(Invalid status -128\): connect with sasl="),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it is an HTTP server: connect to http://"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "it requires TLS: connect to thrifts://"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "it is an SSH server"),
    ],
)
@pytest.mark.parametrize("framed", [False, None, True])
def test_a_server_that_is_no_metastore_is_recognised_by_its_first_bytes(
    half: str, said: bytes, told: str, framed: bool | None
) -> None:
    with scripted(None, otherwise=say_and_hang_up(said)) as server:
        with connected(half, server.uri, **options(framed=framed)) as client:
            with pytest.raises((TransportError, RemoteProtocolError), match=told):
                client.databases()


def test_a_service_without_the_methods_of_a_metastore_is_perhaps_hiveserver2(half: str) -> None:
    class Other(WritableMetastore):
        get_all_databases = None  # type: ignore[assignment]

    with scripted(Other()) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(RemoteProtocolError, match=r"has no get_all_databases.*HiveServer2 \(port 10000\)"):
            client.databases()


def test_a_dead_first_address_falls_over_to_the_next(half: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"thrift://127.0.0.1:{closed.getsockname()[1]}"
    with scripted(metastore()) as server:
        with connected(half, f"{dead},{server.uri}", **options()) as client:
            assert client.databases() == ("sales",)
            assert client.pool_stats().failed == 1
            client.api.pool.drop_idle()
            assert client.databases() == ("sales",)
            assert client.pool_stats().failed == 1, "what answered last is tried first"


def test_an_address_that_dies_later_falls_over_to_the_next(half: str) -> None:
    with scripted(metastore()) as second:
        with scripted(metastore()) as first:
            with connected(half, [first.uri, second.uri], **options()) as client:
                assert client.databases() == ("sales",)
                first.close()
                assert client.databases() == ("sales",)
                assert second.called == ["getStatus", "get_all_databases"]


WAYS: dict[str, dict[str, Any]] = {
    "thrift": {"protocol": "binary", "framed": False},
    "detected": {"protocol": None, "framed": None},
    "with a user": {"protocol": "binary", "framed": False, "user": "ann"},
}
"""How a client connects: each has another first message, or none."""


@pytest.mark.parametrize("way", WAYS)
def test_an_address_that_accepts_and_closes_at_once_falls_over_to_the_next(half: str, way: str) -> None:
    with closing_at_once() as first, scripted(metastore()) as second:
        with connected(half, [first.uri, second.uri], **options(**WAYS[way])) as client:
            assert client.databases() == ("sales",)
            assert client.api.calls == 1, "the call itself is sent once, to the address that replies"
            client.create_table(table_of("sales", "new"))


@pytest.mark.parametrize("way", WAYS)
def test_an_address_whose_first_bytes_never_come_falls_over_to_the_next(half: str, way: str) -> None:
    with scripted(None, otherwise=stall) as first, scripted(metastore()) as second:
        settings = options(**WAYS[way], connect_timeout=0.5, timeout=60.0)
        with connected(half, [first.uri, second.uri], **settings) as client:
            assert client.databases() == ("sales",)
            assert client.pool_stats().failed == 1


@pytest.mark.slow
def test_an_address_whose_first_bytes_never_come_leaves_time_for_the_next(half: str) -> None:
    with scripted(None, otherwise=stall) as first, scripted(metastore()) as second:
        settings = options(connect_timeout=60.0, acquire_timeout=2.0, timeout=60.0)
        with connected(half, [first.uri, second.uri], **settings) as client:
            assert client.databases() == ("sales",)


@pytest.mark.slow
def test_an_http_address_that_accepts_and_closes_at_once_falls_over_to_the_next(half: str) -> None:
    with closing_at_once() as first, running_server(http_port=0, http_tls="off", http_methods="all") as server:
        uris = [first.uri.replace("thrift", "http"), f"http://127.0.0.1:{server.http_port}/metastore"]
        with connected(half, uris, retry=FAST, cache=False) as client:
            assert "default" in client.databases()


def test_an_address_that_fails_only_in_calls_falls_over_to_the_next(half: str) -> None:
    def only_status(peer: Any, data: bytes) -> None:
        (answer if b"getStatus" in data else hang_up)(peer, data)

    with scripted(metastore(), otherwise=only_status) as first, scripted(metastore()) as second:
        with connected(half, [first.uri, second.uri], **options()) as client:
            assert client.databases() == ("sales",)
            assert second.called == ["getStatus", "get_all_databases"]


def test_when_every_address_closes_at_once_each_is_named(half: str) -> None:
    with closing_at_once() as first, closing_at_once() as second:
        with connected(half, [first.uri, second.uri], **options()) as client:
            with pytest.raises(ConnectError) as raised:
                client.databases()
    # A server that closes before it has read resets the connection.
    assert all(f"{uri}: the connection " in str(raised.value) for uri in (first.uri, second.uri))


def test_when_no_address_replies_each_is_named(half: str) -> None:
    uris = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            uris.append(f"thrift://127.0.0.1:{closed.getsockname()[1]}")
    with connected(half, uris, **options()) as client:
        with pytest.raises(ConnectError) as raised:
            client.databases()
    assert all(f"{uri}: connection refused" in str(raised.value) for uri in uris)


def test_a_restart_between_two_calls_is_not_noticed(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        assert client.databases() == ("sales",)
        server.hang_up()
        assert client.databases() == ("sales",)
        client.create_table(table_of("sales", "later"))
        server.hang_up()
        client.drop_table("sales.later")


@pytest.mark.parametrize(
    ("protocol", "framed", "tried"),
    [("binary", False, 1), ("binary", True, 2), ("compact", False, 3), ("compact", True, 4)],
)
def test_protocol_and_framing_are_detected_once(half: str, protocol: str, framed: bool, tried: int) -> None:
    begins = {"binary": b"\x80\x01", "compact": b"\x82\x21"}[protocol]

    def only_this(peer: Any, data: bytes) -> None:
        if data[4 * framed :].startswith(begins):
            answer(peer, data)
        else:
            hang_up(peer, data)

    with scripted(metastore(), otherwise=only_this) as server:
        with connected(half, server.uri, **options(protocol=None, framed=None)) as client:
            assert client.databases() == ("sales",)
            assert server.accepted == tried
            client.api.pool.drop_idle()
            assert client.databases() == ("sales",)
            assert server.accepted == tried + 1, "what answered is remembered"
            assert server.called.count("getStatus") == 1


def test_the_error_for_an_unknown_protocol_is_that_of_the_first_attempt(half: str) -> None:
    with scripted(None, otherwise=hang_up) as server:
        with connected(half, server.uri, **options(protocol=None, framed=None, retry=Retry(attempts=1))) as client:
            with pytest.raises(ConnectError, match="the connection was closed"):
                client.databases()
            assert server.accepted == 4


@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
@pytest.mark.parametrize("framed", [False, True])
def test_every_protocol_can_be_used(half: str, protocol: str, framed: bool) -> None:
    with scripted(metastore()) as server:
        with connected(half, server.uri, **options(protocol=protocol, framed=framed)) as client:
            assert client.table("sales.orders").tableName == "orders"


# Writes whose reply is lost: a lookup shows whether they took effect.


@pytest.mark.parametrize("lost", [hang_up, cut(0)], ids=["before it was done", "after it was done"])
class TestALostReply:
    def test_a_table_is_created_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.create_table(table_of("sales", "new"))
        assert ("sales", "new") in there.made

    def test_a_table_is_dropped_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.drop_table("sales.orders")
        assert not there.made

    def test_a_table_is_renamed_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.alter("sales.orders", table_of("sales", "renamed"))
        assert list(there.made) == [("sales", "renamed")]

    def test_a_swap_of_metadata_is_done_once(self, half: str, lost: Act) -> None:
        there = WritableMetastore((table_of("sales", "ice", metadata_location="v1"),))
        expected = {"expected_parameter_key": "metadata_location", "expected_parameter_value": "v1"}
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.alter("sales.ice", table_of("sales", "ice", metadata_location="v2"), environment=expected)
        assert (there.made["sales", "ice"].parameters or {})["metadata_location"] == "v2"

    def test_a_database_is_created_and_dropped_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.create_database("more")
            assert "more" in there.dbs
            server.then(lost)
            client.drop_database("more")
            assert "more" not in there.dbs

    def test_partitions_are_added_appended_and_dropped_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.add_partitions("sales.orders", [Partition(values=("1",)), Partition(values=("2",))])
            server.then(lost)
            assert client.api.append_partition("sales", "orders", ("3",)).values == ("3",)
            server.then(lost)
            client.drop_partition("sales.orders", ("1",))
        assert list(there.parts["sales", "orders"]) == [("2",), ("3",)]

    def test_a_function_is_created_and_dropped_once(self, half: str, lost: Act) -> None:
        there = metastore()
        with scripted(there, lost) as server, connected(half, server.uri, **options()) as client:
            client.api.create_function(Function(functionName="f", dbName="sales", className="F"))
            assert there.functions
            server.then(lost)
            client.api.drop_function("sales", "f")
        assert not there.functions


def test_a_table_of_another_client_is_not_taken_for_the_lost_create(half: str) -> None:
    there = WritableMetastore((table_of("sales", "new", columns=7),))
    with scripted(there, hang_up) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(TableAlreadyExists):
            client.create_table(table_of("sales", "new"))


def test_an_alter_that_removes_a_parameter_is_not_taken_for_done(half: str) -> None:
    there = WritableMetastore((table_of("sales", "t", keep="1", lose="2"),))
    with scripted(there, hang_up) as server, connected(half, server.uri, **options()) as client:
        client.alter("sales.t", table_of("sales", "t", keep="1"))
    assert there.made["sales", "t"].parameters == {"keep": "1"}


def test_a_call_without_a_lookup_that_is_not_idempotent_is_not_retried(half: str) -> None:
    with scripted(metastore(), hang_up) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(ConnectionLost, match="whether it took effect is not known"):
            client.api.open_txns(None)
        assert len(server.requests) == 1
        with pytest.raises(ApplicationError):
            client.api.open_txns(None)


def test_a_write_that_times_out_says_that_its_outcome_is_not_known(half: str) -> None:
    with scripted(metastore(), stall) as server, connected(half, server.uri, **options(timeout=0.2)) as client:
        with pytest.raises(TimeoutExceeded, match="whether it took effect is not known"):
            client.create_table(table_of("sales", "new"))


def test_an_error_of_the_server_is_never_retried(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(ApplicationError, match=r"has no get_indexes; only Hive 2\.3 has it"):
            client.api.get_indexes("sales", "orders", 1)
        assert len(server.requests) == 1


GARBAGE = b"\x80\x01\x00\x02\xff\xff\xff\xff" + bytes(40)


def test_a_read_with_a_malformed_reply_is_retried_on_another_connection(half: str) -> None:
    with scripted(metastore(), say(GARBAGE), say(b"\xde\xad\xbe\xef" * 4)) as server:
        with connected(half, server.uri, **options()) as client:
            assert client.databases() == ("sales",)
            assert server.accepted == 3, "each attempt has a connection of its own"


def test_a_read_with_a_malformed_reply_is_retried_at_the_next_address(half: str) -> None:
    def spoiled(peer: Any, data: bytes) -> None:
        (answer if b"getStatus" in data else say(GARBAGE))(peer, data)

    with scripted(metastore(), otherwise=spoiled) as first, scripted(metastore()) as second:
        with connected(half, [first.uri, second.uri], **options()) as client:
            assert client.databases() == ("sales",)
            assert len(first.requests) == 2


def test_after_three_malformed_replies_a_read_fails(half: str) -> None:
    with scripted(metastore(), otherwise=say(GARBAGE)) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(RemoteProtocolError, match="get_all_databases at"):
            client.databases()
        assert server.accepted == 3


def test_a_write_with_a_malformed_reply_is_looked_up_before_it_is_retried(half: str) -> None:
    there = metastore()
    with scripted(there, say(GARBAGE)) as server, connected(half, server.uri, **options()) as client:
        client.create_table(table_of("sales", "new"))
    assert ("sales", "new") in there.made
    assert server.called == ["get_table_req", "create_table"]


def test_a_call_that_is_not_idempotent_is_not_retried_after_a_malformed_reply(half: str) -> None:
    with scripted(metastore(), say(GARBAGE)) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(RemoteProtocolError, match="open_txns was sent and may have happened"):
            client.api.open_txns(None)
        assert len(server.requests) == 1


def test_a_reply_that_is_too_long_is_not_requested_again(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(max_reply=50)) as client:
        with pytest.raises(ReplyRefused):
            client.table("sales.orders")
        assert len(server.requests) == 1


# The error of a write whose reply was lost


def test_a_lost_write_whose_lookup_fails_names_the_write_and_that_it_may_have_happened(half: str) -> None:
    with scripted(metastore(), *[hang_up] * 8) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(ConnectionLost) as raised:
            client.create_table(table_of("sales", "new"))
    text = str(raised.value)
    assert text.startswith(f"create_table at {server.uri}: the connection was closed; the lookup of its outcome failed")
    assert "create_table was sent and may have happened" in text


@pytest.mark.slow
def test_a_lost_write_whose_lookup_takes_too_long_names_the_write(half: str) -> None:
    with scripted(metastore(), hang_up, stall) as server, connected(half, server.uri, **options(timeout=2.0)) as client:
        with pytest.raises(ConnectionLost, match=r"^create_table at .*create_table was sent and may have happened"):
            client.create_table(table_of("sales", "new"))


def test_a_lost_write_after_which_no_server_is_left_names_the_write(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        client.databases()

        def hang_up_for_good(peer: Any, data: bytes) -> None:
            server._listener.shutdown(socket.SHUT_RDWR)
            server._listener.close()
            hang_up(peer, data)

        server.then(hang_up_for_good)
        with pytest.raises(TransportError, match=r"^create_table at .*create_table was sent and may have happened"):
            client.create_table(table_of("sales", "new"))


def test_the_error_of_a_write_that_was_not_sent_does_not_say_that_it_may_have_happened(half: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        uri = f"thrift://127.0.0.1:{closed.getsockname()[1]}"
    with connected(half, uri, **options()) as client:
        with pytest.raises(ConnectError) as raised:
            client.create_table(table_of("sales", "new"))
    assert "may have happened" not in str(raised.value)


def test_a_lost_write_that_takes_effect_late_is_done_and_not_an_error(half: str) -> None:
    there = metastore()

    def drops_later(peer: Any, data: bytes) -> None:
        """The first attempt takes effect after the lookup and before the second attempt."""
        there.get_table_req, looked_up = lookup_and_drop, there.get_table_req  # type: ignore[method-assign]
        state.append(looked_up)
        hang_up(peer, data)

    state: list[Any] = []

    def lookup_and_drop(request: Any) -> Any:
        there.get_table_req = state[0]  # type: ignore[method-assign]
        found = state[0](request)
        del there.made["sales", "orders"]
        return found

    with scripted(there, drops_later) as server, connected(half, server.uri, **options()) as client:
        client.drop_table("sales.orders")
        assert server.called == ["get_table_req", "drop_table_with_environment_context", "get_table_req"]


def test_a_reply_that_is_too_long_is_refused(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(max_reply=50)) as client:
        with pytest.raises(RemoteProtocolError, match="more than 50 bytes"):
            client.table("sales.orders")


def test_bytes_that_are_not_utf_8_are_read_and_written_unchanged() -> None:
    """Bytes that are not UTF-8 are kept in a read and a write."""
    odd = "caf\udce9"
    there = WritableMetastore((table_of("sales", "t", comment=odd),))
    with scripted(there) as server, connected("sync", server.uri, **options()) as client:
        found = client.table("sales.t")
        assert found.parameters["comment"] == odd
        client.alter("sales.t", replace(found, tableName="u"))
        # The server reads requests as Java does, and the client sent the bytes as they are.
        assert (there.made["sales", "u"].parameters or {})["comment"] == "caf\ufffd"
        assert any(b"caf\xe9" in request for request in server.requests)
