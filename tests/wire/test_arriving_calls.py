"""Long calls that are decoded while they arrive: what they are read as must not depend on the pieces."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metastored.errors import RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.codec.arriving_calls import LEAST_ELEMENT, ArrivingCall
from metastored.wire.codec.binary_protocol import BINARY
from metastored.wire.codec.protocol import Incoming, Incomplete
from metastored.wire.connection import DIRECT_LIMIT, NEED_DATA, Request, ServerConnection
from metastored.wire.generated.common import EnvironmentContext, FieldSchema, StorageDescriptor
from metastored.wire.generated.partitions import (
    AddPartitionsRequest,
    AlterPartitionsRequest,
    DropPartitionsRequest,
    Partition,
    RequestPartsSpec,
)
from metastored.wire.message import CALL
from metastored.wire.methods import METHODS
from tests.support.examples import examples

ADD = METHODS["add_partitions"]
ALTER = METHODS["alter_partitions"]
PIECES = (7, 300, 1 << 20)


def partitions(count: int) -> tuple[Partition, ...]:
    columns = tuple(FieldSchema(f"größe {at}", "int", "for the length of the element") for at in range(8))
    sd = StorageDescriptor(cols=columns, location="file:/x", parameters={})
    return tuple(Partition((f"{at}",), "d", "t", sd=sd, parameters={"at": f"{at}"}) for at in range(count))


CALLS: dict[str, tuple[Any, ...]] = {
    "add_partitions": (partitions(20),),
    "alter_partitions": ("d", "t", partitions(20)),
    "alter_partitions_with_environment_context": ("d", "t", partitions(9), EnvironmentContext({"a": "b"})),
    "add_partitions_req": (AddPartitionsRequest("d", "t", partitions(20), True, catName="hive"),),
    "alter_partitions_req": (AlterPartitionsRequest("hive", "d", "t", partitions(20), writeId=7),),
}


def message(name: str, args: tuple[Any, ...], seqid: int = 4) -> bytes:
    method = METHODS[name]
    return BINARY.write(CALL, method.name_bytes, seqid, binary.encode_args(method, args), method)


def growing(whole: bytes, piece: int, behind: bytes = b"", first: int = 100) -> Iterator[bytearray]:
    """The bytes that have arrived after each piece; `behind` comes with the last one."""
    data = bytearray(whole[:first])
    yield data
    for at in range(first, len(whole), piece):
        data += whole[at : at + piece]
        if at + piece >= len(whole):
            data += behind
        yield data


def arrived(walker: ArrivingCall, whole: bytes, piece: int, behind: bytes = b"") -> int | None:
    end = None
    for data in growing(whole, piece, behind):
        assert end is None
        end = walker.end(data)
    return end


def direct(whole: bytes) -> Incoming | None:
    """The call as it is read from its complete bytes; None if it cannot be read."""
    try:
        return BINARY.read_call(whole, 0)
    except (RemoteProtocolError, Incomplete):
        return None


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", CALLS)
def test_the_elements_of_a_list_are_decoded_piece_by_piece(name: str, piece: int) -> None:
    whole = message(name, CALLS[name])
    walker = ArrivingCall(0)
    assert arrived(walker, whole, piece, behind=b"next") == len(whole)
    assert walker.incoming(whole[: walker.body], whole[walker.body :]) == direct(whole)
    assert walker.values == direct(whole).value  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [1000, 65536])
def test_a_connection_reads_a_long_call_as_it_reads_one_that_arrives_at_once(size: int) -> None:
    whole, following = message("alter_partitions", ("d", "t", partitions(600))), message("get_table", ("d", "t"), 5)
    assert len(whole) > DIRECT_LIMIT + 65536
    connection, at_once = ServerConnection(), ServerConnection()
    requests = []
    for at in range(0, len(whole + following), size):
        connection.receive_data((whole + following)[at : at + size])
        while (event := connection.next_event()) is not NEED_DATA:
            assert isinstance(event, Request)
            requests.append(event)
    at_once.receive_data(whole)
    expected = at_once.next_event()
    assert isinstance(expected, Request) and expected.call is not None
    assert [request.seqid for request in requests] == [4, 5]
    call = requests[0].call
    assert call is not None
    assert (call.method, call.args, call.body) == (ALTER, expected.call.args, expected.call.body)


def test_bytes_that_are_not_utf_8_are_read_as_in_other_calls() -> None:
    whole = message("add_partitions", (partitions(5),)).replace("größe".encode(), b"gr\xff\xffe\xfe.")
    walker = ArrivingCall(0)
    assert arrived(walker, whole, 300) == len(whole)
    assert walker.values == direct(whole).value  # type: ignore[union-attr]
    assert walker.values[0][0].sd.cols[0].name.count("\ufffd") == 3  # type: ignore[index]


@settings(max_examples=examples(500))
@given(st.integers(0, 2**32), st.sampled_from(sorted(CALLS)), st.integers(50, 2000))
def test_whatever_is_changed_in_a_call_it_is_read_as_at_once_or_left_to_the_caller(
    seed: int, name: str, piece: int
) -> None:
    changes, whole = random.Random(seed), bytearray(message(name, CALLS[name]))
    for _ in range(changes.randrange(1, 6)):
        at = changes.randrange(50, len(whole))
        whole[at : at + changes.choice((0, 1, 1, 4, 300))] = changes.choice(
            (b"", b"\0", bytes((changes.randrange(256),)), bytes(whole[at - 40 : at]))
        )
    expected = direct(bytes(whole))
    walker, end = ArrivingCall(0), None
    try:
        for data in growing(bytes(whole), piece):
            if (end := walker.end(data)) is not None:
                break
    except RemoteProtocolError:
        end = None
    if end is None or expected is None:
        assert walker.values is None
    else:
        assert end == expected.end
        assert walker.values is None or walker.values == expected.value


def test_a_list_that_occurs_twice_is_left_to_the_caller() -> None:
    """The last one counts, also if it is empty."""
    for again in (partitions(1), ()):
        first, second = (binary.encode_args(ADD, (each,)) for each in (partitions(9), again))
        whole = BINARY.write(CALL, ADD.name_bytes, 1, first[:-1] + second, ADD)
        walker = ArrivingCall(0)
        assert arrived(walker, whole, 300) == len(whole)
        assert walker.values is None
        assert direct(whole).value == (again,)  # type: ignore[union-attr]


def test_a_request_that_occurs_twice_is_left_to_the_caller() -> None:
    method = METHODS["add_partitions_req"]
    first, second = (
        binary.encode_args(method, (AddPartitionsRequest("d", "t", parts, True),)) for parts in (partitions(9), ())
    )
    whole = BINARY.write(CALL, method.name_bytes, 1, first[:-1] + second, method)
    walker = ArrivingCall(0)
    assert arrived(walker, whole, 300) == len(whole)
    assert walker.values is None


def test_elements_shorter_than_the_limit_are_not_held_as_values() -> None:
    many = tuple(Partition((f"{at}",)) for at in range(1000))
    whole = message("add_partitions", (many,))
    assert len(whole) / len(many) < LEAST_ELEMENT
    walker = ArrivingCall(0)
    assert arrived(walker, whole, 5000) == len(whole)
    assert walker.values is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("get_table", ("d", "x" * 3000)),
        ("drop_partitions_req", (DropPartitionsRequest("d", "t", RequestPartsSpec(names=("ds=1",) * 500)),)),
        ("create_table_with_environment_context", (None, EnvironmentContext({"a": "b" * 1000}))),
    ],
)
def test_calls_without_a_list_of_structs_are_left_to_the_caller(name: str, args: tuple[Any, ...]) -> None:
    whole = message(name, args)
    walker = ArrivingCall(0)
    assert arrived(walker, whole, 100) == len(whole)
    assert walker.values is None


def test_an_element_of_very_many_pieces_is_left_to_the_caller() -> None:
    whole = message("add_partitions", ((Partition(parameters={"long": "x" * 2_000_000}),),))
    walker = ArrivingCall(0)
    assert arrived(walker, whole, 20_000) == len(whole)
    assert walker.values is None


def test_a_call_of_more_bytes_than_the_limit_is_refused_while_it_arrives() -> None:
    whole = message("alter_partitions", ("d", "t", partitions(50)))
    walker = ArrivingCall(0, limit=5000)
    with pytest.raises(RemoteProtocolError, match="more than 5000 bytes"):
        arrived(walker, whole, 1000)
    assert walker.values is None
