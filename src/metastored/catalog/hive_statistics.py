"""Statistics between Hive's structs, one kind for each family of types, and this room's own. Pure.

Hive keeps the number of rows, bytes and files among a table's or a partition's parameters, and says in another one
whether they can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from metastored.catalog.status import ColumnStatistics, TableStatistics
from metastored.errors import ConversionError
from metastored.hive.statistics.basic import set_basic_state
from metastored.hive.types.decimals import decimal_parts, decimal_value
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
    parameters: Mapping[str, str] | None, columns: Mapping[str, ColumnStatisticsObj]
) -> TableStatistics:
    given = parameters or {}
    counts = {name: _number(given.get(key)) for name, key in _COUNTS.items()}
    return TableStatistics(**counts, columns={name: column_statistics(each) for name, each in columns.items()})


def with_counts(parameters: Mapping[str, str] | None, given: TableStatistics) -> dict[str, str]:
    """The parameters with the counts that are given, marked as true."""
    counts = {key: getattr(given, name) for name, key in _COUNTS.items()}
    found = {**(parameters or {}), **{key: str(value) for key, value in counts.items() if value is not None}}
    return set_basic_state(found) if given.row_count is not None else found


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def column_statistics(found: ColumnStatisticsObj) -> ColumnStatistics:
    data = found.statsData or ColumnStatisticsData()
    one: Any = next((each for each in data if each is not None), None)
    if one is None:
        return ColumnStatistics()
    if isinstance(one, BooleanColumnStatsData):
        return ColumnStatistics(null_count=one.numNulls, true_count=one.numTrues, false_count=one.numFalses)
    lengths: dict[str, Any] = {}
    if isinstance(one, (StringColumnStatsData, BinaryColumnStatsData)):
        lengths = {"average_length": one.avgColLen, "max_length": one.maxColLen}
    return ColumnStatistics(
        null_count=one.numNulls,
        distinct_count=getattr(one, "numDVs", None),
        min=_value(getattr(one, "lowValue", None)),
        max=_value(getattr(one, "highValue", None)),
        **lengths,
    )


def _value(value: Any) -> Any:
    if isinstance(value, HiveDecimal):
        return decimal_value((value.unscaled, value.scale))
    if isinstance(value, Date):
        return _EPOCH + timedelta(days=value.daysSinceEpoch or 0)
    if isinstance(value, Timestamp):
        return datetime.fromtimestamp(value.secondsSinceEpoch or 0, UTC)
    return value


def hive_statistics(column: str, type: str, given: ColumnStatistics) -> ColumnStatisticsObj:
    """The struct that Hive keeps for a column of this type."""
    word = type.split("(")[0].split("<")[0]
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
                low, high = _each(lambda value: Timestamp(int(value.timestamp())), given)
                data = ColumnStatisticsData(timestampStats=TimestampColumnStatsData(low, high, nulls, distinct))
            case "string" | "char" | "varchar":
                lengths = given.max_length or 0, given.average_length or 0.0
                data = ColumnStatisticsData(stringStats=StringColumnStatsData(*lengths, nulls, distinct))
            case "binary":
                lengths = given.max_length or 0, given.average_length or 0.0
                data = ColumnStatisticsData(binaryStats=BinaryColumnStatsData(*lengths, nulls))
            case _:
                raise ConversionError(f"column {column!r} is a {type}, of which Hive keeps no statistics")
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ConversionError(
            f"column {column!r} is a {type}: {given.min!r} and {given.max!r} are no values of it"
        ) from error
    return ColumnStatisticsObj(column, type, data)


def _each(convert: Any, given: ColumnStatistics) -> tuple[Any, Any]:
    low, high = given.min, given.max
    return (None if low is None else convert(low)), (None if high is None else convert(high))
