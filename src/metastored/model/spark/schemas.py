"""Changes of schemas that Spark makes before it stores them, and the comparisons it makes after it reads them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from metastored.errors import SparkCatalogError
from metastored.model.spark.type_strings import catalog_string, needs_quotes, parse_data_type
from metastored.model.spark.types import (
    BINARY_COLLATION,
    CHAR_VARCHAR,
    STRING,
    ArrayType,
    AtomicType,
    CharType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
)

FROM_DESERIALIZER: Final = "from deserializer"
"""The comment of a column that Hive's client has from a serde without comments."""
EMPTY_DATA_SCHEMA: Final = StructType((StructField("col", ArrayType(STRING), metadata={"comment": FROM_DESERIALIZER}),))
"""The columns of a table whose schema only Spark can read."""
_INCOMPATIBLE: Final = re.compile(r"interval .*|timestamp_ntz.*|timestamp_ltz\(.*|variant|void")


def is_hive_compatible(type: DataType) -> bool:
    """Whether Spark gives Hive a column of this type as it is: Spark's isHiveCompatibleDataType."""
    match type:
        case AtomicType(name):
            return _INCOMPATIBLE.fullmatch(name) is None
        case StringType(collation):
            return collation == BINARY_COLLATION
        case ArrayType(element):
            return is_hive_compatible(element)
        case MapType(key, value):
            return is_hive_compatible(key) and is_hive_compatible(value)
        case StructType(fields):
            return all(not needs_quotes(each.name) and is_hive_compatible(each.data_type) for each in fields)
    return True


def without_collations(schema: StructType) -> StructType:
    """The schema with plain strings, as Hive gets it."""
    return StructType(
        tuple(replace(each, data_type=_mapped(each.data_type, _without_collation)) for each in schema.fields)
    )


def with_declared_as_string(schema: StructType) -> StructType:
    """The schema with char and varchar as `string` and the declared types in the metadata, as Spark stores it."""
    return StructType(tuple(_stored_field(each) for each in schema.fields))


def with_declared_types(schema: StructType) -> StructType:
    """The opposite: types from the metadata, which is kept. Raises ConversionError for a text that is not a type."""
    return StructType(
        tuple(
            each if each.declared_type is None else replace(each, data_type=parse_data_type(each.declared_type))
            for each in schema.fields
        )
    )


def reordered(schema: StructType, partition_columns: Sequence[str]) -> StructType:
    """The schema with the partition columns last. Before 2.2, Spark stored them where they were declared.

    Raises SparkCatalogError if a partition column is not in the schema, in the same case.
    """
    if not partition_columns:
        return schema
    by_name = {each.name: each for each in reversed(schema.fields)}
    missing = [name for name in partition_columns if name not in by_name]
    if missing:
        raise SparkCatalogError(
            "_LEGACY_ERROR_TEMP_3088",
            "The metadata is corrupted. Unable to find the partition column names from the schema. "
            f"schema: {catalog_string(schema)}. Partition columns: [{', '.join(partition_columns)}]",
        )
    last = tuple(by_name[name] for name in partition_columns)
    return StructType((*(each for each in schema.fields if each not in last), *last))


def same_for_hive(one: StructType, other: StructType) -> bool:
    """Whether two schemas have the same names and types in the same order.

    The case of names, nullability and collations are ignored. Spark trusts the schema in a Hive table's parameters
    only if it is the same as that of the metastore in this sense.
    """
    return comparable(one) == comparable(other)


def comparable(type: DataType) -> DataType:
    """The type without what Hive does not have: the case of names, nullability and collations."""
    match type:
        case StringType():
            return STRING
        case ArrayType(element):
            return ArrayType(comparable(element))
        case MapType(key, value):
            return MapType(comparable(key), comparable(value))
        case StructType(fields):
            return StructType(tuple(StructField(each.name.lower(), comparable(each.data_type)) for each in fields))
    return type


def _stored_field(field: StructField) -> StructField:
    stored = _mapped(field.data_type, lambda type: STRING if isinstance(type, CharType | VarcharType) else type)
    if stored == field.data_type:
        return field
    # Spark quotes no names here, and then cannot read those that need quotes.
    metadata = {**field.metadata, CHAR_VARCHAR: catalog_string(field.data_type, quoted=True)}
    return replace(field, data_type=stored, metadata=metadata)


def _without_collation(type: DataType) -> DataType:
    return STRING if isinstance(type, StringType) else type


def _mapped(type: DataType, change: Callable[[DataType], DataType]) -> DataType:
    match type:
        case ArrayType(element, nulls):
            return ArrayType(_mapped(element, change), nulls)
        case MapType(key, value, nulls):
            return MapType(_mapped(key, change), _mapped(value, change), nulls)
        case StructType(fields):
            return StructType(tuple(replace(each, data_type=_mapped(each.data_type, change)) for each in fields))
        case UserDefinedType():
            return type
    return change(type)
