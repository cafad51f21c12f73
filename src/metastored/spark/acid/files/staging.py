"""Files of new rows and of deletes, as Spark writes them into a hidden directory: Hive's six columns, with row ids.

    <table>/_tmp_acid_<transaction>/<statement>/acid_p0=2024/acid_op=2/acid_b=3/part-00000-….orc

Without buckets, all new rows are of bucket 0, since Trino writes no other file of deletes; each task has a statement id
of its own. Columns are made by texts of SQL where no name of the table is in them: PySpark exchanges several messages
with the JVM for each part of a Column, and one for a list of texts. Nothing is read or renamed here: `publishing.py`
does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from metastored.errors import InvalidOperationException, NotSupported
from metastored.hive.quoting import backquoted
from metastored.spark.acid.files.buckets import bucket_column
from metastored.spark.acid.files.formats import format_options, source_format
from metastored.spark.acid.tables import AcidTable
from metastored.spark.local_rows import text_literal

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
_VERSION: Final = 1 << 29
_NEXT_ROW: Final = f"monotonically_increasing_id() & {(1 << 33) - 1}L"
_DELETED: Final = f"{OPERATION} = {DELETE}"
_BUCKET_OF_ROW: Final = "CASE WHEN shiftrightunsigned(b, 29) = 0 THEN b ELSE shiftright(b, 16) & 4095 END"
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
        bucket = _in_bucket(statement) if bucketed else _in_task(statement)
        frame = frame.selectExpr(*_acid_columns(str(INSERT), f"{write_id}L", bucket, _NEXT_ROW, write_id), *names)
    _write(table, frame, names, location)


def stage_changes(table: AcidTable, events: DataFrame, write_id: int, statement: int, location: str) -> None:
    """Writes events: EVENT_FIELDS, the texts of the keys (`key_name`), and `salt`, which distributes them to tasks.

    Deletes of the same row have the same salt. Raises InvalidOperationException if a row is deleted twice.
    """
    names = [key_name(at) for at in range(len(table.keys))]
    # Spark sorts again before it writes, unless the rows are sorted by these very columns already.
    if table.buckets is None:
        file = f"CASE WHEN op = {DELETE} THEN {_BUCKET_OF_ROW} ELSE 0 END"
        kept = [*EVENT_FIELDS[1:], *names, f"op AS {OPERATION}", f"CAST({file} AS INT) AS {FILE}", "salt"]
        events = events.selectExpr(*kept)
    else:
        new = bucket_column(table, lambda name: F.col("row").getField(name))
        bucket_of_event = F.when(F.col("op") == DELETE, F.expr(_BUCKET_OF_ROW)).otherwise(new)
        events = events.select(
            *EVENT_FIELDS[1:],
            *names,
            F.col("op").alias(OPERATION),
            bucket_of_event.cast("int").alias(FILE),
            bucket_of_event.alias("salt"),
        )
    distribution = [*names, OPERATION, "salt"]
    previous = f"lag(struct(o, b, r)) OVER (PARTITION BY {', '.join(distribution)} ORDER BY o, b, r)"
    checked = (
        f"CASE WHEN {_DELETED} AND {previous} = struct(o, b, r) "
        f"THEN CAST(raise_error({text_literal(TWICE)}) AS INT) ELSE {OPERATION} END"
    )
    events = _distributed(table, events, statement, distribution).withColumn(OPERATION, F.expr(checked))
    events = events.sortWithinPartitions(*names, OPERATION, FILE, "o", "b", "r")
    bucket = _in_bucket(statement) if table.buckets is not None else _in_task(statement)
    columns = _acid_columns(
        OPERATION,
        f"CASE WHEN {_DELETED} THEN o ELSE {write_id}L END",
        f"CASE WHEN {_DELETED} THEN b ELSE {bucket} END",
        f"CASE WHEN {_DELETED} THEN r ELSE {_NEXT_ROW} END",
        write_id,
    )
    frame = events.selectExpr(*columns, *names, OPERATION, FILE)
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


def _acid_columns(operation: str, owid: str, bucket: str, row_id: str, write_id: int) -> list[str]:
    """Hive's six columns, with the names in the case that all versions of Hive accept."""
    return [
        f"CAST({operation} AS INT) AS operation",
        f"{owid} AS originalTransaction",
        f"CAST({bucket} AS INT) AS bucket",
        f"{row_id} AS rowId",
        f"{write_id}L AS currentTransaction",
        "`row`",
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


def _in_task(statement: int) -> str:
    """Bucket 0, with the statement id of the task."""
    return f"{_VERSION} | (spark_partition_id() + {statement})"


def _in_bucket(statement: int) -> str:
    """The bucket in the column FILE, with the statement id."""
    return f"{_VERSION} | shiftleft({FILE}, 16) | {statement}"


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
