"""Values as the columns of a table store them: cast to the type, and texts with the length of char and varchar.

Spark's own types have no lengths: a column of char or varchar is a string whose declared type is in its metadata. As
Hive does, longer texts are cut without an error, and char is padded with spaces; lengths are in code points. ORC leaves
out the spaces when it reads a char that Hive wrote, so char is padded again when it is read. Partition keys are not
changed.
"""

from __future__ import annotations

import builtins
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from metastored.model.spark.type_strings import parse_data_type
from metastored.model.spark.types import (
    CHAR_VARCHAR,
    ArrayType,
    CharType,
    DataType,
    MapType,
    StructType,
    VarcharType,
)

Column = Any


def declared_type(field: StructField) -> DataType | None:
    """The type of a column with char or varchar in it; None for all other columns."""
    text = field.metadata.get(CHAR_VARCHAR)
    return parse_data_type(text) if isinstance(text, str) else None


def stored(value: Column, field: StructField) -> Column:
    """A value as the column stores it."""
    declared = declared_type(field)
    value = value.cast(field.dataType)
    return value if declared is None else _fitted(value, declared)


def shown(value: Column, field: StructField) -> Column:
    """A value of a file as a reader of the column sees it."""
    declared = declared_type(field)
    return value if declared is None or not _has(declared, CharType) else _fitted(value, declared)


def is_padded(field: StructField) -> bool:
    """Whether a column has char in it, which files have without its spaces."""
    declared = declared_type(field)
    return declared is not None and _has(declared, CharType)


def _fitted(value: Column, type: DataType) -> Column:
    match type:
        case CharType(length):
            return F.rpad(value, length, " ")  # Longer texts are cut.
        case VarcharType(length):
            return F.substring(value, 1, length)
        case ArrayType(element) if _has_length(element):
            return F.transform(value, lambda each: _fitted(each, element))
        case MapType(key, item) if _has_length(type):
            value = F.transform_keys(value, lambda name, _: _fitted(name, key)) if _has_length(key) else value
            return F.transform_values(value, lambda _, each: _fitted(each, item)) if _has_length(item) else value
        case StructType(fields) if _has_length(type):
            parts = [_fitted(value.getField(each.name), each.data_type).alias(each.name) for each in fields]
            return F.when(value.isNotNull(), F.struct(*parts))
    return value


def _has_length(type: DataType) -> bool:
    return _has(type, CharType, VarcharType)


def _has(type: DataType, *kinds: builtins.type) -> bool:
    match type:
        case ArrayType(element):
            return _has(element, *kinds)
        case MapType(key, item):
            return _has(key, *kinds) or _has(item, *kinds)
        case StructType(fields):
            return any(_has(each.data_type, *kinds) for each in fields)
    return isinstance(type, kinds)
