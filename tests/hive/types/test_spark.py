"""Hive types as Spark writes them and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError
from metastored.hive.types.spark import (
    CHAR_VARCHAR,
    HIVE_TYPE,
    SparkColumn,
    from_spark,
    from_spark_ddl,
    from_spark_json,
    to_spark,
    to_spark_ddl,
    to_spark_json,
)
from metastored.hive.types.type_strings import HiveType, Primitive, parse_type
from tests.hive.type_trees import PRIMITIVES, every_type, names, sized, trees

NOT_SPARKS = ("datetime", "timestamp with time zone")
sparks = trees(st.sampled_from([each for each in PRIMITIVES if each not in NOT_SPARKS]).map(Primitive) | sized, False)
comments = st.none() | st.text(min_size=1)
expressions = st.none() | st.sampled_from(["1", "'a, b'", "concat(x, ')')", "(a + b) * 2", "current_date()"])


@given(sparks)
def test_every_type_that_spark_has_survives_its_text(type: HiveType) -> None:
    assert from_spark(to_spark(type)) == type


@given(
    st.lists(
        st.builds(SparkColumn, names, sparks, comments, st.booleans(), expressions, expressions), min_size=1, max_size=4
    )
)
def test_columns_survive_ddl(columns: list[SparkColumn]) -> None:
    assert from_spark_ddl(to_spark_ddl(columns)) == columns


@given(
    st.lists(st.builds(SparkColumn, names, every_type, comments, st.booleans(), expressions, expressions), max_size=4)
)
def test_every_type_of_hive_comes_back_from_a_schema(columns: list[SparkColumn]) -> None:
    assert from_spark_json(to_spark_json(columns)) == columns


@pytest.mark.parametrize(
    ("hive", "spark"),
    [
        ("timestamp", "timestamp"),
        ("timestamp with local time zone", "timestamp_ltz"),
        ("interval_year_month", "interval year to month"),
        ("interval_day_time", "interval day to second"),
        ("struct<a b:int>", "struct<`a b`:int>"),
        ("uniontype<int,string>", "struct<tag:tinyint,field0:int,field1:string>"),
        ("map<char(3),decimal(5,2)>", "map<char(3),decimal(5,2)>"),
    ],
)
def test_each_type_as_spark_writes_it(hive: str, spark: str) -> None:
    assert to_spark(parse_type(hive)) == spark


@pytest.mark.parametrize(
    ("spark", "hive"),
    [
        ("INT", "int"),
        ("long", "bigint"),
        (" Array < Integer > ", "array<int>"),
        ("STRUCT<a: INT NOT NULL COMMENT 'it\\'s', `b c` STRING>", "struct<a:int,b c:string>"),
        ("struct<>", "struct<>"),
        ("timestamp_ntz", "timestamp"),
        ("TIMESTAMP WITHOUT TIME ZONE", "timestamp"),
        ("timestamp with local time zone", "timestamp with local time zone"),
        ("dec(5)", "decimal(5,0)"),
        ("numeric", "decimal(10,0)"),
        ("character(4)", "char(4)"),
        ("interval year", "interval_year_month"),
        ("INTERVAL HOUR TO SECOND", "interval_day_time"),
        ("string collate UTF8_LCASE", "string"),
    ],
)
def test_every_type_that_spark_accepts_is_read(spark: str, hive: str) -> None:
    assert str(from_spark(spark)) == hive


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a type was expected in '' at 0, not the end"),
        ("variant", "Hive has no type for Spark's 'variant'"),
        ("interval", "a unit of the interval was expected"),
        ("interval week", "a unit of the interval"),
        ("interval day to month", "a unit of the same kind"),
        ("array<int", "> was expected"),
        ("int int", "the end was expected"),
        ("map<int>", ", was expected"),
        ("decimal(39,1)", "39 in .* is not between 1 and 38"),
        ("decimal(5,-2)", "-2 in .* is not between 0 and 5"),
        ("char(x)", "a number was expected"),
        ("struct<a:int comment b>", "a comment in quotes"),
        ("array<" * 150, "nested deeper than 100"),
    ],
)
def test_an_invalid_type_is_refused_with_its_position(text: str, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        from_spark(text)


def test_a_schema_has_sparks_own_form() -> None:
    columns = [
        SparkColumn("id", parse_type("bigint"), "the number", False),
        SparkColumn("codes", parse_type("array<char(3)>")),
        SparkColumn("either", parse_type("uniontype<int,varchar(3)>")),
    ]
    id, codes, either = json.loads(to_spark_json(columns))["fields"]
    assert id == {"name": "id", "type": "long", "nullable": False, "metadata": {"comment": "the number"}}
    assert codes["type"] == {"type": "array", "elementType": "string", "containsNull": True}
    assert codes["metadata"] == {CHAR_VARCHAR: "array<char(3)>"}
    assert either["metadata"] == {HIVE_TYPE: "uniontype<int,varchar(3)>"}
    assert [field["name"] for field in either["type"]["fields"]] == ["tag", "field0", "field1"]


def test_a_column_whose_type_was_changed_has_its_present_type() -> None:
    field = {"name": "c", "type": "integer", "nullable": True, "metadata": {CHAR_VARCHAR: "char(3)"}}
    (column,) = from_spark_json(json.dumps({"type": "struct", "fields": [field]}))
    assert column == SparkColumn("c", Primitive("int"))


def test_a_user_defined_type_is_read_as_its_stored_type() -> None:
    point = {"type": "udt", "class": "Point", "sqlType": {"type": "array", "elementType": "double"}}
    (column,) = from_spark_json(json.dumps({"type": "struct", "fields": [{"name": "p", "type": point}]}))
    assert str(column.type) == "array<double>"


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "[]",
        "{}",
        '{"fields":[{"name":"a"}]}',
        '{"fields":[{"name":"a","type":{"type":"tree"}}]}',
        '{"fields":[{"name":"a","type":"string","metadata":{"HIVE_TYPE_STRING":"zzz"}}]}',
        '{"fields":[{"name":"a","type":' + '{"type":"array","elementType":' * 102 + '"int"' + "}" * 102 + "}]}",
    ],
)
def test_an_invalid_schema_is_refused(text: str) -> None:
    with pytest.raises(ConversionError):
        from_spark_json(text)
