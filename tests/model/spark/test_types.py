"""Spark's types and schemas: the JSON that Spark stores, and types as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError
from metastored.model.spark.type_strings import catalog_string, parse_data_type, parse_ddl, sql, to_ddl
from metastored.model.spark.types import (
    INTEGER,
    STRING,
    ArrayType,
    AtomicType,
    CharType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
    schema_from_json,
    schema_to_json,
)

ATOMIC = (
    "void", "boolean", "byte", "short", "integer", "long", "float", "double", "binary", "date", "timestamp",
    "timestamp_ntz", "variant", "interval", "time(6)", "timestamp_ntz(9)", "timestamp_ltz(9)", "geometry(4326)",
    "interval year to month", "interval day to second", "interval hour",
)  # fmt: skip
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
SCALARS = st.one_of(
    st.sampled_from([AtomicType(name) for name in ATOMIC]),
    st.builds(lambda p, s: DecimalType(p, min(p, s)), st.integers(1, 38), st.integers(0, 38)),
    st.sampled_from([STRING, StringType("UTF8_LCASE"), StringType("UNICODE_CI"), StringType("de_CI_AI")]),
    st.builds(CharType, st.integers(1, 255)),
    st.builds(VarcharType, st.integers(1, 65535)),
)


def types(names: st.SearchStrategy[str]) -> st.SearchStrategy[DataType]:
    def nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
        return st.one_of(
            st.builds(ArrayType, inner, st.booleans()),
            st.builds(MapType, inner, inner, st.booleans()),
            schemas(inner, names),
        )

    return st.recursive(SCALARS, nested, max_leaves=8)


def schemas(inner: st.SearchStrategy[DataType], names: st.SearchStrategy[str]) -> st.SearchStrategy[StructType]:
    metadata = st.dictionaries(st.sampled_from(["comment", "x", "y"]), st.text(max_size=5), max_size=2)
    fields = st.builds(StructField, names, inner, st.booleans(), metadata)
    return st.builds(lambda found: StructType(tuple(found)), st.lists(fields, max_size=4))


@given(schemas(types(NAMES), NAMES))
def test_a_schema_is_read_from_the_json_it_is_written_to(schema: StructType) -> None:
    text = schema_to_json(schema)
    assert schema_from_json(text) == schema
    assert schema_to_json(schema_from_json(text)) == text


PLAIN = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)


@given(types(NAMES.filter(lambda name: name.strip() == name)))
def test_a_type_is_read_from_sparks_sql(type: DataType) -> None:
    assert catalog_string(parse_data_type(sql(type))) == catalog_string(type)


@given(schemas(types(PLAIN), PLAIN).filter(lambda schema: len(schema) > 0))
def test_a_type_is_read_from_its_catalog_string(schema: StructType) -> None:
    assert catalog_string(parse_data_type(catalog_string(schema))) == catalog_string(schema)


def test_the_json_is_as_spark_writes_it() -> None:
    schema = (
        StructType().add("Id", INTEGER, nullable=False).add("naïve", ArrayType(STRING, False), comment='a\x1f\n"b"')
    )
    assert schema_to_json(schema) == (
        '{"type":"struct","fields":[{"name":"Id","type":"integer","nullable":false,"metadata":{}},'
        '{"name":"naïve","type":{"type":"array","elementType":"string","containsNull":false},"nullable":true,'
        '"metadata":{"comment":"a\\u001F\\n\\"b\\""}}]}'
    )


def test_a_backslash_before_a_u_is_no_escape() -> None:
    schema = StructType().add("a", INTEGER, comment="\\u001f")
    assert '"comment":"\\\\u001f"' in schema_to_json(schema)
    assert schema_from_json(schema_to_json(schema)) == schema


def test_collations_are_in_the_metadata_of_their_column() -> None:
    text = (
        '{"type":"struct","fields":[{"name":"a","type":"string","nullable":true,"metadata":'
        '{"comment":"x","__COLLATIONS":{"a":"icu.UNICODE_CI"}}},{"name":"b","type":{"type":"array",'
        '"elementType":"string","containsNull":true},"nullable":true,"metadata":'
        '{"__COLLATIONS":{"b.element":"spark.UTF8_LCASE"}}}]}'
    )
    schema = schema_from_json(text)
    assert schema["a"].data_type == StringType("UNICODE_CI")
    assert schema["b"].data_type == ArrayType(StringType("UTF8_LCASE"))
    assert schema["a"].metadata == {"comment": "x"}
    assert schema_to_json(schema) == text


def test_a_type_of_a_program_is_kept() -> None:
    text = (
        '{"type":"struct","fields":[{"name":"v","type":{"type":"udt","class":"org.apache.spark.ml.linalg.VectorUDT",'
        '"pyClass":"pyspark.ml.linalg.VectorUDT","sqlType":{"type":"struct","fields":[{"name":"size","type":"integer",'
        '"nullable":true,"metadata":{}}]}},"nullable":true,"metadata":{}}]}'
    )
    schema = schema_from_json(text)
    assert isinstance(schema["v"].data_type, UserDefinedType)
    assert catalog_string(schema["v"].data_type) == "struct<size:int>"
    assert schema_to_json(schema) == text


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "null", '"integer"', '{"type":"struct"}', '{"type":"struct","fields":[{"name":"a"}]}',
     '{"type":"struct","fields":[{"name":"a","type":"quark","nullable":true,"metadata":{}}]}',
     '{"type":"struct","fields":[{"name":1,"type":"integer","nullable":true,"metadata":{}}]}'],
)  # fmt: skip
def test_a_broken_schema_is_an_error(text: str) -> None:
    with pytest.raises(ConversionError):
        schema_from_json(text)


def test_a_schema_nested_too_deep_is_an_error() -> None:
    deep = '{"type":"array","containsNull":true,"elementType":' * 5000 + '"integer"' + "}" * 5000
    field = '{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":' + deep + "}]}"
    with pytest.raises(ConversionError):
        schema_from_json(field)
    with pytest.raises(ConversionError):
        parse_data_type("array<" * 5000 + "int" + ">" * 5000)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("int", "int"),
        ("INTEGER", "int"),
        ("struct<x:int,y.z:int>", "struct<x:int,y.z:int>"),
        ("array<struct<a b:int>>", "array<struct<a b:int>>"),
        ("STRUCT<`y``z`: INT NOT NULL COMMENT 'c', q STRING>", "struct<y`z:int,q:string>"),
        ("decimal", "decimal(10,0)"),
        ("decimal(5)", "decimal(5,0)"),
        ("numeric(5, 2)", "decimal(5,2)"),
        ("timestamp without time zone", "timestamp_ntz"),
        ("map<string,array<varchar(3)>>", "map<string,array<varchar(3)>>"),
        ("interval", "interval"),
        ("INTERVAL DAY TO SECOND", "interval day to second"),
        ("time", "time(6)"),
        ("time(3)", "time(3)"),
        ("struct<>", "struct<>"),
    ],
)
def test_types_are_read_in_all_their_forms(text: str, type: str) -> None:
    assert catalog_string(parse_data_type(text)) == type


@pytest.mark.parametrize("text", ["", "quark", "array<int", "map<int>", "uniontype<int,string>", "decimal(39,0)",
                                  "decimal(3,4)", "int int", "interval second to day", "struct<a>"])  # fmt: skip
def test_a_text_that_is_no_type_is_an_error(text: str) -> None:
    with pytest.raises(ConversionError):
        parse_data_type(text)


def test_ddl_has_nullability_defaults_and_comments() -> None:
    text = "id INT NOT NULL,`a b` STRING DEFAULT concat('x', ',') COMMENT 'it\\'s',g INT GENERATED ALWAYS AS (id + 1)"
    schema = parse_ddl(text)
    assert not schema["id"].nullable
    assert schema["a b"].metadata == {
        "CURRENT_DEFAULT": "concat('x', ',')", "EXISTS_DEFAULT": "concat('x', ',')", "comment": "it's",
    }  # fmt: skip
    assert schema["g"].metadata == {"GENERATION_EXPRESSION": "id + 1"}
    assert to_ddl(schema) == text


def test_the_metadata_may_have_values_of_any_type() -> None:
    metadata = '{"n":1,"l":[1,2],"o":{"b":true}}'
    text = '{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":' + metadata + "}]}"
    assert schema_to_json(schema_from_json(text)) == text
