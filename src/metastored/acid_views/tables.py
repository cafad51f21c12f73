"""The Table structs that a client gets instead of an ACID table: the view, and the tables of files that it reads. Pure.

They have the name, owner, comment and columns of the ACID table. They are made for one reply: nothing stores them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from metastored.acid_views.files import Files, NotShown, TablePlace, pattern_of
from metastored.acid_views.names import MAX_LENGTH, Content, FileTable, Snapshot
from metastored.acid_views.texts import Shape, failing_text, view_text
from metastored.errors import ConversionError, SparkCatalogError
from metastored.model import kinds
from metastored.model.acid import PROPERTIES, TRANSACTIONAL, is_insert_only
from metastored.model.formats import format_of
from metastored.model.spark.acid_files import PIN
from metastored.model.spark.converting import from_hive_column
from metastored.model.spark.file_sources import data_source, source_options
from metastored.model.spark.properties import schema_to_properties
from metastored.model.spark.schemas import with_declared_as_string
from metastored.model.spark.types import BYTE, INTEGER, LONG, StringType, StructField, StructType
from metastored.model.spark.views import CATALOG_AND_NAMESPACE, QUERY_OUTPUT, SESSION_CATALOG, SQL_CONFIG
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.structs import replace

NOTE: Final = "metastored.acid"
"""The property by which DESCRIBE EXTENDED shows what the view is."""
NOTE_TEXT: Final = "an ACID table, shown as a view over its files; change its rows with metastored.spark.sql"
SPARK_VERSION: Final = "3.5.0"
"""The version that is said to have made the view: the oldest one that understands its text."""

_LEFT_OUT: Final = ("spark.sql.", "numFiles", "totalSize", "numRows", "rawDataSize", "COLUMN_STATS_ACCURATE")
"""Parameters that say something about files or about the schema."""
_ID_COLUMNS: Final = (
    ("operation", INTEGER, "int"), ("originalTransaction", LONG, "bigint"), ("bucket", INTEGER, "int"),
    ("rowId", LONG, "bigint"), ("currentTransaction", LONG, "bigint"),
)  # fmt: skip
_CONFIGS: Final = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.caseSensitive": "false",
}
"""The settings by which Spark reads the text, whatever those of the session are."""


def shape_of(table: Table) -> Shape:
    """The parts of a table that its view depends on. Raises NotShown."""
    sd = table.sd
    if sd is None or not sd.location:
        raise NotShown("it has no location")
    return Shape(
        table.dbName or "",
        table.tableName or "",
        sd.location,
        _schema(sd.cols or ()),
        _schema(table.partitionKeys or ()),
        is_insert_only(table.parameters),
    )


def check_format(table: Table) -> None:
    """Raises NotShown for files that Spark has no data source for."""
    format = format_of(table)
    if is_insert_only(table.parameters):
        if data_source(table) is None:
            raise NotShown(f"Spark has no data source for its files of {format}")
    elif format != "orc":
        raise NotShown(f"its files are not ORC but {format}")


def view(table: Table, places: Sequence[TablePlace], files: Files, snapshot: Snapshot) -> Table:
    """The view over these files. Raises NotShown."""
    shape = shape_of(table)
    longest = FileTable(shape.table, Content.DELETES, snapshot).name
    if len(longest) > MAX_LENGTH:
        raise NotShown("too many of its write ids are open or aborted; compact it")
    return _view(table, shape, view_text(shape, places, files, snapshot))


def failing_view(table: Table, reason: str) -> Table:
    """A view that fails with a sentence."""
    try:
        shape = shape_of(table)
    except NotShown:
        columns = StructType((StructField("unknown", StringType()),))
        shape = Shape(table.dbName or "", table.tableName or "", "", columns, StructType(), False)
    return _view(table, shape, failing_text(shape, reason))


def named_view(table: Table) -> Table:
    """The view in a list of tables: it is never read."""
    return failing_view(table, "this is the entry of a list; look the table up by its name")


def _view(table: Table, shape: Shape, text: str) -> Table:
    columns = StructType((*shape.columns.fields, *shape.keys.fields))
    names = [each.name for each in columns]
    parameters = {
        key: value
        for key, value in (table.parameters or {}).items()
        if not key.startswith(_LEFT_OUT) and key not in (TRANSACTIONAL, PROPERTIES)
    }
    parameters |= {
        NOTE: NOTE_TEXT,
        "spark.sql.create.version": SPARK_VERSION,
        **schema_to_properties(columns),
        f"{CATALOG_AND_NAMESPACE}numParts": "2",
        f"{CATALOG_AND_NAMESPACE}part.0": SESSION_CATALOG,
        f"{CATALOG_AND_NAMESPACE}part.1": shape.database,
        f"{QUERY_OUTPUT}numCols": str(len(names)),
        **{f"{QUERY_OUTPUT}col.{at}": name for at, name in enumerate(names)},
        **{f"{SQL_CONFIG}{key}": value for key, value in _CONFIGS.items()},
    }
    shown = (*((table.sd.cols if table.sd is not None else None) or ()), *(table.partitionKeys or ()))
    storage = StorageDescriptor(
        cols=shown or (FieldSchema("unknown", "string"),),
        inputFormat="org.apache.hadoop.mapred.SequenceFileInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(parameters={}),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
    return replace(
        table, sd=storage, partitionKeys=(), parameters=parameters, tableType=kinds.VIEW, viewOriginalText=text,
        viewExpandedText=text,
    )  # fmt: skip


def file_table(table: Table, wanted: FileTable, files: Files) -> Table:
    """The table of the files with this content, as Spark stores a table of a data source. Raises NotShown."""
    locations = files.of(wanted.content)
    if not locations:
        raise NotShown(f"its snapshot has no such files: {wanted.content.value}")
    shape = shape_of(table)
    with_ids = not shape.insert_only and wanted.content is not Content.PLAIN
    schema, columns = _with_ids(shape, wanted.content) if with_ids else (shape.columns, _columns(table))
    source = "orc" if with_ids else data_source(table) or "orc"
    options = {
        "path": pattern_of(locations),
        "serialization.format": "1",
        **({} if with_ids else source_options(table)),
    }
    storage = StorageDescriptor(
        cols=columns,
        location=shape.location,
        inputFormat="org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=SerDeInfo(serializationLib="org.apache.hadoop.hive.ql.io.orc.OrcSerde", parameters=options),
        bucketCols=(),
        sortCols=(),
        parameters={},
    )
    parameters = {
        "EXTERNAL": "TRUE",
        NOTE: NOTE_TEXT,
        "spark.sql.create.version": SPARK_VERSION,
        "spark.sql.sources.provider": source,
        **schema_to_properties(schema),
    }
    return replace(
        table, tableName=wanted.name, sd=storage, partitionKeys=(), parameters=parameters, tableType=kinds.EXTERNAL,
        viewOriginalText=None, viewExpandedText=None,
    )  # fmt: skip


def _with_ids(shape: Shape, content: Content) -> tuple[StructType, tuple[FieldSchema, ...]]:
    """Hive's six columns. Deletes are read without any column of the user's, to which ORC could apply a condition."""
    fields = shape.columns.fields if content is Content.ROWS else ()
    row = StructType((*fields, StructField(PIN, BYTE)))
    ids = tuple(StructField(name, spark) for name, spark, _ in _ID_COLUMNS)
    columns = tuple(FieldSchema(name.lower(), hive) for name, _, hive in _ID_COLUMNS)
    return StructType((*ids, StructField("row", row))), (*columns, FieldSchema("row", f"struct<{PIN}:tinyint>"))


def _columns(table: Table) -> tuple[FieldSchema, ...]:
    return tuple((table.sd.cols if table.sd is not None else None) or ())


def _schema(columns: Sequence[FieldSchema]) -> StructType:
    try:
        return with_declared_as_string(StructType(tuple(from_hive_column(each) for each in columns)))
    except (ConversionError, SparkCatalogError) as error:
        raise NotShown(f"Spark has no type for one of its columns: {error}") from error
