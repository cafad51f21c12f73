"""Columns of Spark's schemas for those who know Hive's: made of Hive's types, read in Hive's words, and changed. Pure.

A column whose type Spark cannot express has Hive's text in its metadata, under `HIVE_TYPE`. It counts only while the
type beside it is still the same: another program may have changed the column since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from metastored.errors import ConversionError, SparkCatalogError
from metastored.hive.types.type_strings import HiveType, TypeSyntaxError, read_type
from metastored.model.spark.hive_types import to_hive_type, to_spark_type
from metastored.model.spark.properties import (
    SCHEMA,
    bucket_spec_from_properties,
    bucket_spec_to_properties,
    partition_columns_from_properties,
    partition_columns_to_properties,
    schema_from_properties,
    schema_to_properties,
)
from metastored.model.spark.schemas import comparable
from metastored.model.spark.types import (
    CHAR_VARCHAR,
    CURRENT_DEFAULT,
    EXISTS_DEFAULT,
    GENERATED,
    StructField,
    StructType,
)
from metastored.model.spark.values import BucketSpec

HIVE_TYPE: Final = "HIVE_TYPE_STRING"
"""The metadata of a column that has Hive's text of a type that Spark lacks."""


def spark_field(
    name: str,
    type: HiveType,
    comment: str | None = None,
    nullable: bool = True,
    default: str | None = None,
    generated: str | None = None,
) -> StructField:
    """A column of Spark's. `default` and `generated` are expressions of SQL."""
    metadata: dict[str, Any] = {"comment": comment} if comment else {}
    metadata |= _declared(type)
    if default is not None:
        metadata |= {CURRENT_DEFAULT: default, EXISTS_DEFAULT: default}
    if generated is not None:
        metadata[GENERATED] = generated
    return StructField(name, to_spark_type(type), nullable, metadata)


def hive_type_of(field: StructField) -> HiveType:
    """The type of a column in Hive's words. Raises ConversionError if Hive lacks it."""
    declared = field.metadata.get(HIVE_TYPE)
    if isinstance(declared, str):
        try:
            type = read_type(declared)
        except TypeSyntaxError as error:
            raise ConversionError(f"column {field.name!r}: {error}") from error
        if comparable(to_spark_type(type)) == comparable(field.data_type):
            return type
    return to_hive_type(field.data_type)


def is_schema(parameter: str) -> bool:
    """Whether a parameter is a part of the schema, or names columns of it."""
    return parameter == SCHEMA or parameter.startswith(f"{SCHEMA}.")


def schema_parameters(
    schema: StructType, partition_columns: Sequence[str], bucket_spec: BucketSpec | None = None
) -> dict[str, str]:
    """The parameters for which `is_schema` holds, as Spark writes them."""
    properties = schema_to_properties(schema) | partition_columns_to_properties(partition_columns)
    return properties if bucket_spec is None else properties | bucket_spec_to_properties(bucket_spec)


def edited(
    parameters: Mapping[str, str],
    dropped: Iterable[str],
    renamed: Mapping[str, str],
    types: Mapping[str, str],
    comments: Mapping[str, str],
    added: StructType,
) -> dict[str, str]:
    """Parameters with the changes of columns made in Spark's schema, if there is one. Names are in lower case.

    New columns are put before the partition columns. A schema that cannot be read stays as it is.
    """
    try:
        schema = schema_from_properties(parameters)
        if schema is None:
            return dict(parameters)
        keys = partition_columns_from_properties(parameters)
        buckets = bucket_spec_from_properties(parameters)
        gone, partitions = set(dropped), {key.lower() for key in keys}
        kept = [_changed(each, renamed, types, comments) for each in schema if each.name.lower() not in gone]
    except (ConversionError, SparkCatalogError, TypeSyntaxError):
        return dict(parameters)
    first = next((at for at, each in enumerate(kept) if each.name.lower() in partitions), len(kept))
    kept[first:first] = added.fields
    if buckets is not None:
        buckets = replace(
            buckets,
            bucket_column_names=tuple(renamed.get(each.lower(), each) for each in buckets.bucket_column_names),
            sort_column_names=tuple(renamed.get(each.lower(), each) for each in buckets.sort_column_names),
        )
    others = {key: value for key, value in parameters.items() if not is_schema(key)}
    return others | schema_parameters(StructType(tuple(kept)), keys, buckets)


def _changed(
    field: StructField, renamed: Mapping[str, str], types: Mapping[str, str], comments: Mapping[str, str]
) -> StructField:
    name = field.name.lower()
    metadata = dict(field.metadata)
    data_type = field.data_type
    if name in types:
        type = read_type(types[name])
        data_type = to_spark_type(type)
        metadata = {key: value for key, value in metadata.items() if key not in (HIVE_TYPE, CHAR_VARCHAR)}
        metadata |= _declared(type)
    if name in comments:
        metadata["comment"] = comments[name]
    return StructField(renamed.get(name, field.name), data_type, field.nullable, metadata)


def _declared(type: HiveType) -> dict[str, str]:
    """The metadata for a type that is another one when it is read back from Spark's."""
    return {} if to_hive_type(to_spark_type(type)) == type else {HIVE_TYPE: str(type)}
