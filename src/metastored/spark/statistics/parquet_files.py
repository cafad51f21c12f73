"""The Spark job of an analyze of Parquet files: Spark delivers the bytes of each file, and pyarrow decodes them.

Rows that Spark converts to Arrow take several times as long. Spark reads the bytes with its own settings, credentials
and file systems, on whichever executor. A file that Spark might read in another way than pyarrow is refused: with
other types than the table's, with days and times before 1900, whose calendar a setting decides, or too large to be in
memory. Then nothing is returned, and the caller reads rows (`gathering.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metastored.hive.locations import join, parse_location
from metastored.model.spark.types import CHAR_VARCHAR, EXISTS_DEFAULT
from metastored.spark.arrow_tasks import map_in_arrow
from metastored.spark.statistics.files import DataFiles
from metastored.spark.statistics.gathering import SCHEMA, Collector, Gathered, counters_of, merged
from metastored.spark.statistics.histograms import BinCounter
from metastored.spark.statistics.summaries import MICROSECONDS, Kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField

LARGEST: Final = 128 << 20
"""Bytes of a file that is read as a whole."""
MOST: Final = 10_000
"""Files of one job: each is named in it."""
_ROWS: Final = 8192
"""Rows that are decoded at a time, so that they stay in the cache of a processor."""
_CALENDARS_AGREE: Final = -25_567
"""1900-01-01 in days since 1970: since then neither calendars nor old offsets of time zones matter."""
_DAY: Final = 86_400 * MICROSECONDS
_SETTINGS: Final = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.hive.convertMetastoreParquet": "true",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
}
"""Settings by which Spark reads Parquet as pyarrow does."""
_TYPES: Final[Mapping[str, pa.DataType]] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(), "long": pa.int64(),
    "float": pa.float32(), "double": pa.float64(), "string": pa.string(), "binary": pa.binary(), "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip
"""The types of columns by Spark's names, as they are in files; decimals have parameters."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/*")


class Place(NamedTuple):
    """The files of a partition, or of a table without partitions, and the key of their rows."""

    key: int
    location: str
    files: DataFiles


class FileColumn(NamedTuple):
    """A column of the table that is looked for in files."""

    name: str
    kind: Kind
    type: pa.DataType
    padded: bool
    """Whether its values may end with spaces that do not count."""


class Refused(Exception):
    """A file that Spark may read differently."""


def gather_files(
    spark: SparkSession,
    places: Sequence[Place],
    fields: Sequence[StructField],
    columns: Mapping[str, Kind],
    bins: Mapping[str, BinCounter] | None = None,
    padded: Collection[str] = (),
) -> dict[int, Gathered] | None:
    """As `gathering.gather`, for Parquet files. None if rows have to be read: then nothing was counted in `bins`."""
    wanted = columns_of(fields, columns, padded)
    if wanted is None or not all(_default(spark, name, value) for name, value in _SETTINGS.items()):
        return None
    keys = {join(place.location, name): place.key for place in places for name, _ in place.files.listed}
    if len(keys) > MOST or any(not _is_readable(*file) for place in places for file in place.files.listed):
        return None
    if not keys:
        return {}
    counters = counters_of(columns, bins)
    task = FileTask({_path(location): key for location, key in keys.items()}, wanted, counters)
    # Names of partitions can have the characters of patterns.
    read = spark.read.format("binaryFile").option("__globPaths__", "false").load(list(keys)).select("path", "content")
    rows = map_in_arrow(read, lambda batches: task.run(batches), SCHEMA).collect()
    if any(row.found is None for row in rows):
        return None
    return merged(rows, columns, counters)


def columns_of(
    fields: Sequence[StructField], columns: Mapping[str, Kind], padded: Collection[str]
) -> list[FileColumn] | None:
    """The columns as files have them; None if a file does not have all that makes a value of Spark."""
    by_name = {each.name: each for each in fields}
    file_columns = []
    for name, kind in columns.items():
        field = by_name[name]
        declared = str((field.metadata or {}).get(CHAR_VARCHAR, ""))
        if EXISTS_DEFAULT in (field.metadata or {}) or (declared.startswith("char(") and name not in padded):
            return None
        type: Any = field.dataType
        if kind is Kind.DECIMAL:
            in_files: pa.DataType | None = pa.decimal128(type.precision, type.scale)
        else:
            in_files = _TYPES.get("string" if kind is Kind.STRING else type.typeName())
        if in_files is None:
            return None
        file_columns.append(FileColumn(name.lower(), kind, in_files, name in padded))
    return file_columns


def _default(spark: SparkSession, name: str, value: str) -> bool:
    return (spark.conf.get(name, value) or value).lower() == value


def _is_readable(name: str, size: int) -> bool:
    return "/" not in name and size <= LARGEST


def _path(location: str) -> str:
    """A location without its scheme, which Spark may spell differently."""
    parsed = parse_location(location)
    return f"/{parsed.authority}{parsed.path}" if parsed.authority else parsed.path


class FileTask:
    """What runs on the executors, for all files of a task."""

    def __init__(
        self, keys: Mapping[str, int], columns: Sequence[FileColumn], counters: Mapping[int, BinCounter]
    ) -> None:
        self._keys = keys
        self._columns = columns
        self._counters = counters

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The statistics of the files in batches with the columns `path` and `content`; a null where one is refused."""
        collector = Collector(tuple(each.kind for each in self._columns), self._counters)
        try:
            for batch in batches:
                for path, content in zip(batch.column(0), batch.column(1), strict=True):
                    key = self._keys.get(_SCHEME.sub("/", path.as_py(), count=1))
                    if key is None:
                        raise Refused(f"unexpected file {path}")
                    self._add(collector, key, content.as_buffer())
        except (Refused, pa.ArrowException):
            refused = [pa.array([0], pa.int64()), pa.array([None], pa.binary())]
            yield pa.RecordBatch.from_arrays(refused, ["key", "found"])
            return
        yield from collector.found()

    def _add(self, collector: Collector, key: int, content: pa.Buffer) -> None:
        file = pq.ParquetFile(pa.BufferReader(content), coerce_int96_timestamp_unit="us")
        names = self._names(file)
        present = [name for name in names if name is not None]
        for batch in file.iter_batches(_ROWS, columns=present, use_threads=False):
            arrays = [
                pa.nulls(batch.num_rows, column.type) if name is None else _value(column, batch.column(name))
                for name, column in zip(names, self._columns, strict=True)
            ]
            collector.add(key, batch.num_rows, arrays)

    def _names(self, file: pq.ParquetFile) -> list[str | None]:
        """What the columns are named in a file. Spark finds them in any case, and reads missing ones as null."""
        spelled: dict[str, list[str]] = {}
        for name in file.schema_arrow.names:
            spelled.setdefault(name.lower(), []).append(name)
        column_names: list[str | None] = []
        for column in self._columns:
            names = spelled.get(column.name, [])
            # pyarrow reads a name with a dot as a field inside of a struct.
            if len(names) > 1 or any("." in name or not _is_of_type(file, name, column) for name in names):
                raise Refused(f"the column {column.name} is there twice, or is of another type")
            column_names.append(names[0] if names else None)
        return column_names


def _is_of_type(file: pq.ParquetFile, name: str, column: FileColumn) -> bool:
    type = file.schema_arrow.field(name).type
    if column.kind is not Kind.TIMESTAMP:
        return bool(type == column.type)
    if not pa.types.is_timestamp(type):
        return False
    leaves = (file.schema.column(number) for number in range(len(file.schema)))
    if any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves):
        return column.type.tz is not None  # pyarrow shows this old type, which is in UTC, without a time zone.
    return type.unit in ("us", "ms") and (type.tz is None) == (column.type.tz is None)


def _value(column: FileColumn, array: pa.Array) -> pa.Array:
    if column.kind is Kind.TIMESTAMP and array.type != column.type:
        array = array.cast(pa.timestamp("us"))
    if column.kind in (Kind.DATE, Kind.TIMESTAMP):
        numbers = array.view(pa.int32() if column.kind is Kind.DATE else pa.int64())
        lowest = pc.min(numbers).as_py()
        if lowest is not None and lowest < _CALENDARS_AGREE * (1 if column.kind is Kind.DATE else _DAY):
            raise Refused(f"the column {column.name} has values before 1900")
    return pc.utf8_rtrim(array, " ") if column.padded else array
