"""Replies that are decoded while they are read are equal to replies that are decoded later."""

from __future__ import annotations

import pytest

from metastored.errors import ApplicationError, NoSuchObjectException, RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.connection import DIRECT_LIMIT, NEED_DATA, ClientConnection, NeedData
from metastored.wire.generated.common import FieldSchema, StorageDescriptor
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import EXCEPTION, Reply
from metastored.wire.methods import METHODS
from metastored.wire.types import REPLY
from tests.support.codecs import PROTOCOLS

LISTING = METHODS["get_partitions"]
ASKED = binary.encode_args(LISTING, ("d", "t", -1))
COLUMNS = tuple(FieldSchema(f"c{at}", "string", "größe") for at in range(30))


def partitions(count: int) -> tuple[Partition, ...]:
    sd = StorageDescriptor(cols=COLUMNS, parameters={})
    return tuple(Partition(values=(f"{at}",), sd=sd, parameters={"at": f"{at}"}) for at in range(count))


def message(protocol: str, framed: bool, kind: int, body: bytes, name: bytes = LISTING.name_bytes) -> bytes:
    message = PROTOCOLS[protocol].write(kind, name, 1, body, LISTING)
    return len(message).to_bytes(4) + message if framed else message


def received(data: bytes, protocol: str = "binary", framed: bool = False, piece: int = 1 << 30) -> Reply:
    """The reply that a connection makes of this, so many bytes at a time."""
    connection = ClientConnection(protocol, framed, decode=True)
    connection.send(LISTING, ASKED)
    event: Reply | NeedData = NEED_DATA
    for start in range(0, len(data), piece):
        assert event is NEED_DATA
        connection.receive_data(data[start : start + piece])
        event = connection.next_event()
    assert isinstance(event, Reply)
    return event


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("piece", [700, 1 << 30])
def test_the_value_is_the_same(protocol: str, framed: bool, piece: int) -> None:
    body = binary.encode_result(LISTING, partitions(3))
    reply = received(message(protocol, framed, REPLY, body), protocol, framed, piece)
    assert reply.value(LISTING) == partitions(3)
    assert reply.body == body


def test_a_long_reply_in_pieces_is_assembled() -> None:
    body = binary.encode_result(LISTING, partitions(2_000))
    assert len(body) > 4 * DIRECT_LIMIT
    assert received(message("binary", False, REPLY, body), piece=10_000).value(LISTING) == partitions(2_000)


def test_two_reads_of_the_value_return_independent_copies() -> None:
    reply = received(message("binary", False, REPLY, binary.encode_result(LISTING, partitions(1))))
    first = reply.value(LISTING)
    first[0].parameters["at"] = "elsewhere"
    assert reply.value(LISTING) == partitions(1)


def test_errors_are_raised_when_the_value_is_read() -> None:
    declared = Reply.raised(LISTING, NoSuchObjectException("no such table"))
    assert isinstance(declared.body, bytes)
    with pytest.raises(NoSuchObjectException, match="no such table"):
        received(message("binary", False, REPLY, declared.body)).value(LISTING)
    failed = binary.encode_application_error(ApplicationError(ApplicationError.INTERNAL_ERROR, "it broke"))
    with pytest.raises(ApplicationError, match="it broke"):
        received(message("binary", False, EXCEPTION, failed)).value(LISTING)


def test_a_message_that_is_not_the_reply_is_refused() -> None:
    body = binary.encode_result(LISTING, partitions(1))
    with pytest.raises(RemoteProtocolError, match="replied b'get_table' number 1"):
        received(message("binary", False, REPLY, body, b"get_table"))
    with pytest.raises(RemoteProtocolError, match="holds elements of type 8, not 12"):
        received(message("binary", False, REPLY, b"\x0f\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x01\x00"))
    # Table.16 CreationMetadata, its 7 list<SourceTable>, and their 1 Table.
    bomb = b"\x0c\x00\x10\x0f\x00\x07\x0c\x00\x00\x00\x01\x0c\x00\x01" * 5_000
    connection = ClientConnection(decode=True)
    method = METHODS["get_table"]
    connection.send(method, binary.encode_args(method, ("d", "t")))
    connection.receive_data(PROTOCOLS["binary"].write(REPLY, method.name_bytes, 1, b"\x0c\x00\x00" + bomb, method))
    with pytest.raises(RemoteProtocolError, match="too many structs inside each other"):
        connection.next_event()


def test_a_cut_anywhere_is_incomplete() -> None:
    data = message("binary", False, REPLY, binary.encode_result(LISTING, partitions(2)))
    for cut in range(len(data)):
        connection = ClientConnection(decode=True)
        connection.send(LISTING, ASKED)
        connection.receive_data(data[:cut])
        assert connection.next_event() is NEED_DATA
