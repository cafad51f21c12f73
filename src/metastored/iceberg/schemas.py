"""Schemas of tables as JSON: checked, with fresh field ids, compared, and as Hive's columns. Pure.

A schema is a struct with `schema-id` and `identifier-field-ids`. Fields that are not known here are copied.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from metastored.errors import ConversionError
from metastored.hive.types.type_strings import Array, Decimal, Field, HiveType, Map, Primitive, Struct
from metastored.iceberg.errors import BadRequest
from metastored.iceberg.requests import Json, distinct, optional, records, required
from metastored.wire.generated.common import FieldSchema

__all__ = [
    "check_schema",
    "columns_of",
    "fields_by_id",
    "fresh",
    "highest_id",
    "ids_by_name",
    "is_same",
    "names_by_id",
]

_PRIMITIVES: Final = {
    "boolean": 1, "int": 1, "long": 1, "float": 1, "double": 1, "date": 1, "time": 1, "timestamp": 1, "timestamptz": 1,
    "string": 1, "uuid": 1, "binary": 1,
    "timestamp_ns": 3, "timestamptz_ns": 3, "unknown": 3, "variant": 3, "geometry": 3, "geography": 3,
}  # fmt: skip
"""The types without parameters, and the first format version that has each."""
_DECIMAL: Final = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_FIXED: Final = re.compile(r"fixed\[\s*(\d{1,10})\s*\]")
_GEO: Final = re.compile(r"(geometry|geography)\(.*\)")
_HIVE: Final = {
    "boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double", "string": "string",
    "uuid": "string", "time": "string", "binary": "binary", "date": "date", "timestamp": "timestamp",
    "timestamp_ns": "timestamp", "timestamptz": "timestamp with local time zone",
    "timestamptz_ns": "timestamp with local time zone", "unknown": "string", "variant": "binary",
}  # fmt: skip
"""Hive's types, as Iceberg's Hive catalog shows them."""


def check_schema(schema: Json, version: int, what: str) -> None:
    """Raises BadRequest unless it is a schema of tables of this format version."""
    if required(schema, "type", str, what) != "struct":
        raise BadRequest(f"type of {what} is {schema['type']!r}: a schema is a struct")
    _check_struct(schema, version, what)
    seen: set[int] = set()
    for id, path in _paths(schema):
        if id in seen:
            raise BadRequest(f"{what} has the field id {id} twice, the second time for {path!r}")
        seen.add(id)
    names = [name for name, _ in _names(schema)]
    twice, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise BadRequest(f"{what} has the column {twice!r} twice")
    if schema.get("identifier-field-ids") is not None:
        for id in sorted(distinct(schema, "identifier-field-ids", int, what) - seen):
            raise BadRequest(f"{what} has the identifier field id {id}, and no field has it")


def _check_struct(struct: Json, version: int, what: str) -> None:
    for field in records(struct, "fields", what):
        name = required(field, "name", str, f"a field of {what}")
        required(field, "id", int, f"the field {name!r}")
        required(field, "required", bool, f"the field {name!r}")
        optional(field, "doc", str, f"the field {name!r}")
        _check_type(field.get("type"), version, f"the field {name!r}")


def _check_type(type: Any, version: int, what: str) -> None:
    if isinstance(type, str):
        since = _PRIMITIVES.get(type) or (3 if _GEO.fullmatch(type) else None)
        decimal = _DECIMAL.fullmatch(type)
        if decimal is not None:
            since = 1 if 0 < int(decimal[1]) <= 38 and int(decimal[2]) <= int(decimal[1]) else None
        elif _FIXED.fullmatch(type):
            since = 1
        if since is None:
            raise BadRequest(f"{what} has the type {type!r}, which Iceberg does not have"[:300])
        if since > version:
            raise BadRequest(f"{what} has the type {type}, which tables have from version {since} on, not {version}")
        return
    kind = required(type, "type", str, f"the type of {what}") if isinstance(type, dict) else None
    if kind == "struct":
        _check_struct(type, version, what)
    elif kind == "list":
        required(type, "element-id", int, f"the type of {what}")
        required(type, "element-required", bool, f"the type of {what}")
        _check_type(type.get("element"), version, f"the element of {what}")
    elif kind == "map":
        required(type, "key-id", int, f"the type of {what}")
        required(type, "value-id", int, f"the type of {what}")
        required(type, "value-required", bool, f"the type of {what}")
        _check_type(type.get("key"), version, f"the key of {what}")
        _check_type(type.get("value"), version, f"the value of {what}")
    else:
        raise BadRequest(f"{what} has the type {type!r}: a name, a struct, a list or a map was expected"[:300])


# --- ids ------------------------------------------------------------------------------------------------------------


def _paths(struct: Json, prefix: str = "") -> Iterator[tuple[int, str]]:
    """All field ids with the names of their fields, joined by dots; elements, keys and values included."""
    for field in struct.get("fields") or ():
        path = f"{prefix}{field['name']}"
        yield field["id"], path
        yield from _inner_paths(field["type"], path)


def _inner_paths(type: Any, path: str) -> Iterator[tuple[int, str]]:
    if not isinstance(type, dict):
        return
    if type["type"] == "struct":
        yield from _paths(type, f"{path}.")
        return
    for part in ("element",) if type["type"] == "list" else ("key", "value"):
        yield type[f"{part}-id"], f"{path}.{part}"
        yield from _inner_paths(type[part], f"{path}.{part}")


def _names(struct: Json) -> Iterator[tuple[str, int]]:
    return ((path, id) for id, path in _paths(struct))


def names_by_id(schema: Json) -> dict[int, str]:
    """The names of all fields, joined by dots, by their ids."""
    return dict(_paths(schema))


def ids_by_name(schema: Json) -> dict[str, int]:
    """The ids of all fields by their names, joined by dots."""
    return dict(_names(schema))


def fields_by_id(schema: Json) -> dict[int, Any]:
    """The types of all fields by their ids."""
    by_id: dict[int, Any] = {}

    def add(type: Any) -> None:
        if not isinstance(type, dict):
            return
        if type["type"] == "struct":
            for field in type.get("fields") or ():
                by_id[field["id"]] = field["type"]
                add(field["type"])
            return
        for part in ("element",) if type["type"] == "list" else ("key", "value"):
            by_id[type[f"{part}-id"]] = type[part]
            add(type[part])

    add({**schema, "type": "struct"})
    return by_id


def highest_id(schema: Json) -> int:
    """The highest field id; 0 for a schema without fields."""
    return max((id for id, _ in _paths(schema)), default=0)


def fresh(schema: Json) -> Json:
    """A schema with ids from 1 on: all fields of a struct first, then those inside of them, as Iceberg assigns them."""
    ids = count(1).__next__
    old = names_by_id(schema)
    renewed = {**schema, **_fresh_struct(schema, ids), "schema-id": 0}
    new = ids_by_name(renewed)
    identifiers = schema.get("identifier-field-ids")
    if identifiers:
        renewed["identifier-field-ids"] = [new[old[id]] for id in identifiers]
    return renewed


def _fresh_struct(struct: Json, ids: Callable[[], int]) -> Json:
    fields = [{**field, "id": ids()} for field in struct.get("fields") or ()]
    return {**struct, "fields": [{**field, "type": _fresh_type(field["type"], ids)} for field in fields]}


def _fresh_type(type: Any, ids: Callable[[], int]) -> Any:
    if not isinstance(type, dict):
        return type
    if type["type"] == "struct":
        return _fresh_struct(type, ids)
    if type["type"] == "list":
        id = ids()
        return {**type, "element-id": id, "element": _fresh_type(type["element"], ids)}
    key, value = ids(), ids()
    return {
        **type,
        "key-id": key,
        "value-id": value,
        "key": _fresh_type(type["key"], ids),
        "value": _fresh_type(type["value"], ids),
    }


def is_same(one: Json, other: Json) -> bool:
    """Whether two schemas are the same but for their `schema-id`."""
    return _comparable(one) == _comparable(other)


def _comparable(schema: Json) -> tuple[Any, frozenset[int]]:
    return schema.get("fields") or [], frozenset(schema.get("identifier-field-ids") or ())


# --- Hive -----------------------------------------------------------------------------------------------------------


def columns_of(schema: Mapping[str, Any]) -> tuple[FieldSchema, ...]:
    """Hive's columns for a schema. Raises BadRequest if Hive has no type for one."""
    return tuple(
        FieldSchema(field["name"], str(_to_hive(field["type"], field["name"])), field.get("doc"))
        for field in schema.get("fields") or ()
    )


def _to_hive(type: Any, column: str) -> HiveType:
    if isinstance(type, dict):
        if type["type"] == "struct":
            return Struct(
                tuple(Field(each["name"], _to_hive(each["type"], column)) for each in type.get("fields") or ())
            )
        if type["type"] == "list":
            return Array(_to_hive(type["element"], column))
        return Map(_to_hive(type["key"], column), _to_hive(type["value"], column))
    decimal = _DECIMAL.fullmatch(type)
    if decimal is not None:
        return Decimal(int(decimal[1]), int(decimal[2]))
    if _FIXED.fullmatch(type) or type.startswith(("geometry", "geography")):
        return Primitive("binary")
    if type not in _HIVE:
        raise ConversionError(f"column {column!r} has the type {type!r}, and Hive has none for it")
    return Primitive(_HIVE[type])
