"""Each way in which a connection can fail, scripted byte by byte, and what the client makes of it."""

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
    TableAlreadyExists,
    TimeoutExceeded,
    TransportError,
)
from metastored.wire.generated.functions import Function
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected
from tests.support.scripted import Act, answer, cut, hang_up, in_pieces, say, say_and_hang_up, scripted, stall

FAST = Retry(first_delay=0.001)
SASL_REFUSAL = b"\x04\x00\x00\x00\x13Invalid status -128"


def metastore() -> WritableMetastore:
    return WritableMetastore((table_of("sales", "orders"),))


def options(**given: Any) -> dict[str, Any]:
    return {"retry": FAST, "cache": False, "protocol": "binary", "framed": False, **given}


@pytest.mark.parametrize("after", [0, 1, 4, 20, 100])
def test_a_read_that_is_cut_off_is_asked_again(half: str, after: int) -> None:
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


def test_an_answer_in_single_bytes_is_put_together(half: str) -> None:
    with scripted(metastore(), in_pieces(1)) as server, connected(half, server.uri, **options()) as client:
        assert client.table("sales.orders").tableName == "orders"


def test_a_server_that_stalls_is_an_error_after_the_deadline(half: str) -> None:
    with scripted(metastore(), stall) as server, connected(half, server.uri, **options(timeout=0.2)) as client:
        with pytest.raises(TimeoutExceeded, match=r"the answer to get_all_databases took longer than 0\.2 s"):
            client.databases()
        assert client.within(30.0).databases() == ("sales",)
        assert server.accepted == 2, "an answer that comes late must not be taken for the next one"


def test_a_server_that_stalls_in_the_middle_of_an_answer_is_an_error_after_the_deadline(half: str) -> None:
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
        (SASL_REFUSAL, r"the server wants SASL \(Invalid status -128\): connect with sasl="),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it speaks HTTP: connect to http://"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "it wants TLS: connect to thrifts://"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "it is an SSH server"),
    ],
)
@pytest.mark.parametrize("framed", [False, None, True])
def test_what_a_wrong_server_is_can_be_read_from_its_first_bytes(
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
                assert second.called == ["get_all_databases"]


def test_when_no_address_answers_each_is_named(half: str) -> None:
    uris = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            uris.append(f"thrift://127.0.0.1:{closed.getsockname()[1]}")
    with connected(half, uris, **options()) as client:
        with pytest.raises(ConnectError) as raised:
            client.databases()
    assert all(f"{uri}: no connection" in str(raised.value) for uri in uris)


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
def test_protocol_and_frames_are_found_out_and_remembered(half: str, protocol: str, framed: bool, tried: int) -> None:
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


def test_a_server_that_speaks_nothing_known_fails_as_it_did_at_first(half: str) -> None:
    with scripted(None, otherwise=hang_up) as server:
        with connected(half, server.uri, **options(protocol=None, framed=None, retry=Retry(attempts=1))) as client:
            with pytest.raises(ConnectError, match="the connection was closed"):
                client.databases()
            assert server.accepted == 4


@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
@pytest.mark.parametrize("framed", [False, True])
def test_every_protocol_is_spoken(half: str, protocol: str, framed: bool) -> None:
    with scripted(metastore()) as server:
        with connected(half, server.uri, **options(protocol=protocol, framed=framed)) as client:
            assert client.table("sales.orders").tableName == "orders"


# Writes whose answer is lost: whether they took effect is told by asking.


@pytest.mark.parametrize("lost", [hang_up, cut(0)], ids=["before it was done", "after it was done"])
class TestALostAnswer:
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


def test_a_table_of_somebody_else_is_not_taken_for_ones_own(half: str) -> None:
    there = WritableMetastore((table_of("sales", "new", columns=7),))
    with scripted(there, hang_up) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(TableAlreadyExists):
            client.create_table(table_of("sales", "new"))


def test_an_alter_that_takes_a_parameter_out_is_not_taken_for_done(half: str) -> None:
    there = WritableMetastore((table_of("sales", "t", keep="1", lose="2"),))
    with scripted(there, hang_up) as server, connected(half, server.uri, **options()) as client:
        client.alter("sales.t", table_of("sales", "t", keep="1"))
    assert there.made["sales", "t"].parameters == {"keep": "1"}


def test_what_can_neither_be_repeated_nor_told_is_not_repeated(half: str) -> None:
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


def test_an_error_of_the_server_is_never_asked_again(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options()) as client:
        with pytest.raises(ApplicationError, match=r"has no get_indexes; only Hive 2\.3 has it"):
            client.api.get_indexes("sales", "orders", 1)
        assert len(server.requests) == 1


def test_an_answer_longer_than_is_wanted_is_refused(half: str) -> None:
    with scripted(metastore()) as server, connected(half, server.uri, **options(max_reply=50)) as client:
        with pytest.raises(RemoteProtocolError, match="more than 50 bytes"):
            client.table("sales.orders")


def test_parameters_that_are_sent_come_back_as_they_are() -> None:
    """Bytes that are not UTF-8 survive a read and a write: they are never mended on the way."""
    odd = "caf\udce9"
    there = WritableMetastore((table_of("sales", "t", comment=odd),))
    with scripted(there) as server, connected("sync", server.uri, **options()) as client:
        found = client.table("sales.t")
        assert found.parameters["comment"] == odd
        client.alter("sales.t", replace(found, tableName="u"))
        assert (there.made["sales", "u"].parameters or {})["comment"] == odd
        assert any(b"caf\xe9" in request for request in server.requests)
