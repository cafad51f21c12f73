"""Few deleted rows as a filter on the number of a row: a query has an array as a value, with a bit for each number.

A join would need a broadcast, for which Spark runs a job and plans the query again. No array is made that is larger
than the table of such a join. Which numbers rows have is decided in `row_keys.py`.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from metastored.spark.acid.rows.row_keys import RowKeys

SMALL: Final = 1 << 20
"""Bytes of an array that is always made."""
JOINED: Final = 32
"""Bytes that Spark's hash table of a join needs for each row, at least."""


def without_deleted(spark: SparkSession, frame: DataFrame, keys: RowKeys, numbers: Any) -> DataFrame | None:
    """The rows of a frame whose number is not among `numbers`; None if a join needs less memory."""
    import pyarrow

    size = _size(numbers)
    if size > max(SMALL, JOINED * len(numbers)):
        return None
    bits = pyarrow.Array.from_buffers(pyarrow.int64(), size // 8, [None, pyarrow.py_buffer(_bits(numbers, size))])
    value = pyarrow.ListArray.from_arrays([0, len(bits)], bits)
    return frame.where(_is_kept(keys, spark.createDataFrame(pyarrow.table({"bits": value}))))


def _size(numbers: Any) -> int:
    """Bytes of an array of 64-bit numbers with a bit for each number up to the greatest."""
    import pyarrow.compute as pc

    return ((pc.max(numbers).as_py() or 0) // 64 + 1) * 8


def _bits(numbers: Any, size: int) -> bytearray:
    bits = bytearray(size)
    for chunk in numbers.chunks:
        for each in chunk.to_pylist():
            bits[each >> 3] |= 1 << (each & 7)
    return bits


def _is_kept(keys: RowKeys, bits: DataFrame) -> Column:
    """A row outside of the ranges is not deleted."""
    number = keys.number
    element = F.get(bits.scalar(), F.expr(f"CAST(shiftright({number}, 6) AS INT)"))
    bit = F.coalesce(F.getbit(element, F.expr(f"CAST({number} & 63L AS INT)")), F.lit(0))
    return F.when(F.expr(keys.inside), bit == 0).otherwise(True)
