"""Schemas between Spark, Arrow and Lance, and batches that get them. No Spark runs."""

from __future__ import annotations

import decimal

import pyarrow as pa
import pytest
from pyspark.sql import types as spark

from metastored.errors import ConversionError
from metastored.spark.lance.schemas import (
    VECTOR_SIZE,
    check_appendable,
    conformed,
    lance_schema,
    spark_schema,
    transfer_schema,
)

FLOATS = spark.ArrayType(spark.FloatType(), containsNull=False)
SCHEMA = spark.StructType().add("id", "long", nullable=False).add("vector", FLOATS).add("at", "timestamp")


def test_columns_of_a_new_table_may_be_null_and_timestamps_are_in_utc() -> None:
    found = lance_schema(SCHEMA, {})
    assert [field.nullable for field in found] == [True, True, True]
    assert found.field("at").type == pa.timestamp("us", "UTC")
    assert found.field("vector").type == pa.list_(pa.field("element", pa.float32()))


@pytest.mark.parametrize("by", ["argument", "metadata"])
def test_a_vector_is_a_list_of_fixed_size(by: str) -> None:
    schema, vectors = SCHEMA, {"vector": 2}
    if by == "metadata":
        schema, vectors = spark.StructType().add("vector", FLOATS, metadata={VECTOR_SIZE: 2}), {}
    assert lance_schema(schema, vectors).field("vector").type == pa.list_(pa.float32(), 2)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [({"nope": 2}, "no column 'nope'"), ({"id": 2}, "not an array"), ({"vector": 0}, "at least one")],
)
def test_a_vector_that_is_none_is_refused(vectors: dict[str, int], said: str) -> None:
    with pytest.raises(ConversionError, match=said):
        lance_schema(SCHEMA, vectors)


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (pa.uint8(), spark.ShortType()),
        (pa.uint32(), spark.LongType()),
        (pa.uint64(), spark.DecimalType(20, 0)),
        (pa.float16(), spark.FloatType()),
        (pa.large_string(), spark.StringType()),
        (pa.date64(), spark.DateType()),
        (pa.timestamp("ns", "Europe/Berlin"), spark.TimestampType()),
        (pa.timestamp("s"), spark.TimestampNTZType()),
        (pa.list_(pa.float16(), 3), spark.ArrayType(spark.FloatType())),
        (pa.map_(pa.string(), pa.uint8()), spark.MapType(spark.StringType(), spark.ShortType())),
        (pa.struct([("a", pa.uint16())]), spark.StructType().add("a", "integer")),
    ],
)
def test_types_that_spark_does_not_have_are_read_as_the_next_wider(type: pa.DataType, expected: spark.DataType) -> None:
    schema = pa.schema([("c", type)])
    found = spark_schema(schema)
    assert found["c"].dataType == expected
    empty = pa.RecordBatch.from_arrays([pa.array([], type)], schema=schema)
    assert conformed(empty, transfer_schema(found)).schema.equals(transfer_schema(found))


def test_a_type_without_any_form_in_spark_is_refused() -> None:
    with pytest.raises(ConversionError, match="Spark has no type"):
        spark_schema(pa.schema([("c", pa.month_day_nano_interval())]))


def test_rows_fit_if_their_names_and_types_do_in_any_order() -> None:
    existing = lance_schema(SCHEMA, {"vector": 2})
    check_appendable(pa.schema(reversed(list(lance_schema(SCHEMA, {})))), existing)
    for schema, said in (
        (spark.StructType().add("id", "long"), "the rows have id"),
        (
            spark.StructType().add("id", "integer").add("vector", FLOATS).add("at", "timestamp"),
            "the column id is int64",
        ),
    ):
        with pytest.raises(ConversionError, match=said):
            check_appendable(lance_schema(schema, {}), existing)


def test_a_vector_of_another_length_is_refused() -> None:
    target = pa.schema([("vector", pa.list_(pa.float32(), 2))])
    batch = pa.record_batch({"vector": pa.array([[1.0, 2.0], [1.0]], pa.list_(pa.float32()))})
    with pytest.raises(pa.ArrowInvalid):
        conformed(batch, target)


def test_nulls_instead_of_vectors_stay_nulls() -> None:
    target = pa.schema([("vector", pa.list_(pa.float32(), 2))])
    batch = pa.record_batch({"vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float32()))})
    assert conformed(batch, target).column(0).to_pylist() == [[1.0, 2.0], None]


@pytest.mark.parametrize("nested", [False, True])
def test_decimals_are_aligned_at_16_bytes(nested: bool) -> None:
    type = pa.decimal128(10, 2)
    values = pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")], type)
    buffer = pa.py_buffer(b"\0" * 8 + values.buffers()[1].to_pybytes() + b"\0" * 8)
    shifted = next(
        each for each in (buffer.slice(8, 32), buffer.slice(0, 32), buffer.slice(4, 32)) if each.address % 16
    )
    moved = pa.Array.from_buffers(type, 2, [None, shifted])
    column = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), moved) if nested else moved
    batch = pa.record_batch({"c": column})
    found = conformed(batch, batch.schema).column(0)
    inner = found.values if nested else found
    assert inner.buffers()[1].address % 16 == 0
    assert found.equals(column)
