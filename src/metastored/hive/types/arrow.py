"""Hive types as Arrow types and back. pyarrow is imported when it is used. Needs the extra `arrow`.

Arrow has no char, no varchar, and one timestamp where Hive has several. A type that Arrow cannot express becomes the
nearest one, and its *field* carries Hive's own text under the key `hive_type`, at every depth: the fields of structs,
the elements of lists, keys and values of maps, the members of unions. So a type from Hive is converted back unchanged.

An Arrow type that Hive lacks is widened where nothing is lost (uint8 is a smallint), and refused where something is
(times of day, unsigned decimals of 39 digits). Hive has no NOT NULL in types; nullability is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from metastored.errors import ConversionError, MissingExtra
from metastored.hive.types.type_strings import (
    MAX_DECIMAL_PRECISION,
    Array,
    Char,
    Decimal,
    Field,
    HiveType,
    Map,
    Primitive,
    Struct,
    TypeSyntaxError,
    Union,
    Varchar,
    parse_type,
    read_type,
)

if TYPE_CHECKING:
    import pyarrow

KEY: Final = b"hive_type"
"""The key under which a field carries Hive's own text."""


def arrow() -> Any:
    """Imports pyarrow; the error names the pip line that installs it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("a type of Arrow", "arrow") from None
    return pyarrow


def to_arrow_field(name: str, type: HiveType, comment: str | None = None) -> pyarrow.Field:
    """A column, with Hive's own text where Arrow's type cannot express it, and its comment."""
    pa = arrow()
    plain = to_arrow(type)
    metadata = {} if _says(plain, type) else {KEY: str(type).encode()}
    if comment:
        metadata[b"comment"] = comment.encode()
    return pa.field(name, plain, metadata=metadata or None)


def to_arrow(type: HiveType) -> pyarrow.DataType:
    """The Arrow type of a Hive type.

    By itself it loses the text that only a field can carry; its inner fields do not.
    """
    pa = arrow()
    match type:
        case Primitive(name):
            return _primitive(pa, name)
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Char() | Varchar():
            return pa.string()
        case Array(element):
            return pa.list_(to_arrow_field("element", element))
        case Map(key, value):
            return pa.map_(to_arrow_field("key", key).with_nullable(False), to_arrow_field("value", value))
        case Struct(fields):
            return pa.struct([to_arrow_field(field.name, field.type) for field in fields])
        case Union(alternatives):
            return pa.dense_union([to_arrow_field(f"field{at}", each) for at, each in enumerate(alternatives)])


def from_arrow_field(field: pyarrow.Field) -> HiveType:
    """The Hive type of a column: the text it carries, if that matches its type, else the type's own."""
    carried = (field.metadata or {}).get(KEY)
    if carried is not None:
        try:
            type = parse_type(carried.decode())
        except (TypeSyntaxError, UnicodeDecodeError) as error:
            raise ConversionError(f"field {field.name!r} carries no Hive type: {carried!r}: {error}") from error
        if to_arrow(type).equals(field.type):
            return type  # Otherwise the field was cast since it came from Hive.
    try:
        return from_arrow(field.type)
    except ConversionError as error:
        raise ConversionError(f"field {field.name!r}: {error}") from None


def from_arrow(type: pyarrow.DataType) -> HiveType:
    """The Hive type of an Arrow type; raises ConversionError where Hive has none."""
    t = arrow().types
    if t.is_dictionary(type) or t.is_run_end_encoded(type):
        return from_arrow(type.value_type)
    if isinstance(type, arrow().BaseExtensionType):
        return from_arrow(type.storage_type)
    if t.is_map(type):
        return Map(from_arrow_field(type.key_field), from_arrow_field(type.item_field))
    if t.is_list(type) or t.is_large_list(type) or t.is_fixed_size_list(type) or _is_list_view(t, type):
        return Array(from_arrow_field(type.value_field))
    if t.is_struct(type):
        return Struct(tuple(Field(each.name, from_arrow_field(each)) for each in _members(type)))
    if t.is_union(type):
        return Union(tuple(map(from_arrow_field, _members(type))))
    implied = _implied(type)
    if implied is None:
        raise ConversionError(f"Hive has no type for Arrow's {type}")
    return implied


def to_arrow_schema(columns: list[tuple[str, str]]) -> pyarrow.Schema:
    """Columns, as pairs of name and Hive type text."""
    return arrow().schema([to_arrow_field(name, read_type(text)) for name, text in columns])


def from_arrow_schema(schema: pyarrow.Schema) -> list[tuple[str, str]]:
    """Columns, as pairs of name and Hive type text."""
    return [(field.name, str(from_arrow_field(field))) for field in schema]


def _says(plain: Any, type: HiveType) -> bool:
    """Whether an Arrow type by itself means this Hive type."""
    try:
        return from_arrow(plain) == type
    except ConversionError:
        return False


def _members(type: Any) -> list[Any]:
    return [type.field(at) for at in range(type.num_fields)]


def _is_list_view(t: Any, type: Any) -> bool:
    return bool(t.is_list_view(type) or t.is_large_list_view(type))


def _primitive(pa: Any, name: str) -> Any:
    match name:
        case "timestamp" | "datetime":
            return pa.timestamp("ns")
        case "timestamp with local time zone" | "timestamp with time zone":
            return pa.timestamp("ns", "UTC")
        case "interval_year_month":
            return pa.month_day_nano_interval()
        case "interval_day_time":
            return pa.duration("ns")
        case "date":
            return pa.date32()
    return getattr(pa, _SAME[name])()


_SAME: Final = {
    "void": "null",
    "boolean": "bool_",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "binary": "binary",
}

_NAMES: Final = {
    "null": "void",
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "halffloat": "float",
    "float": "float",
    "double": "double",
    "string": "string",
    "large_string": "string",
    "string_view": "string",
    "binary": "binary",
    "large_binary": "binary",
    "binary_view": "binary",
    "date32[day]": "date",
    "date64[ms]": "date",
}


def _implied(type: Any) -> HiveType | None:
    """The Hive type of an Arrow type without nested types and without a field; None when there is none."""
    t = arrow().types
    text = str(type)
    if text in _NAMES:
        return Primitive(_NAMES[text])
    if text == "uint64":
        return Decimal(20, 0)
    if t.is_decimal(type) and type.precision <= MAX_DECIMAL_PRECISION and 0 <= type.scale <= type.precision:
        return Decimal(type.precision, type.scale)
    if t.is_timestamp(type):
        return Primitive("timestamp" if type.tz is None else "timestamp with local time zone")
    if t.is_duration(type):
        return Primitive("interval_day_time")
    if t.is_fixed_size_binary(type):
        return Primitive("binary")
    return None
