"""The statistics of one column over some rows: as values that merge, and gathered from Arrow arrays.

Bounds are plain values: integers also for dates (days) and timestamps (microseconds), float, or Decimal. Summaries of
two sets of rows merge into that of all rows, so tasks and partitions are merged on the driver. Nothing here knows how
Hive or Spark store statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metastored.hive.statistics.ndv import HyperLogLog
from metastored.spark.statistics.sketches import SketchBuilder, hash_doubles, hash_longs, hash_texts

MICROSECONDS: Final = 1_000_000
_EXACT_DIGITS: Final = 15
"""A whole number of so many digits is a double, and its quotient by a power of ten is rounded once, as Java does."""

Bound = int | float | Decimal


class Kind(Enum):
    """The kinds of columns that have statistics."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def has_lengths(self) -> bool:
        return self in (Kind.STRING, Kind.BINARY)

    @property
    def has_bounds(self) -> bool:
        return self not in (Kind.STRING, Kind.BINARY, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Summary:
    """The statistics of a column over some rows."""

    kind: Kind
    rows: int = 0
    nulls: int = 0
    low: Bound | None = None
    """The lowest value; None if there are only nulls. Not a number, NaN, is above all numbers, as in Spark."""
    high: Bound | None = None
    total_length: int = 0
    """Characters of strings, bytes of binaries."""
    max_length: int = 0
    trues: int = 0
    sketch: HyperLogLog | None = None
    """None for booleans, and where the metastore returned no bit vector."""
    distinct: int = 0
    """The number of distinct values of a summary without a sketch."""

    @property
    def values(self) -> int:
        """How many values are not null."""
        return self.rows - self.nulls

    @property
    def distinct_values(self) -> int:
        """The estimated number of distinct values, never more than there are values."""
        if self.kind is Kind.BOOLEAN:
            return int(self.trues > 0) + int(self.values - self.trues > 0)
        return min(self.distinct if self.sketch is None else self.sketch.estimate(), self.values)

    def merge(self, other: Summary) -> Summary:
        """The statistics of the rows of both."""
        sketch, distinct = None, 0
        if self.sketch is not None and other.sketch is not None:
            sketch = self.sketch.merge([other.sketch])
        elif self.kind is not Kind.BOOLEAN:
            distinct = max(self.distinct_values, other.distinct_values)
        return Summary(
            self.kind,
            self.rows + other.rows,
            self.nulls + other.nulls,
            _lower(self.low, other.low),
            _higher(self.high, other.high),
            self.total_length + other.total_length,
            max(self.max_length, other.max_length),
            self.trues + other.trues,
            sketch,
            distinct,
        )


def _lower(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return one if other is None else other
    if one != one:
        return other
    return one if other != other or one <= other else other


def _higher(one: Bound | None, other: Bound | None) -> Bound | None:
    if one is None or other is None:
        return one if other is None else other
    if one != one or other != other:
        return one if one != one else other
    return max(one, other)


class ColumnBuilder:
    """Gathers the statistics of one column from Arrow arrays."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._summary = Summary(kind)
        self._sketch = SketchBuilder()

    def add(self, array: pa.Array) -> None:
        """Adds the values of an array."""
        rows, nulls = len(array), array.null_count
        present = array.drop_null() if nulls else array
        read = _READERS[self._kind]
        low, high, total, longest, trues = read(self, present) if len(present) else (None, None, 0, 0, 0)
        self._summary = self._summary.merge(Summary(self._kind, rows, nulls, low, high, total, longest, trues))

    def built(self) -> Summary:
        """The statistics of everything that was added."""
        summary = self._summary
        sketch = None if self._kind is Kind.BOOLEAN else self._sketch.built()
        return Summary(
            summary.kind, summary.rows, summary.nulls, summary.low, summary.high, summary.total_length,
            summary.max_length, summary.trues, sketch,
        )  # fmt: skip

    # Each reader adds to the sketch, and returns: lowest, highest, sum of lengths, longest, number of trues.

    def _booleans(self, array: pa.Array) -> _Read:
        return None, None, 0, 0, pc.sum(array).as_py()

    def _integers(self, array: pa.Array) -> _Read:
        values = _numbers(array)
        self._sketch.add(hash_longs(values))
        return int(values.min()), int(values.max()), 0, 0, 0

    def _dates(self, array: pa.Array) -> _Read:
        return self._integers(array.view(pa.int32()))

    def _timestamps(self, array: pa.Array) -> _Read:
        values = _numbers(array.view(pa.int64()))
        self._sketch.add(hash_longs(values // MICROSECONDS))
        return int(values.min()), int(values.max()), 0, 0, 0

    def _floats(self, array: pa.Array) -> _Read:
        numbers = _numbers(array)
        self._sketch.add(hash_doubles(numbers.astype(np.float64)))
        high = numbers.max()
        low = numbers.min() if high == high else np.fmin.reduce(numbers)
        return float(low), float(high), 0, 0, 0

    def _decimals(self, array: pa.Array) -> _Read:
        words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
        unscaled, upper = words[0::2], words[1::2]
        scale = array.type.scale
        if array.type.precision <= _EXACT_DIGITS:
            self._sketch.add(hash_doubles(unscaled / 10.0**scale))
        else:
            self._sketch.add(hash_doubles(np.array([float(each) for each in pc.unique(array).to_pylist()])))
        if array.type.precision <= 18 or bool((upper == unscaled >> 63).all()):
            low, high = (Decimal(int(each)).scaleb(-scale) for each in (unscaled.min(), unscaled.max()))
            return low, high, 0, 0, 0
        bounds = pc.min_max(array).as_py()
        return bounds["min"], bounds["max"], 0, 0, 0

    def _texts(self, array: pa.Array) -> _Read:
        if pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type):
            width: Any = np.int64
        else:
            width = np.int32
        buffers = array.buffers()
        offsets = np.frombuffer(buffers[1], width)[array.offset : array.offset + len(array) + 1]
        # An array of empty texts may have no bytes at all.
        data = np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None else np.zeros(0, np.uint8)
        first = int(offsets[0])
        data, offsets = data[first : int(offsets[-1])], offsets - first
        self._sketch.add(hash_texts(data, offsets))
        if self._kind is Kind.BINARY or not len(data) or int(data.max()) < 0x80:
            lengths: npt.NDArray[Any] = np.diff(offsets)
        else:
            lengths = pc.utf8_length(array).to_numpy()
        return None, None, int(lengths.sum(dtype=np.int64)), int(lengths.max()), 0


_Read = tuple[Bound | None, Bound | None, int, int, int]
_READERS: Final = {
    Kind.BOOLEAN: ColumnBuilder._booleans,
    Kind.INTEGER: ColumnBuilder._integers,
    Kind.FLOAT: ColumnBuilder._floats,
    Kind.DOUBLE: ColumnBuilder._floats,
    Kind.DECIMAL: ColumnBuilder._decimals,
    Kind.STRING: ColumnBuilder._texts,
    Kind.BINARY: ColumnBuilder._texts,
    Kind.DATE: ColumnBuilder._dates,
    Kind.TIMESTAMP: ColumnBuilder._timestamps,
}


def _numbers(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an array without nulls, without a copy."""
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=True)
    return numbers
