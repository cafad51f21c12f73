"""The Spark job of an analyze: one pass over the rows gives the statistics of all columns, for each partition.

Spark reads the files and sends batches in Arrow's format to Python, where numpy and pyarrow count; `parquet_files.py`
has a faster way for Parquet. A task returns one row for each partition that it met: a few hundred bytes for each
column. The driver merges them. Rows are assigned to partitions by a hash of their keys, which is computed in the same
way for the names in the metastore.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from metastored.errors import InvalidInputException
from metastored.hive.names import DEFAULT_PARTITION, partition_values
from metastored.hive.quoting import backquoted
from metastored.spark.arrow_tasks import map_in_arrow
from metastored.spark.local_rows import local_rows
from metastored.spark.statistics.histograms import BinCounter
from metastored.spark.statistics.summaries import ColumnBuilder, Kind, Summary

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField

WHOLE_TABLE: Final = 0
"""The key of the rows of a table without partitions."""
SCHEMA: Final = "key bigint, found binary"
"""What a task returns: rows and summaries of a partition, or without a key the counts of bins."""


class Gathered(NamedTuple):
    """The statistics of a partition, or of a table without partitions."""

    rows: int
    columns: Mapping[str, Summary]


def kind_of(type: DataType) -> Kind | None:
    """The kind of a column; None if it has no statistics: arrays, maps, structs, intervals."""
    name = type.typeName()
    if name in ("byte", "short", "integer", "long"):
        return Kind.INTEGER
    if name in ("string", "char", "varchar"):
        return Kind.STRING
    if name in ("timestamp", "timestamp_ntz"):
        return Kind.TIMESTAMP
    return Kind(name) if name in ("boolean", "float", "double", "decimal", "binary", "date") else None


def key_of(columns: Sequence[Column]) -> Column:
    """The hash of the partition keys of a row; of no keys, that of the whole table."""
    from pyspark.sql import functions as F

    if not columns:
        return F.lit(WHOLE_TABLE).cast("bigint")
    # A null changes no hash, so that which of the keys is null has to be a part of it.
    return F.xxhash64(*(part for each in columns for part in (each.isNull(), each)))


def keys_of_partitions(spark: SparkSession, keys: Sequence[StructField], names: Sequence[str]) -> dict[int, str]:
    """The names of partitions by the hash of their keys.

    Raises InvalidInputException for two names with the same values, such as `n=1` and `n=01` of an integer key: Spark
    reads both as the same partition.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    rows = []
    for name in names:
        values = partition_values(name, [each.name.lower() for each in keys])
        rows.append((name, *(None if value == DEFAULT_PARTITION else value for value in values)))
    columns = [F.col(f"k{at}").cast(each.dataType) for at, each in enumerate(keys)]
    schema = StructType([StructField(each, StringType()) for each in ("name", *(f"k{at}" for at in range(len(keys))))])
    by_number: dict[int, str] = {}
    for name, key in local_rows(spark, rows, schema).select("name", key_of(columns)).collect() if rows else ():
        if key in by_number:
            raise InvalidInputException(
                f"the partitions {by_number[key]} and {name} have the same values for Spark, so that their rows cannot "
                "be told apart: drop one of them"
            )
        by_number[key] = name
    return by_number


def gather(
    frame: DataFrame,
    key: Column,
    columns: Mapping[str, Kind],
    bins: Mapping[str, BinCounter] | None = None,
    padded: Collection[str] = (),
) -> dict[int, Gathered]:
    """The statistics of columns of a DataFrame, by the key of the rows. Runs the job.

    The values of the columns in `bins`, of all rows, are counted by these counters. `padded` are columns of the type
    char, whose values Spark pads with spaces that Hive does not count.
    """
    from pyspark.sql import functions as F

    selected = []
    for at, name in enumerate(columns):
        column = F.col(backquoted(name))
        selected.append((F.rtrim(column) if name in padded else column).alias(f"c{at}"))
    counters = counters_of(columns, bins)
    task = _Task(tuple(columns.values()), counters)
    narrow = frame.select(key.alias("key"), *selected)
    return merged(map_in_arrow(narrow, lambda batches: task.run(batches), SCHEMA).collect(), columns, counters)


def counters_of(columns: Iterable[str], bins: Mapping[str, BinCounter] | None) -> dict[int, BinCounter]:
    """The counters of bins by the position of their column."""
    return {at: bins[name] for at, name in enumerate(columns) if bins and name in bins}


def merged(collected: Iterable[Any], columns: Iterable[str], counters: Mapping[int, BinCounter]) -> dict[int, Gathered]:
    """What all tasks found together. `counters` get their counts."""
    gathered: dict[int, tuple[int, list[Summary]]] = {}
    for row in collected:
        if row.key is None:
            for at, packed in pickle.loads(row.found).items():
                counters[at].merge(packed)
            continue
        rows, summaries = pickle.loads(row.found)
        if row.key in gathered:
            before = gathered[row.key]
            rows += before[0]
            summaries = [one.merge(other) for one, other in zip(before[1], summaries, strict=True)]
        gathered[row.key] = rows, summaries
    return {each: Gathered(rows, dict(zip(columns, all, strict=True))) for each, (rows, all) in gathered.items()}


class Collector:
    """The statistics of what one task reads."""

    def __init__(self, kinds: tuple[Kind, ...], counters: Mapping[int, BinCounter]) -> None:
        self._kinds = kinds
        self._counters = counters
        self._rows: dict[int, int] = {}
        self._builders: dict[int, list[ColumnBuilder]] = {}

    def add(self, key: int, rows: int, columns: Iterable[pa.Array]) -> None:
        """Adds rows of the partition with this key."""
        if key not in self._builders:
            self._rows[key], self._builders[key] = 0, [ColumnBuilder(kind) for kind in self._kinds]
        self._rows[key] += rows
        for at, (builder, array) in enumerate(zip(self._builders[key], columns, strict=True)):
            builder.add(array)
            if at in self._counters:
                self._counters[at].add(array)

    def found(self) -> Iterator[pa.RecordBatch]:
        """What the task returns: see SCHEMA."""
        keys: list[int | None] = list(self._builders)
        values = [
            pickle.dumps((self._rows[key], [each.built() for each in all])) for key, all in self._builders.items()
        ]
        if self._counters and values:
            keys.append(None)
            values.append(pickle.dumps({at: counter.packed() for at, counter in self._counters.items()}))
        if values:
            columns = [pa.array(keys, pa.int64()), pa.array(values, pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["key", "found"])


class _Task:
    """What runs on the executors, for all batches of a task."""

    def __init__(self, kinds: tuple[Kind, ...], counters: Mapping[int, BinCounter]) -> None:
        self._kinds = kinds
        self._counters = counters

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        collector = Collector(self._kinds, self._counters)
        for batch in batches:
            for key, part in _by_key(batch):
                collector.add(key, part.num_rows, part.columns[1:])
        yield from collector.found()


def _by_key(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a batch, by the first column. Rows of one file follow each other, so there is mostly one part."""
    if not batch.num_rows:
        return
    keys: Any = batch.column(0).to_numpy()
    changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    if len(changes) + 1 > len(np.unique(keys)):
        order = np.argsort(keys, kind="stable")
        batch, keys = batch.take(pa.array(order)), keys[order]
        changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    starts = [0, *changes.tolist()]
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        yield int(keys[start]), batch.slice(start, end - start)
