"""Statistics of columns in Spark's form, as `ANALYZE TABLE … FOR COLUMNS` computes them. Pure.

Lengths are those of values that are not null; of types with a fixed width, Spark's default size. Strings and binaries
have no bounds.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

import numpy as np

from metastored.errors import ConversionError
from metastored.model.spark.bounds import Bound as SparkBound
from metastored.model.spark.bounds import to_external_string
from metastored.model.spark.types import AtomicType, DataType, DecimalType
from metastored.model.spark.values import ColumnStat, Histogram
from metastored.spark.statistics.summaries import Bound, Kind, Summary

_SIZES: Final = {
    "boolean": 1, "byte": 1, "short": 2, "integer": 4, "long": 8, "float": 4, "double": 8, "date": 4, "timestamp": 8,
    "timestamp_ntz": 8,
}  # fmt: skip
STRING_SIZE: Final = 20
BINARY_SIZE: Final = 100
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def to_spark(name: str, type: DataType, summary: Summary, histogram: Histogram | None = None) -> ColumnStat:
    """The statistics of a column of this type."""
    if summary.kind.has_lengths:
        size = STRING_SIZE if summary.kind is Kind.STRING else BINARY_SIZE
        average = math.ceil(summary.total_length / summary.values) if summary.values else size
        longest = summary.max_length if summary.values else size
    else:
        average = longest = default_size(type)
    low, high = _bounds(name, type, summary)
    return ColumnStat(summary.distinct_values, low, high, summary.nulls, average, longest, histogram)


def default_size(type: DataType) -> int:
    """Spark's default size of a type with a fixed width."""
    if isinstance(type, DecimalType):
        return 8 if type.precision <= 18 else 16
    if isinstance(type, AtomicType) and type.name in _SIZES:
        return _SIZES[type.name]
    raise ConversionError(f"the type {type} has no fixed width")


def _bounds(name: str, type: DataType, summary: Summary) -> tuple[str | None, str | None]:
    if summary.kind is Kind.BOOLEAN:
        if not summary.values:
            return None, None
        return str(summary.trues == summary.values).lower(), str(summary.trues > 0).lower()
    low, high = summary.low, summary.high
    if low is None or high is None or not all(_is_finite(each) for each in (low, high)):
        return None, None
    try:
        return to_external_string(_plain(low, summary.kind), name, type), to_external_string(
            _plain(high, summary.kind), name, type
        )
    except OverflowError:
        return None, None  # Years after 9999, which Python's dates do not have.


def _is_finite(value: Bound) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _plain(value: Bound, kind: Kind) -> SparkBound:
    match kind:
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=int(value))
        case Kind.TIMESTAMP:
            return _EPOCH + timedelta(microseconds=int(value))
        case Kind.FLOAT:
            return float(str(np.float32(value)))
        case Kind.DECIMAL:
            return Decimal(value)
    return value
