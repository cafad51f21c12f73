"""Converts statistics between Hive's structs, one for each family of types, and the classes of `status`. Pure.

Hive stores the number of rows, bytes and files in parameters of a table or a partition. Another parameter says whether
they are accurate. Spark has parameters of its own, also for columns: they count where Hive has nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from metastored.catalog.status import ColumnStatistics, TableStatistics, Value
from metastored.errors import ConversionError, SparkCatalogError
from metastored.hive.statistics.basic import set_basic_state
from metastored.hive.types.decimals import decimal_parts, decimal_value
from metastored.hive.types.type_strings import TypeSyntaxError, read_type
from metastored.model.spark.bounds import from_external_string
from metastored.model.spark.hive_types import to_spark_type
from metastored.model.spark.statistics import stats_from_properties
from metastored.model.spark.values import CatalogStatistics, ColumnStat
from metastored.model.values import seconds
from metastored.wire.generated.common import (
    BinaryColumnStatsData,
    BooleanColumnStatsData,
    ColumnStatisticsData,
    ColumnStatisticsObj,
    Date,
    DateColumnStatsData,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
    Timestamp,
    TimestampColumnStatsData,
)
from metastored.wire.generated.common import Decimal as HiveDecimal

_EPOCH: Final = date(1970, 1, 1)
_COUNTS: Final = {"row_count": "numRows", "total_size": "totalSize", "file_count": "numFiles"}


def table_statistics(
    parameters: Mapping[str, str] | None,
    columns: Mapping[str, ColumnStatisticsObj],
    types: Mapping[str, str] | None = None,
) -> TableStatistics:
    """The statistics of a table or a partition. `types` are those of the columns, by names in lower case."""
    given = parameters or {}
    counts = {name: _number(given.get(key)) for name, key in _COUNTS.items()}
    by_column = {name: column_statistics(each) for name, each in columns.items()}
    spark = _spark_statistics(given)
    if spark is not None:
        counts["row_count"] = spark.row_count if counts["row_count"] is None else counts["row_count"]
        counts["total_size"] = counts["total_size"] or spark.size_in_bytes
        for name, stat in spark.col_stats.items():
            by_column.setdefault(name.lower(), _spark_column((types or {}).get(name.lower(), ""), stat))
    return TableStatistics(**counts, columns=by_column)


def _spark_statistics(parameters: Mapping[str, str]) -> CatalogStatistics | None:
    try:
        return stats_from_properties(parameters, "")
    except SparkCatalogError:
        return None  # They have no size: Spark itself cannot read them.


def _spark_column(type: str, stat: ColumnStat) -> ColumnStatistics:
    texts = _word(type) in ("string", "char", "varchar", "binary")
    return ColumnStatistics(
        null_count=stat.null_count,
        distinct_count=stat.distinct_count,
        min=_spark_value(type, stat.min, stat.version),
        max=_spark_value(type, stat.max, stat.version),
        average_length=float(stat.avg_len) if texts and stat.avg_len is not None else None,
        max_length=stat.max_len if texts else None,
    )


def _spark_value(type: str, text: str | None, version: int) -> Value | None:
    """A bound as Spark writes it; None where it cannot be read."""
    if text is None:
        return None
    try:
        return from_external_string(text, "", to_spark_type(read_type(type)), version)
    except (ConversionError, SparkCatalogError, TypeSyntaxError):
        return None


def with_counts(parameters: Mapping[str, str] | None, given: TableStatistics) -> dict[str, str]:
    """Returns the parameters with the counts of `given`, marked as accurate."""
    counts = {key: getattr(given, name) for name, key in _COUNTS.items()}
    with_numbers = {**(parameters or {}), **{key: str(value) for key, value in counts.items() if value is not None}}
    return set_basic_state(with_numbers) if given.row_count is not None else with_numbers


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def column_statistics(struct: ColumnStatisticsObj) -> ColumnStatistics:
    data = struct.statsData or ColumnStatisticsData()
    one: Any = next((each for each in data if each is not None), None)
    if one is None:
        return ColumnStatistics()
    if isinstance(one, LongColumnStatsData) and _word(struct.colType or "").startswith("timestamp"):
        # Hive before 4 has no statistics of timestamps: they are numbers of seconds.
        low, high = (None if each is None else Timestamp(each) for each in (one.lowValue, one.highValue))
        one = TimestampColumnStatsData(low, high, one.numNulls, one.numDVs)
    if isinstance(one, BooleanColumnStatsData):
        return ColumnStatistics(null_count=one.numNulls, true_count=one.numTrues, false_count=one.numFalses)
    lengths: dict[str, Any] = {}
    if isinstance(one, (StringColumnStatsData, BinaryColumnStatsData)):
        lengths = {"average_length": one.avgColLen, "max_length": one.maxColLen}
    return ColumnStatistics(
        null_count=one.numNulls,
        distinct_count=getattr(one, "numDVs", None),
        min=plain_bound(getattr(one, "lowValue", None)),
        max=plain_bound(getattr(one, "highValue", None)),
        **lengths,
    )


def plain_bound(value: Any) -> Any:
    """The lowest or highest value of a column as Python's number, date or datetime; None for None."""
    if isinstance(value, HiveDecimal):
        return decimal_value((value.unscaled, value.scale))
    if isinstance(value, Date):
        return _EPOCH + timedelta(days=value.daysSinceEpoch or 0)
    if isinstance(value, Timestamp):
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value.secondsSinceEpoch or 0)
    return value


def _word(type: str) -> str:
    """The name of a type in lower case, without its parameters."""
    try:
        parsed = read_type(type)
    except TypeSyntaxError:
        return type
    return str(parsed).split("(")[0].split("<")[0]


def _seconds(value: Any) -> int:
    """A timestamp as statistics have it: whole seconds, in UTC where it has no zone."""
    if value.microsecond:
        raise ConversionError(f"{value} has a fraction of a second, and statistics have whole seconds: round it")
    return seconds(value)


def hive_statistics(column: str, type: str, given: ColumnStatistics) -> ColumnStatisticsObj:
    """Returns the struct of Hive for a column of this type. Raises ConversionError."""
    word = _word(type)
    nulls, distinct = given.null_count or 0, given.distinct_count or 0
    try:
        match word:
            case "boolean":
                data = ColumnStatisticsData(
                    booleanStats=BooleanColumnStatsData(given.true_count or 0, given.false_count or 0, nulls)
                )
            case "tinyint" | "smallint" | "int" | "bigint":
                low, high = _each(int, given)
                data = ColumnStatisticsData(longStats=LongColumnStatsData(low, high, nulls, distinct))
            case "float" | "double":
                low, high = _each(float, given)
                data = ColumnStatisticsData(doubleStats=DoubleColumnStatsData(low, high, nulls, distinct))
            case "decimal":
                low, high = _each(lambda value: HiveDecimal(*decimal_parts(Decimal(value))), given)
                data = ColumnStatisticsData(decimalStats=DecimalColumnStatsData(low, high, nulls, distinct))
            case "date":
                low, high = _each(lambda value: Date((value - _EPOCH).days), given)
                data = ColumnStatisticsData(dateStats=DateColumnStatsData(low, high, nulls, distinct))
            case "timestamp" | "timestamp with local time zone":
                low, high = _each(_seconds, given)
                # Every version stores these; Hive before 4 refuses its own kind for timestamps.
                data = ColumnStatisticsData(longStats=LongColumnStatsData(low, high, nulls, distinct))
            case "string" | "char" | "varchar":
                lengths = given.max_length or 0, given.average_length or 0.0
                data = ColumnStatisticsData(stringStats=StringColumnStatsData(*lengths, nulls, distinct))
            case "binary":
                lengths = given.max_length or 0, given.average_length or 0.0
                data = ColumnStatisticsData(binaryStats=BinaryColumnStatsData(*lengths, nulls))
            case _:
                raise ConversionError(f"column {column!r} is a {type}, of which Hive has no statistics")
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ConversionError(
            f"column {column!r} is a {type}: {given.min!r} and {given.max!r} are no values of it"
        ) from error
    return ColumnStatisticsObj(column, type, data)


def _each(convert: Any, given: ColumnStatistics) -> tuple[Any, Any]:
    low, high = given.min, given.max
    return (None if low is None else convert(low)), (None if high is None else convert(high))
