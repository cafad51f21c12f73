"""Hive's types as Spark's, and back. Pure.

Spark reads Hive's `timestamp` as its own TIMESTAMP and writes it so; `timestamp_ntz` becomes `timestamp` as well. Spark
has no union: it becomes a struct of a tag and one field for each alternative, as in Trino. A column whose type Spark
cannot express has Hive's own text in its metadata (`columns`), so that nothing is lost.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import ConversionError
from metastored.hive.types.type_strings import (
    MAX_CHAR_LENGTH,
    MAX_DECIMAL_PRECISION,
    MAX_DEPTH,
    MAX_VARCHAR_LENGTH,
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    Union,
    Varchar,
)
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.types import (
    STRING,
    ArrayType,
    AtomicType,
    CharType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
)

_TO_SPARK: Final = {
    "tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long", "datetime": "timestamp",
    "timestamp with local time zone": "timestamp", "timestamp with time zone": "timestamp",
    "interval_year_month": "interval year to month", "interval_day_time": "interval day to second",
}  # fmt: skip
_TO_HIVE: Final = {
    "byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "timestamp_ntz": "timestamp",
    **{name: name for name in ("void", "boolean", "float", "double", "binary", "date", "timestamp")},
}  # fmt: skip
_INTERVALS: Final = {
    **dict.fromkeys(("year", "month"), "interval_year_month"),
    **dict.fromkeys(("day", "hour", "minute", "second"), "interval_day_time"),
}


def to_spark_type(type: HiveType) -> DataType:
    """The type of Spark for a type of Hive. Every type of Hive has one, though some have the same."""
    match type:
        case Primitive("string"):
            return STRING
        case Primitive(name):
            return AtomicType(_TO_SPARK.get(name, name))
        case Decimal(precision, scale):
            return DecimalType(precision, scale)
        case Char(length):
            return CharType(length)
        case Varchar(length):
            return VarcharType(length)
        case Array(element):
            return ArrayType(to_spark_type(element))
        case Map(key, value):
            return MapType(to_spark_type(key), to_spark_type(value))
        case Struct(fields):
            return StructType(tuple(StructField(each.name, to_spark_type(each.type)) for each in fields))
        case Union(alternatives):
            members = (Field(f"field{at}", each) for at, each in enumerate(alternatives))
            return to_spark_type(Struct((Field("tag", Primitive("tinyint")), *members)))


def to_hive_type(type: DataType, depth: int = 0) -> HiveType:
    """The type of Hive for a type of Spark. Raises ConversionError for types that Hive lacks, such as variant."""
    if depth > MAX_DEPTH:
        raise ConversionError(f"types are nested deeper than {MAX_DEPTH} levels, which Hive does not read")
    match type:
        case StringType():
            return Primitive("string")
        case AtomicType(name):
            return Primitive(_hive_name(name))
        case DecimalType(precision, scale) if 0 <= scale <= precision <= MAX_DECIMAL_PRECISION:
            return Decimal(precision, scale)
        case CharType(length) if 0 < length <= MAX_CHAR_LENGTH:
            return Char(length)
        case VarcharType(length) if 0 < length <= MAX_VARCHAR_LENGTH:
            return Varchar(length)
        case ArrayType(element):
            return Array(to_hive_type(element, depth + 1))
        case MapType(key, value):
            return Map(to_hive_type(key, depth + 1), to_hive_type(value, depth + 1))
        case StructType(fields):
            return Struct(tuple(Field(each.name, to_hive_type(each.data_type, depth + 1)) for each in fields))
        case UserDefinedType(sql_type):
            return to_hive_type(sql_type, depth + 1)
    raise ConversionError(f"Hive has no type for Spark's {catalog_string(type)!r}")


def _hive_name(name: str) -> str:
    if name in _TO_HIVE:
        return _TO_HIVE[name]
    words = name.split()
    if len(words) > 1 and words[0] == "interval":
        return _INTERVALS[words[1]]
    raise ConversionError(f"Hive has no type for Spark's {name!r}")
