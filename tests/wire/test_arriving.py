"""Long replies that are decoded while they arrive."""

from __future__ import annotations

import pytest

from metastored.errors import NoSuchObjectException, RemoteProtocolError
from metastored.wire.codec import binary
from metastored.wire.codec.binary_protocol import BINARY
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import (
    GetPartitionsResponse,
    Partition,
    PartitionListComposingSpec,
    PartitionsByExprResult,
    PartitionSpec,
    PartitionSpecWithSharedSD,
    PartitionWithoutSD,
)
from metastored.wire.generated.tables import GetTablesResult
from metastored.wire.message import EXCEPTION
from metastored.wire.methods import METHODS
from metastored.wire.replies.arriving import ArrivingResult
from metastored.wire.types import REPLY

LISTING = METHODS["get_partitions"]
TABLES = METHODS["get_table_objects_by_name_req"]
BY_EXPRESSION = METHODS["get_partitions_by_expr"]
SPECS = METHODS["get_part_specs_by_filter"]
WITH_SPECS = METHODS["get_partitions_with_specs"]
PIECES = (1, 7, 300, 1 << 20)


def partitions(count: int) -> tuple[Partition, ...]:
    sd = StorageDescriptor(cols=(FieldSchema("größe", "int"),), location="file:/x", parameters={})
    return tuple(Partition(values=(f"{at}",), sd=sd, parameters={"at": f"{at}"}) for at in range(count))


def arrived(walker: ArrivingResult, message: bytes, piece: int, behind: bytes = b"") -> int | None:
    """The end that the walker finds, when at least the message's beginning is there."""
    data = bytearray(message[:100])
    end = walker.end(data)
    for at in range(100, len(message), piece):
        assert end is None
        data += message[at : at + piece]
        if at + piece >= len(message):
            data += behind
        end = walker.end(data)
    return end


@pytest.mark.parametrize("piece", PIECES)
def test_the_elements_of_a_list_are_decoded_piece_by_piece(piece: int) -> None:
    message = BINARY.write(REPLY, LISTING.name_bytes, 4, binary.encode_result(LISTING, partitions(20)), LISTING)
    walker = ArrivingResult(LISTING, 0)
    assert arrived(walker, message, piece, behind=b"next") == len(message)
    assert walker.values is not None and walker.values[0] == partitions(20)
    incoming = walker.incoming(message[: walker.body], message[walker.body :])
    assert (incoming.kind, incoming.name, incoming.seqid) == (REPLY, LISTING.name_bytes, 4)
    assert incoming.body == binary.encode_result(LISTING, partitions(20))


@pytest.mark.parametrize("piece", PIECES)
def test_a_struct_around_the_list_keeps_its_other_fields(piece: int) -> None:
    value = PartitionsByExprResult(partitions(20), True)
    message = BINARY.write(
        REPLY, BY_EXPRESSION.name_bytes, 1, binary.encode_result(BY_EXPRESSION, value), BY_EXPRESSION
    )
    walker = ArrivingResult(BY_EXPRESSION, 0)
    assert arrived(walker, message, piece) == len(message)
    assert walker.values is not None and walker.values[0] == value


def specs() -> tuple[PartitionSpec, ...]:
    """Lists in all places, of all lengths."""
    without = tuple(PartitionWithoutSD((f"{at}",), at, 0, f"/k={at}", {"at": f"{at}"}) for at in range(30))
    sd = StorageDescriptor(cols=(FieldSchema("größe", "int"),), location="file:/x", parameters={})
    return (
        PartitionSpec("d", "t", "file:/x", PartitionSpecWithSharedSD(without, sd), catName="hive"),
        PartitionSpec("d", "t", "file:/x", PartitionSpecWithSharedSD((), sd)),
        PartitionSpec("d", "t", sharedSDPartitionSpec=PartitionSpecWithSharedSD(None, sd)),
        PartitionSpec(sharedSDPartitionSpec=PartitionSpecWithSharedSD(without[:1], sd), writeId=7),
        PartitionSpec("d", "t", partitionList=PartitionListComposingSpec(partitions(20))),
        PartitionSpec(isStatsCompliant=True),
    )


@pytest.mark.parametrize("piece", PIECES)
def test_the_lists_of_elements_are_decoded_piece_by_piece(piece: int) -> None:
    message = BINARY.write(REPLY, SPECS.name_bytes, 4, binary.encode_result(SPECS, specs()), SPECS)
    walker = ArrivingResult(SPECS, 0)
    assert arrived(walker, message, piece, behind=b"next") == len(message)
    assert walker.values is not None and walker.values[0] == specs()
    value = GetPartitionsResponse(specs())
    message = BINARY.write(REPLY, WITH_SPECS.name_bytes, 4, binary.encode_result(WITH_SPECS, value), WITH_SPECS)
    walker = ArrivingResult(WITH_SPECS, 0)
    assert arrived(walker, message, piece) == len(message)
    assert walker.values is not None and walker.values[0] == value


def test_a_long_list_of_an_element_is_never_decoded_twice() -> None:
    many = tuple(PartitionWithoutSD((f"{at}",), relativePath="x" * 1000) for at in range(5000))
    value = (PartitionSpec("d", "t", None, PartitionSpecWithSharedSD(many)),) * 2
    message = BINARY.write(REPLY, SPECS.name_bytes, 4, binary.encode_result(SPECS, value), SPECS)
    walker = ArrivingResult(SPECS, 0)
    assert arrived(walker, message, 50_000) == len(message)
    assert walker.values is not None and walker.values[0] == value


def test_a_table_in_a_list_may_be_longer_than_a_piece() -> None:
    tables = tuple(Table(tableName=f"t{at}", parameters={"long": "x" * 200_000}) for at in range(3))
    body = binary.encode_result(TABLES, GetTablesResult(tables))
    message = BINARY.write(REPLY, TABLES.name_bytes, 1, body, TABLES)
    walker = ArrivingResult(TABLES, 0)
    assert arrived(walker, message, 100_000) == len(message)
    assert walker.values is not None and walker.values[0].tables == tables


def test_an_element_of_very_many_pieces_is_walked_over_and_left_to_the_caller() -> None:
    body = binary.encode_result(TABLES, GetTablesResult((Table(parameters={"long": "x" * 2_000_000}),)))
    message = BINARY.write(REPLY, TABLES.name_bytes, 1, body, TABLES)
    walker = ArrivingResult(TABLES, 0)
    assert arrived(walker, message, 10_000) == len(message)
    assert walker.values is None


def test_a_reply_without_a_list_is_left_to_the_caller() -> None:
    error = binary.encode_exception_result(1, NoSuchObjectException("x" * 500))
    for method, kind, body in (
        (LISTING, REPLY, error),
        (LISTING, EXCEPTION, error),
        (METHODS["get_table"], REPLY, binary.encode_result(METHODS["get_table"], Table(tableName="t" * 500))),
    ):
        message = BINARY.write(kind, method.name_bytes, 1, body, method)
        walker = ArrivingResult(method, 0)
        assert arrived(walker, message, 50) == len(message)
        assert walker.values is None


def test_a_reply_beyond_the_limit_is_refused() -> None:
    message = BINARY.write(REPLY, LISTING.name_bytes, 4, binary.encode_result(LISTING, partitions(20)), LISTING)
    with pytest.raises(RemoteProtocolError, match="more than 500 bytes"):
        arrived(ArrivingResult(LISTING, 0, 500), message, 100)


def test_a_count_beyond_the_data_waits_and_allocates_nothing() -> None:
    body = binary.encode_result(LISTING, partitions(2))
    claimed = body[:4] + b"\x7f\xff\xff\xff" + body[8:]
    message = BINARY.write(REPLY, LISTING.name_bytes, 1, claimed, LISTING)
    assert arrived(ArrivingResult(LISTING, 0), message, 1000) is None
