"""Sequential reading with the comparison of runs has the results of reading field by field, in any order."""

from __future__ import annotations

import struct
import traceback
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from metastored.wire.codec import binary
from metastored.wire.codec.binary import BinaryCompiler
from metastored.wire.codec.compiler import Malformed, PositionCompiler
from metastored.wire.generated import STRUCTS
from metastored.wire.generated.common import FieldSchema, SerDeInfo, SkewedInfo, StorageDescriptor
from metastored.wire.generated.partitions import Partition
from metastored.wire.methods import METHODS
from metastored.wire.methods.plan import MEMOS, RUNS, holds_map
from metastored.wire.structs import fields, names, new, replace
from metastored.wire.types import Field, Type
from tests.support.examples import examples
from tests.support.values import structs, with_defaults

ROUND = settings(
    max_examples=examples(12),
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
LISTING = METHODS["get_partitions"]


class Plain(BinaryCompiler):
    """Binary, read field by field, without a cache."""

    reader = PositionCompiler.reader

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        return self.read(field.type, target, pad)

    def texts(self, type: Type) -> None:
        return None


PLAIN = Plain({
    name: binary.CODEC.namespace[name]
    for name in ("skip_field", "wrong_element", "unpack_many", "unpack_b", "unpack_h", "unpack_i", "unpack_u",
                 "unpack_q", "unpack_d", "pack_b", "pack_h", "pack_i", "pack_q", "pack_d", "pack_list", "pack_map")
})  # fmt: skip
UNKNOWN = (
    b"\x0b\x7f\x01\x00\x00\x00\x02hi",
    b"\x08\x7f\x02\x00\x00\x00\x01",
    b"\x0c\x7f\x03\x08\x00\x01\x00\x00\x00\x01\x00",
)
"""Fields that no struct has."""


def outcome(read: Any, data: bytes) -> Any:
    """The result of a reader: a value and its end, or the kind of error."""
    try:
        value, end = read(data, 0)
        return (value, end) if end <= len(data) else "incomplete"
    except (IndexError, struct.error):
        return "incomplete"
    except Malformed as error:
        return type(error)


def pieces(value: Any) -> list[bytes]:
    """The fields of a struct as bytes, one by one."""
    cls: type = type(value)
    nothing: Any = new(cls, [None] * len(value))
    order = names(cls)
    return [
        binary.encode(replace(nothing, **{order[at]: each}))[:-1] for at, each in enumerate(value) if each is not None
    ]


@pytest.mark.parametrize("name", STRUCTS)
@pytest.mark.slow
def test_fields_are_read_in_any_order_with_unknown_ones_between_and_the_last_of_one_counts(name: str) -> None:
    cls = STRUCTS[name]
    ours, plain = binary.CODEC.named(name)[0], PLAIN.named(name)[0]

    @ROUND
    @given(structs(cls), structs(cls), st.data())
    def check(first: Any, second: Any, data: st.DataObject) -> None:
        in_order = binary.encode(first)
        assert ours(in_order, 0) == (with_defaults(first), len(in_order))
        mixed = data.draw(st.permutations([*pieces(first), *pieces(second), *UNKNOWN]))
        shuffled = b"".join(mixed) + b"\0"
        assert outcome(ours, shuffled) == outcome(plain, shuffled)
        added = b"".join([*pieces(first), UNKNOWN[0]]) + b"\0"
        assert outcome(ours, added) == outcome(plain, added)

    check()


COLUMNS = tuple(FieldSchema(f"column_{at}", "string", "a comment") for at in range(3))
SERDE = SerDeInfo("s", "lib", {"serialization.format": "1"})
SKEWED = SkewedInfo(("a",), (("1",),), {("1",): "file:///skewed"})


def some(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


descriptors = st.builds(
    StorageDescriptor,
    cols=some(COLUMNS, COLUMNS[:2], (), None),
    location=some("file:///a", "file:///b", "", None),
    inputFormat=some("in", "i", None),
    outputFormat=some("out", None),
    numBuckets=some(-1, 0, None),
    serdeInfo=some(SERDE, replace(SERDE, parameters={}), replace(SERDE, parameters=None), None),
    bucketCols=some((), ("a",), None),
    parameters=some({}, {"a": "1"}, None),
    skewedInfo=some(SKEWED, None),
)
partitions = st.builds(
    Partition,
    values=some(("1",), ("2",), None),
    dbName=some("d", "e", None),
    tableName=some("t", "d", None),
    createTime=some(0, 1, None),
    sd=descriptors | st.none(),
    parameters=some({}, {"numRows": "1"}, None),
    catName=some("hive", None),
    writeId=some(-1, 7, None),
)


@settings(ROUND, max_examples=examples(150))
@given(st.lists(partitions, max_size=8))
def test_partitions_that_almost_repeat_are_read_as_they_are(found: list[Partition]) -> None:
    data = binary.encode_result(LISTING, tuple(found))
    assert binary.decode_result(LISTING, data) == tuple(found)


@settings(ROUND, max_examples=examples(150))
@given(st.data())
def test_partitions_with_their_fields_mixed_doubled_and_spoiled_are_read_as_field_by_field(data: st.DataObject) -> None:
    ours, plain = binary.result_codec(LISTING)[0], PLAIN.result(LISTING)[0]
    several = []
    for _ in range(data.draw(st.integers(1, 4))):
        first, second = data.draw(partitions), data.draw(partitions)
        sds = [pieces(each.sd) if each.sd is not None else [] for each in (first, second)]
        inner = b"".join(data.draw(st.permutations(sds[0] + sds[1]) | st.just(sds[0]) | st.just(sds[0] * 2))) + b"\0"
        own = pieces(replace(first, sd=None))
        outer = data.draw(st.permutations([*own, b"\x0c\x00\x06" + inner]) | st.just([*own, b"\x0c\x00\x06" + inner]))
        several.append(b"".join(outer) + b"\0")
    body = b"\x0f\x00\x00\x0c" + struct.pack(">I", len(several)) + b"".join(several) + b"\0"
    assert outcome(ours, body) == outcome(plain, body)
    cut = body[: data.draw(st.integers(0, len(body)))]
    assert outcome(ours, cut) == outcome(plain, cut)
    at, byte = data.draw(st.integers(0, len(body) - 1)), data.draw(st.integers(0, 255))
    spoiled = body[:at] + bytes((byte,)) + body[at + 1 :]
    assert outcome(ours, spoiled) == outcome(plain, spoiled)
    assert outcome(ours, body) == outcome(plain, body), "broken values are not cached"


def test_changing_a_returned_map_does_not_change_the_cached_one() -> None:
    sd = StorageDescriptor(cols=COLUMNS, location="l", serdeInfo=SERDE, parameters={"a": "1"}, skewedInfo=SKEWED)
    part = Partition(values=("1",), sd=sd, parameters={"b": "2"})
    data = binary.encode_result(LISTING, (part, part, part))
    for _ in range(2):
        found = binary.decode_result(LISTING, data)
        assert found == (part, part, part)
        for each in found:
            each.sd.serdeInfo.parameters["spoiled"] = "here"
            each.sd.parameters["spoiled"] = "here"
            each.sd.skewedInfo.skewedColValueLocationMaps[("9",)] = "here"
            each.parameters["spoiled"] = "here"
        assert found[0].sd.cols is found[1].sd.cols, "immutable values are shared"


def test_a_map_that_was_changed_is_written_as_it_is_now() -> None:
    info = SerDeInfo("s", "lib", {"a": "1"})
    sd = StorageDescriptor(serdeInfo=info)
    binary.encode(sd)
    assert info.parameters is not None
    info.parameters["a"] = "2"
    found = binary.decode(StorageDescriptor, binary.encode(sd))
    assert found.serdeInfo is not None
    assert found.serdeInfo.parameters == {"a": "2"}


def test_a_list_that_was_changed_is_written_as_it_is_now() -> None:
    columns: Any = [FieldSchema("a", "int", None)]
    sd = StorageDescriptor(cols=columns)
    binary.encode(sd)
    columns.append(FieldSchema("b", "int", None))
    assert binary.decode(StorageDescriptor, binary.encode(sd)).cols == tuple(columns)


def test_no_value_that_is_shared_holds_a_map() -> None:
    for name, field in MEMOS:
        types = [each.type for each in fields(STRUCTS[name]) if each.name == field]
        assert types
        assert not any(map(holds_map, types)), (name, field)


def test_every_kind_of_value_that_holds_a_map_is_copied() -> None:
    text, table = Type("string"), Type("Table")
    texts = Type("map", (text, text))
    scope: dict[str, Any] = binary.CODEC.namespace
    for type, value in (
        (texts, {"a": "b"}),
        (Type("map", (text, texts)), {"a": {"b": "c"}}),
        (Type("list", (texts,)), ({"a": "b"},)),
        (Type("list", (Type("SerDeInfo"),)), (SERDE,)),
        (text, "a"),
    ):
        assert eval(binary.CODEC.copied(type, "v"), scope, {"v": value}) == value
    assert holds_map(table)
    assert "copy_Table" in binary.CODEC.copied(table, "v"), "a struct that can hold itself"
    assert not holds_map(Type("FieldSchema"))


def maps_in(value: Any) -> list[int]:
    """Which maps there are in a value."""
    if isinstance(value, dict):
        return [id(value), *(found for each in value.values() for found in maps_in(each))]
    return [found for each in value for found in maps_in(each)] if isinstance(value, (tuple, frozenset)) else []


@pytest.mark.parametrize("name", sorted(name for name in STRUCTS if holds_map(Type(name))))
def test_a_copy_is_equal_and_shares_no_map(name: str) -> None:
    copy = binary.CODEC.copier(Type(name))

    @ROUND
    @given(structs(STRUCTS[name]))
    def check(value: Any) -> None:
        found = copy(value)
        assert found == value
        assert type(found) is type(value)
        assert set(maps_in(found)).isdisjoint(maps_in(value))

    check()


def test_a_result_without_maps_is_its_own_copy() -> None:
    names = ("a", "b")
    assert binary.copy_result(METHODS["get_all_databases"], names) is names
    assert binary.copy_result(METHODS["drop_table"], None) is None


def test_runs_name_fields_that_are_there_once_and_follow_their_first() -> None:
    for (name, first), following in RUNS.items():
        numbers = {field.name: field.id for field in fields(STRUCTS[name])}
        assert len(numbers) == len(fields(STRUCTS[name])), "a field with several ids has no place in a run"
        assert all(numbers[each] > numbers[first] for each in following)
        assert (name, first) not in [(name, each) for each in following]


def wide(mark: str, count: int = 40) -> StorageDescriptor:
    """Columns that begin as all others do, and differ at the end."""
    return StorageDescriptor(
        cols=tuple(FieldSchema(f"c{n}", "int", mark if n == count - 1 else "") for n in range(count))
    )


def test_columns_that_begin_alike_and_end_differently_are_read_as_they_are() -> None:
    tables = [binary.encode(wide(mark)) for mark in ("a", "b", "longer", "a")]
    for _ in range(2):
        found = [binary.decode(StorageDescriptor, data) for data in tables]
        assert found == [wide("a"), wide("b"), wide("longer"), wide("a")]
    cut = tables[0][:-10]
    with pytest.raises(Malformed):
        binary.decode(StorageDescriptor, cut)


LISTS = {
    "plain": [FieldSchema("a", "int", "first"), FieldSchema("b", "string", "")],
    "without comments": [FieldSchema("a", "int"), FieldSchema("b", "string"), FieldSchema("c", "int", "x")],
    "not ASCII": [FieldSchema("a", "int", "x"), FieldSchema("ä", "int", "größe"), FieldSchema("c", "int")],
    "not even UTF-8": [FieldSchema("a", "int", "x"), FieldSchema("b", "int", "\udcff"), FieldSchema("c", "int")],
    "long": [FieldSchema("a", "int"), FieldSchema("b", "struct<" + "x" * 300 + ":int>", "y"), FieldSchema("c", "int")],
    "longer than most": [FieldSchema("n" * 100, "t" * 100, "c" * 100), FieldSchema("b", "int", "c" * 200)] * 3,
    "with gaps": [FieldSchema("a", "int"), FieldSchema(None, "int", "x"), FieldSchema("c"), FieldSchema()],
    "a zero inside": [FieldSchema("a\0\x0b", "\0", "\0\0\0"), FieldSchema("b", "int")],
    "none": [],
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_columns_is_read_as_one_by_one(kind: str) -> None:
    storage = StorageDescriptor(cols=tuple(LISTS[kind]), location="ß", numBuckets=-1)
    assert binary.decode(StorageDescriptor, binary.encode(storage)) == storage


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_columns_that_is_cut_is_never_read_as_a_shorter_one(kind: str) -> None:
    whole = binary.encode(StorageDescriptor(cols=tuple(LISTS[kind])))
    for length in range(len(whole)):
        with pytest.raises(Malformed):
            binary.decode(StorageDescriptor, whole[:length])


def test_columns_with_doubled_and_unknown_fields_are_read_as_they_are() -> None:
    column = b"\x0b\0\1\0\0\0\1a\x0b\0\2\0\0\0\3int"
    doubled, unknown = column + b"\x0b\0\1\0\0\0\1b\0", column + b"\x08\0\x09\0\0\0\1\0"
    data = b"\x0f\0\1\x0c" + (4).to_bytes(4) + column + b"\0" + doubled + unknown + column + b"\0" + b"\0"
    found = binary.decode(StorageDescriptor, data).cols or ()
    assert [each.name for each in found] == ["a", "b", "a", "a"]
    assert all(type(each) is FieldSchema and each.type == "int" for each in found)


def test_a_traceback_through_a_compiled_codec_shows_its_source() -> None:
    with pytest.raises(TypeError) as caught:
        binary.encode(StorageDescriptor(cols=(1,)))  # type: ignore[arg-type]
    own = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if "codec of" in frame.filename]
    assert own
    assert all(frame.line for frame in own)
