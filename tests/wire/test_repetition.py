"""Lists of partitions repeat their columns: passing over the repetition finds the same end as reading each of them."""

from __future__ import annotations

from contextlib import suppress

import pytest

from metastored.wire.codec import binary
from metastored.wire.codec.binary import Skipped
from metastored.wire.codec.binary_protocol import BINARY
from metastored.wire.codec.compiler import Malformed
from metastored.wire.codec.protocol import BadMessage
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.limits import MAX_MESSAGE, MEMO_LIMIT
from metastored.wire.message import REPLY
from metastored.wire.methods import METHODS
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
        assert binary.skip(body + b"more", 0, STRUCT, 0, binary.SkipMemo()) == binary.skip(body, 0, STRUCT) == len(body)

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
            binary.skip(body[:cut], 0, STRUCT, 0, binary.SkipMemo())


def test_a_message_above_the_limit_is_refused_also_when_its_elements_are_complete() -> None:
    message = BINARY.write(REPLY, LISTING.name_bytes, 1, listing(*SAME), LISTING)
    assert len(message) < MAX_MESSAGE
    with pytest.raises(BadMessage, match="more than 1000 bytes"):
        BINARY.walker(0, 1000).end(message)


def test_lists_of_several_tables_are_cached_up_to_a_number() -> None:
    cached = Skipped(most=2, longest=MEMO_LIMIT)
    tables = [tuple(FieldSchema(f"{name}_{at}", "string", "a comment") for at in range(5)) for name in "abc"]
    for columns in (*tables[:2], *tables[:2]):
        binary.skip(listing(columns), 0, STRUCT, 0, binary.SkipMemo(cached))
    assert len(cached) == 2
    binary.skip(listing(tables[2]), 0, STRUCT, 0, binary.SkipMemo(cached))
    assert len(cached) == 1


def test_a_list_that_begins_as_a_cached_one_is_read_to_its_own_end() -> None:
    cached = Skipped(most=8, longest=MEMO_LIMIT)
    for columns in (COLUMNS, OTHER_LAST, COLUMNS):
        body = listing(columns)
        assert binary.skip(body, 0, STRUCT, 0, binary.SkipMemo(cached)) == len(body)


def test_a_storage_descriptor_that_begins_as_a_cached_one_is_read_to_its_own_end() -> None:
    cached = Skipped(most=8, longest=MEMO_LIMIT)
    get_table = METHODS["get_table"]
    for location in ("file:/a", "file:/a/longer", "file:/a", "file:/b"):
        body = binary.encode_result(get_table, Table(tableName="t", sd=storage(location=location), owner=location))
        assert binary.skip(body + b"more", 0, STRUCT, 0, binary.SkipMemo(cached)) == len(body)
    assert any(key.startswith(b"struct") for key in cached)


def storage(**fields: object) -> StorageDescriptor:
    return StorageDescriptor(cols=COLUMNS, inputFormat="in", outputFormat="out", numBuckets=4, **fields)  # type: ignore[arg-type]


def test_a_run_that_ended_with_a_part_of_a_message_is_not_kept() -> None:
    """Otherwise each of the following structs would be read field by field."""
    whole = binary.encode(storage(bucketCols=("a", "b"), storedAsSubDirectories=False))
    for cut in range(len(whole)):
        with suppress(*binary.INCOMPLETE, Malformed):
            binary.struct_codec(StorageDescriptor)[0](whole[:cut], 0)
        assert binary.decode(StorageDescriptor, whole) == storage(bucketCols=("a", "b"), storedAsSubDirectories=False)
        run, _ = binary.CODEC.namespace["run_StorageDescriptor_inputFormat"][0]
        assert run in whole and run.endswith(b"\x02\x00\x0c\x00"), cut


def test_a_run_that_is_the_beginning_of_a_longer_one_is_not_taken_for_it() -> None:
    short, long = storage(), storage(bucketCols=("a",), parameters={"k": "v"}, storedAsSubDirectories=True)
    for each in (short, long, short, long, long):
        assert binary.decode(StorageDescriptor, binary.encode(each)) == each


def test_fields_that_structs_repeat_are_skipped_at_once() -> None:
    partitions = [Partition(values=(f"{at}",), tableName="t" * 50, dbName="d" * 50, createTime=7) for at in range(5)]
    data = b"".join(map(binary.encode, partitions))
    memo, at = binary.SkipMemo(), 0
    for each in partitions:
        at = binary.skip(data, at, STRUCT, 0, memo)
        assert data[:at].endswith(binary.encode(each))
    assert at == len(data)
    (runs,) = memo.runs.values()
    ((first, run),) = runs.items()
    assert first == 2 and b"t" * 50 in run and b"d" * 50 in run


def test_all_runs_of_a_struct_are_skipped() -> None:
    described = [storage(location=f"file:/{at}", parameters={"k": "v" * 80}) for at in range(5)]
    changed = [storage(location=f"file:/{at}", parameters={"k": "w" * 80}) for at in range(3)]
    memo, at, data = binary.SkipMemo(), 0, b"".join(map(binary.encode, [*described, *changed]))
    for each in described:
        at = binary.skip(data, at, STRUCT, 0, memo)
        assert data[:at].endswith(binary.encode(each))
    (runs,) = memo.runs.values()
    assert sorted(runs) == [1, 3]
    for each in changed:
        at = binary.skip(data, at, STRUCT, 0, memo)
        assert data[:at].endswith(binary.encode(each))
    assert memo.runs[0][3] != runs[3] and memo.runs[0][1] == runs[1]


def test_structs_that_never_repeat_anything_are_not_compared_for_long() -> None:
    data = b"".join(binary.encode(Partition(values=(f"{at}" * 40,))) for at in range(100))
    memo, at = binary.SkipMemo(), 0
    while at < len(data):
        at = binary.skip(data, at, STRUCT, 0, memo)
    assert at == len(data)
    assert not memo.runs
    assert memo.fields[0] == [binary.encode(Partition(values=(f"{binary.MAX_MISSES - 1}" * 40,)))[:-1]]
