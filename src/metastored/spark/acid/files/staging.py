"""Files of new rows and of deletes, as Spark writes them into a hidden directory: Hive's six columns, with row ids.

    <table>/_tmp_acid_<transaction>/<statement>/acid_p0=2024/acid_op=2/acid_b=3/part-00000-….orc

Without buckets, all new rows are of bucket 0, since Trino writes no other file of deletes; each task has a statement id
of its own. Nothing is read or renamed here: `publishing.py` does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from metastored.errors import InvalidOperationException, NotSupported
from metastored.hive.quoting import backquoted
from metastored.spark.acid.files.buckets import bucket_column
from metastored.spark.acid.files.formats import format_options, source_format
from metastored.spark.acid.tables import AcidTable

INSERT, DELETE = 0, 2
"""The numbers of operations in the files."""
EVENT_FIELDS: Final = ("op", "o", "b", "r", "row")
"""The fields of an event: the operation, the id of a deleted row, and a new row."""
TWICE: Final = "a row of the target matches more than one row of the source"
"""The error of a merge that would change one row twice."""

OPERATION, FILE = "acid_op", "acid_b"
"""The columns by which staged files are divided, after those of the partition keys."""
IDS: Final = 0xFFF + 1
"""The number of buckets, and of statement ids of a transaction."""
_ROW_MASK: Final = (1 << 33) - 1
_VERSION: Final = 1 << 29
Column = Any


def stage_inserts(table: AcidTable, frame: DataFrame, write_id: int, statement: int, location: str) -> None:
    """Writes the rows of a DataFrame that has the table's columns and keys."""
    keys = [
        key_text(F.col(backquoted(field.name)), field.dataType).alias(key_name(at))
        for at, field in enumerate(table.keys)
    ]
    names = [key_name(at) for at in range(len(keys))]
    bucketed = [bucket_column(table).alias(FILE)] if table.buckets is not None else []
    if table.insert_only:
        frame = frame.select(*_columns(table), *keys, *bucketed)
    else:
        frame = frame.select(F.struct(*_columns(table)).alias("row"), *keys, *bucketed)
    if bucketed:
        names.append(FILE)
        frame = frame.repartition(*names)
    elif not table.insert_only:
        # Also because Spark evaluates a projection of VALUES once, on the driver: all tasks would get the same ids.
        frame = frame.coalesce(_tasks(table, statement))
    if names:
        frame = frame.sortWithinPartitions(*names)
    if not table.insert_only:
        bucket = _in_bucket(F.col(FILE), statement) if bucketed else _in_task(statement)
        frame = frame.select(*_acid_columns(F.lit(INSERT), _long(write_id), bucket, _next_row(), write_id), *names)
    _write(table, frame, names, location)


def stage_changes(table: AcidTable, events: DataFrame, write_id: int, statement: int, location: str) -> None:
    """Writes events: EVENT_FIELDS, the texts of the keys (`key_name`), and `salt`, which distributes them to tasks.

    Deletes of the same row have the same salt. Raises InvalidOperationException if a row is deleted twice.
    """
    names = [key_name(at) for at in range(len(table.keys))]
    deleted = F.col("op") == DELETE
    of_row = F.when(F.shiftrightunsigned("b", 29) == 0, F.col("b")).otherwise(
        F.shiftright("b", 16).bitwiseAND(F.lit(0xFFF))
    )
    new = F.lit(0)
    if table.buckets is not None:
        new = bucket_column(table, lambda name: F.col("row").getField(name))
    # Spark sorts again before it writes, unless the rows are sorted by these very columns already.
    events = events.select(
        *EVENT_FIELDS[1:],
        *names,
        F.col("op").alias(OPERATION),
        F.when(deleted, of_row).otherwise(new).cast("int").alias(FILE),
        (F.col("salt") if table.buckets is None else F.when(deleted, of_row).otherwise(new)).alias("salt"),
    )
    deleted = F.col(OPERATION) == DELETE
    distribution = [*names, OPERATION, "salt"]
    key = F.struct("o", "b", "r")
    previous = F.lag(key).over(Window.partitionBy(*distribution).orderBy("o", "b", "r"))
    checked = F.when(deleted & (previous == key), F.raise_error(F.lit(TWICE)).cast("int")).otherwise(F.col(OPERATION))
    events = _distributed(table, events, statement, distribution).withColumn(OPERATION, checked)
    events = events.sortWithinPartitions(*names, OPERATION, FILE, "o", "b", "r")
    bucket = _in_bucket(F.col(FILE), statement) if table.buckets is not None else _in_task(statement)
    columns = _acid_columns(
        F.col(OPERATION),
        F.when(deleted, F.col("o")).otherwise(_long(write_id)),
        F.when(deleted, F.col("b")).otherwise(bucket).cast("int"),
        F.when(deleted, F.col("r")).otherwise(_next_row()),
        write_id,
    )
    frame = events.select(*columns, *names, OPERATION, FILE)
    try:
        _write(table, frame, [*names, OPERATION, FILE], location)
    except Exception as error:
        if TWICE in str(error):
            raise InvalidOperationException(f"{table.name} was not changed: {TWICE}") from error
        raise


def key_name(at: int) -> str:
    """The name of the column with the text of a partition key, by the number of the key."""
    return f"acid_p{at}"


def key_text(value: Column, type: DataType) -> Column:
    """The text of a partition value, as bytes: Spark would change the order of rows to make empty strings null."""
    return value.cast("string").cast("binary")


def _columns(table: AcidTable) -> list[Column]:
    return [F.col(backquoted(field.name)) for field in table.columns]


def _acid_columns(operation: Column, owid: Column, bucket: Column, row_id: Column, write_id: int) -> list[Column]:
    """Hive's six columns, with the names in the case that all versions of Hive accept."""
    return [
        operation.cast("int").alias("operation"),
        owid.alias("originalTransaction"),
        bucket.alias("bucket"),
        row_id.alias("rowId"),
        _long(write_id).alias("currentTransaction"),
        F.col("row"),
    ]


def _tasks(table: AcidTable, statement: int) -> int:
    """The number of tasks that may write: half of the ids that are left, so that a later statement has some too."""
    if statement >= IDS:
        raise NotSupported(
            f"the transaction has used all {IDS} statement ids of {table.name}: commit it, and go on in another one"
        )
    return max(1, (IDS - statement) // 2)


def _distributed(table: AcidTable, events: DataFrame, statement: int, by: Sequence[str]) -> DataFrame:
    most = _tasks(table, statement)
    wanted = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    # Without a number, Spark may use fewer tasks where there are few events.
    return events.repartition(*by) if wanted <= most else events.repartition(most, *by)


def _in_task(statement: int) -> Column:
    """Bucket 0, with the statement id of the task."""
    return F.lit(_VERSION).bitwiseOR(F.spark_partition_id() + F.lit(statement)).cast("int")


def _in_bucket(bucket: Column, statement: int) -> Column:
    return F.lit(_VERSION).bitwiseOR(F.shiftleft(bucket, 16)).bitwiseOR(F.lit(statement)).cast("int")


def _next_row() -> Column:
    return F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_MASK))


def _long(number: int) -> Column:
    return F.lit(number).cast("bigint")


def _write(table: AcidTable, frame: DataFrame, partitioned_by: Sequence[str], location: str) -> None:
    # A task writes one file into each directory.
    writer = frame.write.options(maxRecordsPerFile="0", **write_options(table)).format(source_format(table))
    if partitioned_by:
        writer = writer.partitionBy(*partitioned_by)
    writer.save(location)


def write_options(table: AcidTable) -> dict[str, str]:
    """The options of new files. ORC is compressed as `orc.compress` of the table says, or with zlib.

    Hive 3.1 cannot read zstd, which is Spark's own default.
    """
    options = format_options(table) if table.insert_only else {}
    if source_format(table) == "orc":
        options["compression"] = table.parameters.get("orc.compress", "zlib").lower()
    return options
