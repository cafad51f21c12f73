"""The Spark jobs of a compaction: rows and delete events are read, sorted, and written into a hidden directory.

    <table>/_tmp_compact_<transaction>/part-00003-….orc
    <table>/base_0000007_v0000042/bucket_00003

A task writes the rows of one bucket. Where the names of the files have the numbers of the buckets, each task reads the
files of its bucket and nothing is shuffled. The driver then renames the files. Until the transaction of the compaction
is committed, no reader uses the directories that it made: their names have its number. Row ids are kept. No transaction
is opened or committed here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from metastored.hive.locations import join
from metastored.hive.orc import Tail, read_tail
from metastored.hive.transactions.compaction import STAGING_PREFIX, Compaction, CompactionKind
from metastored.hive.transactions.layout import bucket_file, decode_bucket, is_hidden
from metastored.hive.transactions.resolution import File
from metastored.spark.acid.files import Files, end_of, in_threads, list_location
from metastored.spark.acid.formats import source_format
from metastored.spark.acid.scan import BROADCAST_ROWS, delete_events, scan, stored_rows
from metastored.spark.acid.staging import hive_metadata, make_directory, write_options
from metastored.spark.acid.state import BUCKET, PartitionState, TableState
from metastored.spark.acid.tables import AcidTable

INSERT, DELETE = 0, 2
"""The numbers of operations in the files."""
MANY_BUCKETS: Final = 128
"""Up to this number each bucket is a branch of the plan."""
_OPERATION: Final = 1
"""The column id of `operation` in the statistics of a file."""
_KEYS: Final = ("originalTransaction", "bucket", "rowId")
_ONE_TASK: Final = {
    "spark.sql.files.maxPartitionBytes": str(1 << 62),
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.unionOutputPartitioning": "false",  # Else the single tasks of all branches would be one.
}
"""Settings with which all files of a branch are read by one task, and a file from its start to its end."""


def run(spark: SparkSession, files: Files, state: TableState, compaction: Compaction, transaction: int) -> list[str]:
    """Writes the results of a compaction of the only partition of the state. Returns the new directories.

    If it fails, what it wrote is removed.
    """
    (partition,) = state.partitions
    staging = join(partition.location, f"{STAGING_PREFIX}{transaction}")
    results = {INSERT: compaction.result, DELETE: compaction.delete_result}
    made = {kind: join(partition.location, each.name) for kind, each in results.items() if each is not None}
    if compaction.kind is CompactionKind.MINOR:
        partition = _only_deltas(partition, compaction)
    state = state._replace(partitions=(partition,))
    try:
        if state.table.insert_only:
            _stage_insert_only(spark, state, staging)
            _publish_insert_only(files, state.table, staging, made[INSERT])
        else:
            _publish(files, state.table, made, _stage(spark, files, state, compaction, staging))
        return list(made.values())
    except BaseException:
        for location in made.values():
            files.remove(location)
        raise
    finally:
        files.remove(staging)


# --- Spark's part ------------------------------------------------------------------------------------------


class _Staged(NamedTuple):
    """A file with rows in the staging directory."""

    location: str
    end: bytes
    tail: Tail
    operation: int
    bucket: int | None
    """None if it has rows of several buckets."""


def _stage(spark: SparkSession, files: Files, state: TableState, compaction: Compaction, staging: str) -> list[_Staged]:
    buckets = _buckets(state)
    if buckets is not None:
        with _settings(spark, _ONE_TASK):
            frames = [frame for each in buckets for frame in _bucket_frames(spark, each, compaction)]
            if frames:
                _write(state.table, _union(frames), staging)
        staged = _staged(files, staging)
        if all(each.bucket is not None for each in staged):
            return staged
        files.remove(staging)  # A file has rows of other buckets than that of its name.
    frames = _frames(spark, state, compaction)
    if not frames:
        return []
    frame = _union(frames).withColumn("b", _file_of("bucket"))
    frame = frame.repartition("operation", "b").withColumn("op", F.col("operation"))
    frame = frame.sortWithinPartitions("op", "b", *_KEYS, F.col("currentTransaction").desc())
    _write(state.table, frame, staging, "op", "b")
    return _staged(files, staging)


def _buckets(state: TableState) -> list[TableState] | None:
    """The files of each bucket; None if a name has no number, or there are too many."""
    (partition,) = state.partitions
    numbers = {each.bucket for each in partition.data} | {each.bucket for each in partition.deletes}
    if None in numbers or not 0 < len(numbers) <= MANY_BUCKETS:
        return None
    found = []
    for number in sorted(each for each in numbers if each is not None):
        data = tuple(each for each in partition.data if each.bucket == number)
        deletes = tuple(each for each in partition.deletes if each.bucket == number)
        found.append(state._replace(partitions=(dataclasses.replace(partition, data=data, deletes=deletes),)))
    return found


def _bucket_frames(spark: SparkSession, bucket: TableState, compaction: Compaction) -> list[DataFrame]:
    """The rows and the delete events of a bucket, each in one task and sorted."""
    (partition,) = bucket.partitions
    order = (*_KEYS, F.col("currentTransaction").desc())
    frames = []
    if compaction.result is not None and partition.data:
        frame = _rows(spark, bucket, compaction).coalesce(1)
        # The rows of a file are sorted, and a broadcast join keeps their order.
        deleted = sum(each.rows for each in partition.deletes)
        is_sorted = len(partition.data) == 1 and partition.data[0].original is None and deleted <= BROADCAST_ROWS
        frames.append(frame if is_sorted else frame.sortWithinPartitions(*order))
    if compaction.delete_result is not None and partition.deletes:
        frames.append(_delete_events(spark, bucket).coalesce(1).sortWithinPartitions(*order))
    return frames


def _frames(spark: SparkSession, state: TableState, compaction: Compaction) -> list[DataFrame]:
    frames = []
    if compaction.result is not None:
        frames.append(_rows(spark, state, compaction))
    if compaction.delete_result is not None and state.partitions[0].deletes:
        frames.append(_delete_events(spark, state))
    return frames


def _write(table: AcidTable, frame: DataFrame, staging: str, *partitioned_by: str) -> None:
    writer = frame.write.options(maxRecordsPerFile="0", **write_options(table))
    if partitioned_by:
        writer = writer.partitionBy(*partitioned_by)
    writer.orc(staging)


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda left, right: left.unionByName(right), frames)


@contextmanager
def _settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for the time of a block."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _rows(spark: SparkSession, state: TableState, compaction: Compaction) -> DataFrame:
    """Live rows for a base; for a delta all rows of the deltas, because the delete events stay."""
    if compaction.kind is CompactionKind.MINOR:
        state = _undeleted(state)
    return stored_rows(spark, state)


def _only_deltas(partition: PartitionState, compaction: Compaction) -> PartitionState:
    """The files of the deltas of a minor compaction."""
    below = tuple(join(partition.location, each.name) + "/" for each in compaction.deltas)
    return dataclasses.replace(
        partition, data=tuple(file for file in partition.data if file.location.startswith(below))
    )


def _undeleted(state: TableState) -> TableState:
    """The same files, as if no row of them was deleted."""
    (partition,) = state.partitions
    data = tuple(dataclasses.replace(file, touched=False) for file in partition.data)
    return state._replace(partitions=(dataclasses.replace(partition, data=data, deletes=()),))


def _delete_events(spark: SparkSession, state: TableState) -> DataFrame:
    return delete_events(spark, state).select(
        F.lit(DELETE).alias("operation"),
        *_KEYS,
        "currentTransaction",
        F.lit(None).cast(state.table.columns).alias("row"),
    )


def _file_of(bucket: str) -> Any:
    """The number of the file of a row, from its column `bucket`: Hive before 3 wrote only the number."""
    number = F.shiftright(bucket, 16).bitwiseAND(F.lit(0xFFF))
    return F.when(F.shiftrightunsigned(bucket, 29) == 0, F.col(bucket)).otherwise(number).cast("int")


def _stage_insert_only(spark: SparkSession, state: TableState, staging: str) -> None:
    """The rows of an insert-only table, in its own format: one file for each core."""
    (partition,) = state.partitions
    files = max(1, min(len(partition.data), int(spark.conf.get("spark.default.parallelism", "0") or 0) or 2))
    frame = scan(spark, state).select(*_columns(state.table)).coalesce(files)
    frame.write.options(**write_options(state.table)).format(source_format(state.table)).save(staging)


def _columns(table: AcidTable) -> list[Any]:
    return [F.col("`" + field.name.replace("`", "``") + "`") for field in table.columns]


# --- the driver's part -------------------------------------------------------------------------------------


def _files_in(files: Files, staging: str) -> list[File]:
    listing = list_location(files, staging)
    every = [*listing.files, *(file for below in listing.directories.values() for file in below)]
    return sorted(file for file in every if file.size and not is_hidden(file.path))


def _staged(files: Files, staging: str) -> list[_Staged]:
    """The staged files that have rows; the statistics of a file say of which kind and bucket they are."""

    def one(file: File) -> _Staged | None:
        location = join(staging, file.path)
        end = end_of(files, location, file.size)
        tail = read_tail(end)
        if not tail.rows:
            return None
        operation, bucket = tail.ranges[_OPERATION], tail.ranges[BUCKET]
        assert operation is not None and bucket is not None, "Spark wrote no statistics"
        low, high = (decode_bucket(each)[0] for each in bucket)
        return _Staged(location, end, tail, operation.low, low if low == high else None)

    return [each for each in in_threads(one, _files_in(files, staging)) if each is not None]


def _publish(files: Files, table: AcidTable, made: Mapping[int, str], staged: Sequence[_Staged]) -> None:
    """Adds Hive's user metadata to the staged files and renames them. A result without rows is an empty directory."""
    for location in made.values():
        make_directory(files, table, location)

    def publish(each: _Staged) -> None:
        assert each.bucket is not None, "Spark wrote rows of several buckets into a file"
        metadata = hive_metadata(files, each.location, each.tail, each.operation == DELETE)
        files.add_orc_metadata(each.location, each.end, metadata)
        files.rename(each.location, join(made[each.operation], bucket_file(each.bucket)))

    targets = [(each.operation, each.bucket) for each in staged]
    assert len(targets) == len(set(targets)), "Spark wrote two files of a bucket"
    in_threads(publish, staged)


def _publish_insert_only(files: Files, table: AcidTable, staging: str, target: str) -> None:
    make_directory(files, table, target)
    for at, file in enumerate(_files_in(files, staging)):
        files.rename(join(staging, file.path), join(target, f"{at:06d}_0"))
