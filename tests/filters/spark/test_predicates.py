"""Predicates over the values of partitions, as texts and as expressions of pyarrow, mean what they mean in Spark."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow.compute as pc
import pytest

from metastored.errors import SparkCatalogError
from metastored.filters.spark.predicates import matching_rows, parse_predicate, partition_table, selects
from metastored.hive.names import DEFAULT_PARTITION
from metastored.model.spark.types import (
    DATE,
    INTEGER,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DecimalType,
    StructType,
    VarcharType,
)

SCHEMA = (
    StructType().add("a", INTEGER).add("B", STRING).add("d", DATE).add("t", TIMESTAMP).add("n", TIMESTAMP_NTZ)
    .add("m", DecimalType(10, 2)).add("v", VarcharType(5))
)  # fmt: skip
ROW = ("3", "x.y", "2024-02-29", "2024-02-29 12:00:00", "2024-02-29 12:00:00", "2.50", "Xy")
NULLS = (DEFAULT_PARTITION,) * len(SCHEMA)


def holds(text: str, row: tuple[str, ...] = ROW, zone: str = "UTC") -> bool:
    return selects(text, parse_predicate(text, SCHEMA, zone), SCHEMA)([row]) == [0]


def condition(text: str) -> str:
    with pytest.raises(SparkCatalogError) as caught:
        holds(text)
    return caught.value.condition


@pytest.mark.parametrize(
    "text",
    [
        "a = 3", "A = 3", "a * 10 IN (30)", "a + 1 = 4", "a-1=2", "2 - a = -1", "(a + 1) * 2 = 8", "a + 1 * 2 = 5",
        "a % 2 = 1", "a / 2 = 1.5", "-a = -3", "a <=> 3", "NOT a <=> NULL", "b = 'x.y'", "B <> 'z'",
        "contains(B, '.')", "startswith(B, 'x')", "endswith(B, 'y')", "NOT startswith(B, 'y')", "B LIKE 'x%'",
        "d = DATE '2024-02-29'", "d BETWEEN '2024-02-01' AND '2024-03-01'", "t >= TIMESTAMP '2024-02-29 12:00:00'",
        "n = TIMESTAMP '2024-02-29 12:00:00'", "m = 2.5", "v = 'Xy'", "a IS NOT NULL", "CAST(B AS INT) IS NULL",
        "a IN (1, NULL, 3)", "a = 4 OR NOT a IN (4)",
    ],
)  # fmt: skip
def test_predicates_that_hold(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize("text", ["a NOT IN (1, NULL)", "B LIKE 'x.*'", "a = NULL", "a <=> NULL", "a + NULL = 3"])
def test_predicates_that_do_not_hold(text: str) -> None:
    assert not holds(text)


@pytest.mark.parametrize("text", ["a = 3", "a != 3", "B = 'x'", "B != 'x'", "NOT B LIKE 'x%'", "d > '2000-01-01'"])
def test_the_default_partition_is_null_also_of_a_string_column(text: str) -> None:
    assert not holds(text, NULLS)
    assert holds("B IS NULL AND a <=> NULL AND B <=> NULL", NULLS)


def test_a_timestamp_with_an_offset_is_read_in_the_time_zone_of_the_session() -> None:
    text = "t = TIMESTAMP '2024-02-29 11:00:00+00:00'"
    assert holds(text, zone="Europe/Berlin")
    assert not holds(text, zone="UTC")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("col1 = 1", "_LEGACY_ERROR_TEMP_1205"),
        ("a = 1 AND upper(other) = 'x'", "_LEGACY_ERROR_TEMP_1205"),
        ("a = = 1", "PARSE_SYNTAX_ERROR"),
        ("a = DATE '2024-01-01'", "DATATYPE_MISMATCH"),
        ("a", "DATATYPE_MISMATCH"),
    ],
)
def test_a_predicate_that_cannot_be_used_is_an_error_with_sparks_name(text: str, expected: str) -> None:
    assert condition(text) == expected


def test_an_unknown_time_zone_is_an_error() -> None:
    with pytest.raises(SparkCatalogError, match="not a time zone") as caught:
        parse_predicate("a = 1", SCHEMA, "Mars/Olympus")
    assert caught.value.condition == "INVALID_TIMEZONE"


ROWS = [ROW, NULLS, ("none", "z", "nonsense", "2024-01-01", "2024-01-01 00:00:00", "1.00", "Z")]


def test_the_values_of_partitions_are_an_arrow_table_with_the_types_of_the_columns() -> None:
    found = partition_table(SCHEMA, ROWS).to_pylist()
    assert found[0]["a"] == 3
    assert found[0]["B"] == "x.y"
    assert found[0]["d"] == date(2024, 2, 29)
    assert found[0]["t"] == datetime(2024, 2, 29, 12)
    assert set(found[1].values()) == {None}
    assert (found[2]["a"], found[2]["d"]) == (None, None)


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        (pc.field("a") * 10 == 30, [0]),
        (pc.field("B").isin(["z", "x.y"]), [0, 2]),
        (pc.field("d") > date(2024, 1, 1), [0]),
        (pc.field("a").is_null(), [1, 2]),
        (pc.field("a") != 4, [0]),
        (pc.starts_with(pc.field("B"), "x"), [0]),
    ],
)
def test_an_expression_selects_partitions(expression: pc.Expression, rows: list[int]) -> None:
    assert matching_rows(expression, SCHEMA, ROWS) == rows


def test_a_predicate_selects_partitions_by_their_numbers() -> None:
    rows = [ROW, NULLS, ROW]
    assert selects("a = 3", parse_predicate("a = 3", SCHEMA), SCHEMA)(rows) == [0, 2]
    assert selects("a = 4", parse_predicate("a = 4", SCHEMA), SCHEMA)(rows) == []
    assert selects("a = 4", parse_predicate("a = 4", SCHEMA), SCHEMA)([]) == []


def test_an_expression_over_another_column_is_an_error() -> None:
    with pytest.raises(SparkCatalogError) as caught:
        matching_rows(pc.field("col1") == 1, SCHEMA, ROWS)
    assert caught.value.condition == "_LEGACY_ERROR_TEMP_1205"


def test_an_expression_that_does_not_fit_the_types_is_an_error() -> None:
    with pytest.raises(SparkCatalogError) as caught:
        matching_rows(pc.field("d") == 1.5, SCHEMA, ROWS)
    assert caught.value.condition == "DATATYPE_MISMATCH"
