"""The Spark jobs of a compaction: rows and delete events are read, sorted, and written into a hidden directory.

    <table>/_tmp_compact_<transaction>/op=0/b=3/part-00000-….orc
    <table>/base_0000007_v0000042/bucket_00003

The driver then renames the files. Until the transaction of the compaction is committed, no reader uses the directories
that it made: their names have its number. Row ids are kept. No transaction is opened or committed here.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from metastored.hive.locations import join
from metastored.hive.orc import read_tail
from metastored.hive.transactions.compaction import STAGING_PREFIX, Compaction, CompactionKind
from metastored.hive.transactions.layout import bucket_file, is_hidden
from metastored.hive.transactions.resolution import File
from metastored.spark.acid.files import Files, end_of, in_threads, list_location
from metastored.spark.acid.state import PartitionState, TableState
from metastored.spark.acid.tables import ROW_ID, AcidTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INSERT, DELETE = 0, 2
"""The numbers of operations in the files."""
_KEYS: Final = ("originalTransaction", "bucket", "rowId")


def run(spark: SparkSession, files: Files, state: TableState, compaction: Compaction, transaction: int) -> list[str]:
    """Writes the results of a compaction of the only partition of the state. Returns the new directories.

    If it fails, what it wrote is removed.
    """
    (partition,) = state.partitions
    staging = join(partition.location, f"{STAGING_PREFIX}{transaction}")
    results = [each.name for each in (compaction.result, compaction.delete_result) if each is not None]
    try:
        if state.table.insert_only:
            _stage_insert_only(spark, state, partition, compaction, staging)
        else:
            _stage(spark, state, partition, compaction, staging)
        return _publish(files, state.table, partition.location, staging, compaction)
    except BaseException:
        for name in results:
            files.remove(join(partition.location, name))
        raise
    finally:
        files.remove(staging)


# --- Spark's part ------------------------------------------------------------------------------------------


def _stage(
    spark: SparkSession, state: TableState, partition: PartitionState, compaction: Compaction, staging: str
) -> None:
    from metastored.spark.acid.staging import compression

    frames = []
    if compaction.result is not None:
        frames.append(_rows(spark, state, partition, compaction))
    if compaction.delete_result is not None:
        frames.append(_delete_events(spark, state, partition))
    frame = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
    frame = frame.repartition("op", "b").sortWithinPartitions("op", "b", *_KEYS, _descending("currentTransaction"))
    options = {"maxRecordsPerFile": "0", "compression": compression(state.table)}
    frame.write.options(**options).partitionBy("op", "b").orc(staging)


def _rows(spark: SparkSession, state: TableState, partition: PartitionState, compaction: Compaction) -> DataFrame:
    """Live rows for a base; for a delta all rows of the deltas, because the delete events stay."""
    from pyspark.sql import functions as F

    from metastored.spark.acid.scan import scan

    if compaction.kind is CompactionKind.MINOR:
        partition = _only_deltas(partition, compaction)
    frame = scan(spark, state._replace(partitions=(partition,)), row_ids=True)
    id = F.col(ROW_ID)
    columns = [F.col(_quoted(field.name)) for field in state.table.columns]
    return frame.select(
        F.lit(INSERT).alias("operation"),
        id.getField("writeid").alias("originalTransaction"),
        id.getField("bucketid").alias("bucket"),
        id.getField("rowid").alias("rowId"),
        id.getField("writeid").alias("currentTransaction"),
        F.struct(*columns).alias("row"),
        F.lit(INSERT).alias("op"),
        _file_of(id.getField("bucketid")).alias("b"),
    )


def _only_deltas(partition: PartitionState, compaction: Compaction) -> PartitionState:
    """The files of the deltas, as if no row of them was deleted."""
    below = tuple(join(partition.location, each.name) + "/" for each in compaction.deltas)
    data = [dataclasses.replace(file, touched=False) for file in partition.data if file.location.startswith(below)]
    return dataclasses.replace(partition, data=tuple(data), deletes=())


def _delete_events(spark: SparkSession, state: TableState, partition: PartitionState) -> DataFrame:
    from pyspark.sql import functions as F

    from metastored.spark.acid.scan import delete_events

    events = delete_events(spark, state._replace(partitions=(partition,)))
    return events.select(
        F.lit(DELETE).alias("operation"),
        *_KEYS,
        "currentTransaction",
        F.lit(None).cast(state.table.columns).alias("row"),
        F.lit(DELETE).alias("op"),
        _file_of(F.col("bucket")).alias("b"),
    )


def _file_of(bucket: Any) -> Any:
    """The number of the file of a row, from its column `bucket`: Hive before 3 wrote only the number."""
    from pyspark.sql import functions as F

    number = F.shiftright(bucket, 16).bitwiseAND(F.lit(0xFFF))
    return F.when(F.shiftrightunsigned(bucket, 29) == 0, bucket).otherwise(number).cast("int")


def _stage_insert_only(
    spark: SparkSession, state: TableState, partition: PartitionState, compaction: Compaction, staging: str
) -> None:
    """The rows of an insert-only table, in its own format: one file for each core."""
    from pyspark.sql import functions as F

    from metastored.spark.acid.scan import format_options, scan, source_format

    if compaction.kind is CompactionKind.MINOR:
        partition = _only_deltas(partition, compaction)
    frame = scan(spark, state._replace(partitions=(partition,)))
    columns = [F.col(_quoted(field.name)) for field in state.table.columns]
    files = max(1, min(len(partition.data), int(spark.conf.get("spark.default.parallelism", "0") or 0) or 2))
    writer = frame.select(*columns).coalesce(files).write.options(**format_options(state.table))
    writer.format(source_format(state.table)).save(staging)


def _descending(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.col(name).desc()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# --- the driver's part -------------------------------------------------------------------------------------


def _publish(files: Files, table: AcidTable, location: str, staging: str, compaction: Compaction) -> list[str]:
    """Completes the staged files and renames them. A result without rows is an empty directory."""
    from metastored.spark.acid.staging import make_directory

    targets = {INSERT: compaction.result, DELETE: compaction.delete_result}
    made = []
    for directory in targets.values():
        if directory is not None:
            made.append(join(location, directory.name))
            make_directory(files, table, made[-1])
    listing = list_location(files, staging)
    staged = [*listing.files, *(file for below in listing.directories.values() for file in below)]
    staged = [file for file in staged if file.size and not is_hidden(file.path)]

    def publish(numbered: tuple[int, File]) -> None:
        at, file = numbered
        source = join(staging, file.path)
        parts = dict(part.split("=", 1) for part in file.path.split("/")[:-1])
        directory = targets[int(parts.get("op", INSERT))]
        assert directory is not None, "Spark wrote rows of a kind that was not read"
        target = join(location, directory.name)
        if table.insert_only:
            files.rename(source, join(target, f"{at:06d}_0"))
        elif _complete(files, source, file.size, deletes=int(parts["op"]) == DELETE):
            files.rename(source, join(target, bucket_file(int(parts["b"]))))

    in_threads(publish, list(enumerate(sorted(staged))))
    return made


def _complete(files: Files, location: str, size: int, deletes: bool) -> bool:
    """Adds Hive's user metadata to a file. Returns whether the file has rows."""
    from metastored.spark.acid.staging import hive_metadata

    end = end_of(files, location, size)
    tail = read_tail(end)
    if not tail.rows:
        return False
    files.add_orc_metadata(location, end, hive_metadata(files, location, tail, deletes))
    return True
