"""The parameters of a table that hold what Spark knows of it: their names, and how they are written and read. Pure.

All of them start with `spark.sql.`, which users may not use. A value longer than 4,000 characters is stored in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from metastored.errors import SparkCatalogError
from metastored.model.origins import SPARK_PROVIDER
from metastored.model.spark.schemas import with_declared_as_string, with_declared_types
from metastored.model.spark.types import CHAR_VARCHAR, StructType, schema_from_json, schema_to_json
from metastored.model.spark.values import BucketSpec, CatalogTable, CatalogTableType

SPARK_SQL_PREFIX: Final = "spark.sql."
DATASOURCE_PREFIX: Final = "spark.sql.sources."
PROVIDER: Final = SPARK_PROVIDER
SCHEMA: Final = "spark.sql.sources.schema"
NUM_BUCKETS: Final = "spark.sql.sources.schema.numBuckets"
STATISTICS_PREFIX: Final = "spark.sql.statistics."
PARTITION_PROVIDER: Final = "spark.sql.partitionProvider"
PARTITIONS_IN_CATALOG: Final = "catalog"
PARTITIONS_IN_FILE_SYSTEM: Final = "filesystem"
CREATE_VERSION: Final = "spark.sql.create.version"
VIEW_SUB_TYPE: Final = "view.subType"
HIVE_PROVIDER: Final = "hive"
THRESHOLD: Final = 4000
"""The default of `spark.sql.sources.schemaStringLengthThreshold`, in UTF-16 units."""
HIVE_STATISTICS: Final = frozenset(
    {"COLUMN_STATS_ACCURATE", "numFiles", "numPartitions", "numRows", "rawDataSize", "totalSize"}
)


def verify_table_properties(table: CatalogTable) -> None:
    """Raises SparkCatalogError if a table to be stored has properties that only Spark may set."""
    reserved = [key for key in table.properties if key.startswith(SPARK_SQL_PREFIX)]
    if reserved:
        raise SparkCatalogError(
            "_LEGACY_ERROR_TEMP_3086",
            f"Cannot persist {table.qualified_name} into Hive metastore as table property keys may not start with "
            f"'{SPARK_SQL_PREFIX}': [{', '.join(reserved)}]",
        )
    if "EXTERNAL" in table.properties:
        raise SparkCatalogError(
            "_LEGACY_ERROR_TEMP_3087", "Cannot set or change the preserved property key: 'EXTERNAL'"
        )


def is_data_source_table(table: CatalogTable) -> bool:
    """Whether Spark reads the table by a data source of its own, not by Hive's serde."""
    provider = table.provider if table.provider is not None else table.properties.get(PROVIDER)
    return provider is not None and provider.lower() != HIVE_PROVIDER


def table_meta_to_table_props(
    table: CatalogTable, schema: StructType | None = None, threshold: int = THRESHOLD
) -> dict[str, str]:
    """The parameters for the schema, the partition columns and the buckets: Spark's tableMetaToTableProps."""
    properties = {CREATE_VERSION: table.create_version}
    if table.table_type is CatalogTableType.METRIC_VIEW:
        properties[VIEW_SUB_TYPE] = CatalogTableType.METRIC_VIEW.value
    properties |= schema_to_properties(table.schema if schema is None else schema, threshold)
    properties |= partition_columns_to_properties(table.partition_column_names)
    return properties if table.bucket_spec is None else properties | bucket_spec_to_properties(table.bucket_spec)


def schema_to_properties(schema: StructType, threshold: int = THRESHOLD) -> dict[str, str]:
    """The parameters for the schema alone."""
    return split_large_property(SCHEMA, schema_to_json(with_declared_as_string(schema)), threshold)


def schema_from_properties(properties: Mapping[str, str]) -> StructType | None:
    """The schema that Spark stored, with char and varchar; None if there is none.

    Raises SparkCatalogError if a part of it is missing, and ConversionError if it is not a schema.
    """
    text = read_large_property(properties, SCHEMA)
    if text is None:
        return None
    schema = schema_from_json(text)
    return with_declared_types(schema) if CHAR_VARCHAR in text else schema


def partition_columns_from_properties(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the partition columns, in their real case. Raises SparkCatalogError if one is missing."""
    return _read_column_names(properties, "part", "partitioning columns")


def partition_columns_to_properties(names: Sequence[str]) -> dict[str, str]:
    """The parameters for the names of the partition columns."""
    return _column_names("Part", names)


def bucket_spec_to_properties(spec: BucketSpec) -> dict[str, str]:
    """The parameters for the buckets."""
    return {
        NUM_BUCKETS: str(spec.num_buckets),
        f"{SCHEMA}.numBucketCols": "0",
        **_column_names("Bucket", spec.bucket_column_names),
        **_column_names("Sort", spec.sort_column_names),
    }


def bucket_spec_from_properties(properties: Mapping[str, str]) -> BucketSpec | None:
    """Spark's getBucketSpecFromTableProperties. Raises SparkCatalogError if a column's name is missing."""
    number = properties.get(NUM_BUCKETS)
    if number is None:
        return None
    return BucketSpec(
        _integer(NUM_BUCKETS, number),
        _read_column_names(properties, "bucket", "bucketing columns"),
        _read_column_names(properties, "sort", "sorting columns"),
    )


# --- long values -------------------------------------------------------------------------------------------


def split_large_property(key: str, value: str, threshold: int = THRESHOLD) -> dict[str, str]:
    """A value under its key, or in parts if it has more UTF-16 units than the threshold."""
    pieces = list(_pieces(value, threshold))
    if len(pieces) <= 1:
        return {key: value}
    return {f"{key}.numParts": str(len(pieces))} | {f"{key}.part.{at}": piece for at, piece in enumerate(pieces)}


def _pieces(value: str, threshold: int) -> Iterator[str]:
    """Pieces of so many UTF-16 units; a character of two units is never divided, as it could not be encoded."""
    if value.isascii() or max(value) <= "\uffff":
        yield from (value[at : at + threshold] for at in range(0, len(value), threshold))
        return
    start = units = 0
    for at, each in enumerate(value):
        width = 2 if each > "\uffff" else 1
        if units + width > threshold:
            yield value[start:at]
            start, units = at, 0
        units += width
    yield value[start:]


def read_large_property(properties: Mapping[str, str], key: str) -> str | None:
    """A value that may be in parts; None if there is none. Raises SparkCatalogError if a part is missing."""
    if (value := properties.get(key)) is not None:
        return value
    if (number := properties.get(f"{key}.numParts")) is None:
        return None
    pieces = []
    for at in range(_integer(f"{key}.numParts", number)):
        piece = properties.get(f"{key}.part.{at}")
        if piece is None:
            raise SparkCatalogError(
                "INSUFFICIENT_TABLE_PROPERTY.MISSING_KEY_PART",
                f'the table property "{key}.part.{at}" is missing: {number} parts were expected',
            )
        pieces.append(piece)
    return "".join(pieces)


def is_large_property(key: str, parameter: str) -> bool:
    """Whether a parameter is the value of a key, or a part of it."""
    return parameter in (key, f"{key}.numParts") or parameter.startswith(f"{key}.part.")


def _column_names(kind: str, names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    numbered = {f"{SCHEMA}.{kind.lower()}Col.{at}": name for at, name in enumerate(names)}
    return {f"{SCHEMA}.num{kind}Cols": str(len(names)), **numbered}


def _read_column_names(properties: Mapping[str, str], kind: str, described: str) -> tuple[str, ...]:
    key = f"{SCHEMA}.num{kind.capitalize()}Cols"
    number = properties.get(key)
    if number is None:
        return ()
    names = []
    for at in range(_integer(key, number)):
        name = properties.get(f"{SCHEMA}.{kind}Col.{at}")
        if name is None:
            raise SparkCatalogError(
                "_LEGACY_ERROR_TEMP_3089",
                f"Corrupted {described} in catalog: {number} parts expected, but part {at} is missing.",
            )
        names.append(name)
    return tuple(names)


def _integer(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SparkCatalogError("INTERNAL_ERROR", f"the table property {key!r} is {text!r}, not a number") from None
