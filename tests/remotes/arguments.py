"""Arguments for any method that name one database and one table wherever its types have such names."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated import STRUCTS
from metastored.wire.methods import Method
from metastored.wire.methods.naming import argument_names
from metastored.wire.structs import fields, names, new
from metastored.wire.types import Field, Type

DEPTH = 3


def about(method: Method, database: str, table: str) -> tuple[Any, ...] | None:
    """None where the arguments have no place for a database."""
    if not {position.role for position in argument_names(method)} & {"db", "full_name"}:
        return None
    return tuple(_value(argument, {"db": database, "table": table}, 0) for argument in method.args)


def _value(field: Field, given: dict[str, str], depth: int) -> Any:
    return _of_type(field.type, field.role, given, depth)


def _of_type(type: Type, role: str | None, given: dict[str, str], depth: int) -> Any:
    if type.name in ("list", "set"):
        element = _of_type(type.args[0], role, given, depth)
        if element is None:
            return () if type.name == "list" else frozenset()
        return (element,) if type.name == "list" else frozenset([element])
    if type.name == "map":
        return {}
    if type.name == "string":
        if role == "full_name":
            return f"{given['db']}.{given['table']}"
        return given.get(role or "")
    if type.name in STRUCTS:
        return _struct(STRUCTS[type.name], given, depth) if depth < DEPTH else None
    return None


def _struct(cls: Any, given: dict[str, str], depth: int) -> Any:
    lines = {field.name: field for field in reversed(fields(cls))}
    return new(cls, [_value(lines[name], given, depth + 1) for name in names(cls)])
