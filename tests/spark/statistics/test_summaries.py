"""The statistics of a column: counted from Arrow arrays, merged, and converted to Hive's and Spark's forms."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from metastored.hive.statistics.ndv import HyperLogLog
from metastored.model.spark.types import AtomicType, DataType, DecimalType, StringType
from metastored.spark.statistics.hive_form import from_hive, to_hive
from metastored.spark.statistics.spark_form import to_spark
from metastored.spark.statistics.summaries import ColumnBuilder, Kind, Summary

ARRAYS: dict[Kind, pa.Array] = {
    Kind.BOOLEAN: pa.array([True, False, True, None]),
    Kind.INTEGER: pa.array([3, -7, None, 3], pa.int16()),
    Kind.FLOAT: pa.array([0.1, 2.5, None, -1.0], pa.float32()),
    Kind.DOUBLE: pa.array([0.1, 2.5, None, -1.0]),
    Kind.DECIMAL: pa.array([Decimal("1.50"), Decimal("-2.25"), None], pa.decimal128(9, 2)),
    Kind.STRING: pa.array(["", "näme", None, "abc"]),
    Kind.BINARY: pa.array([b"", b"\xff\x00", None, b"abc"]),
    Kind.DATE: pa.array([1, -1, None], pa.int32()).view(pa.date32()),
    Kind.TIMESTAMP: pa.array([1_500_000, -1, None], pa.int64()).view(pa.timestamp("us", "UTC")),
}
SPARK_TYPES: dict[Kind, DataType] = {
    Kind.DECIMAL: DecimalType(9, 2), Kind.STRING: StringType(), Kind.INTEGER: AtomicType("short"),
}  # fmt: skip
HIVE_TYPES = {Kind.INTEGER: "smallint", Kind.DECIMAL: "decimal(9,2)"}


def counted(kind: Kind, *arrays: pa.Array) -> Summary:
    builder = ColumnBuilder(kind)
    for each in arrays:
        builder.add(each)
    return builder.built()


def data(kind: Kind, found: Summary, **options: Any) -> Any:
    """The struct of the statistics in Hive's form."""
    options = {"timestamps": True, **options}
    converted = to_hive("C", HIVE_TYPES.get(kind, kind.value), found, **options)
    assert converted is not None and converted.statsData is not None and converted.colName == "c"
    return next(each for each in converted.statsData if each is not None)


def test_bounds_are_those_of_the_values_that_are_not_null() -> None:
    bounds = {kind: (found.low, found.high) for kind in ARRAYS if (found := counted(kind, ARRAYS[kind]))}
    assert bounds[Kind.INTEGER] == (-7, 3)
    assert bounds[Kind.DOUBLE] == (-1.0, 2.5)
    assert bounds[Kind.DECIMAL] == (Decimal("-2.25"), Decimal("1.50"))
    assert bounds[Kind.DATE] == (-1, 1)
    assert bounds[Kind.TIMESTAMP] == (-1, 1_500_000)
    assert bounds[Kind.STRING] == bounds[Kind.BOOLEAN] == (None, None)


def test_long_decimals_keep_all_their_digits() -> None:
    low, high = Decimal("-99999999999999999999999999.9999999999"), Decimal("12345678901234567890.1234567890")
    found = counted(Kind.DECIMAL, pa.array([low, None, high, Decimal("0E-10")], pa.decimal128(38, 10)))
    assert (found.low, found.high, found.distinct_values) == (low, high, 3)


def test_lengths_are_characters_of_strings_and_bytes_of_binaries() -> None:
    text, binary = counted(Kind.STRING, ARRAYS[Kind.STRING]), counted(Kind.BINARY, ARRAYS[Kind.BINARY])
    assert (text.total_length, text.max_length) == (7, 4)
    assert (binary.total_length, binary.max_length) == (5, 3)


@pytest.mark.parametrize("kind", ARRAYS)
def test_parts_merge_into_the_statistics_of_all_rows(kind: Kind) -> None:
    array = ARRAYS[kind]
    whole = counted(kind, array)
    assert counted(kind, array.slice(0, 2), array.slice(2)) == whole
    assert counted(kind, array.slice(0, 1)).merge(counted(kind, array.slice(1))) == whole
    assert Summary(kind, sketch=None if kind is Kind.BOOLEAN else HyperLogLog()).merge(whole) == whole


def test_hive_gets_the_formulas_of_its_own_analyze() -> None:
    strings = data(Kind.STRING, counted(Kind.STRING, ARRAYS[Kind.STRING]))
    assert (strings.maxColLen, strings.avgColLen, strings.numNulls, strings.numDVs) == (4, 7 / 4, 1, 3)
    booleans = data(Kind.BOOLEAN, counted(Kind.BOOLEAN, ARRAYS[Kind.BOOLEAN]))
    assert (booleans.numTrues, booleans.numFalses, booleans.numNulls) == (2, 1, 1)
    stamps = data(Kind.TIMESTAMP, counted(Kind.TIMESTAMP, ARRAYS[Kind.TIMESTAMP]))
    assert (stamps.lowValue.secondsSinceEpoch, stamps.highValue.secondsSinceEpoch) == (-1, 1)
    days = data(Kind.DATE, counted(Kind.DATE, ARRAYS[Kind.DATE]))
    assert (days.lowValue.daysSinceEpoch, days.highValue.daysSinceEpoch) == (-1, 1)
    decimals = data(Kind.DECIMAL, counted(Kind.DECIMAL, ARRAYS[Kind.DECIMAL]))
    assert (decimals.lowValue.unscaled, decimals.lowValue.scale) == (b"\xff\x1f", 2)
    floats = data(Kind.FLOAT, counted(Kind.FLOAT, ARRAYS[Kind.FLOAT]))
    assert floats.highValue == 2.5


def test_only_nulls_have_no_bounds_and_one_distinct_value_as_in_hive() -> None:
    found = data(Kind.INTEGER, counted(Kind.INTEGER, pa.array([None, None], pa.int32())))
    assert (found.lowValue, found.highValue, found.numNulls, found.numDVs) == (None, None, 2, 1)


def test_servers_before_hive_4_get_timestamps_as_integers() -> None:
    found = data(Kind.TIMESTAMP, counted(Kind.TIMESTAMP, ARRAYS[Kind.TIMESTAMP]), timestamps=False)
    assert (found.lowValue, found.highValue) == (-1, 1)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_hive_has_no_statistics_of_numbers_with_nan_or_infinity(odd: float) -> None:
    found = counted(Kind.DOUBLE, pa.array([1.0, odd, 2.0]))
    assert to_hive("c", "double", found, timestamps=True) is None
    stat = to_spark("c", AtomicType("double"), found)
    assert (stat.min, stat.max, stat.distinct_count) == (None, None, 3)


@pytest.mark.parametrize("kind", ARRAYS)
def test_what_hive_stores_is_read_back(kind: Kind) -> None:
    found = counted(kind, ARRAYS[kind])
    converted = to_hive("c", kind.value, found, timestamps=True)
    assert converted is not None
    read = from_hive(converted, kind, found.rows)
    assert read is not None
    assert (read.nulls, read.trues, read.max_length, read.total_length) == (
        found.nulls, found.trues, found.max_length, found.total_length,
    )  # fmt: skip
    if kind is Kind.TIMESTAMP:
        assert (read.low, read.high) == (-1_000_000, 1_999_999), "whole seconds, and never fewer"
    else:
        assert (read.low, read.high) == (found.low, found.high)
    if kind not in (Kind.BINARY, Kind.BOOLEAN):
        assert read.sketch == found.sketch


def test_spark_gets_texts_and_its_own_sizes() -> None:
    texts = {
        kind: to_spark("c", SPARK_TYPES.get(kind, AtomicType(kind.value)), counted(kind, ARRAYS[kind]))
        for kind in ARRAYS
    }
    assert [(each.min, each.max) for each in texts.values()] == [
        ("false", "true"), ("-7", "3"), ("-1.0", "2.5"), ("-1.0", "2.5"), ("-2.25", "1.50"), (None, None), (None, None),
        ("1969-12-31", "1970-01-02"), ("1969-12-31 23:59:59.999999", "1970-01-01 00:00:01.500000"),
    ]  # fmt: skip
    assert [(each.avg_len, each.max_len) for each in texts.values()] == [
        (1, 1), (2, 2), (4, 4), (8, 8), (8, 8), (3, 4), (2, 3), (4, 4), (8, 8),
    ]  # fmt: skip
    assert [each.distinct_count for each in texts.values()] == [2, 2, 3, 3, 2, 3, 3, 2, 2]


def test_an_empty_column_of_strings_has_sparks_default_length() -> None:
    stat = to_spark("c", StringType(), counted(Kind.STRING, pa.array([None], pa.string())))
    assert (stat.distinct_count, stat.null_count, stat.avg_len, stat.max_len) == (0, 1, 20, 20)
