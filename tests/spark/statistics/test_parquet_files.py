"""Tasks that read Parquet files themselves: what they count, and the files that they leave to Spark."""

from __future__ import annotations

import io
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import (
    CharType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from metastored.spark.statistics.gathering import kind_of
from metastored.spark.statistics.parquet_files import FileColumn, FileTask, columns_of
from metastored.spark.statistics.summaries import Kind, Summary

TIME = datetime(2024, 1, 2, 3, 4, 5, 678900)


def columns(*fields: StructField, padded: tuple[str, ...] = ()) -> list[FileColumn]:
    kinds = {each.name: kind_of(each.dataType) for each in fields}
    found = columns_of(fields, {name: kind for name, kind in kinds.items() if kind is not None}, padded)
    assert found is not None
    return found


def file_of(table: Any, **options: Any) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(table), written, **options)
    return written.getvalue()


def gathered(wanted: list[FileColumn], *files: bytes) -> dict[int, tuple[int, list[Summary]]] | None:
    """What a task finds in files, of which each is a partition; None if it refuses one."""
    paths = [f"file:/t/ds={at}/f.parquet" for at in range(len(files))]
    task = FileTask({f"/t/ds={at}/f.parquet": at for at in range(len(files))}, wanted, {})
    batch = pa.RecordBatch.from_arrays([pa.array(paths), pa.array(files, pa.binary())], ["path", "content"])
    (found,) = task.run([batch])
    if found.column(1).null_count:
        return None
    return {row["key"]: pickle.loads(row["found"]) for row in found.to_pylist()}


def one(wanted: StructField, file: bytes, padded: tuple[str, ...] = ()) -> Summary | None:
    found = gathered(columns(wanted, padded=padded), file)
    return None if found is None else found[0][1][0]


def test_each_file_counts_for_its_partition() -> None:
    wanted = columns(StructField("i", IntegerType()), StructField("s", StringType()))
    files = [
        file_of({"i": pa.array(range(at, 20_000), pa.int32()), "s": pa.array(["x" * at] * (20_000 - at))})
        for at in (1, 5)
    ]
    found = gathered(wanted, *files)
    assert found is not None and {key: rows for key, (rows, _) in found.items()} == {0: 19_999, 1: 19_995}
    numbers, texts = found[1][1]
    assert (numbers.low, numbers.high, numbers.values, texts.max_length) == (5, 19_999, 19_995, 5)
    assert 19_000 < numbers.distinct_values < 21_000


def test_columns_are_found_in_any_case_and_order_and_missing_ones_are_null() -> None:
    wanted = columns(*(StructField(name, IntegerType()) for name in ("a", "B", "c")))
    found = gathered(wanted, file_of({"C": pa.array([3], pa.int32()), "b": pa.array([2], pa.int32())}))
    assert found is not None
    assert [(each.low, each.nulls) for each in found[0][1]] == [(None, 1), (2, 0), (3, 0)]


@pytest.mark.parametrize(
    "options",
    [{"use_deprecated_int96_timestamps": True}, {"coerce_timestamps": "us"}, {"coerce_timestamps": "ms"}],
    ids=["INT96", "microseconds", "milliseconds"],
)
def test_timestamps_are_read_in_all_units_of_spark(options: dict[str, Any]) -> None:
    time = TIME.replace(tzinfo=UTC)
    file = file_of({"ts": pa.array([time], pa.timestamp("us", "UTC"))}, allow_truncated_timestamps=True, **options)
    found = one(StructField("ts", TimestampType()), file)
    micros = int(time.timestamp() * 1000) * 1000 + (0 if options.get("coerce_timestamps") == "ms" else 900)
    assert found is not None and found.low == found.high == micros


def test_a_timestamp_without_a_time_zone_is_another_type() -> None:
    file = file_of({"ts": pa.array([TIME], pa.timestamp("us"))})
    assert one(StructField("ts", TimestampType()), file) is None
    assert one(StructField("ts", TimestampNTZType()), file) is not None
    int96 = file_of({"ts": pa.array([TIME], pa.timestamp("us"))}, use_deprecated_int96_timestamps=True)
    assert one(StructField("ts", TimestampNTZType()), int96) is None


def test_spaces_at_the_end_of_a_char_do_not_count() -> None:
    found = one(StructField("c", StringType()), file_of({"c": ["a  ", "b c "]}), padded=("c",))
    assert found is not None and (found.total_length, found.max_length) == (4, 3)


@pytest.mark.parametrize(
    ("wanted", "values"),
    [
        (LongType(), pa.array([1], pa.int32())),
        (StringType(), pa.array([b"a"], pa.binary())),
        (DecimalType(12, 2), pa.array([Decimal("1.5")], pa.decimal128(10, 1))),
        (DateType(), pa.array([date(1899, 12, 31)])),
        (TimestampType(), pa.array([datetime(1899, 12, 31, 23, tzinfo=UTC)], pa.timestamp("us", "UTC"))),
    ],
    ids=["a smaller integer", "bytes", "another decimal", "an old date", "an old timestamp"],
)
def test_values_that_spark_may_read_differently_are_refused(wanted: Any, values: pa.Array) -> None:
    assert one(StructField("c", wanted), file_of({"c": values})) is None


def test_other_files_are_refused() -> None:
    wanted = columns(StructField("a", IntegerType()))
    assert gathered(wanted, b"no Parquet") is None
    twice = pa.Table.from_arrays([pa.array([1], pa.int32())] * 2, ["a", "A"])
    assert gathered(wanted, file_of(twice)) is None
    dotted = columns(StructField("a.b", IntegerType()))
    assert gathered(dotted, file_of({"a.b": pa.array([1], pa.int32())})) is None


def test_a_file_of_an_unknown_path_is_refused() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(["file:/other"]), pa.array([b""], pa.binary())], ["path", "content"])
    (found,) = FileTask({"/t": 0}, columns(StructField("a", IntegerType())), {}).run([batch])
    assert found.column(1).null_count == 1


@pytest.mark.parametrize(
    "field",
    [
        StructField("c", IntegerType(), metadata={"EXISTS_DEFAULT": "7"}),
        StructField("c", StringType(), metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}),
    ],
    ids=["a default of old rows", "a char that Spark pads"],
)
def test_columns_whose_values_are_not_all_in_files_are_left_to_spark(field: StructField) -> None:
    kind = kind_of(field.dataType)
    assert kind is not None and columns_of([field], {"c": kind}, ()) is None


def test_a_char_is_a_string_in_files() -> None:
    (found,) = columns(StructField("c", CharType(3)), padded=("c",))
    assert found == FileColumn("c", Kind.STRING, pa.string(), True)
