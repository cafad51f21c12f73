"""Glue's statistics of columns as Hive's. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

from metastored.wire.generated.common import (
    BinaryColumnStatsData,
    BooleanColumnStatsData,
    ColumnStatisticsData,
    ColumnStatisticsObj,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    DoubleColumnStatsData,
    LongColumnStatsData,
    StringColumnStatsData,
)

_EPOCH: Final = date(1970, 1, 1)


def statistics_of(answer: Mapping[str, Any]) -> ColumnStatisticsObj:
    """The statistics of one column."""
    data = answer["StatisticsData"]
    kind = data["Type"]
    field, read = _KINDS[kind]
    numbers = data.get(f"{kind.capitalize()}ColumnStatisticsData") or {}
    return ColumnStatisticsObj(
        answer["ColumnName"], answer.get("ColumnType"), ColumnStatisticsData(**{field: read(numbers)})
    )


def _range(kind: Callable[..., Any], read: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Any]:
    def of(data: Mapping[str, Any]) -> Any:
        low, high = data.get("MinimumValue"), data.get("MaximumValue")
        return kind(
            lowValue=None if low is None else read(low),
            highValue=None if high is None else read(high),
            numNulls=data.get("NumberOfNulls", 0),
            numDVs=data.get("NumberOfDistinctValues", 0),
        )

    return of


def _decimal(value: Mapping[str, Any]) -> Decimal:
    return Decimal(unscaled=bytes(value["UnscaledValue"]), scale=value["Scale"])


def _date(value: datetime) -> Date:
    at = value.astimezone(UTC) if value.tzinfo is not None else value
    return Date(daysSinceEpoch=(at.date() - _EPOCH).days)


def _string(data: Mapping[str, Any]) -> StringColumnStatsData:
    return StringColumnStatsData(
        maxColLen=data.get("MaximumLength", 0),
        avgColLen=data.get("AverageLength", 0.0),
        numNulls=data.get("NumberOfNulls", 0),
        numDVs=data.get("NumberOfDistinctValues", 0),
    )


def _binary(data: Mapping[str, Any]) -> BinaryColumnStatsData:
    return BinaryColumnStatsData(
        maxColLen=data.get("MaximumLength", 0),
        avgColLen=data.get("AverageLength", 0.0),
        numNulls=data.get("NumberOfNulls", 0),
    )


def _boolean(data: Mapping[str, Any]) -> BooleanColumnStatsData:
    return BooleanColumnStatsData(
        numTrues=data.get("NumberOfTrues", 0),
        numFalses=data.get("NumberOfFalses", 0),
        numNulls=data.get("NumberOfNulls", 0),
    )


_KINDS: Final[dict[str, tuple[str, Callable[[Mapping[str, Any]], Any]]]] = {
    "BOOLEAN": ("booleanStats", _boolean),
    "LONG": ("longStats", _range(LongColumnStatsData, int)),
    "DOUBLE": ("doubleStats", _range(DoubleColumnStatsData, float)),
    "DECIMAL": ("decimalStats", _range(DecimalColumnStatsData, _decimal)),
    "DATE": ("dateStats", _range(DateColumnStatsData, _date)),
    "STRING": ("stringStats", _string),
    "BINARY": ("binaryStats", _binary),
}
