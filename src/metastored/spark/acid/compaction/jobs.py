"""The Spark jobs of a compaction: rows and delete events are read, sorted, and written into a hidden directory.

    <table>/_tmp_compact_<transaction>/part-00003-….orc
    <table>/base_0000007_v0000042/bucket_00003

A task writes rows of one bucket. Where the names of the files have the numbers of the buckets, nothing is shuffled: a
task reads files of one bucket, up to `PART` bytes whose row ids follow one another. The driver makes one file of those
of a bucket, and renames it. Until the transaction of the compaction
is committed, no reader uses the directories that it made: their names have its number. Row ids are kept. No transaction
is opened or committed here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from metastored.hive.locations import join
from metastored.hive.orc import Tail, read_tail
from metastored.hive.quoting import backquoted
from metastored.hive.transactions.compaction import STAGING_PREFIX, Compaction, CompactionKind
from metastored.hive.transactions.layout import bucket_file, decode_bucket, is_hidden
from metastored.hive.transactions.resolution import File
from metastored.spark.acid.files.formats import source_format
from metastored.spark.acid.files.publishing import make_directory, publish_orc
from metastored.spark.acid.files.staging import write_options
from metastored.spark.acid.files.state import BUCKET, OWID, ROW, DataFile, DeleteFile, PartitionState, TableState
from metastored.spark.acid.rows.scan import BROADCAST_ROWS, delete_events, scan, stored_rows
from metastored.spark.acid.tables import AcidTable
from metastored.spark.files import Files, end_of, in_threads, list_location

INSERT, DELETE = 0, 2
"""The numbers of operations in the files."""
MANY_PARTS: Final = 128
"""Up to this number of tasks, each is a branch of the plan."""
PART: Final = 32 << 20
"""Bytes of the files that a task reads, if the rows of a bucket can be divided."""
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
    size: int
    end: bytes
    tail: Tail
    operation: int
    bucket: int | None
    """None if it has rows of several buckets."""


def _stage(spark: SparkSession, files: Files, state: TableState, compaction: Compaction, staging: str) -> list[_Staged]:
    buckets = _buckets(state)
    if buckets is not None:
        with _settings(spark, _ONE_TASK):
            most = MANY_PARTS // len(buckets)
            frames = [frame for each in buckets for frame in _bucket_frames(spark, state, each, compaction, most)]
            if frames:
                _write(state.table, _union(frames), staging)
        staged = _staged(files, staging)
        if _is_ordered(staged):
            return staged
        files.remove(staging)  # A file has rows of other buckets or write ids than its name and its directory say.
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
    if None in numbers or not 0 < len(numbers) <= MANY_PARTS:
        return None
    states = []
    for number in sorted(each for each in numbers if each is not None):
        data = tuple(each for each in partition.data if each.bucket == number)
        deletes = tuple(each for each in partition.deletes if each.bucket == number)
        states.append(state._replace(partitions=(dataclasses.replace(partition, data=data, deletes=deletes),)))
    return states


def _bucket_frames(
    spark: SparkSession, state: TableState, bucket: TableState, compaction: Compaction, most: int
) -> list[DataFrame]:
    """The rows and the delete events of a bucket, in at most so many tasks for the rows, and sorted."""
    (partition,) = bucket.partitions
    order = (*_KEYS, F.col("currentTransaction").desc())
    frames = []
    if compaction.result is not None:
        for part in _parts(partition.data, most):
            # The delete files of other names too: one of Trino's has the deletes of all buckets.
            deletes = tuple(each for each in state.partitions[0].deletes if _may_touch(each, part))
            small = dataclasses.replace(partition, data=part, deletes=deletes)
            frame = _rows(spark, bucket._replace(partitions=(small,)), compaction).coalesce(1)
            # The rows of a file are sorted, and a broadcast join keeps their order.
            deleted = sum(each.rows for each in deletes)
            is_sorted = len(part) == 1 and part[0].original is None and deleted <= BROADCAST_ROWS
            frames.append(frame if is_sorted else frame.sortWithinPartitions(*order))
    if compaction.delete_result is not None and partition.deletes:
        frames.append(_delete_events(spark, bucket).coalesce(1).sortWithinPartitions(*order))
    return frames


def _may_touch(deletes: DeleteFile, part: Sequence[DataFile]) -> bool:
    return any(each.touched and deletes.may_touch(each.write_ids, None) for each in part)


def _parts(data: Sequence[DataFile], most: int) -> list[tuple[DataFile, ...]]:
    """Files of a bucket, divided so that all row ids of a part are below those of the next one."""
    ordered = sorted(data, key=lambda each: (each.write_ids.low, each.write_ids.high, each.statement or 0))
    aim = max(PART, sum(each.size for each in data) // most)
    parts: list[list[DataFile]] = []
    for each in ordered:
        if not parts or (sum(other.size for other in parts[-1]) >= aim and all(_is_below(e, each) for e in parts[-1])):
            parts.append([each])
        else:
            parts[-1].append(each)
    return [tuple(each) for each in parts]


def _is_below(one: DataFile, other: DataFile) -> bool:
    """Whether the names of their directories say that the row ids of one file are below those of the other."""
    if one.original is not None or other.original is not None:
        return False
    if one.write_ids.high < other.write_ids.low:
        return True
    same = one.write_ids == other.write_ids and one.write_ids.low == one.write_ids.high
    return same and one.statement is not None and other.statement is not None and one.statement < other.statement


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
    return [F.col(backquoted(field.name)) for field in table.columns]


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
        return _Staged(location, file.size, end, tail, operation.low, low if low == high else None)

    return [each for each in in_threads(one, _files_in(files, staging)) if each is not None]


def _is_ordered(staged: Sequence[_Staged]) -> bool:
    """Whether each file has rows of one bucket, and the row ids of the files of a bucket follow one another."""
    return all(each.bucket is not None for each in staged) and all(
        _follows(one, other) for group in _grouped(staged).values() for one, other in pairwise(group)
    )


def _follows(one: _Staged, other: _Staged) -> bool:
    """Whether all row ids of the second file are above those of the first: by write id, then bucket, then row."""
    for column in (OWID, BUCKET, ROW):
        first, second = one.tail.ranges[column], other.tail.ranges[column]
        if first is None or second is None:
            return False
        if first.high < second.low:
            return True
        if not first.low == first.high == second.low == second.high:
            return False
    return False


def _grouped(staged: Sequence[_Staged]) -> dict[tuple[int, int | None], list[_Staged]]:
    """The files of each result and bucket, in the order of their lowest row ids."""

    def lowest(each: _Staged) -> list[int]:
        return [
            range_of_column.low if range_of_column is not None else 0
            for range_of_column in (each.tail.ranges[at] for at in (OWID, BUCKET, ROW))
        ]

    groups: dict[tuple[int, int | None], list[_Staged]] = {}
    for each in sorted(staged, key=lowest):
        groups.setdefault((each.operation, each.bucket), []).append(each)
    return groups


def _publish(files: Files, table: AcidTable, made: Mapping[int, str], staged: Sequence[_Staged]) -> None:
    """Makes a file of each bucket with Hive's user metadata. A result without rows is an empty directory."""
    assert _is_ordered(staged), "Spark wrote rows of several buckets into a file, or two files of a bucket"
    for location in made.values():
        make_directory(files, table, location)

    def publish(group: tuple[tuple[int, int | None], list[_Staged]]) -> None:
        (operation, bucket), members = group
        path = join(made[operation], bucket_file(bucket or 0))
        publish_orc(
            files, [(each.location, each.size, each.end, each.tail) for each in members], path, operation == DELETE
        )

    in_threads(publish, _grouped(staged).items())


def _publish_insert_only(files: Files, table: AcidTable, staging: str, target: str) -> None:
    make_directory(files, table, target)
    for at, file in enumerate(_files_in(files, staging)):
        files.rename(join(staging, file.path), join(target, f"{at:06d}_0"))
