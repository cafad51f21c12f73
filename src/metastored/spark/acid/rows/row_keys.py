"""The id of a row as one number, by which deleted rows are found.

The number has the partition, the write id, the bucket, the statement and the row of an id, each by its distance from
the least of the deleted rows. Few deletes are read by the driver: a query then starts no Spark job for them. Nothing is
removed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from metastored.hive.orc import Range
from metastored.spark.acid.files.state import DeleteFile
from metastored.spark.files import files_of, in_threads

OWID, BUCKET, ROW, PARTITION, KEY = "__acid_owid", "__acid_bucket", "__acid_row", "__acid_part", "__acid_key"
"""The names of columns in a plan: the three parts of an id, the number of the partition, and the key."""
LOCAL_ROWS: Final = 200_000
"""The number of deleted rows up to which the driver reads them."""
_STATEMENT_BITS: Final = 16
_STATEMENTS: Final = Range(0, (1 << _STATEMENT_BITS) - 1)
_PARTS: Final = (
    PARTITION, OWID, f"shiftright({BUCKET}, {_STATEMENT_BITS})", f"({BUCKET} & {_STATEMENTS.high})", ROW,
)  # fmt: skip
"""The parts of a number, in SQL."""


class RowKeys(NamedTuple):
    """How ids become numbers, for the deletes of some files. A bucket in an id has a number and a statement."""

    partitions: Range
    write_ids: Range
    buckets: Range
    statements: Range
    rows: Range

    @property
    def text(self) -> str:
        """The number of a row in SQL; null for a row outside of the ranges, which is not deleted."""
        return f"CASE WHEN {self.inside} THEN {self.number} END"

    @property
    def number(self) -> str:
        """The number in SQL of a row inside of the ranges."""
        key = "0L"
        for part, each in zip(_PARTS, self, strict=True):
            key = f"(shiftleft({key}, {_bits(each)}) | ({part} - {each.low}L))"
        return key

    @property
    def inside(self) -> str:
        """Whether a row is inside of the ranges, in SQL."""
        parts = zip(_PARTS, self, strict=True)
        return " AND ".join(f"{part} BETWEEN {each.low}L AND {each.high}L" for part, each in parts)

    @property
    def bits(self) -> int:
        """Of the largest number."""
        return sum(map(_bits, self))

    def read(self, spark: SparkSession, files: Sequence[DeleteFile]) -> Any:
        """The numbers of all deleted rows as a column of Arrow, read by the driver; None if Spark has to read them.

        That is where they are many, where not all of them are visible, or where pyarrow is missing.
        """
        if sum(file.rows for file in files) > LOCAL_ROWS or any(file.partly_visible for file in files):
            return None
        try:
            import pyarrow
        except ImportError:
            return None
        keys = in_threads(lambda file: self._keys(spark, file), files)
        if any(each is None for each in keys):
            return None
        return pyarrow.chunked_array(keys, pyarrow.int64())

    def _keys(self, spark: SparkSession, file: DeleteFile) -> Any:
        """The numbers of the rows of a file; None if it has ids that its statistics do not have."""
        import pyarrow
        import pyarrow.compute as pc
        from pyarrow import orc

        read = orc.ORCFile(pyarrow.BufferReader(files_of(spark, file.location).read(file.location)))
        table = read.read(columns=read.schema.names[1:4])  # After `operation`; Hive and Spark differ in upper case.
        write_ids, buckets, rows = (each.combine_chunks().cast(pyarrow.int64()) for each in table.columns)
        key: Any = pyarrow.scalar(file.partition - self.partitions.low, pyarrow.int64())
        parts = (write_ids, pc.shift_right(buckets, _STATEMENT_BITS), pc.bit_wise_and(buckets, _STATEMENTS.high), rows)
        for numbers, each in zip(parts, self[1:], strict=True):
            limits = pc.min_max(numbers).as_py()
            if numbers.null_count or (len(numbers) and not each.low <= limits["min"] <= limits["max"] <= each.high):
                return None
            key = pc.bit_wise_or(pc.shift_left(key, _bits(each)), pc.subtract(numbers, each.low))
        return key


def row_keys(files: Sequence[DeleteFile]) -> RowKeys | None:
    """How the ids of the deletes of these files become numbers; None if a number would have more than 63 bits."""
    keys = RowKeys(
        _covering(Range(file.partition, file.partition) for file in files),
        _covering(file.write_ids for file in files),
        _covering(Range(*(each >> _STATEMENT_BITS for each in file.buckets)) for file in files),
        _covering(_statements(file.buckets) for file in files),
        _covering(file.row_ids for file in files),
    )
    return keys if keys.bits <= 63 else None


def _statements(buckets: Range) -> Range:
    """The statements of a file. A file has mostly one bucket."""
    if buckets.low >> _STATEMENT_BITS != buckets.high >> _STATEMENT_BITS:
        return _STATEMENTS
    return Range(buckets.low & _STATEMENTS.high, buckets.high & _STATEMENTS.high)


def frame_of_numbers(spark: SparkSession, numbers: Any) -> DataFrame:
    """What `read` found, for a join."""
    import pyarrow

    return spark.createDataFrame(pyarrow.table({KEY: numbers}))


def _bits(each: Range) -> int:
    return (each.high - each.low).bit_length()


def _covering(ranges: Iterable[Range]) -> Range:
    listed = list(ranges)
    return Range(min(each.low for each in listed), max(each.high for each in listed))
