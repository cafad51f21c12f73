"""Files of new rows and of deletes: written by Spark into a hidden directory, completed and renamed by the driver.

    <table>/_tmp_acid_<transaction>/<statement>/acid_p0=2024/acid_op=2/acid_b=3/part-00000-….orc
    <table>/ds=2024/delete_delta_0000007_0000007_0000/bucket_00003

Spark's own commit protocol leaves one file of each task, however often the task was run. The files are renamed before
the metastore commits the transaction: until then no reader uses their directories. No transaction is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from metastored.errors import InvalidOperationException, MissingExtra, NotSupported
from metastored.hive.locations import is_local, join, local_path
from metastored.hive.names import DEFAULT_PARTITION, make_part_name, unescape
from metastored.hive.orc import Range, Tail, read_tail
from metastored.hive.transactions.layout import (
    VERSION,
    VERSION_FILE,
    Directory,
    base,
    bucket_file,
    delete_delta,
    delta,
    is_hidden,
)
from metastored.hive.transactions.snapshots import ValidTxnList
from metastored.spark.acid.buckets import bucket_column
from metastored.spark.acid.files import Files, end_of, in_threads, list_location
from metastored.spark.acid.formats import format_options, source_format
from metastored.spark.acid.state import BUCKET, OWID, ROW
from metastored.spark.acid.statistics import RowCounts
from metastored.spark.acid.tables import AcidTable

STAGING: Final = "_tmp_acid_"
INSERT, DELETE = 0, 2
"""The numbers of operations in the files."""
EVENT_FIELDS: Final = ("op", "o", "b", "r", "row")
"""The fields of an event: the operation, the id of a deleted row, and a new row."""
TWICE: Final = "a row of the target matches more than one row of the source"
"""The error of a merge that would change one row twice."""

_OPERATION, _FILE = "acid_op", "acid_b"
"""The columns by which staged files are divided, after those of the partition keys."""
_BUCKETS: Final = 0xFFF + 1
_ROW_MASK: Final = (1 << 33) - 1
_VERSION: Final = 1 << 29
_PART = re.compile(r"part-(\d+)-.*")
Column = Any


class Staged(NamedTuple):
    """A file in the staging directory."""

    location: str
    size: int
    values: tuple[str, ...]
    """The values of the partition keys, as texts."""
    operation: int
    bucket: int | None
    """The bucket of a bucketed table, or of deleted rows."""
    task: int


class Published(NamedTuple):
    """What a statement has written."""

    files: dict[tuple[str, ...], list[str]]
    """The locations of new files, by partition values."""
    rows: dict[tuple[str, ...], RowCounts | None]
    """The numbers of rows, by partition values; None in insert-only tables, whose files may have any format."""
    statements: int
    """How many statement ids were used."""


# --- Spark's part ------------------------------------------------------------------------------------------


def stage_inserts(table: AcidTable, frame: DataFrame, write_id: int, statement: int, location: str) -> None:
    """Writes the rows of a DataFrame that has the table's columns and keys."""
    keys = [
        key_text(F.col(_quoted(field.name)), field.dataType).alias(key_name(at)) for at, field in enumerate(table.keys)
    ]
    names = [key_name(at) for at in range(len(keys))]
    bucketed = [bucket_column(table).alias(_FILE)] if table.buckets is not None else []
    if table.insert_only:
        frame = frame.select(*_columns(table), *keys, *bucketed)
    else:
        frame = frame.select(F.struct(*_columns(table)).alias("row"), *keys, *bucketed)
    if bucketed:
        names.append(_FILE)
        frame = frame.repartition(*names)
    if names:
        frame = frame.sortWithinPartitions(*names)
    elif not table.insert_only:
        # Spark evaluates a projection of VALUES once, on the driver: all tasks would get the ids of the first one.
        frame = frame.coalesce(_BUCKETS)
    if not table.insert_only:
        bucket = _in_bucket(F.col(_FILE), statement) if bucketed else _in_task(statement)
        frame = frame.select(*_acid_columns(F.lit(INSERT), _long(write_id), bucket, _next_row(), write_id), *names)
    _write(table, frame, names, location)


def stage_changes(table: AcidTable, events: DataFrame, write_id: int, statement: int, location: str) -> None:
    """Writes events: EVENT_FIELDS, the texts of the keys (`key_name`), and `salt`, which distributes new rows.

    Raises InvalidOperationException if a row is deleted twice.
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
        F.col("op").alias(_OPERATION),
        F.when(deleted, of_row).otherwise(new).cast("int").alias(_FILE),
        F.when(deleted, of_row).otherwise(F.col("salt") if table.buckets is None else new).alias("salt"),
    )
    deleted = F.col(_OPERATION) == DELETE
    distribution = [*names, _OPERATION, "salt"]
    key = F.struct("o", "b", "r")
    previous = F.lag(key).over(Window.partitionBy(*distribution).orderBy("o", "b", "r"))
    checked = F.when(deleted & (previous == key), F.raise_error(F.lit(TWICE)).cast("int")).otherwise(F.col(_OPERATION))
    events = events.repartition(*distribution).withColumn(_OPERATION, checked)
    events = events.sortWithinPartitions(*names, _OPERATION, _FILE, "o", "b", "r")
    bucket = _in_bucket(F.col(_FILE), statement) if table.buckets is not None else _in_task(statement)
    columns = _acid_columns(
        F.col(_OPERATION),
        F.when(deleted, F.col("o")).otherwise(_long(write_id)),
        F.when(deleted, F.col("b")).otherwise(bucket).cast("int"),
        F.when(deleted, F.col("r")).otherwise(_next_row()),
        write_id,
    )
    frame = events.select(*columns, *names, _OPERATION, _FILE)
    try:
        _write(table, frame, [*names, _OPERATION, _FILE], location)
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
    return [F.col(_quoted(field.name)) for field in table.columns]


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


def _in_task(statement: int) -> Column:
    """The bucket of the task's file. A task beyond the 4096th writes for the next statement."""
    task = F.spark_partition_id()
    number = F.shiftleft(task.bitwiseAND(F.lit(_BUCKETS - 1)), 16)
    return F.lit(_VERSION).bitwiseOR(number).bitwiseOR(F.shiftright(task, 12) + F.lit(statement)).cast("int")


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


# --- the driver's part -------------------------------------------------------------------------------------


def publish(
    files: Files,
    table: AcidTable,
    staging: str,
    locate: Callable[[Iterable[tuple[str, ...]], frozenset[tuple[str, ...]]], Locations],
    write_id: int,
    statement: int,
    overwrite: bool,
) -> Published:
    """Completes the staged files and renames them into the directories of the write id.

    `locate` returns the locations of the partitions that are written to, of which rows are deleted in the second ones.
    It is called before the first file is renamed.
    """
    staged = list(_staged(files, table, staging))
    written: dict[tuple[str, ...], list[str]] = {}
    counts: dict[tuple[str, ...], RowCounts] = {}
    if overwrite and any(each.task >= _BUCKETS and each.bucket is None for each in staged):
        raise NotSupported(f"an overwrite of {table.name} has more than {_BUCKETS} tasks: coalesce the DataFrame")
    if not table.insert_only:
        counted = list(zip(staged, in_threads(lambda each: _complete(files, each), staged), strict=True))
        staged = [each for each, number in counted if number]
        for each, number in counted:
            counts[each.values] = counts.get(each.values, RowCounts()) + (
                RowCounts(deleted=number) if each.operation == DELETE else RowCounts(number)
            )
    made: set[str] = set()
    renamed: set[str] = set()
    changed = frozenset(each.values for each in staged if each.operation == DELETE)
    locations = locate({each.values for each in staged}, changed)
    for each in staged:
        directory = _directory(each, write_id, statement, overwrite)
        target = join(locations.of(each.values), directory.name)
        if target not in made:
            make_directory(files, table, target)
            made.add(target)
        path = join(target, _file_name(table, each))
        if path in renamed:
            raise NotSupported(f"two of the files that Spark has written would be {path}")
        renamed.add(path)
        files.rename(each.location, path)
        written.setdefault(each.values, []).append(path)
    tasks = max((each.task for each in staged if each.bucket is None), default=0)
    rows = {values: None if table.insert_only else counts[values] for values in written}
    return Published(written, rows, 1 + tasks // _BUCKETS)


class Locations:
    """The directories of partitions: those that exist where they are, new ones below the table's."""

    def __init__(self, table: AcidTable, existing: dict[tuple[str, ...], str]) -> None:
        self._table = table
        self.existing: Final = existing

    def of(self, values: tuple[str, ...]) -> str:
        if not values:
            return self._table.location
        found = self.existing.get(values)
        return found or join(self._table.location, make_part_name(self._table.key_names, values))


def make_directory(files: Files, table: AcidTable, location: str) -> None:
    """Creates the directory of a base or a delta; readers of Hive and Trino look for the version in it."""
    files.make(location)
    if not table.insert_only:
        files.write(join(location, VERSION_FILE), VERSION)


def remove_left_staging(files: Files, table: AcidTable, visible: ValidTxnList, own: int) -> None:
    """Removes what other transactions left that ended without cleaning up: their driver was killed."""
    for entry in files.entries(table.location):
        number = entry.name.removeprefix(STAGING)
        if entry.is_directory and entry.name.startswith(STAGING) and number.isdigit():
            transaction = int(number)
            if transaction != own and transaction < visible.high_watermark and transaction not in visible.open:
                files.remove(join(table.location, entry.name))


def _staged(files: Files, table: AcidTable, staging: str) -> Iterable[Staged]:
    listing = list_location(files, staging)
    every = [*listing.files, *(file for below in listing.directories.values() for file in below)]
    for file in every:
        if is_hidden(file.path) or not file.size:
            continue
        *directories, name = file.path.split("/")
        pairs = dict(part.split("=", 1) for part in directories)
        found = _PART.match(name)
        if found is None:
            raise NotSupported(f"Spark has written {file.path}, whose name has no number of a task")
        yield Staged(
            location=join(staging, file.path),
            size=file.size,
            values=tuple(unescape(pairs[key_name(at)]) or DEFAULT_PARTITION for at in range(len(table.keys))),
            operation=int(pairs.get(_OPERATION, INSERT)),
            bucket=_bucket(table, pairs),
            task=int(found[1]),
        )


def _bucket(table: AcidTable, pairs: dict[str, str]) -> int | None:
    new = int(pairs.get(_OPERATION, INSERT)) == INSERT
    return int(pairs[_FILE]) if _FILE in pairs and (table.buckets is not None or not new) else None


def _directory(each: Staged, write_id: int, statement: int, overwrite: bool) -> Directory:
    if each.operation == DELETE:
        return delete_delta(write_id, write_id, statement)
    if overwrite:
        return base(write_id)
    extra = each.task // _BUCKETS if each.bucket is None else 0
    return delta(write_id, write_id, statement + extra)


def _file_name(table: AcidTable, each: Staged) -> str:
    number = each.task % _BUCKETS if each.bucket is None else each.bucket
    return f"{number:06d}_0" if table.insert_only else bucket_file(number)


def _complete(files: Files, each: Staged) -> int:
    """Adds Hive's user metadata to a file. Returns the number of its rows."""
    end = end_of(files, each.location, each.size)
    tail = read_tail(end)
    if tail.rows:
        files.add_orc_metadata(each.location, end, hive_metadata(files, each.location, tail, each.operation == DELETE))
    return tail.rows


def hive_metadata(files: Files, location: str, tail: Tail, deletes: bool) -> dict[str, bytes]:
    """The user metadata of a file of Hive's layout: the last key of each stripe, the number of rows, the version."""
    index = "".join(f"{owid},{bucket},{row};" for owid, bucket, row in _last_keys(files, location, tail))
    return {
        "hive.acid.key.index": index.encode(),
        "hive.acid.stats": (f"0,0,{tail.rows}" if deletes else f"{tail.rows},0,0").encode(),
        "hive.acid.version": VERSION,
    }


def _last_keys(files: Files, location: str, tail: Tail) -> list[tuple[int, int, int]]:
    """The key of the last row of each stripe: by the statistics if all rows have one write id and bucket."""
    keys = []
    for stripe in tail.stripes:
        known = [stripe.ranges[at] if at < len(stripe.ranges) else None for at in (OWID, BUCKET, ROW)]
        if any(each is None for each in known) or _differs(known[0]) or _differs(known[1]):
            return _read_last_keys(files, location)
        keys.append(tuple(each.high for each in known if each is not None))
    return keys  # type: ignore[return-value]


def _differs(each: Range | None) -> bool:
    return each is None or each.low != each.high


def _read_last_keys(files: Files, location: str) -> list[tuple[int, int, int]]:
    try:
        import pyarrow
        from pyarrow import orc
    except ImportError:
        raise MissingExtra("a write of row ids of several transactions", "arrow") from None

    local = is_local(location)  # A local file is read by columns; of others, which are read whole, there is no reader.
    file = orc.ORCFile(local_path(location) if local else pyarrow.BufferReader(files.read(location)))
    keys = []
    for at in range(file.nstripes):
        stripe = file.read_stripe(at, columns=["originalTransaction", "bucket", "rowId"])
        keys.append(tuple(int(stripe.column(name)[-1].as_py()) for name in ("originalTransaction", "bucket", "rowId")))
    return keys  # type: ignore[return-value]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
