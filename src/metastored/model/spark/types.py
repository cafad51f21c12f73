"""Spark's types and schemas as values, and the JSON that Spark stores, byte for byte. Pure.

The JSON has collations apart, in the metadata of the column that has them; here they belong to the type. Char and
varchar are types here too, but Spark stores a table's columns of these types as `string` with the declared type in
the metadata of the column: `declared_type` reads it. The values never check a schema against the rules of a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Final

import orjson

from metastored.errors import ConversionError
from metastored.model.spark.bulk import made

CHAR_VARCHAR: Final = "__CHAR_VARCHAR_TYPE_STRING"
COLLATIONS: Final = "__COLLATIONS"
BINARY_COLLATION: Final = "UTF8_BINARY"
CURRENT_DEFAULT: Final = "CURRENT_DEFAULT"
"""The metadata of a column's default. Rows that were written before have the first one, `EXISTS_DEFAULT`."""
EXISTS_DEFAULT: Final = "EXISTS_DEFAULT"
GENERATED: Final = "GENERATION_EXPRESSION"
"""The metadata of a generated column's expression."""
MAX_DEPTH: Final = 200
"""How deep types may be nested: a level needs three frames of Python's stack."""


@dataclass(frozen=True, slots=True)
class AtomicType:
    """A type without parameters, or with parameters that are a part of its name: `integer`, `time(6)`, `variant`."""

    name: str
    """As in Spark's JSON."""


@dataclass(frozen=True, slots=True)
class DecimalType:
    precision: int = 10
    scale: int = 0


@dataclass(frozen=True, slots=True)
class StringType:
    collation: str = BINARY_COLLATION


@dataclass(frozen=True, slots=True)
class CharType:
    length: int


@dataclass(frozen=True, slots=True)
class VarcharType:
    length: int


@dataclass(frozen=True, slots=True)
class ArrayType:
    element_type: DataType
    contains_null: bool = True


@dataclass(frozen=True, slots=True)
class MapType:
    key_type: DataType
    value_type: DataType
    value_contains_null: bool = True


@dataclass(frozen=True, slots=True)
class UserDefinedType:
    """A type that a program defined, stored as another type. `attributes` are the other keys of its JSON."""

    sql_type: DataType
    attributes: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class StructField:
    """A column, or a field of a struct."""

    name: str
    data_type: DataType
    nullable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Without the collations, which belong to the type."""

    @property
    def comment(self) -> str | None:
        return self._text("comment")

    def with_comment(self, comment: str) -> StructField:
        return replace(self, metadata={**self.metadata, "comment": comment})

    @property
    def declared_type(self) -> str | None:
        """The text of a type with char or varchar, which Spark stores beside `string`."""
        return self._text(CHAR_VARCHAR)

    @property
    def default(self) -> str | None:
        """The SQL expression of the default value."""
        return self._text(CURRENT_DEFAULT)

    @property
    def generated(self) -> str | None:
        """The SQL expression of a generated column."""
        return self._text(GENERATED)

    def _text(self, key: str) -> str | None:
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class StructType:
    fields: tuple[StructField, ...] = ()

    def __iter__(self) -> Iterator[StructField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, name: str) -> StructField:
        """The field of this exact name. Raises KeyError."""
        for each in self.fields:
            if each.name == name:
                return each
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.fields)

    def add(self, name: str, data_type: DataType, nullable: bool = True, **metadata: Any) -> StructType:
        """The schema with one more field."""
        return StructType((*self.fields, StructField(name, data_type, nullable, metadata)))

    def json(self) -> str:
        """The schema as Spark writes it."""
        return schema_to_json(self)


DataType = (
    AtomicType | DecimalType | StringType | CharType | VarcharType | ArrayType | MapType | StructType | UserDefinedType
)

NULL: Final = AtomicType("void")
BOOLEAN: Final = AtomicType("boolean")
BYTE: Final = AtomicType("byte")
SHORT: Final = AtomicType("short")
INTEGER: Final = AtomicType("integer")
LONG: Final = AtomicType("long")
FLOAT: Final = AtomicType("float")
DOUBLE: Final = AtomicType("double")
STRING: Final = StringType()
BINARY: Final = AtomicType("binary")
DATE: Final = AtomicType("date")
TIMESTAMP: Final = AtomicType("timestamp")
TIMESTAMP_NTZ: Final = AtomicType("timestamp_ntz")
VARIANT: Final = AtomicType("variant")
CALENDAR_INTERVAL: Final = AtomicType("interval")

# --- JSON --------------------------------------------------------------------------------------------------

_ATOMIC: Final = re.compile(
    "void|boolean|byte|short|integer|long|float|double|binary|date|timestamp|timestamp_ntz|variant|interval"
    r"|interval (year|month|day|hour|minute|second)( to (month|hour|minute|second))?"
    r"|time\(\d\)|timestamp_(ntz|ltz)\(\d\)|geometry\(.*\)|geography\(.*\)"
)
_DECIMAL: Final = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_CHAR: Final = re.compile(r"(char|varchar)\(\s*(\d+)\s*\)")
_ESCAPE: Final = re.compile(r"\\(?:(u)00[01].|.)")
_PLAIN: Final[dict[str, DataType]] = {
    "string": STRING,
    **{
        each.name: each
        for each in (BOOLEAN, BYTE, SHORT, INTEGER, LONG, FLOAT, DOUBLE, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ)
    },
}
_NAME, _TYPE, _NULLABLE = itemgetter("name"), itemgetter("type"), itemgetter("nullable")
_METADATA = itemgetter("metadata")
_OLD_NAMES: Final = {"null": "void", "timestamp_ltz": "timestamp", "calendarinterval": "interval"}


def schema_to_json(schema: StructType) -> str:
    """A schema as Spark stores it in `spark.sql.sources.schema`."""
    return compact_json(_struct_to_json(schema))


def compact_json(content: Any) -> str:
    """JSON as Java writes it: no blanks, other letters than ASCII as they are, the digits of escapes in capitals."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return _ESCAPE.sub(lambda match: match[0].upper().replace("U", "u") if match[1] else match[0], text)


def schema_from_json(text: str) -> StructType:
    """Reads a schema that Spark stored. Raises ConversionError if the text is not one."""
    try:
        schema = _from_json(_loaded(text), {}, "", 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConversionError(f"not a schema of Spark: {type(error).__name__} {error}: {text[:80]}") from error
    if not isinstance(schema, StructType):
        raise ConversionError(f"not a schema of Spark, but a type: {text[:80]}")
    return schema


def _loaded(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)  # It reads a few texts more, such as halves of surrogate pairs, as Java does.


def _struct_to_json(schema: StructType) -> dict[str, Any]:
    return {"type": "struct", "fields": [_field_to_json(each) for each in schema.fields]}


def _field_to_json(field: StructField) -> dict[str, Any]:
    metadata = dict(field.metadata)
    collations = dict(_collations(field.data_type, field.name))
    if collations:
        metadata[COLLATIONS] = {path: collations[path] for path in sorted(collations, key=_scala_order)}
    return {
        "name": field.name,
        "type": type_to_json(field.data_type),
        "nullable": field.nullable,
        "metadata": metadata,
    }


def type_to_json(type: DataType) -> Any:
    """A type as it is in Spark's JSON; the collation of a string is not a part of it."""
    match type:
        case AtomicType(name):
            return name
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case StringType():
            return "string"
        case CharType(length):
            return f"char({length})"
        case VarcharType(length):
            return f"varchar({length})"
        case ArrayType(element, nulls):
            return {"type": "array", "elementType": type_to_json(element), "containsNull": nulls}
        case MapType(key, value, nulls):
            types = {"keyType": type_to_json(key), "valueType": type_to_json(value)}
            return {"type": "map", **types, "valueContainsNull": nulls}
        case StructType():
            return _struct_to_json(type)
        case UserDefinedType(sql_type, attributes):
            return {"type": "udt", **attributes, "sqlType": type_to_json(sql_type)}


def _collations(type: DataType, path: str) -> Iterator[tuple[str, str]]:
    """The collations of a column by path. The fields of a struct have their own metadata."""
    match type:
        case StringType(collation) if collation != BINARY_COLLATION:
            provider = "spark" if collation.startswith("UTF8_") else "icu"
            yield path, f"{provider}.{collation}"
        case ArrayType(element):
            yield from _collations(element, f"{path}.element")
        case MapType(key, value):
            yield from _collations(key, f"{path}.key")
            yield from _collations(value, f"{path}.value")


def _scala_order(text: str) -> tuple[int, int]:
    """The position of a key in a small hash map of Scala, in whose order Spark writes several collations."""
    hashed = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        hashed = (hashed * 31 + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    improved = hashed ^ (hashed >> 16)
    signed = improved - (1 << 32) if improved & 0x80000000 else improved
    return improved & 15, signed


def _from_json(content: Any, collations: Mapping[str, str], path: str, depth: int) -> DataType:
    if depth > MAX_DEPTH:
        raise ConversionError(f"types are nested deeper than {MAX_DEPTH} levels")
    if isinstance(content, str):
        return _from_name(content, collations.get(path))
    match content["type"]:
        case "array":
            element = _from_json(content["elementType"], collations, f"{path}.element", depth + 1)
            return ArrayType(element, content["containsNull"])
        case "map":
            key = _from_json(content["keyType"], collations, f"{path}.key", depth + 1)
            value = _from_json(content["valueType"], collations, f"{path}.value", depth + 1)
            return MapType(key, value, content["valueContainsNull"])
        case "struct":
            return StructType(tuple(_fields_from_json(content["fields"], depth + 1)))
        case "udt":
            attributes = {key: value for key, value in content.items() if key not in ("type", "sqlType")}
            return UserDefinedType(_from_json(content["sqlType"], {}, "", depth + 1), attributes)
    raise ConversionError(f"Spark has no type {content['type']!r}")


def _fields_from_json(contents: Sequence[Mapping[str, Any]], depth: int) -> list[StructField]:
    """Most columns of a wide table have one of a few types: they are made together, and the others one by one."""
    names, types = list(map(_NAME, contents)), _plain_types(contents)
    metadata = _metadata(contents)
    collated = any(metadata) and any(COLLATIONS in each for each in metadata)
    if collated or not {*map(type, names)} <= {str}:
        return [_field_from_json(each, depth) for each in contents]
    fields = made(StructField, len(names), names, types, map(_NULLABLE, contents), metadata)
    if not all(types):
        for at, each in enumerate(types):
            if each is None:
                fields[at] = _field_from_json(contents[at], depth)
    return fields


def _metadata(contents: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The metadata of each field, which may be missing or null."""
    try:
        metadata = list(map(_METADATA, contents))
        if {*map(type, metadata)} <= {dict}:
            return metadata
    except KeyError:
        pass
    return [{} if (each := content.get("metadata")) is None else each for content in contents]


def _plain_types(contents: Sequence[Mapping[str, Any]]) -> list[DataType | None]:
    try:
        return list(map(_PLAIN.get, map(_TYPE, contents)))
    except TypeError:  # A type with parts, which is not text.
        return [_PLAIN.get(type) if isinstance(type, str) else None for type in map(_TYPE, contents)]


def _field_from_json(content: Mapping[str, Any], depth: int) -> StructField:
    metadata = content.get("metadata") or {}
    name, type = content["name"], content["type"]
    if not isinstance(name, str):
        raise TypeError(f"the name of a field is {name!r}")
    if COLLATIONS in metadata:
        others = {key: value for key, value in metadata.items() if key != COLLATIONS}
        data_type = _from_json(type, metadata[COLLATIONS] or {}, name, depth)
        return StructField(name, data_type, content["nullable"], others)
    return StructField(name, _from_json(type, {}, name, depth), content["nullable"], metadata)


def _from_name(name: str, collation: str | None) -> DataType:
    if name == "string" and collation:
        return StringType(collation.split(".", 1)[-1])
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "decimal":
        return DecimalType()
    if match := _DECIMAL.fullmatch(name):
        return DecimalType(int(match[1]), int(match[2]))
    if match := _CHAR.fullmatch(name):
        return CharType(int(match[2])) if match[1] == "char" else VarcharType(int(match[2]))
    name = _OLD_NAMES.get(name, name)
    if _ATOMIC.fullmatch(name):
        return AtomicType(name)
    raise ConversionError(f"Spark has no type {name!r}")
