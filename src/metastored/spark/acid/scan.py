"""The rows of a table at a snapshot as a DataFrame, by Spark's own ORC reader.

ORC recognises a file whose root has Hive's six columns. A reader that asks for fewer gets an exception or wrong columns
from Spark, so all six are always in the scan: a filter that is always true names each of them, and one field of `row`
that no file has. Spark then reads `row` in batches, and only the fields that a query needs. The filters use coalesce:
ORC evaluates a filter on `bucket` on the user's column of that name, and would lose rows.

Deleted rows are removed by an anti-join, only from files that deletes can touch. No metastore is called here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

from metastored.errors import NotSupported
from metastored.hive.locations import parse_location
from metastored.hive.orc import Range
from metastored.spark.acid.lengths import shown
from metastored.spark.acid.state import DataFile, DeleteFile, TableState
from metastored.spark.acid.tables import ROW_ID, AcidTable

MANY_PARTITIONS: Final = 64
"""Up to this number each partition is a branch of a union, which later filters on keys remove from the plan."""
BROADCAST_ROWS: Final = 5_000_000
"""The number of deleted rows up to which they are sent to all executors."""

_PIN: Final = "__metastored_pin"
_OWID, _BUCKET, _ROW, _PARTITION, _KEY = "__acid_owid", "__acid_bucket", "__acid_row", "__acid_part", "__acid_key"
_PATH, _NUMBER = "__acid_path", "__acid_number"
_META: Final = (
    ("operation", IntegerType()),
    ("originalTransaction", LongType()),
    ("bucket", IntegerType()),
    ("rowId", LongType()),
    ("currentTransaction", LongType()),
)
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
    def __init__(self, spark: SparkSession, state: TableState, row_ids: bool, options: dict[str, str]) -> None:
        self._spark = spark
        self._state = state
        self._table: Final = state.table
        self._row_ids = row_ids
        self._options = options
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
        plain = [self._read(group, files) for group, files in groups.items() if not group.touched]
        touched = [self._read(group, files) for group, files in groups.items() if group.touched]
        frames = plain + ([self._without_deleted(_union(touched))] if touched else [])
        if not frames:
            frames = [self._empty()]
        return _union([self._public(frame) for frame in frames])

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
            frame = frame.select(
                *(self._field(name).alias(name) for name in self._table.columns.fieldNames()),
                *self._ids(group),
                *([F.col(_PATH)] if group.partition is None else []),
            )
        return self._with_keys(frame, group.partition, files)

    def _field(self, name: str) -> Column:
        """A column of the user. Spark pushes a filter on it down as one on `row.name`, which ORC does not find.

        In a table that has a struct named `row`, ORC would find a field of that struct: there nothing is pushed down.
        """
        field = F.col("row").getField(name)
        return F.coalesce(field, field) if self._has_struct_named_row else field

    def _ids(self, group: _Group) -> list[Column]:
        if not (group.touched or self._row_ids):
            return []
        return [
            F.col("originalTransaction").alias(_OWID),
            F.col("bucket").alias(_BUCKET),
            F.col("rowId").alias(_ROW),
        ]

    def _acid_files(
        self, locations: Sequence[str], columns: StructType, partly_visible: bool, options: Mapping[str, str]
    ) -> DataFrame:
        """The six columns of files of Hive's layout, and the path of each row's file."""
        fields = [StructField(name, type) for name, type in _META]
        row = StructType([*columns.fields, StructField(_PIN, ByteType())])
        schema = StructType([*fields, StructField("row", row)])
        frame: DataFrame = _reader(self._spark, schema, options).orc(list(locations)).where(_guard())
        if partly_visible:
            frame = frame.where(self._is_visible())
        return frame.withColumn(_PATH, _path()) if not self._branches else frame

    def _is_visible(self) -> Column:
        """Whether the write id of a row is visible: not pushed down, like the guard."""
        ids = self._state.write_ids
        current = F.coalesce(F.col("currentTransaction"), F.lit(0))
        hidden = sorted({*ids.open, *ids.aborted})
        visible = current <= ids.high_watermark
        return visible & ~current.isin(hidden) if hidden else visible

    def _plain_files(self, locations: Sequence[str]) -> DataFrame:
        reader = _reader(self._spark, self._table.columns, format_options(self._table))
        read: DataFrame = reader.format(source_format(self._table)).load(list(locations))
        return read.withColumn(_PATH, _path()) if not self._branches else read

    def _originals(self, group: _Group, files: Sequence[DataFile]) -> DataFrame:
        """Files without ids. Where ids are needed, the rows of each file are numbered in their order."""
        frame: DataFrame = _reader(self._spark, self._table.columns, {}).orc([file.location for file in files])
        columns = [F.col(_quoted(name)) for name in self._table.columns.fieldNames()]
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
        names = self._spark.createDataFrame(rows, f"{_PATH} string, {_OWID} bigint, {_BUCKET} int, __acid_first bigint")
        frame = frame.join(F.broadcast(names), _PATH, "left").select(
            *columns,
            _required(_OWID).alias(_OWID),
            F.col(_BUCKET),
            (F.col("__acid_first") + F.col(_NUMBER)).alias(_ROW),
            F.col(_PATH),
        )
        return self._with_keys(frame, group.partition, files)

    # Partition keys

    def _with_keys(self, frame: DataFrame, partition: int | None, files: Sequence[DataFile | DeleteFile]) -> DataFrame:
        """Adds the keys and the number of the partition: as literals, or by a join on the path of the file."""
        if partition is not None:
            values = zip(self._table.keys.fields, self._state.partitions[partition].values, strict=True)
            literals = [key_value(F.lit(value), field.dataType).alias(field.name) for field, value in values]
            number = F.lit(partition).alias(_PARTITION)
            return frame.select(*self._data_columns(frame), *literals, number)
        rows = [
            (path_key(file.location), file.partition, *self._state.partitions[file.partition].values) for file in files
        ]
        texts = [StructField(f"__acid_k{at}", StringType()) for at in range(len(self._table.keys))]
        schema = StructType([StructField(_PATH, StringType()), StructField(_PARTITION, IntegerType()), *texts])
        names = self._spark.createDataFrame(rows, schema)
        keys = [
            key_value(F.col(f"__acid_k{at}"), field.dataType).alias(field.name)
            for at, field in enumerate(self._table.keys)
        ]
        joined = frame.join(F.broadcast(names), _PATH, "left")
        return joined.select(*self._data_columns(frame), *keys, _required(_PARTITION).alias(_PARTITION))

    def _data_columns(self, frame: DataFrame) -> list[Column]:
        return [F.col(_quoted(name)) for name in frame.columns if name != _PATH]

    # Deletes

    def deletes(self, locations: Sequence[str], partly_visible: bool) -> DataFrame:
        """The visible events of delete files."""
        read = self._acid_files(locations, StructType(), partly_visible, {})
        return read.select("originalTransaction", "bucket", "rowId", "currentTransaction")

    def _without_deleted(self, frame: DataFrame) -> DataFrame:
        files = [file for partition in self._state.partitions for file in partition.deletes]
        groups: dict[tuple[int | None, bool], list[DeleteFile]] = {}
        for file in files:
            key = (file.partition if self._branches else None, file.partly_visible)
            groups.setdefault(key, []).append(file)
        deleted = []
        for (partition, hidden), members in groups.items():
            read = self._acid_files([file.location for file in members], StructType(), hidden, {})
            read = read.select(
                F.col("originalTransaction").alias(_OWID),
                F.col("bucket").alias(_BUCKET),
                F.col("rowId").alias(_ROW),
                *([F.col(_PATH)] if partition is None else []),
            )
            with_keys = self._with_keys(read, partition, members)
            deleted.append(with_keys.select(_OWID, _BUCKET, _ROW, _PARTITION))
        ids = _union(deleted)
        packed = _packed(files)
        if packed is not None:
            ids, frame = ids.select(packed.alias(_KEY)), frame.withColumn(_KEY, packed)
        on = [_KEY] if packed is not None else [_OWID, _BUCKET, _ROW, _PARTITION]
        if sum(file.rows for file in files) <= BROADCAST_ROWS:
            ids = F.broadcast(ids)
        return frame.join(ids, on, "left_anti")

    # The result

    def _public(self, frame: DataFrame) -> DataFrame:
        names = [shown(F.col(_quoted(field.name)), field).alias(field.name) for field in self._table.columns]
        names += [F.col(_quoted(name)) for name in self._table.key_names]
        if self._row_ids:
            names.append(
                F.struct(
                    F.col(_OWID).alias("writeid"), F.col(_BUCKET).alias("bucketid"), F.col(_ROW).alias("rowid")
                ).alias(ROW_ID)
            )
        return frame.select(*names)

    def _empty(self) -> DataFrame:
        ids = [StructField(_OWID, LongType()), StructField(_BUCKET, IntegerType()), StructField(_ROW, LongType())]
        fields = [*self._table.columns.fields, *self._table.keys.fields, *ids]
        return self._spark.createDataFrame([], StructType(fields))


# --- the pieces --------------------------------------------------------------------------------------------


_READ_OPTIONS: Final = {
    "__globPaths__": "false",  # Names of partitions can have the characters of patterns.
    "ignoreMissingFiles": "false",  # A removed file is an error, whatever the session says: no row is lost silently.
    "ignoreCorruptFiles": "false",
}


def _reader(spark: SparkSession, schema: StructType, options: Mapping[str, str]) -> Any:
    return spark.read.schema(schema).options(**_READ_OPTIONS, **options)


def _guard() -> Column:
    """A condition that is always true and names all six columns, so that none of them is pruned."""

    def value(name: str) -> Column:
        return F.coalesce(F.col(name), F.lit(0))

    numbers = value("operation").bitwiseOR(value("bucket")).cast("bigint")
    for name in ("originalTransaction", "rowId", "currentTransaction"):
        numbers = numbers.bitwiseOR(value(name))
    return (numbers >= 0) & ((value("rowId") >= 0) | F.col("row").getField(_PIN).isNull())


def _packed(files: Sequence[DeleteFile]) -> Column | None:
    """The id of a row as one number, in the ranges of the deleted rows; null for a row outside of them.

    Returns None if the number would have more than 63 bits.
    """
    parts: list[tuple[str, Range]] = [
        (_PARTITION, _covering(Range(file.partition, file.partition) for file in files)),
        (_OWID, _covering(file.write_ids for file in files)),
        (_BUCKET, _covering(file.buckets for file in files)),
        (_ROW, _covering(file.row_ids for file in files)),
    ]
    if sum((each.high - each.low).bit_length() for _, each in parts) > 63:
        return None
    packed: Column = F.lit(0).cast("bigint")
    inside: Column = F.lit(True)
    for name, each in parts:
        column = F.col(name).cast("bigint")
        inside = inside & column.between(each.low, each.high)
        packed = F.shiftleft(packed, (each.high - each.low).bit_length()).bitwiseOR(column - F.lit(each.low))
    return F.when(inside, packed)


def _covering(ranges: Iterable[Range]) -> Range:
    listed = list(ranges)
    return Range(min(each.low for each in listed), max(each.high for each in listed))


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


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_SOURCES: Final = {"orc": "orc", "parquet": "parquet", "json": "json", "textfile": "csv", "csv": "csv"}


def source_format(table: AcidTable) -> str:
    """The name of Spark's data source for the files of an insert-only table. Raises NotSupported."""
    source = _SOURCES.get(table.format)
    if source is None:
        raise NotSupported(f"{table.name} has files of {table.format}, which Spark cannot read without a table of Hive")
    return source


def format_options(table: AcidTable) -> dict[str, str]:
    """The options with which Spark reads and writes the files as Hive's serde does."""
    serde = (table.struct.sd.serdeInfo if table.struct.sd is not None else None) or None
    given = dict((serde.parameters if serde is not None else None) or {})
    if table.format == "textfile":
        # Hive's text has no quotes; a NUL character as a quote means none to Spark.
        return {
            "sep": given.get("field.delim", "\x01"),
            "nullValue": given.get("serialization.null.format", "\\N"),
            "emptyValue": "",
            "quote": "\x00",
            "escape": given.get("escape.delim", "\x00"),
        }
    if table.format == "csv":
        return {
            "sep": given.get("separatorChar", ","),
            "quote": given.get("quoteChar", '"'),
            "escape": given.get("escapeChar", "\\"),
        }
    return {}
