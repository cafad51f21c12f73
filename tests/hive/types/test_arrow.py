"""Hive types as Arrow's and back."""

from __future__ import annotations

import re
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from metastored.errors import ConversionError, MissingExtra, install_command
from metastored.hive.types.arrow import (
    KEY,
    from_arrow,
    from_arrow_field,
    from_arrow_schema,
    to_arrow,
    to_arrow_field,
    to_arrow_schema,
)
from metastored.hive.types.type_strings import HiveType, parse_type
from tests.hive.type_trees import every_type


@given(every_type)
def test_every_type_of_hive_comes_back_from_an_arrow_field(type: HiveType) -> None:
    assert from_arrow_field(to_arrow_field("c", type)) == type


@given(every_type)
def test_it_also_comes_back_through_arrows_own_bytes(type: HiveType) -> None:
    schema = pa.schema([to_arrow_field("c", type)])
    again = pa.ipc.read_schema(schema.serialize())
    assert from_arrow_field(again.field(0)) == type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void", pa.null()),
        ("boolean", pa.bool_()),
        ("tinyint", pa.int8()),
        ("bigint", pa.int64()),
        ("float", pa.float32()),
        ("decimal(38,18)", pa.decimal128(38, 18)),
        ("varchar(10)", pa.string()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("ns")),
        ("timestamp with local time zone", pa.timestamp("ns", "UTC")),
        ("interval_day_time", pa.duration("ns")),
        ("interval_year_month", pa.month_day_nano_interval()),
        ("array<int>", pa.list_(pa.field("element", pa.int32()))),
        ("map<string,double>", pa.map_(pa.string(), pa.float64())),
        ("struct<a:int,b:string>", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        (
            "uniontype<int,string>",
            pa.dense_union([pa.field("field0", pa.int32()), pa.field("field1", pa.string())]),
        ),
    ],
)
def test_each_type_has_its_arrow_type(text: str, expected: pa.DataType) -> None:
    assert to_arrow(parse_type(text)).equals(expected)


def test_only_types_that_arrow_cannot_express_are_carried_in_the_field() -> None:
    assert to_arrow_field("c", parse_type("struct<a:array<int>>")).metadata is None
    assert to_arrow_field("c", parse_type("char(3)"), "three").metadata == {KEY: b"char(3)", b"comment": b"three"}
    inner = to_arrow(parse_type("array<varchar(7)>")).value_field
    assert inner.metadata == {KEY: b"varchar(7)"}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (pa.uint8(), "smallint"),
        (pa.uint16(), "int"),
        (pa.uint32(), "bigint"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.float16(), "float"),
        (pa.large_string(), "string"),
        (pa.string_view(), "string"),
        (pa.large_binary(), "binary"),
        (pa.binary_view(), "binary"),
        (pa.binary(16), "binary"),
        (pa.date64(), "date"),
        (pa.timestamp("s"), "timestamp"),
        (pa.timestamp("us", "Europe/Rome"), "timestamp with local time zone"),
        (pa.decimal256(38, 2), "decimal(38,2)"),
        (pa.large_list(pa.int8()), "array<tinyint>"),
        (pa.list_(pa.int8(), 3), "array<tinyint>"),
        (pa.list_view(pa.int8()), "array<tinyint>"),
        (pa.large_list_view(pa.int8()), "array<tinyint>"),
        (pa.dictionary(pa.int32(), pa.string()), "string"),
        (pa.run_end_encoded(pa.int32(), pa.float64()), "double"),
        (pa.uuid(), "binary"),
        (pa.sparse_union([pa.field("x", pa.int8())]), "uniontype<tinyint>"),
    ],
)
def test_a_type_that_only_arrow_has_becomes_the_nearest_lossless_one(given: pa.DataType, text: str) -> None:
    assert str(from_arrow(given)) == text


@pytest.mark.parametrize(
    "given", [pa.time32("s"), pa.time64("us"), pa.decimal256(39, 2), pa.decimal128(5, -2), pa.month_day_nano_interval()]
)
def test_a_type_that_hive_cannot_hold_is_refused_with_its_column(given: pa.DataType) -> None:
    schema = pa.schema([("ok", pa.int32()), ("deep", pa.struct([("odd", pa.list_(given))]))])
    with pytest.raises(ConversionError, match=r"'deep'.*'odd'.*Hive has no type for Arrow's"):
        from_arrow_schema(schema)


def test_a_column_that_was_cast_has_its_present_type() -> None:
    field = to_arrow_field("c", parse_type("char(3)"))
    assert str(from_arrow_field(field.with_type(pa.int32()))) == "int"


@pytest.mark.parametrize("carried", [b"chaos(3)", b"\xff"])
def test_a_broken_note_is_refused(carried: bytes) -> None:
    with pytest.raises(ConversionError, match="field 'c' carries no Hive type"):
        from_arrow_field(pa.field("c", pa.string(), metadata={KEY: carried}))


def test_schemas_are_pairs_of_name_and_text() -> None:
    columns = [("id", "bigint"), ("tags", "array<varchar(5)>"), ("at", "timestamp with local time zone")]
    assert from_arrow_schema(to_arrow_schema(columns)) == columns


def test_without_pyarrow_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None
    monkeypatch.setitem(sys.modules, "pyarrow", absent)
    with pytest.raises(MissingExtra, match=re.escape(install_command("arrow"))):
        to_arrow(parse_type("int"))
