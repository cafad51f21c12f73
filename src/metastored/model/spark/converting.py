"""Hive's Table to and from CatalogTable, as Spark's Hive client converts them. Pure.

The result of `from_hive_table` is raw: Spark's own parameters are not read, only Hive's fields.
`restoring` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from metastored.errors import ConversionError, InvalidObjectException, SparkCatalogError
from metastored.model import kinds
from metastored.model.formats import FORMATS, VIEW, FileFormat
from metastored.model.spark.bulk import made
from metastored.model.spark.properties import HIVE_STATISTICS, is_data_source_table
from metastored.model.spark.schemas import FROM_DESERIALIZER, is_hive_compatible
from metastored.model.spark.type_strings import catalog_string, parse_data_type
from metastored.model.spark.types import DataType, StructField, StructType
from metastored.model.spark.values import (
    BucketSpec,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.wire.generated.common import FieldSchema, Order, SerDeInfo, SkewedInfo, StorageDescriptor, Table
from metastored.wire.replies.unread import unread_columns
from metastored.wire.structs import replace as with_fields

INCOMPATIBLE_PARTITION_TYPE: Final = "<derived from deserializer>"
"""The type that Hive gets for a partition column whose type it does not have."""
ASCENDING: Final = 1
LAZY_SIMPLE: Final = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_METADATA_TYPED: Final = "org.apache.hadoop.hive.serde2.MetadataTypedColumnsetSerDe"
_OPEN_CSV: Final = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
"""A serde without comments, for which Hive's client has one."""
_COMMENTED: Final = frozenset({FORMATS["avro"].serde, "org.apache.hadoop.hive.serde2.RegexSerDe"})
"""Serdes that have an empty comment for a column without one."""
_HIDDEN: Final = HIVE_STATISTICS | {"comment", "collation", "EXTERNAL"}
_TYPES: Final = {
    kinds.EXTERNAL: CatalogTableType.EXTERNAL,
    kinds.MANAGED: CatalogTableType.MANAGED,
    kinds.VIEW: CatalogTableType.VIEW,
}
_HIVE_TYPES: Final = {
    **{type: name for name, type in _TYPES.items()},
    CatalogTableType.METRIC_VIEW: kinds.VIEW,
}
_TYPE_OF: Final = attrgetter("type")
_KNOWN_TYPES: Final = frozenset({"string", "int", "bigint", "double", "boolean", "date", "timestamp"})
"""Types of most columns, which Spark can read."""
_NO_SERDE: Final = SerDeInfo()
_LIBRARY: Final = attrgetter("serializationLib")
_INPUT, _OUTPUT, _COMPRESSED = attrgetter("inputFormat"), attrgetter("outputFormat"), attrgetter("compressed")
_SERDES: Final = frozenset({"parquet", "orc", "avro", "textfile", "sequencefile", "rcfile"})
_ALIASES: Final = {"orcfile": "orc", "parquetfile": "parquet", "avrofile": "avro"}
_CLASSES: Final = {
    "org.apache.spark.sql.parquet": "parquet",
    "org.apache.spark.sql.execution.datasources.parquet": "parquet",
    "org.apache.spark.sql.orc": "orc",
    "org.apache.spark.sql.hive.orc": "orc",
    "org.apache.spark.sql.execution.datasources.orc": "orc",
}


def serde_of_source(provider: str) -> FileFormat | None:
    """Hive's classes for a provider, which Hive can therefore read; None for `json`, `csv` and others."""
    name = provider.lower()
    for prefix, format in _CLASSES.items():
        if name.startswith(prefix):
            name = format
    name = _ALIASES.get(name, name)
    return FORMATS[name] if name in _SERDES else None


# --- to Hive -----------------------------------------------------------------------------------------------


def to_hive_table(table: CatalogTable, user: str | None = None) -> Table:
    """The struct that Spark would send. `user` owns the table if it has no owner."""
    names = set(table.partition_column_names)
    storage = table.storage
    parameters = {"EXTERNAL": "TRUE"} if table.table_type is CatalogTableType.EXTERNAL else {}
    parameters |= table.properties
    if table.comment is not None:
        parameters["comment"] = table.comment
    if table.collation is not None:
        parameters["collation"] = table.collation
    bucket_spec = None if is_data_source_table(table) else table.bucket_spec
    return Table(
        tableName=table.identifier.table.lower(),
        dbName=table.database.lower(),
        owner=table.owner or user,
        createTime=to_seconds(table.create_time),
        lastAccessTime=to_seconds(table.last_access_time),
        retention=0,
        sd=StorageDescriptor(
            cols=tuple(to_hive_column(each) for each in table.schema if each.name not in names),
            location=storage.location_uri,
            inputFormat=storage.input_format or VIEW.input,
            outputFormat=storage.output_format or VIEW.output,
            compressed=False,
            numBuckets=-1 if bucket_spec is None else bucket_spec.num_buckets,
            serdeInfo=SerDeInfo(
                name=storage.serde_name,
                serializationLib=storage.serde or LAZY_SIMPLE,
                parameters={"serialization.format": "1", **storage.properties},
            ),
            bucketCols=() if bucket_spec is None else bucket_spec.bucket_column_names,
            sortCols=()
            if bucket_spec is None
            else tuple(Order(col=name, order=ASCENDING) for name in bucket_spec.sort_column_names),
            parameters={},
            skewedInfo=SkewedInfo(skewedColNames=(), skewedColValues=(), skewedColValueLocationMaps={}),
            storedAsSubDirectories=False,
        ),
        partitionKeys=tuple(_partition_column(each) for each in table.schema if each.name in names),
        parameters=parameters,
        viewOriginalText=table.view_text,
        viewExpandedText=table.view_text,
        tableType=_HIVE_TYPES[table.table_type],
    )


def check_hive_table(table: Table) -> None:
    """Raises InvalidObjectException for a table that Hive's client, which Spark uses, does not send.

    Names of columns are compared without their case. A metastore itself does not check them.
    """
    columns = (table.sd.cols if table.sd else None) or ()
    if not columns:
        raise InvalidObjectException("at least one column must be specified for the table")
    seen: set[str] = set()
    for kind, fields in (("column", columns), ("partition column", table.partitionKeys or ())):
        for each in fields:
            name = (each.name or "").lower()
            if name in seen:
                raise InvalidObjectException(f"Duplicate {kind} name {name} in the table definition.")
            seen.add(name)


def to_hive_column(field: StructField) -> FieldSchema:
    """A column of the metastore; char and varchar have their declared type there."""
    return FieldSchema(
        name=field.name, type=field.declared_type or catalog_string(field.data_type), comment=field.comment
    )


def _partition_column(field: StructField) -> FieldSchema:
    if is_hive_compatible(field.data_type):
        return to_hive_column(field)
    return FieldSchema(name=field.name, type=INCOMPATIBLE_PARTITION_TYPE, comment=field.comment)


def to_seconds(milliseconds: int) -> int:
    """A time of Spark's as Hive's."""
    return int(milliseconds / 1000)  # Towards zero, as in Java: -1 becomes 0.


# --- from Hive ---------------------------------------------------------------------------------------------


def from_hive_table(table: Table, with_columns: bool = True) -> CatalogTable:
    """A raw table. Raises SparkCatalogError for a kind of table, or a type of a column, that Spark cannot read.

    Without columns, their types are only checked: a data source table has its schema in the parameters. Columns that
    are unread are read if that is necessary.
    """
    table = _with_columns(table, with_columns)
    name = f"{table.dbName}.{table.tableName}"
    parameters = table.parameters or {}
    fields = (table.sd.cols if table.sd else None) or ()
    keys = [each for each in table.partitionKeys or () if each.type != INCOMPATIBLE_PARTITION_TYPE]
    columns: list[StructField] = []
    partition_columns: list[StructField] = []
    try:
        types: dict[str, DataType] = {}  # Most columns of a wide table have one of a few types.
        if with_columns:
            columns = [from_hive_column(each, types) for each in _deserialized(table.sd, fields)]
            partition_columns = [from_hive_column(each, types) for each in keys]
        else:
            for type in set(map(_TYPE_OF, fields)) - _KNOWN_TYPES:
                from_hive_column(next(each for each in fields if each.type == type), types)
            for each in keys:
                from_hive_column(each, types)
    except SparkCatalogError as error:
        raise SparkCatalogError(
            "INTERNAL_ERROR_INVALID_HIVE_COLUMN_TYPE", f"the table {name} has a column that Spark cannot read: {error}"
        ) from error
    table_type = _TYPES.get(table.tableType or "")
    if table_type is None:
        kind = str(table.tableType).lower().replace("_", " ")
        raise SparkCatalogError("UNSUPPORTED_FEATURE.HIVE_TABLE_TYPE", f"the table {name} is a {kind} of Hive")
    return CatalogTable(
        identifier=TableIdentifier(table.tableName or "", table.dbName),
        table_type=table_type,
        schema=StructType((*columns, *partition_columns)),
        partition_column_names=tuple(each.name for each in partition_columns),
        bucket_spec=_bucket_spec(table.sd),
        owner=table.owner or "",
        create_time=(table.createTime or 0) * 1000,
        last_access_time=(table.lastAccessTime or 0) * 1000,
        storage=from_hive_storage(table.sd),
        properties={key: value for key, value in parameters.items() if key not in _HIDDEN},
        stats=hive_statistics(parameters),
        comment=parameters.get("comment"),
        collation=parameters.get("collation"),
        view_original_text=table.viewOriginalText,
        view_text=table.viewExpandedText,
        unsupported_features=tuple(_unsupported(table, parameters, bool(partition_columns))),
        ignored_properties={key: parameters[key] for key in sorted(HIVE_STATISTICS & parameters.keys())},
    )


def _deserialized(sd: StorageDescriptor | None, columns: Sequence[FieldSchema]) -> Sequence[FieldSchema]:
    """The columns as Hive's client has them, which asks some serdes for them: those have other comments."""
    library = sd.serdeInfo.serializationLib if sd is not None and sd.serdeInfo is not None else None
    if library == _OPEN_CSV:
        return [with_fields(each, comment=FROM_DESERIALIZER) for each in columns]
    if library in _COMMENTED:
        return [with_fields(each, comment=each.comment or "") for each in columns]
    return columns


def _with_columns(table: Table, needed: bool) -> Table:
    """The table with its columns read; without columns if they are not needed and Spark knows all their types."""
    unread = unread_columns(table.sd)
    if table.sd is None or unread is None:
        return table
    serde = table.sd.serdeInfo
    if not needed and (serde is None or serde.serializationLib != _METADATA_TYPED) and unread.has_only(_KNOWN_TYPES):
        return with_fields(table, sd=with_fields(table.sd, cols=()))
    return with_fields(table, sd=with_fields(table.sd, cols=unread.read()))


def from_hive_column(column: FieldSchema, types: dict[str, DataType] | None = None) -> StructField:
    """A column of the metastore; `types` are those of other columns. Raises SparkCatalogError for an unknown type."""
    text = column.type or ""
    known = {} if types is None else types
    try:
        type = known[text] = known.get(text) or parse_data_type(text)
    except ConversionError as error:
        if "uniontype<" in text.lower():
            raise SparkCatalogError(
                "UNSUPPORTED_HIVE_TYPE", f"Spark has no type for {text!r}, of the column {column.name!r}"
            ) from error
        raise SparkCatalogError(
            "CANNOT_RECOGNIZE_HIVE_TYPE", f"Spark cannot read the type {text!r} of the column {column.name!r}: {error}"
        ) from error
    field = StructField(column.name or "", type)
    return field if column.comment is None else field.with_comment(column.comment)


def from_hive_storage(sd: StorageDescriptor | None) -> CatalogStorage:
    """The storage of a table or a partition."""
    if sd is None:
        return CatalogStorage()
    serde = sd.serdeInfo or SerDeInfo()
    library = serde.serializationLib
    if library == _METADATA_TYPED and sd.cols and "<" not in (sd.cols[0].type or ""):
        library = LAZY_SIMPLE  # As Hive's client does.
    return CatalogStorage(
        location_uri=sd.location or None,
        input_format=sd.inputFormat,
        output_format=sd.outputFormat,
        serde=library,
        compressed=bool(sd.compressed),
        properties=serde.parameters or {},
        serde_name=serde.name or None,
    )


def from_hive_storages(descriptors: Sequence[StorageDescriptor]) -> list[CatalogStorage]:
    """The storage of many partitions: the same as `from_hive_storage` of each, in less time."""
    serdes = [each.serdeInfo or _NO_SERDE for each in descriptors]
    libraries = list(map(_LIBRARY, serdes))
    if _METADATA_TYPED in libraries:
        return list(map(from_hive_storage, descriptors))
    return made(
        CatalogStorage,
        len(descriptors),
        [each.location or None for each in descriptors],
        map(_INPUT, descriptors),
        map(_OUTPUT, descriptors),
        libraries,
        map(bool, map(_COMPRESSED, descriptors)),
        [each.parameters or {} for each in serdes],
        [each.name or None for each in serdes],
    )


def hive_statistics(parameters: Mapping[str, str]) -> CatalogStatistics | None:
    """Hive's own statistics of a table or a partition; sizes and row counts of 0 mean that Hive does not know them."""
    for key in ("totalSize", "rawDataSize"):
        size = _number(parameters, key)
        if size is not None and size > 0:
            rows = _number(parameters, "numRows")
            return CatalogStatistics(size, rows if rows is not None and rows > 0 else None)
    return None


def _number(parameters: Mapping[str, str], key: str) -> int | None:
    text = parameters.get(key)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise SparkCatalogError("INTERNAL_ERROR", f"the property {key!r} is {text!r}, not a number") from None


def _bucket_spec(sd: StorageDescriptor | None) -> BucketSpec | None:
    if sd is None or (sd.numBuckets or 0) <= 0:
        return None
    orders = sd.sortCols or ()
    ascending = all(each.order == ASCENDING for each in orders)
    sort_columns = tuple(each.col or "" for each in orders) if ascending else ()
    return BucketSpec(sd.numBuckets or 0, tuple(sd.bucketCols or ()), sort_columns)


def _unsupported(table: Table, parameters: Mapping[str, str], partitioned: bool) -> list[str]:
    features = []
    if table.sd is not None and table.sd.skewedInfo is not None and table.sd.skewedInfo.skewedColNames:
        features.append("skewed columns")
    if "storage_handler" in parameters:
        features.append("storage handler")
    if table.tableType == kinds.VIEW and partitioned:
        features.append("partitioned view")
    return features
