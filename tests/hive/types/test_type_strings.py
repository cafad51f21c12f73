"""Type strings, and the metastore's checks of them."""

import pytest
from hypothesis import given

from metastored.hive.generation import Generation
from metastored.hive.types import type_strings as types
from metastored.hive.types.type_strings import (
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    Union,
    Varchar,
)
from tests.hive.type_trees import every_type

INT, STRING = Primitive("int"), Primitive("string")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("int", INT),
        ("void", Primitive("void")),
        ("interval_day_time", Primitive("interval_day_time")),
        ("timestamp with local time zone", Primitive("timestamp with local time zone")),
        ("decimal(12,4)", Decimal(12, 4)),
        ("char(3)", Char(3)),
        ("varchar(65535)", Varchar(65535)),
        ("array<int>", Array(INT)),
        ("map<string,array<int>>", Map(STRING, Array(INT))),
        ("struct<>", Struct(())),
        ("struct<A:int,b c:string>", Struct((Field("A", INT), Field("b c", STRING)))),
        ("struct<a.b:int,a-b:int>", Struct((Field("a.b", INT), Field("a-b", INT)))),
        ("struct<`a:b`:int,`c``d`:int>", Struct((Field("a:b", INT), Field("c`d", INT)))),
        ("uniontype<int,string>", Union((INT, STRING))),
        (
            "struct<x:int,y:array<map<string,decimal(10,2)>>>",
            Struct((Field("x", INT), Field("y", Array(Map(STRING, Decimal(10, 2)))))),
        ),
    ],
)
def test_a_type_string_is_a_tree_and_back(text: str, tree: HiveType) -> None:
    assert types.parse_type(text) == tree
    assert str(tree) == text


@pytest.mark.parametrize(("text", "full"), [("decimal", "decimal(10,0)"), ("decimal(5)", "decimal(5,0)")])
def test_a_decimal_may_leave_out_its_precision_and_scale(text: str, full: str) -> None:
    assert str(types.parse_type(text)) == full


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "type expected at the position 0"),
        ("INT", "type expected at the position 0"),
        ("zzz", "type expected at the position 0 of 'zzz' but 'zzz' is found"),
        ("int ", "the end expected at the position 3"),
        ("int(3)", "the end expected at the position 3"),
        ("array<zzz>", "type expected at the position 6"),
        ("array<int", "> expected at the position 9 of 'array<int' but the end is found"),
        ("array< int>", "type expected at the position 6"),
        ("map<int>", ", expected at the position 7"),
        ("struct<a:int,>", "name expected at the position 13"),
        ("struct<`a:int>", "a closed `name` expected"),
        ("struct<a>", ": expected"),
        ("char", "char type is specified without length"),
        ("varchar", "varchar type is specified without length"),
        ("varchar(0)", "varchar length 0 out of allowed range"),
        ("char(256)", "char length 256 out of allowed range"),
        ("decimal(39,2)", "decimal precision 39 out of allowed range"),
        ("decimal(3,4)", "decimal scale 4 out of allowed range"),
        ("decimal( 10)", "decimal precision expected"),
        ("decimal(10", r"\) expected"),
        ("array<" * 200, "nested deeper than 100 levels"),
    ],
)
def test_an_invalid_type_is_refused_with_its_position(text: str, message: str) -> None:
    with pytest.raises(types.TypeSyntaxError, match=message):
        types.parse_type(text)


@given(every_type)
def test_every_tree_survives_its_text(tree: HiveType) -> None:
    assert types.parse_type(str(tree)) == tree


@pytest.mark.parametrize(
    "text",
    [
        *("int", "int ", "int(", "char", "decimal(", "void", "datetime", "binary", "map", "struct<"),
        *("array<zzz>", "uniontype<int>", "interval_year_month", "timestamp with local time zone"),
        *("struct<x:int,y:array<map<string,decimal(10,2)>>>", "<derived from deserializer>"),
    ],
)
def test_the_metastore_reads_only_the_first_word_of_a_column_type(text: str) -> None:
    assert types.is_valid_column_type(text)


@pytest.mark.parametrize("text", ["INT", "zzz", " int", "integer", "numeric", "list", "columns", "timestamptz", ""])
def test_the_metastore_refuses_unknown_first_words(text: str) -> None:
    assert not types.is_valid_column_type(text)


NUMERIC = ["tinyint", "smallint", "int", "bigint", "decimal(10,2)", "float", "double"]
STRINGS = ["string", "char(3)", "varchar(9)"]
OTHERS = ["boolean", "date", "timestamp", "binary", "interval_year_month", "interval_day_time", "void"]
PRIMITIVES = NUMERIC + STRINGS + OTHERS

# Written down from Hive 2.3.10's own conversion table.
ALLOWED = {
    **{old: NUMERIC[place:] + STRINGS for place, old in enumerate(NUMERIC)},
    **{old: ["double", *STRINGS] for old in STRINGS},
    **{old: [old] for old in OTHERS},
    **{old: [old, *STRINGS] for old in ("date", "timestamp")},
    "void": PRIMITIVES,
}


@pytest.mark.parametrize("old", PRIMITIVES)
def test_a_column_may_widen_as_in_hive_2_3(old: str) -> None:
    result = {new for new in PRIMITIVES if types.are_compatible(old, new, Generation.HIVE_2_3)}
    assert result == set(ALLOWED[old])


def test_string_to_double_ended_with_hive_4() -> None:
    assert types.are_compatible("string", "double", Generation.HIVE_3_1)
    assert not types.are_compatible("string", "double", Generation.HIVE_4_0)


def test_sizes_of_one_type_may_change() -> None:
    assert types.are_compatible("decimal(12,4)", "decimal(10,2)", Generation.HIVE_2_3)
    assert types.are_compatible("varchar(9)", "varchar(3)", Generation.HIVE_2_3)


def test_nested_types_are_compared_completely_by_hive_2_and_by_their_outermost_word_later() -> None:
    assert types.are_compatible("array<int>", "array<int>", Generation.HIVE_2_3)
    assert not types.are_compatible("array<int>", "array<bigint>", Generation.HIVE_2_3)
    assert types.are_compatible("array<int>", "array<string>", Generation.HIVE_3_1)
    assert not types.are_compatible("array<int>", "string", Generation.HIVE_3_1)
    assert not types.are_compatible("", "int", Generation.HIVE_3_1)


def test_incompatible_columns_are_found_by_position() -> None:
    old = [("a", "int"), ("b", "string"), ("c", "string")]
    new = [("x", "bigint"), ("b", "int")]
    assert types.incompatible_columns(old, new, Generation.HIVE_2_3) == ["b"]
    assert types.incompatible_columns(old, [*old, ("d", "date")], Generation.HIVE_2_3) == []
