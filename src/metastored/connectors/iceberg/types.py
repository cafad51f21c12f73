"""Iceberg's types, schemas and partitionings in Hive's words and back. Pure, but for the import of pyiceberg.

Iceberg has no tinyint, char or varchar: they become the nearest wider type. Hive has no times of day and no UUIDs:
they are shown as texts, as Iceberg's own Hive catalog shows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import ConversionError, InvalidObjectException
from metastored.hive.types.type_strings import (
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    TypeSyntaxError,
    Varchar,
    read_type,
)
from metastored.wire.generated.common import FieldSchema

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType

_TO_ICEBERG: Final = {
    "boolean": "BooleanType",
    "tinyint": "IntegerType",
    "smallint": "IntegerType",
    "int": "IntegerType",
    "bigint": "LongType",
    "float": "FloatType",
    "double": "DoubleType",
    "string": "StringType",
    "binary": "BinaryType",
    "date": "DateType",
    "timestamp": "TimestampType",
    "timestamp with local time zone": "TimestamptzType",
}
_TO_HIVE: Final = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "uuid": "string",
    "time": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ns": "timestamp",
    "timestamptz": "timestamp with local time zone",
    "timestamptz_ns": "timestamp with local time zone",
    "unknown": "void",
}


def columns_of(schema: Schema) -> tuple[FieldSchema, ...]:
    """Hive's columns for an Iceberg schema."""
    return tuple(FieldSchema(each.name, str(to_hive(each.field_type)), each.doc) for each in schema.fields)


def to_hive(type: IcebergType) -> HiveType:
    from pyiceberg.types import DecimalType, FixedType, ListType, MapType, StructType

    match type:
        case StructType(fields=fields):
            return Struct(tuple(Field(each.name, to_hive(each.field_type)) for each in fields))
        case ListType(element_type=element):
            return Array(to_hive(element))
        case MapType(key_type=key, value_type=value):
            return Map(to_hive(key), to_hive(value))
        case DecimalType(precision=precision, scale=scale):
            return Decimal(precision, scale)
        case FixedType():
            return Primitive("binary")
    name = _TO_HIVE.get(str(type))
    if name is None:
        raise ConversionError(f"Hive has no type for Iceberg's {type}")
    return Primitive(name)


def schema_of(columns: Iterable[FieldSchema], required: Collection[str] = ()) -> Schema:
    """An Iceberg schema for Hive's columns, of which those in `required` are never null.

    Its ids only tell columns apart: the catalog gives others.
    """
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField

    ids = count(1)
    # The columns come first, as their ids are used by a partitioning.
    numbered = [(next(ids), each) for each in columns]
    return Schema(
        *(
            NestedField(
                id,
                each.name or "",
                to_iceberg(each.type or "", each.name or "", ids),
                each.name in required,
                each.comment,
            )
            for id, each in numbered
        )
    )


def to_iceberg(text: str, column: str, ids: Iterable[int]) -> IcebergType:
    try:
        return _iceberg(read_type(text), iter(ids).__next__)
    except (TypeSyntaxError, ConversionError) as error:
        raise InvalidObjectException(f"column {column!r}: {error}") from error


def _iceberg(type: HiveType, new_id: Callable[[], int]) -> IcebergType:
    from pyiceberg import types

    match type:
        case Primitive(name) if name in _TO_ICEBERG:
            iceberg_type: IcebergType = getattr(types, _TO_ICEBERG[name])()
            return iceberg_type
        case Decimal(precision, scale):
            return types.DecimalType(precision, scale)
        case Char() | Varchar():
            return types.StringType()
        case Array(element):
            return types.ListType(new_id(), _iceberg(element, new_id), False)
        case Map(key, value):
            return types.MapType(new_id(), _iceberg(key, new_id), new_id(), _iceberg(value, new_id), False)
        case Struct(fields) if fields:
            return types.StructType(
                *(types.NestedField(new_id(), each.name, _iceberg(each.type, new_id), False) for each in fields)
            )
    raise ConversionError(f"Iceberg has no type for Hive's {type}")


_TERM = re.compile(r"(\w+)\(\s*(?:(\d+)\s*,\s*)?([^,()]+?)\s*\)")
_NAMES: Final = {"bucket": "bucket", "truncate": "trunc"}


def partition_spec(terms: Sequence[str], schema: Schema) -> PartitionSpec:
    """The partitioning by columns and `day(at)`, `bucket(16, id)`, `truncate(4, name)` and the like."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec

    fields = []
    for at, term in enumerate(terms):
        column, name, transform = _parsed(term)
        field = next((each for each in schema.fields if each.name.lower() == column.lower()), None)
        if field is None:
            raise InvalidObjectException(f"{term!r} in the partitioning: there is no column {column!r}")
        fields.append(PartitionField(field.field_id, 1000 + at, transform, name))
    return PartitionSpec(*fields)


def _parsed(term: str) -> tuple[str, str, Any]:
    """A term's column, the name of its partition field, and its transform."""
    from pyiceberg.exceptions import ValidationError
    from pyiceberg.transforms import IdentityTransform, UnknownTransform, parse_transform

    match = _TERM.fullmatch(term.strip())
    if match is None:
        return term.strip(), term.strip(), IdentityTransform()
    word, width, column = match[1].lower(), match[2], match[3]
    try:
        transform = parse_transform(f"{word}[{width}]" if width else word)
    except (ValueError, ValidationError) as error:
        raise InvalidObjectException(f"{term!r} in the partitioning: {error}") from error
    if isinstance(transform, UnknownTransform):
        raise InvalidObjectException(
            f"{term!r} in the partitioning: there is no such transform; "
            "year, month, day, hour, bucket(N, column) and truncate(N, column) are known"
        )
    return column, f"{column}_{_NAMES.get(word, word)}", transform
