"""Spark's schemas as Arrow schemas and back, nullability and metadata included. Needs the extra `arrow`.

A type that Arrow cannot express becomes the nearest one, and its field carries Spark's field as JSON under the key
`spark_field`; so a schema of Spark is converted back unchanged. A field whose type was changed since is read by its
Arrow type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metastored.errors import ConversionError
from metastored.hive.types.arrow import arrow, from_arrow
from metastored.model.spark.type_strings import parse_data_type
from metastored.model.spark.types import (
    NULL,
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
    schema_from_json,
    schema_to_json,
)

if TYPE_CHECKING:
    import pyarrow

KEY: Final = b"spark_field"
_SAME: Final = {
    "void": "null",
    "boolean": "bool_",
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "binary": "binary",
    "date": "date32",
    "interval": "month_day_nano_interval",
    "variant": "binary",
}


def schema_to_arrow(schema: StructType) -> pyarrow.Schema:
    """The Arrow schema of a schema of Spark."""
    return arrow().schema([_to_field(each) for each in schema.fields])


def schema_from_arrow(schema: pyarrow.Schema) -> StructType:
    """The schema of Spark for an Arrow schema. Raises ConversionError for a type that Spark lacks."""
    return StructType(tuple(_from_field(each) for each in schema))


def _to_field(field: StructField) -> Any:
    plain = _field(field.name, field.data_type, field.nullable)
    if _plain_field(plain) == field:
        return plain
    metadata = {KEY: schema_to_json(StructType((field,))).encode()}
    if field.comment:
        metadata[b"comment"] = field.comment.encode()
    return plain.with_metadata(metadata)


def to_arrow(type: DataType) -> pyarrow.DataType:
    """The Arrow type of a type of Spark, or the nearest one."""
    pa = arrow()
    match type:
        case AtomicType(name):
            return _atomic(pa, name)
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case StringType() | CharType() | VarcharType():
            return pa.string()
        case ArrayType(element, nulls):
            return pa.list_(_field("element", element, nulls))
        case MapType(key, value, nulls):
            if key == NULL:
                raise ConversionError("Arrow has no map whose keys are void")
            return pa.map_(_field("key", key, False), _field("value", value, nulls))
        case StructType(fields):
            return pa.struct([_to_field(each) for each in fields])
        case UserDefinedType(sql_type):
            return to_arrow(sql_type)


def _field(name: str, type: DataType, nullable: bool) -> Any:
    plain = to_arrow(type)
    # Arrow refuses a field of nulls that is not nullable.
    return arrow().field(name, plain, nullable or plain == arrow().null())


def _atomic(pa: Any, name: str) -> Any:
    if name in _SAME:
        return getattr(pa, _SAME[name])()
    if name == "timestamp" or name.startswith("timestamp_ltz"):
        return pa.timestamp("ns" if "(" in name else "us", "UTC")
    if name.startswith("timestamp_ntz"):
        return pa.timestamp("ns" if "(" in name else "us")
    if name.startswith("time("):
        return pa.time64("us")
    if name.startswith("interval"):
        return pa.int32() if name.split()[1] in ("year", "month") else pa.duration("us")
    return pa.binary()  # Geometries.


def _from_field(field: Any) -> StructField:
    carried = (field.metadata or {}).get(KEY)
    if carried is not None:
        (original,) = schema_from_json(carried.decode()).fields
        if to_arrow(original.data_type).equals(field.type):
            nullable = original.nullable if field.type == arrow().null() else field.nullable
            return StructField(field.name, original.data_type, nullable, original.metadata)
    return _plain_field(field)


def _plain_field(field: Any) -> StructField:
    """A field by its Arrow type alone; a comment that another program wrote counts."""
    try:
        plain = StructField(field.name, _from_arrow(field.type), field.nullable)
    except ConversionError as error:
        raise ConversionError(f"field {field.name!r}: {error}") from None
    comment = (field.metadata or {}).get(b"comment")
    return plain if comment is None else plain.with_comment(comment.decode())


def _from_arrow(type: Any) -> DataType:
    t = arrow().types
    if t.is_dictionary(type) or t.is_run_end_encoded(type):
        return _from_arrow(type.value_type)
    if t.is_map(type):
        return MapType(_from_arrow(type.key_type), _from_arrow(type.item_type), type.item_field.nullable)
    if t.is_list(type) or t.is_large_list(type) or t.is_fixed_size_list(type):
        return ArrayType(_from_arrow(type.value_type), type.value_field.nullable)
    if t.is_struct(type):
        return StructType(tuple(_from_field(type.field(at)) for at in range(type.num_fields)))
    if t.is_timestamp(type):
        return AtomicType("timestamp_ntz" if type.tz is None else "timestamp")
    if t.is_duration(type):
        return AtomicType("interval day to second")
    if t.is_time(type):
        return AtomicType("time(6)")
    if t.is_string(type):
        return STRING
    if t.is_interval(type):
        return AtomicType("interval")
    return parse_data_type(str(from_arrow(type)))
