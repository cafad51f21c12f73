"""Histograms of columns: Spark's of equal heights, and the KLL sketches of Hive 4.

A pass before that of the other statistics computes the quantiles of each column, and the sketches of each partition, by
aggregates of Spark's own. The bounds of the bins are the quantiles; the distinct values of each bin are counted in the
pass of the other statistics.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from metastored.hive.statistics.ndv import PRECISION, HyperLogLog
from metastored.model.spark.values import Histogram, HistogramBin
from metastored.spark.statistics.sketches import hash_doubles, hash_longs, ranks
from metastored.spark.statistics.summaries import Kind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ACCURACY: Final = 10_000
"""The relative error of a quantile is the inverse: spark.sql.statistics.percentile.accuracy."""
KLL_SIZE: Final = 200
"""The parameter k of Hive's sketches."""
BINS: Final = "spark.sql.statistics.histogram.numBins"
HISTOGRAM_KINDS: Final = (Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP)
_REGISTERS: Final = 1 << PRECISION

Bounds = npt.NDArray[np.float64]


def number_of(column: Column, kind: Kind, type: str) -> Column:
    """The number by which Spark's histograms order a value: days of dates, microseconds of timestamps."""
    from pyspark.sql import functions as F

    if kind is Kind.DATE:
        column = F.unix_date(column)
    elif kind is Kind.TIMESTAMP:
        column = F.unix_micros(column if type == "timestamp" else F.to_utc_timestamp(column.cast("timestamp"), _zone()))
    return column.cast("double")


def _zone() -> Column:
    from pyspark.sql import functions as F

    return F.current_timezone()


def _kll_number(number: Column, kind: Kind) -> Column:
    """The number that Hive adds to its sketches: seconds of dates and timestamps."""
    if kind is Kind.DATE:
        number = number * 86400.0
    elif kind is Kind.TIMESTAMP:
        number = number / 1_000_000.0
    return number.cast("float")


def quantiles(frame: DataFrame, columns: Mapping[str, Column], bins: int) -> dict[str, Bounds]:
    """The bounds of the bins of each column; columns without values are left out. Runs a job."""
    from pyspark.sql import functions as F

    parts = [at / bins for at in range(bins + 1)]
    row = frame.agg(
        *(F.percentile_approx(each, parts, ACCURACY).alias(f"c{at}") for at, each in enumerate(columns.values()))
    ).collect()[0]
    return {name: np.array(bounds, np.float64) for name, bounds in zip(columns, row, strict=True) if bounds is not None}


def kll_sketches(
    frame: DataFrame, key: Column, columns: Mapping[str, Column], kinds: Mapping[str, Kind]
) -> dict[int, dict[str, bytes]]:
    """Hive's histograms of each column, by the key of the rows. Runs a job."""
    from pyspark.sql import functions as F

    numbers = [_kll_number(each, kinds[name]).alias(f"c{at}") for at, (name, each) in enumerate(columns.items())]
    sketches = [F.expr(f"kll_sketch_agg_float(c{at}, {KLL_SIZE})") for at in range(len(columns))]
    by_number: dict[int, dict[str, bytes]] = {}
    for row in frame.select(key.alias("key"), *numbers).groupBy("key").agg(*sketches).collect():
        of_columns = zip(columns, row[1:], strict=True)
        by_number[row[0]] = {name: bytes(data) for name, data in of_columns if data is not None}
    return by_number


class BinCounter:
    """Counts the distinct values of each bin of a column, by a HyperLogLog for each."""

    def __init__(self, kind: Kind, bounds: Bounds, registers: npt.NDArray[np.uint8] | None = None) -> None:
        self._kind = kind
        self._bounds = bounds
        self._registers = np.zeros((len(bounds) - 1) * _REGISTERS, np.uint8) if registers is None else registers

    def add(self, array: pa.Array) -> None:
        """Adds the values of an array."""
        present = array.drop_null() if array.null_count else array
        if not len(present):
            return
        numbers, hashes = self._numbers(present)
        bins = np.clip(np.searchsorted(self._bounds, numbers, "left") - 1, 0, len(self._bounds) - 2)
        index, values = ranks(hashes)
        np.maximum.at(self._registers, bins * _REGISTERS + index, values)

    def _numbers(self, array: pa.Array) -> tuple[Any, Any]:
        match self._kind:
            case Kind.DATE:
                array = array.view(pa.int32())
            case Kind.TIMESTAMP:
                array = array.view(pa.int64())
            case Kind.DECIMAL:
                array = array.cast(pa.float64())
        values: Any = array.to_numpy()
        numbers = values.astype(np.float64)
        return numbers, hash_longs(values) if values.dtype.kind == "i" else hash_doubles(numbers)

    def packed(self) -> bytes:
        """The registers, compressed: what a task returns."""
        return zlib.compress(self._registers.tobytes(), 1)

    def merge(self, packed: bytes) -> None:
        """Adds what another task counted."""
        np.maximum(self._registers, np.frombuffer(zlib.decompress(packed), np.uint8), out=self._registers)

    def histogram(self, values: int) -> Histogram:
        """Spark's histogram of so many values."""
        bounds = self._bounds.tolist()
        bins = []
        for at, (low, high) in enumerate(pairwise(bounds)):
            registers = self._registers[at * _REGISTERS : (at + 1) * _REGISTERS].tobytes()
            distinct = 1 if low == high else HyperLogLog(PRECISION, registers=registers).estimate()
            bins.append(HistogramBin(low, high, distinct))
        return Histogram(values / len(bins), tuple(bins))
