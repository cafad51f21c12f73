"""Lists of partitions repeat their columns: passing over the repetition finds the same end as reading each of them."""

from __future__ import annotations

import pytest

from metastored.wire import binary
from metastored.wire.binary import SkippedLists
from metastored.wire.binary_protocol import BINARY
from metastored.wire.generated.common import FieldSchema, StorageDescriptor
from metastored.wire.generated.partitions import Partition
from metastored.wire.limits import MAX_MESSAGE, MEMO_LIMIT
from metastored.wire.message import REPLY
from metastored.wire.methods import METHODS
from metastored.wire.protocol import BadMessage
from metastored.wire.types import STRUCT

LISTING = METHODS["get_partitions"]
COLUMNS = tuple(FieldSchema(f"column_{at}", "string", "a comment") for at in range(20))


def partition(at: int, columns: tuple[FieldSchema, ...]) -> Partition:
    return Partition(values=(f"{at}",), sd=StorageDescriptor(cols=columns, sortCols=()), parameters={"at": f"{at}"})


def listing(*columns: tuple[FieldSchema, ...]) -> bytes:
    """A reply with a partition for each of these columns."""
    return binary.encode_result(LISTING, tuple(partition(at, each) for at, each in enumerate(columns)))


SAME = [COLUMNS] * 6
SHORTER, LONGER = COLUMNS[:-1], (*COLUMNS, FieldSchema("more", "int", None))
OTHER_LAST = (*COLUMNS[:-1], FieldSchema("column_19", "string", "a remark!"))


@pytest.mark.parametrize(
    "columns",
    [
        SAME,
        [COLUMNS, SHORTER, COLUMNS],
        [COLUMNS, LONGER, COLUMNS, LONGER],
        [COLUMNS, OTHER_LAST, COLUMNS],
        [(), COLUMNS, (), COLUMNS],
        [COLUMNS[:1]] * 4,
        [COLUMNS * (MEMO_LIMIT // 400)] * 2,
    ],
    ids=["same", "shorter", "longer", "another comment", "none", "short", "too long for the cache"],
)
class TestTheEnd:
    def test_it_is_found_with_and_without_a_memo(self, columns: list[tuple[FieldSchema, ...]]) -> None:
        body = listing(*columns)
        assert binary.skip(body + b"more", 0, STRUCT, 0, SkippedLists()) == binary.skip(body, 0, STRUCT) == len(body)

    def test_it_is_found_in_pieces(self, columns: list[tuple[FieldSchema, ...]]) -> None:
        message = BINARY.write(REPLY, LISTING.name_bytes, 1, listing(*columns), LISTING)
        step = max(1, len(message) // 97)
        walker, data = BINARY.walker(0), bytearray()
        for start in range(0, len(message), step):
            assert walker.end(data) is None
            data += message[start : start + step]
        assert walker.end(data + b"more") == len(message)


def test_a_cut_inside_a_repetition_is_incomplete() -> None:
    body = listing(*SAME)
    for cut in range(len(body)):
        with pytest.raises(binary.INCOMPLETE):
            binary.skip(body[:cut], 0, STRUCT, 0, SkippedLists())


def test_a_message_above_the_limit_is_refused_also_when_its_elements_are_complete() -> None:
    message = BINARY.write(REPLY, LISTING.name_bytes, 1, listing(*SAME), LISTING)
    assert len(message) < MAX_MESSAGE
    with pytest.raises(BadMessage, match="more than 1000 bytes"):
        BINARY.walker(0, 1000).end(message)


def test_lists_of_several_tables_are_cached_up_to_a_number() -> None:
    cached = SkippedLists(most=2)
    tables = [tuple(FieldSchema(f"{name}_{at}", "string", "a comment") for at in range(5)) for name in "abc"]
    for columns in (*tables[:2], *tables[:2]):
        binary.skip(listing(columns), 0, STRUCT, 0, cached)
    assert len(cached) == 2
    binary.skip(listing(tables[2]), 0, STRUCT, 0, cached)
    assert len(cached) == 1


def test_a_list_that_begins_as_a_cached_one_is_read_to_its_own_end() -> None:
    cached = SkippedLists(most=8)
    for columns in (COLUMNS, OTHER_LAST, COLUMNS):
        body = listing(columns)
        assert binary.skip(body, 0, STRUCT, 0, cached) == len(body)
