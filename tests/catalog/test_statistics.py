"""Statistics and constraints between Hive's structs and plain data."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from metastored.catalog.hive_constraints import constraints_of, hive_constraints
from metastored.catalog.hive_statistics import column_statistics, hive_statistics, table_statistics, with_counts
from metastored.catalog.status import ColumnStatistics, Constraint, ConstraintKind, TableStatistics
from metastored.errors import ConversionError, InvalidInputException
from metastored.model.names import TableName
from metastored.model.spark.statistics import stats_to_properties
from metastored.model.spark.values import CatalogStatistics, ColumnStat
from metastored.wire.codec import binary
from metastored.wire.generated.common import (
    ColumnStatisticsData,
    ColumnStatisticsObj,
    LongColumnStatsData,
    SQLPrimaryKey,
    Timestamp,
    TimestampColumnStatsData,
)

HERE = TableName("", "db", "t")


@pytest.mark.parametrize(
    ("type", "given"),
    [
        ("boolean", ColumnStatistics(null_count=1, true_count=2, false_count=3)),
        ("int", ColumnStatistics(null_count=0, distinct_count=2, min=-1, max=7)),
        ("bigint", ColumnStatistics(null_count=0, distinct_count=0)),
        ("double", ColumnStatistics(null_count=0, distinct_count=2, min=0.5, max=1.5)),
        ("decimal(10,2)", ColumnStatistics(null_count=0, distinct_count=2, min=Decimal("-1.25"), max=Decimal("3.10"))),
        ("date", ColumnStatistics(null_count=0, distinct_count=2, min=date(1969, 12, 31), max=date(2024, 2, 29))),
        (
            "timestamp",
            ColumnStatistics(null_count=0, distinct_count=1, min=datetime(2024, 1, 1, tzinfo=UTC)),
        ),
        (
            "timestamp with local time zone",
            ColumnStatistics(null_count=0, distinct_count=1, max=datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ),
        ("DECIMAL (10, 2)", ColumnStatistics(null_count=0, distinct_count=1, min=Decimal("1.00"))),
        ("varchar(9)", ColumnStatistics(null_count=0, distinct_count=2, average_length=2.5, max_length=9)),
        ("binary", ColumnStatistics(null_count=4, average_length=2.5, max_length=9)),
    ],
)
def test_statistics_of_each_type_are_converted_and_back(type: str, given: ColumnStatistics) -> None:
    sent = hive_statistics("c", type, given)
    assert column_statistics(binary.decode(ColumnStatisticsObj, binary.encode(sent))) == given


@pytest.mark.parametrize(
    ("type", "least", "message"),
    [
        ("array<int>", None, r"is a array<int>, of which Hive has no statistics"),
        ("int", "soon", "'soon' and None are no values of it"),
        ("date", 7, "7 and None are no values of it"),
        ("decimal(3,1)", "x", "no values of it"),
        ("timestamp", 3, "no values of it"),
        (
            "timestamp",
            datetime(2024, 1, 1, 0, 0, 0, 5),
            "a fraction of a second, and statistics have whole",
        ),
    ],
)
def test_values_of_another_type_are_refused(type: str, least: str | int | datetime | None, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        hive_statistics("c", type, ColumnStatistics(min=least))


def test_a_timestamp_without_a_zone_is_in_utc() -> None:
    sent = hive_statistics("c", "timestamp", ColumnStatistics(min=datetime(2024, 1, 1, 12)))
    assert column_statistics(sent).min == datetime(2024, 1, 1, 12, tzinfo=UTC)


def test_statistics_of_timestamps_are_read_in_both_kinds() -> None:
    both = (
        ColumnStatisticsData(timestampStats=TimestampColumnStatsData(Timestamp(-1), Timestamp(5), 1, 2)),
        ColumnStatisticsData(longStats=LongColumnStatsData(-1, 5, 1, 2)),
    )
    first, second = (column_statistics(ColumnStatisticsObj("c", "timestamp", each)) for each in both)
    assert first == second
    assert first.min == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)


def test_counts_are_stored_in_parameters() -> None:
    parameters = with_counts({"a": "1"}, TableStatistics(row_count=7, total_size=100, file_count=2))
    assert {key: parameters[key] for key in ("a", "numRows", "totalSize", "numFiles")} == {
        "a": "1", "numRows": "7", "totalSize": "100", "numFiles": "2",
    }  # fmt: skip
    assert "COLUMN_STATS_ACCURATE" in parameters
    assert table_statistics(parameters, {}) == TableStatistics(row_count=7, total_size=100, file_count=2)
    assert table_statistics({"numRows": "-1"}, {"c": ColumnStatisticsObj("c", "int")}) == TableStatistics(
        columns={"c": ColumnStatistics()}
    )
    assert with_counts(None, TableStatistics(total_size=1)) == {"totalSize": "1"}


# Constraints

GIVEN = [
    Constraint(kind=ConstraintKind.PRIMARY_KEY, columns=("b", "a"), name="pk", enabled=True, validated=True, rely=True),
    Constraint(kind=ConstraintKind.FOREIGN_KEY, columns=("a", "b"), name="fk", references=("o.p", ("x", "y"))),
    Constraint(kind=ConstraintKind.UNIQUE, columns=("a", "b"), name="uk"),
    Constraint(kind=ConstraintKind.NOT_NULL, columns=("a",), name="nn"),
    Constraint(kind=ConstraintKind.DEFAULT, columns=("a",), name="df", expression="1"),
    Constraint(kind=ConstraintKind.CHECK, name="ck", expression="a > b"),
]


def test_constraints_of_several_columns_are_grouped_in_their_order() -> None:
    structs = [each for kind in hive_constraints(HERE, GIVEN) for each in kind]
    assert set(constraints_of(reversed(structs))) == set(GIVEN)
    assert constraints_of([SQLPrimaryKey(column_name="a")]) == (
        Constraint(kind=ConstraintKind.PRIMARY_KEY, columns=("a",)),
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Constraint(kind=ConstraintKind.UNIQUE), r"\(unique\) needs a column"),
        (Constraint(kind=ConstraintKind.FOREIGN_KEY, columns=("a",), name="x"), r"\(foreign key x\) needs the table"),
        (
            Constraint(kind=ConstraintKind.FOREIGN_KEY, columns=("a",), references=("o.p", ("x", "y"))),
            "another number of columns",
        ),
        (Constraint(kind=ConstraintKind.CHECK), "needs an expression"),
        (Constraint(kind=ConstraintKind.DEFAULT, columns=("a", "b"), expression="1"), "is of one column"),
    ],
)
def test_invalid_constraints_are_refused(given: Constraint, message: str) -> None:
    with pytest.raises(InvalidInputException, match=message):
        hive_constraints(HERE, [given])


def test_statistics_of_spark_count_where_hive_has_none() -> None:
    types = {
        "flag": "boolean", "id": "int", "ratio": "double", "price": "decimal(10,2)", "day": "date", "at": "timestamp",
        "name": "varchar(9)",
    }  # fmt: skip
    columns = {
        "Flag": ColumnStat(2, "false", "true", 1, 1, 1),
        "Id": ColumnStat(2, "1", "7", 0, 4, 4),
        "ratio": ColumnStat(min="0.5", max="1.5"),
        "price": ColumnStat(min="-1.25", max="3.1E+3"),
        "day": ColumnStat(min="2016-05-08", max="soon"),
        "at": ColumnStat(min="2016-05-08 00:00:01.123456"),
        "name": ColumnStat(null_count=0, avg_len=3, max_len=9),
    }
    parameters = {"totalSize": "0", **stats_to_properties(CatalogStatistics(55, 9, columns))}
    found = table_statistics(parameters, {}, types)
    assert (found.row_count, found.total_size, found.file_count) == (9, 55, None)
    assert found.columns == {
        "flag": ColumnStatistics(null_count=1, distinct_count=2, min=False, max=True),
        "id": ColumnStatistics(null_count=0, distinct_count=2, min=1, max=7),
        "ratio": ColumnStatistics(min=0.5, max=1.5),
        "price": ColumnStatistics(min=Decimal("-1.25"), max=Decimal(3100)),
        "day": ColumnStatistics(min=date(2016, 5, 8)),
        "at": ColumnStatistics(min=datetime(2016, 5, 8, 0, 0, 1, 123456, tzinfo=UTC)),
        "name": ColumnStatistics(null_count=0, average_length=3.0, max_length=9),
    }
    hives = hive_statistics("id", "int", ColumnStatistics(null_count=3, distinct_count=4, min=5, max=6))
    both = table_statistics({**parameters, "numRows": "8", "totalSize": "44"}, {"id": hives}, types)
    assert (both.row_count, both.total_size) == (8, 44)
    assert both.columns["id"] == ColumnStatistics(null_count=3, distinct_count=4, min=5, max=6)


def test_statistics_that_spark_cannot_read_are_none() -> None:
    assert table_statistics({"spark.sql.statistics.numRows": "1"}, {}) == TableStatistics()
