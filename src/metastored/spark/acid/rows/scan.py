"""The rows of a table at a snapshot as a DataFrame, by Spark's own ORC reader.

All of Hive's six columns are always in the scan (`model/spark/acid_files.py`). Spark then reads `row` in batches, and
only the fields that a query needs.

Deleted rows are removed by a filter or an anti-join, only from files that deletes can touch. Expressions are SQL texts
where they can be: each function of PySpark for columns costs several calls of the JVM, of which a plan would need a
thousand. No metastore is called here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from metastored.hive.locations import parse_location
from metastored.hive.quoting import backquoted
from metastored.model.spark.acid_files import NAMES_ALL, NAMES_THE_IDS, PIN, is_visible
from metastored.spark.acid.files.formats import format_options, source_format
from metastored.spark.acid.files.state import DataFile, DeleteFile, TableState
from metastored.spark.acid.lengths import is_padded, shown
from metastored.spark.acid.rows.deleted_bits import without_deleted
from metastored.spark.acid.rows.row_keys import BUCKET, KEY, OWID, PARTITION, ROW, frame_of_numbers, row_keys
from metastored.spark.acid.tables import ROW_ID
from metastored.spark.local_rows import local_rows, text_literal

MANY_PARTITIONS: Final = 64
"""Up to this number each partition is a branch of a union, which later filters on keys remove from the plan."""
BROADCAST_ROWS: Final = 5_000_000
"""The number of deleted rows up to which they are sent to all executors."""

_PATH, _NUMBER = "__acid_path", "__acid_number"
_META: Final = (
    ("operation", IntegerType()),
    ("originalTransaction", LongType()),
    ("bucket", IntegerType()),
    ("rowId", LongType()),
    ("currentTransaction", LongType()),
)
_IDS: Final = (f"`originalTransaction` AS {OWID}", f"`bucket` AS {BUCKET}", f"`rowId` AS {ROW}")
_STORED: Final = (
    "0 AS operation", f"{OWID} AS originalTransaction", f"{BUCKET} AS bucket", f"{ROW} AS rowId",
    f"{OWID} AS currentTransaction",
)  # fmt: skip
Column = Any


def scan(
    spark: SparkSession,
    state: TableState,
    *,
    row_ids: bool = False,
    search_options: Mapping[str, str] | None = None,
) -> DataFrame:
    """The visible rows: the table's columns, its keys, and with `row_ids` the column ROW__ID.

    `search_options` are the options of a search argument for the ORC reader, which skips groups of rows by it.
    """
    return _Scan(spark, state, row_ids, dict(search_options or {})).frame()


def stored_rows(spark: SparkSession, state: TableState) -> DataFrame:
    """The visible rows of a partition in the six columns of Hive's layout, as a compaction writes them."""
    return _Scan(spark, state, True, {}, whole=True).frame()


def delete_events(spark: SparkSession, state: TableState) -> DataFrame:
    """The ids of deleted rows, with the write ids that deleted them: one row for each event, as in the files."""
    files: dict[bool, list[str]] = {}
    for partition in state.partitions:
        for file in partition.deletes:
            files.setdefault(file.partly_visible, []).append(file.location)
    reader = _Scan(spark, state, False, {})
    frames = [reader.deletes(locations, hidden) for hidden, locations in files.items()]
    return _union(frames)


class _Group(NamedTuple):
    """Files that are read in the same way."""

    partition: int | None
    """The partition; None where the files are of several."""
    original: bool
    touched: bool
    partly_visible: bool


class _Scan:
    def __init__(
        self, spark: SparkSession, state: TableState, row_ids: bool, options: dict[str, str], whole: bool = False
    ) -> None:
        """With `whole`, rows stay in the column `row`: taking them apart and together again takes time."""
        self._spark = spark
        self._state = state
        self._table: Final = state.table
        self._row_ids = row_ids
        self._options = options
        self._whole = whole
        self._branches = len(state.partitions) <= MANY_PARTITIONS
        self._has_struct_named_row = any(
            field.name.lower() == "row" and isinstance(field.dataType, StructType) for field in self._table.columns
        )

    def frame(self) -> DataFrame:
        groups: dict[_Group, list[DataFile]] = {}
        for partition in self._state.partitions:
            for file in partition.data:
                numbered = file.original is not None
                group = _Group(partition.index if self._branches else None, numbered, file.touched, file.partly_visible)
                groups.setdefault(group, []).append(file)
        frames = []
        for group, files in groups.items():
            if not group.touched:
                frame = self._read(group, files)
                frames.append(frame if self._is_public(group) else self._public(frame))
        touched = [self._read(group, files) for group, files in groups.items() if group.touched]
        if touched:
            frames.append(self._public(self._without_deleted(_union(touched))))
        return _union(frames or [self._public(self._empty())])

    # Reading files

    def _read(self, group: _Group, files: Sequence[DataFile]) -> DataFrame:
        if self._table.insert_only:
            frame = self._plain_files([file.location for file in files])
        elif group.original:
            return self._originals(group, files)
        else:
            frame = self._acid_files(
                [file.location for file in files], self._table.columns, group.partly_visible, self._options
            )
            fields = ["`row`"] if self._whole else [self._field(name) for name in self._table.columns.fieldNames()]
            ids = _IDS if group.touched or self._row_ids else ()
            if group.partition is not None:
                return frame.selectExpr(*fields, *ids, *self._literals(group.partition, group.touched))
            frame = frame.selectExpr(*fields, *ids, _PATH)
        return self._with_keys(frame, group.partition, files)

    def _field(self, name: str) -> str:
        """A column of the user. Spark pushes a filter on it down as one on `row.name`, which ORC does not find.

        In a table that has a struct named `row`, ORC would find a field of that struct: there nothing is pushed down.
        """
        field = f"`row`.{backquoted(name)}"
        return f"{f'coalesce({field}, {field})' if self._has_struct_named_row else field} AS {backquoted(name)}"

    def _acid_files(
        self, locations: Sequence[str], columns: StructType, partly_visible: bool, options: Mapping[str, str]
    ) -> DataFrame:
        """The six columns of files of Hive's layout, and the path of each row's file."""
        fields = [StructField(name, type) for name, type in _META]
        complete = self._whole and bool(columns.fields)  # Then `row` is selected, and needs no field that pins it.
        row = StructType(columns.fields if complete else [*columns.fields, StructField(PIN, ByteType())])
        schema = StructType([*fields, StructField("row", row)])
        frame: DataFrame = _reader(self._spark, schema, options).orc(list(locations))
        guard = NAMES_THE_IDS if complete else NAMES_ALL
        frame = frame.where(f"{guard} AND {is_visible(self._state.write_ids)}" if partly_visible else guard)
        return frame.withColumn(_PATH, _path()) if not self._branches else frame

    def _plain_files(self, locations: Sequence[str]) -> DataFrame:
        reader = _reader(self._spark, self._table.columns, format_options(self._table))
        read: DataFrame = reader.format(source_format(self._table)).load(list(locations))
        return read.withColumn(_PATH, _path()) if not self._branches else read

    def _originals(self, group: _Group, files: Sequence[DataFile]) -> DataFrame:
        """Files without ids. Where ids are needed, the rows of each file are numbered in their order."""
        frame: DataFrame = _reader(self._spark, self._table.columns, {}).orc([file.location for file in files])
        columns = [F.col(backquoted(name)) for name in self._table.columns.fieldNames()]
        if not (group.touched or self._row_ids):
            frame = frame.select(*columns, *([_path().alias(_PATH)] if group.partition is None else []))
            return self._with_keys(frame, group.partition, files)
        # Within a task rows come in the order of the file, and a task reads a split from its start.
        frame = frame.select(
            *columns,
            _path().alias(_PATH),
            F.col("_metadata.file_block_start").alias("__acid_start"),
            F.monotonically_increasing_id().alias("__acid_order"),
        )
        order = Window.partitionBy(_PATH).orderBy("__acid_start", "__acid_order")
        frame = frame.withColumn(_NUMBER, F.row_number().over(order) - 1)
        rows = []
        for file in files:
            assert file.original is not None
            rows.append((path_key(file.location), *file.original))
        numbered = ((_PATH, StringType()), (OWID, LongType()), (BUCKET, IntegerType()), ("__acid_first", LongType()))
        schema = StructType([StructField(name, type) for name, type in numbered])
        names = local_rows(self._spark, rows, schema)
        frame = frame.join(F.broadcast(names), _PATH, "left").select(
            *columns,
            _required(OWID).alias(OWID),
            F.col(BUCKET),
            (F.col("__acid_first") + F.col(_NUMBER)).alias(ROW),
            F.col(_PATH),
        )
        if self._whole:
            fields = ", ".join(backquoted(name) for name in self._table.columns.fieldNames())
            frame = frame.selectExpr(f"struct({fields}) AS `row`", OWID, BUCKET, ROW, _PATH)
        return self._with_keys(frame, group.partition, files)

    # Partition keys

    def _with_keys(self, frame: DataFrame, partition: int | None, files: Sequence[DataFile | DeleteFile]) -> DataFrame:
        """Adds the keys and the number of the partition: as literals, or by a join on the path of the file."""
        if partition is not None:
            return frame.selectExpr(*self._data_columns(frame), *self._literals(partition, True))
        rows = [
            (path_key(file.location), file.partition, *self._state.partitions[file.partition].values) for file in files
        ]
        texts = [StructField(f"__acid_k{at}", StringType()) for at in range(len(self._table.keys))]
        schema = StructType([StructField(_PATH, StringType()), StructField(PARTITION, IntegerType()), *texts])
        names = local_rows(self._spark, rows, schema)
        keys = [
            key_value(F.col(f"__acid_k{at}"), field.dataType).alias(field.name)
            for at, field in enumerate(self._table.keys)
        ]
        joined = frame.join(F.broadcast(names), _PATH, "left")
        columns = [F.col(each) for each in self._data_columns(frame)]
        return joined.select(*columns, *keys, _required(PARTITION).alias(PARTITION))

    def _literals(self, partition: int, numbered: bool) -> list[str]:
        """The keys of a partition and, where ids are compared, its number."""
        values = zip(self._table.keys.fields, self._state.partitions[partition].values, strict=True)
        keys = [
            f"CAST({text_literal(value)} AS {field.dataType.simpleString()}) AS {backquoted(field.name)}"
            for field, value in values
        ]
        return [*keys, f"{partition} AS {PARTITION}"] if numbered else keys

    def _data_columns(self, frame: DataFrame) -> list[str]:
        return [backquoted(name) for name in frame.columns if name != _PATH]

    # Deletes

    def deletes(self, locations: Sequence[str], partly_visible: bool) -> DataFrame:
        """The visible events of delete files."""
        read = self._acid_files(locations, StructType(), partly_visible, {})
        return read.select("originalTransaction", "bucket", "rowId", "currentTransaction")

    def _without_deleted(self, frame: DataFrame) -> DataFrame:
        files = [file for partition in self._state.partitions for file in partition.deletes]
        keys = row_keys(files)
        if keys is None:
            return self._anti_join(frame, files, self._deleted_ids(files), [OWID, BUCKET, ROW, PARTITION])
        numbers = keys.read(self._spark, files)
        if numbers is None:
            ids = self._deleted_ids(files).selectExpr(f"{keys.text} AS {KEY}")
        else:
            filtered = without_deleted(self._spark, frame, keys, numbers)
            if filtered is not None:
                return filtered
            ids = frame_of_numbers(self._spark, numbers)
        return self._anti_join(frame.selectExpr("*", f"{keys.text} AS {KEY}"), files, ids, [KEY])

    def _anti_join(self, frame: DataFrame, files: Sequence[DeleteFile], ids: DataFrame, on: list[str]) -> DataFrame:
        if sum(file.rows for file in files) <= BROADCAST_ROWS:
            ids = F.broadcast(ids)
        return frame.join(ids, on, "left_anti")

    def _deleted_ids(self, files: Sequence[DeleteFile]) -> DataFrame:
        """The ids of the deleted rows and the numbers of their partitions, read by Spark."""
        groups: dict[tuple[int | None, bool], list[DeleteFile]] = {}
        for file in files:
            key = (file.partition if self._branches else None, file.partly_visible)
            groups.setdefault(key, []).append(file)
        deleted = []
        for (partition, hidden), members in groups.items():
            read = self._acid_files([file.location for file in members], StructType(), hidden, {})
            if partition is not None:
                deleted.append(read.selectExpr(*_IDS, f"{partition} AS {PARTITION}"))
            else:
                with_keys = self._with_keys(read.selectExpr(*_IDS, _PATH), partition, members)
                deleted.append(with_keys.select(OWID, BUCKET, ROW, PARTITION))
        return _union(deleted)

    # The result

    def _is_public(self, group: _Group) -> bool:
        """Whether the frame of a group has exactly the columns of the result when it was read."""
        return not (
            self._table.insert_only
            or self._row_ids
            or group.original
            or group.partition is None
            or any(is_padded(field) for field in self._table.columns)
        )

    def _public(self, frame: DataFrame) -> DataFrame:
        if self._whole:
            return frame.selectExpr(*_STORED, "`row`")
        names = [backquoted(name) for name in (*self._table.columns.fieldNames(), *self._table.key_names)]
        if self._row_ids:
            names.append(f"named_struct('writeid', {OWID}, 'bucketid', {BUCKET}, 'rowid', {ROW}) AS {ROW_ID}")
        frame = frame.selectExpr(*names)
        for field in self._table.columns:
            if is_padded(field):
                frame = frame.withColumn(field.name, shown(F.col(backquoted(field.name)), field))
        return frame

    def _empty(self) -> DataFrame:
        ids = [StructField(OWID, LongType()), StructField(BUCKET, IntegerType()), StructField(ROW, LongType())]
        fields = [*self._table.columns.fields, *self._table.keys.fields, *ids]
        if self._whole:
            fields = [StructField("row", self._table.columns), *ids]
        return local_rows(self._spark, [], StructType(fields))


# --- the pieces --------------------------------------------------------------------------------------------


_READ_OPTIONS: Final = {
    "__globPaths__": "false",  # Names of partitions can have the characters of patterns.
    "ignoreMissingFiles": "false",  # A removed file is an error, whatever the session says: no row is lost silently.
    "ignoreCorruptFiles": "false",
}


def _reader(spark: SparkSession, schema: StructType, options: Mapping[str, str]) -> Any:
    return spark.read.schema(schema).options(**_READ_OPTIONS, **options)


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    result = frames[0]
    for frame in frames[1:]:
        result = result.unionByName(frame)
    return result


def key_value(text: Column, type: DataType) -> Column:
    """A partition value, from its text."""
    return text.cast(type)


def _required(name: str) -> Column:
    """A column of a join on the path of a file; an error where a path was not found, instead of a lost row."""
    message = F.concat(F.lit("metastored: unexpected file "), F.col(_PATH))
    return F.coalesce(F.col(name), F.raise_error(message).cast("bigint"))


def _path() -> Column:
    """The path of the file of a row, as `path_key` writes it."""
    return F.regexp_replace(F.col("_metadata.file_path"), "^[A-Za-z][A-Za-z0-9+.-]*:/*", "/")


def path_key(location: str) -> str:
    """A location as Spark shows it in `_metadata.file_path`: encoded as java.net.URI does, without the scheme."""
    parsed = parse_location(location)
    path = "".join(quote(each, safe="/@,;:$&+=-_.!~*'()") if each.isascii() else each for each in parsed.path)
    return f"/{parsed.authority}{path}" if parsed.authority else path
