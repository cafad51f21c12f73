"""A long result in pieces: what goes on is the same as the result spliced at once, however it was cut."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metastored.errors import ApplicationError, RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.codec.protocol import WireProtocol
from metastored.wire.connection import NEED_DATA, RELAYED, ClientConnection, Piece
from metastored.wire.edit.passing import PassingResult
from metastored.wire.edit.splice import Renames, splice_result
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition, PartitionsByExprResult
from metastored.wire.generated.tables import GetTablesResult
from metastored.wire.message import EXCEPTION, REPLY, Reply
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import replace
from tests.support.codecs import PROTOCOLS
from tests.support.examples import examples
from tests.support.values import values

ROLES = ("cat", "db", "table", "full_name", "function", "part_name", "location", "user", "pattern", "view_text")
THERE: Renames = {role: lambda name: "there_" + name for role in ROLES}
READS = [method for method in METHODS.values() if method.verb == "read" and method.returns is not None]
FEW = settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
BINARY: WireProtocol = PROTOCOLS["binary"]
GET_PARTITIONS = METHODS["get_partitions"]


def partitions(count: int) -> tuple[Partition, ...]:
    sd = StorageDescriptor(cols=tuple(FieldSchema(f"c{n}", "string", f"comment {n}") for n in range(30)))
    return tuple(
        Partition(values=(f"{n}",), dbName="d", tableName="t", sd=replace(sd, location=f"/w/t/ds={n}"), parameters={})
        for n in range(count)
    )


def passed(method: Method, data: bytes, sizes: list[int], renames: Renames) -> bytes:
    """The result after it was fed in pieces of these sizes."""
    passing, out, at = PassingResult(method, renames), [], 0
    for size in [*sizes, len(data)]:
        out.append(passing.feed(data[at : at + size]))
        at += size
        if passing.ended:
            break
    assert passing.ended
    return b"".join(out)


@pytest.mark.parametrize("method", READS, ids=lambda method: str(method.name))
def test_a_result_in_pieces_is_the_same_as_at_once(method: Method) -> None:
    assert method.returns is not None

    @FEW
    @given(values(method.returns), st.lists(st.integers(1, 200), max_size=30))
    def check(value: Any, sizes: list[int]) -> None:
        body = binary.encode_result(method, value)
        assert passed(method, body, sizes, THERE) == splice_result(method, body, THERE)
        assert passed(method, body, sizes, {}) == body

    check()


def test_partitions_are_passed_on_as_they_come() -> None:
    body = binary.encode_result(GET_PARTITIONS, partitions(200))
    passing, out, most = PassingResult(GET_PARTITIONS, {"db": lambda name: "there"}), [], 0
    for at in range(0, len(body), 1000):
        out.append(passing.feed(body[at : at + 1000]))
        most = max(most, at + 1000 - sum(map(len, out)))
    assert passing.ended and passing.rest == b""
    renamed = binary.decode_result(GET_PARTITIONS, b"".join(out))
    assert {part.dbName for part in renamed} == {"there"} and len(renamed) == 200
    assert most < 5_000


def test_a_list_in_a_response_is_passed_on_as_it_comes() -> None:
    method = METHODS["get_partitions_by_expr"]
    body = binary.encode_result(method, PartitionsByExprResult(partitions(100), True))
    passing = PassingResult(method, {"table": lambda name: "other"})
    first = passing.feed(body[: len(body) // 2])
    assert len(first) > len(body) // 3
    seen = binary.decode_result(method, first + passing.feed(body[len(body) // 2 :]))
    assert seen.hasUnknownPartitions and {part.tableName for part in seen.partitions} == {"other"}


def test_bytes_behind_the_result_are_kept_apart() -> None:
    body = binary.encode_result(METHODS["get_all_tables"], ("a", "b"))
    passing = PassingResult(METHODS["get_all_tables"])
    assert passing.feed(body + b"next") == body
    assert (passing.ended, passing.rest) == (True, b"next")


def test_one_value_is_held_up_to_a_limit() -> None:
    body = binary.encode_result(GET_PARTITIONS, (Partition(values=("x" * 10_000,)),))
    passing = PassingResult(GET_PARTITIONS, most=5_000)
    with pytest.raises(RemoteProtocolError, match="a value in the result of get_partitions"):
        for at in range(0, len(body), 1000):
            passing.feed(body[at : at + 1000])


def test_bytes_that_are_no_result_are_refused() -> None:
    with pytest.raises(RemoteProtocolError):
        PassingResult(GET_PARTITIONS).feed(b"\x0f\0\0\x0c\0\0\0\x05\x63\0\1")


# The client's end of a connection


def pieces_of(message: bytes, size: int) -> tuple[list[Reply | Piece], ClientConnection]:
    wire = ClientConnection()
    wire.send(GET_PARTITIONS, b"\0", relays=True)
    events: list[Reply | Piece] = []
    for at in range(0, len(message), size):
        wire.receive_data(message[at : at + size])
        event = wire.next_part()
        if event is not NEED_DATA:
            assert isinstance(event, Reply | Piece)
            events.append(event)
    return events, wire


def reply(body: bytes, kind: int = REPLY) -> bytes:
    return BINARY.write(kind, b"get_partitions", 1, body, GET_PARTITIONS)


def test_a_long_reply_comes_as_pieces_and_the_connection_is_free_after_the_last() -> None:
    body = binary.encode_result(GET_PARTITIONS, partitions(2000))
    assert len(body) > 2 * RELAYED
    events, wire = pieces_of(reply(body), random.Random(1).randrange(60_000, 90_000))
    assert all(isinstance(event, Piece) for event in events)
    assert [event.last for event in events if isinstance(event, Piece)] == [False] * (len(events) - 1) + [True]
    assert b"".join(event.data for event in events if isinstance(event, Piece)) == body
    wire.send(METHODS["get_all_databases"], b"\0")
    wire.receive_data(
        BINARY.write(REPLY, b"get_all_databases", 2, binary.encode_result(METHODS["get_all_databases"], ()), None)
    )
    assert isinstance(wire.next_event(), Reply)


def test_a_short_reply_comes_at_once() -> None:
    body = binary.encode_result(GET_PARTITIONS, partitions(3))
    events, _ = pieces_of(reply(body), 100)
    assert [event.body for event in events if isinstance(event, Reply)] == [body]


def test_a_long_error_comes_at_once() -> None:
    body = binary.encode_application_error(ApplicationError(6, "x" * 2 * RELAYED))
    events, _ = pieces_of(reply(body, EXCEPTION), 100_000)
    assert [event.kind for event in events if isinstance(event, Reply)] == [EXCEPTION]


def test_the_reply_to_another_call_is_refused_before_it_is_passed_on() -> None:
    body = binary.encode_result(GET_PARTITIONS, partitions(2000))
    with pytest.raises(RemoteProtocolError, match="number 7"):
        pieces_of(BINARY.write(REPLY, b"get_partitions", 7, body, GET_PARTITIONS), 100_000)


@pytest.mark.parametrize("piece", [70_000, 100_000, 130_000])
def test_a_long_value_ends_with_its_last_piece(piece: int) -> None:
    tables, spec = METHODS["get_table_objects_by_name_req"], METHODS["partition_name_to_spec"]
    long = {f"key {n}": "x" * 90 for n in range(1_500)}
    for method, value in ((tables, GetTablesResult((Table(tableName="t", parameters=long),))), (spec, long)):
        data = binary.encode_result(method, value)
        assert len(data) > 150_000
        sizes = [piece] * (len(data) // piece) + [len(data) % piece]
        assert passed(method, data, sizes, {}) == data


def test_a_long_value_beyond_the_limit_is_refused() -> None:
    data = binary.encode_result(METHODS["partition_name_to_spec"], {f"key {n}": "x" * 90 for n in range(3_000)})
    passing = PassingResult(METHODS["partition_name_to_spec"], most=200_000)
    passing.feed(data[:100_000])
    with pytest.raises(RemoteProtocolError, match="more than"):
        passing.feed(data[100_000:250_000])
