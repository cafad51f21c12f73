"""The client's document, sections 7.1 and 7.2: the methods, addresses, and what is retried."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

import metastored
from metastored.catalog import load
from metastored.client.endpoints import endpoint_of
from metastored.client.retry import Retry
from metastored.errors import ConfigError, ConnectionLost, Error, InvalidAddress
from metastored.structs import Role
from metastored.wire.methods import METHODS
from tests.client.handlers import WritableMetastore, table_of
from tests.specs.conftest import Server
from tests.support.scripted import cut, hang_up, say_and_hang_up, scripted

pytestmark = pytest.mark.slow

FAST = Retry(first_delay=0.001)


def metastore() -> WritableMetastore:
    return WritableMetastore((table_of("sales", "orders"),))


def test_7_1_1_a_every_method_of_hive_4_0_0_can_be_called(sqlite: Server) -> None:
    methods = [name for name, method in METHODS.items() if "4.0.0" in method.versions]
    assert len(methods) > 250
    with sqlite.client() as client:
        assert [name for name in methods if not callable(getattr(client.api, name, None))] == []


def test_7_2_a_the_port_of_an_address_is_9083_unless_it_is_given() -> None:
    assert [endpoint_of(uri).port for uri in ("thrift://hms", "thrift://hms:9084")] == [9083, 9084]


def test_7_2_b_an_address_that_is_none_is_refused() -> None:
    for uri in ("", "hms:9083", "thrift://", "thrift://hms:port", "jdbc://hms:9083"):
        with pytest.raises(InvalidAddress, match="thrift://host:9083"):
            metastored.connect(uri)


def test_7_2_c_an_unknown_transport_or_protocol_is_refused() -> None:
    for section, message in (
        ({"transport": "pigeon"}, r"thrift\.transport is 'pigeon'; one of .*buffered.*framed"),
        ({"protocol": "morse"}, r"thrift\.protocol is 'morse'; one of .*binary.*compact"),
    ):
        entry = {"name": "h", "type": "hive_metastore", "uri": "thrift://h", "thrift": section}
        with pytest.raises(ConfigError, match=message):
            load(environment={}, given={"list": [entry]})


def test_7_2_d_buffered_transport_and_the_compact_protocol_work(own: Server) -> None:
    with own.catalogs(thrift={"transport": "buffered", "protocol": "compact"}) as catalogs:
        assert catalogs.get_database("default").name == "default"


def test_7_2_e_a_call_is_tried_three_times() -> None:
    with scripted(otherwise=hang_up) as server:
        client = metastored.connect(
            server.uri, retry=FAST, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        )
        with client, pytest.raises(ConnectionLost):
            client.databases()
        assert len(server.requests) == 3
    assert Retry().attempts == 3


def test_7_2_f_the_delay_begins_with_100_ms_and_doubles() -> None:
    assert [Retry().delay(attempt, 0.0) for attempt in (1, 2, 3)] == pytest.approx([0.1, 0.2, 0.4])
    # With jitter a delay is shorter, so that many clients do not come back at the same time.
    assert Retry().delay(1, 1.0) == pytest.approx(0.05)


def test_7_2_g_transport_errors_are_retried() -> None:
    with scripted(metastore(), hang_up, cut(10)) as server:
        with metastored.connect(
            server.uri, retry=FAST, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        ) as client:
            assert client.databases() == ("sales",)
        assert server.accepted == 3


def test_7_2_h_protocol_errors_of_idempotent_calls_are_retried_on_another_connection() -> None:
    garbage = say_and_hang_up(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with scripted(metastore(), garbage, garbage) as server:
        with metastored.connect(
            server.uri, retry=FAST, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        ) as client:
            assert client.databases() == ("sales",)
        assert server.accepted == 3


def test_7_2_i_a_write_that_may_have_happened_is_not_repeated_and_the_error_names_the_call() -> None:
    with scripted(metastore(), otherwise=hang_up) as server:
        with metastored.connect(
            server.uri, retry=FAST, cache=False, transport=metastored.TransportSettings(protocol="binary", framed=False)
        ) as client:
            with pytest.raises(Error, match=r"(?s)create_role.*may have") as caught:
                client.api.create_role(Role(roleName="bees"))
            assert "get_" not in str(caught.value), "the call that was made, not the one that asked what came of it"
        assert len(server.requests) == 1


@contextmanager
def closing() -> Iterator[str]:
    """An address that accepts and closes at once."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"thrift://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def test_7_2_j_an_address_that_accepts_and_closes_at_once_is_followed_by_the_next_address(own: Server) -> None:
    with closing() as first, metastored.connect(f"{first},{own.uri}", retry=FAST, cache=False) as client:
        assert "default" in client.databases()
        assert "default" in client.databases("default")


def test_7_2_k_a_server_that_tells_nothing_of_its_version_is_taken_for_2_3(own: Server) -> None:
    with own.nine() as client:
        assert client.capabilities.version()[:2] == (2, 3)
