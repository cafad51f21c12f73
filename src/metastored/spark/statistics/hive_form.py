"""Statistics of columns in Hive's form: the struct of each kind, written and read. Pure.

Hive's own statements compute the same: the average length counts nulls as empty, timestamps are whole seconds, and a
column of floating point numbers with NaN or infinity among its bounds has no statistics.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from metastored.hive.statistics import ndv
from metastored.hive.types.decimals import decimal_parts, decimal_value
from metastored.spark.statistics.summaries import MICROSECONDS, Bound, Kind, Summary
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
from metastored.wire.generated.common import Decimal as DecimalStruct


def to_hive(
    name: str, type: str, summary: Summary, *, timestamps: bool, histogram: bytes | None = None
) -> ColumnStatisticsObj | None:
    """The struct of a column with this Hive type; None where Hive has no statistics.

    Without `timestamps`, for servers before Hive 4, statistics of timestamps are those of integers. `histogram` is
    Hive 4's KLL sketch.
    """
    data = _data(summary, timestamps, histogram)
    return None if data is None else ColumnStatisticsObj(name.lower(), type, data)


def _data(summary: Summary, timestamps: bool, histogram: bytes | None) -> ColumnStatisticsData | None:
    nulls = summary.nulls
    low: Any = summary.low
    high: Any = summary.high
    if summary.kind is Kind.BOOLEAN:
        return ColumnStatisticsData(
            booleanStats=BooleanColumnStatsData(summary.trues, summary.values - summary.trues, nulls)
        )
    average = summary.total_length / summary.rows if summary.rows else 0.0
    if summary.kind is Kind.BINARY:
        return ColumnStatisticsData(binaryStats=BinaryColumnStatsData(summary.max_length, average, nulls))
    distinct = summary.distinct if summary.sketch is None else summary.sketch.estimate()
    bits = None if summary.sketch is None else summary.sketch.serialize()
    match summary.kind:
        case Kind.STRING:
            return ColumnStatisticsData(
                stringStats=StringColumnStatsData(summary.max_length, average, nulls, distinct, bits)
            )
        case Kind.INTEGER:
            return ColumnStatisticsData(longStats=LongColumnStatsData(low, high, nulls, distinct, bits, histogram))
        case Kind.FLOAT | Kind.DOUBLE:
            if not all(each is None or math.isfinite(each) for each in (low, high)):
                return None
            return ColumnStatisticsData(doubleStats=DoubleColumnStatsData(low, high, nulls, distinct, bits, histogram))
        case Kind.DECIMAL:
            first, last = (
                None if each is None else DecimalStruct(*decimal_parts(Decimal(each))) for each in (low, high)
            )
            return ColumnStatisticsData(
                decimalStats=DecimalColumnStatsData(first, last, nulls, distinct, bits, histogram)
            )
        case Kind.DATE:
            begin, end = (None if each is None else Date(int(each)) for each in (low, high))
            return ColumnStatisticsData(dateStats=DateColumnStatsData(begin, end, nulls, distinct, bits, histogram))
    low, high = (None if each is None else int(each) // MICROSECONDS for each in (low, high))
    if not timestamps:
        return ColumnStatisticsData(longStats=LongColumnStatsData(low, high, nulls, distinct, bits, histogram))
    since, until = (None if each is None else Timestamp(each) for each in (low, high))
    return ColumnStatisticsData(timestampStats=TimestampColumnStatsData(since, until, nulls, distinct, bits, histogram))


def from_hive(statistics: ColumnStatisticsObj, kind: Kind, rows: int) -> Summary | None:
    """The statistics of a column over so many rows; None if they are of another kind than the column.

    The highest timestamp is the last microsecond of its second.
    """
    data = statistics.statsData or ColumnStatisticsData()
    form: Any = next((each for each in data if each is not None), None)
    if form is None or not isinstance(form, _STRUCTS[kind]):
        return None
    nulls = form.numNulls or 0
    if kind is Kind.BOOLEAN:
        return Summary(kind, rows, nulls, trues=form.numTrues or 0)
    if kind.has_lengths:
        total = round((form.avgColLen or 0.0) * rows)
        sketch = ndv.read(form.bitVectors) if kind is Kind.STRING else None
        distinct = form.numDVs or 0 if kind is Kind.STRING else 0
        low = high = None
        longest = form.maxColLen or 0
    else:
        low, high = (_bound(each, kind) for each in (form.lowValue, form.highValue))
        if kind is Kind.TIMESTAMP and isinstance(high, int):
            high += MICROSECONDS - 1
        total = longest = 0
        sketch, distinct = ndv.read(form.bitVectors), form.numDVs or 0
    known = sketch if isinstance(sketch, ndv.HyperLogLog) else None
    return Summary(kind, rows, nulls, low, high, total, longest, sketch=known, distinct=distinct)


_STRUCTS: dict[Kind, Any] = {
    Kind.BOOLEAN: BooleanColumnStatsData,
    Kind.INTEGER: LongColumnStatsData,
    Kind.FLOAT: DoubleColumnStatsData,
    Kind.DOUBLE: DoubleColumnStatsData,
    Kind.DECIMAL: DecimalColumnStatsData,
    Kind.STRING: StringColumnStatsData,
    Kind.BINARY: BinaryColumnStatsData,
    Kind.DATE: DateColumnStatsData,
    Kind.TIMESTAMP: (TimestampColumnStatsData, LongColumnStatsData),
}


def _bound(value: Any, kind: Kind) -> Bound | None:
    match value:
        case None:
            return None
        case DecimalStruct():
            return decimal_value(value)
        case Date():
            return value.daysSinceEpoch
        case Timestamp():
            value = value.secondsSinceEpoch
    plain: Bound = value
    return plain * MICROSECONDS if kind is Kind.TIMESTAMP else plain
