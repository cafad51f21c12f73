"""Spark's schemas as Arrow schemas."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from metastored.errors import ConversionError
from metastored.model.spark.arrow import schema_from_arrow, schema_to_arrow
from metastored.model.spark.type_strings import catalog_string, parse_ddl
from metastored.model.spark.types import StructType
from tests.model.spark.test_types import NAMES, schemas, types

pytestmark = pytest.mark.slow

SCHEMAS = schemas(types(NAMES), NAMES).filter(lambda schema: "map<void" not in catalog_string(schema))


@given(SCHEMAS)
def test_a_schema_is_converted_to_arrow_and_back(schema: StructType) -> None:
    assert schema_from_arrow(schema_to_arrow(schema)) == schema


def test_types_are_those_that_spark_uses() -> None:
    schema = parse_ddl(
        "a INT NOT NULL, b TIMESTAMP, c TIMESTAMP_NTZ, d DECIMAL(5,2), e ARRAY<STRING>, f MAP<INT, DATE>"
    )
    assert schema_to_arrow(schema) == pa.schema(
        [
            pa.field("a", pa.int32(), False),
            pa.field("b", pa.timestamp("us", "UTC")),
            pa.field("c", pa.timestamp("us")),
            pa.field("d", pa.decimal128(5, 2)),
            pa.field("e", pa.list_(pa.field("element", pa.string()))),
            pa.field("f", pa.map_(pa.int32(), pa.date32())),
        ]
    )


def test_a_schema_of_another_program_is_read() -> None:
    schema = pa.schema([
        pa.field("a", pa.uint8()), pa.field("b", pa.large_string(), metadata={"comment": "x"}),
        pa.field("c", pa.timestamp("ns", "Europe/Berlin")), pa.field("d", pa.dictionary(pa.int8(), pa.string())),
    ])  # fmt: skip
    assert schema_from_arrow(schema) == parse_ddl("a SMALLINT, b STRING COMMENT 'x', c TIMESTAMP, d STRING")


def test_a_field_that_was_cast_is_read_by_its_type() -> None:
    schema = schema_to_arrow(parse_ddl("a CHAR(5)"))
    assert schema_from_arrow(pa.schema([schema.field(0).with_type(pa.int64())])) == parse_ddl("a BIGINT")


def test_a_map_of_voids_is_an_error() -> None:
    with pytest.raises(ConversionError, match="keys are void"):
        schema_to_arrow(parse_ddl("m MAP<VOID, INT>"))


def test_a_type_that_spark_lacks_is_an_error() -> None:
    with pytest.raises(ConversionError, match="field 'u'"):
        schema_from_arrow(pa.schema([pa.field("u", pa.dense_union([pa.field("x", pa.int8())]))]))
