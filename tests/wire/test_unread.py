"""Columns of tables that stay bytes until they are read."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metastored.wire.codec import binary
from metastored.wire.codec.binary import INCOMPLETE
from metastored.wire.codec.binary_protocol import BINARY
from metastored.wire.codec.compiler import Malformed, Reader
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.tables import GetTablesResult
from metastored.wire.methods import METHODS
from metastored.wire.replies.arriving import ArrivingResult
from metastored.wire.replies.unread import LEAST, UNREAD, UnreadColumns, unread_columns
from metastored.wire.structs import replace
from metastored.wire.types import REPLY
from tests.support.examples import examples

TABLES = METHODS["get_table_objects_by_name_req"]
READ = UNREAD.named("StorageDescriptor")[0]
_texts = st.text(max_size=40) | st.sampled_from(["", "int", "x" * 63, "x" * 64, "ä" * 32, "\x0b\x00\x02", "\x00"])
_columns = st.builds(FieldSchema, _texts | st.none(), _texts | st.none(), _texts | st.none())


def wide(count: int, comment: str | None = None) -> StorageDescriptor:
    columns = tuple(FieldSchema(f"c{at}", "int" if at % 2 else "string", comment) for at in range(count))
    return StorageDescriptor(cols=columns, location="file:/x", parameters={"k": "v"})


def read(sd: StorageDescriptor) -> StorageDescriptor:
    """The descriptor after its columns were read, if they were unread."""
    unread = unread_columns(sd)
    return sd if unread is None else replace(sd, cols=unread.read())


@pytest.mark.parametrize("comment", [None, "", "größe"])
@pytest.mark.parametrize("count", [LEAST, 31, 32, 33, 200])
def test_columns_stay_bytes_until_they_are_read(count: int, comment: str | None) -> None:
    sd = wide(count, comment)
    data = binary.encode(sd) + b"behind"
    found, end = READ(data, 0)
    unread = unread_columns(found)
    assert unread is not None and len(unread) == count
    assert unread.read() == sd.cols
    assert (read(found), end) == (sd, len(data) - len(b"behind"))


@pytest.mark.parametrize("sd", [wide(LEAST - 1), StorageDescriptor(cols=()), StorageDescriptor()])
def test_a_few_columns_are_read_at_once(sd: StorageDescriptor) -> None:
    assert READ(binary.encode(sd), 0)[0] == sd


@settings(max_examples=examples(300), deadline=None)
@given(columns=st.lists(_columns, max_size=20))
def test_whatever_is_in_columns_they_are_read_as_usual(columns: list[FieldSchema]) -> None:
    sd = StorageDescriptor(cols=tuple(columns * 4), location="file:/x")
    data = binary.encode(sd)
    found, end = READ(data, 0)
    assert (read(found), end) == (binary.decode(StorageDescriptor, data), len(data))


def test_columns_that_are_incomplete_or_malformed_fail_as_usual() -> None:
    data = binary.encode(wide(40))
    for size in range(len(data)):
        with pytest.raises(INCOMPLETE):
            _, end = READ(data[:size], 0)
            if end > size:
                raise IndexError
    hostile = data[:4] + b"\x7f\xff\xff\xff" + data[8:]
    with pytest.raises(INCOMPLETE):
        READ(hostile, 0)
    with pytest.raises(Malformed, match="holds elements of type 11"):
        READ(data[:3] + b"\x0b" + data[4:], 0)


def outcome(reader: Reader, data: bytes) -> object:
    """What a reader makes of the bytes: a descriptor and its end, or the class of an error."""
    try:
        found, end = reader(data, 0)
        return read(found), end
    except (*INCOMPLETE, Malformed) as error:
        return type(error)


def test_wrong_bytes_have_the_outcome_that_they_have_elsewhere() -> None:
    data = binary.encode(wide(10))
    for at, value in product(range(len(data)), (0, 1, 3, 11, 12, 255)):
        changed = data[:at] + bytes((value,)) + data[at + 1 :]
        assert outcome(READ, changed) == outcome(binary.struct_codec(StorageDescriptor)[0], changed)


def test_the_types_of_unread_columns_can_be_checked() -> None:
    def has_only(sd: StorageDescriptor, *types: str) -> bool:
        unread = unread_columns(READ(binary.encode(sd), 0)[0])
        assert unread is not None
        return unread.has_only(frozenset(types))

    for comment in (None, "of a column"):
        assert has_only(wide(40, comment), "int", "string", "date")
        assert not has_only(wide(40, comment), "int", "date")
        assert not has_only(wide(40, comment), "int", "strin")
    columns = wide(40).cols or ()
    long = replace(wide(40), cols=(*columns[:20], FieldSchema("c", "i" * 60), *columns[20:]))
    assert not has_only(long, "int", "string")
    # A name with the bytes of a header needs a look at the columns.
    strange = replace(wide(40), cols=(*columns, FieldSchema("\x0b\x00\x02", "int")))
    assert not has_only(strange, "int", "string")


def test_only_a_caller_that_asks_for_it_gets_unread_columns() -> None:
    tables = tuple(Table(tableName=f"t{at}", sd=wide(100)) for at in range(20))
    message = BINARY.write(REPLY, TABLES.name_bytes, 4, binary.encode_result(TABLES, GetTablesResult(tables)), TABLES)
    for method, expected in ((TABLES, tuple), (TABLES.with_unread_columns, UnreadColumns)):
        walker = ArrivingResult(method, 0)
        assert walker.end(message) == len(message)
        assert walker.values is not None
        found = walker.values[0].tables
        assert all(isinstance(each.sd.cols, expected) for each in found)
        assert tuple(replace(each, sd=read(each.sd)) for each in found) == tables
    assert TABLES.reads_columns
