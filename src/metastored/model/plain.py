"""Structs as plain dicts and back, for JSON, logs and comparison. Pure.

    to_dict(table)          {"tableName": "orders", "sd": {"cols": [{"name": "id", "type": "bigint"}, …], …}, …}
    from_dict(Table, …)     the struct again

Fields that are not set are left out. Lists and sets become lists (sets sorted), enums stay numbers and binary values
stay bytes, as in the structs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from metastored.errors import InvalidInputException
from metastored.wire import generated
from metastored.wire.structs import Struct, fields, names
from metastored.wire.types import BASE_TYPES, Type

T = TypeVar("T", bound=tuple[Any, ...])


def to_dict(struct: tuple[Any, ...]) -> dict[str, Any]:
    """A struct as a dict of plain values, without the fields that are not set."""
    if not isinstance(struct, Struct):
        raise InvalidInputException(f"{struct!r} is not a struct of the metastore's API")
    pairs: zip[tuple[str, Any]] = zip(names(type(struct)), struct, strict=True)
    return {name: _plain(value) for name, value in pairs if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return to_dict(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return sorted(_plain(each) for each in value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def from_dict(kind: type[T], values: Mapping[str, Any]) -> T:
    """The struct of this class that `to_dict` made the dict of. Raises InvalidInputException for unknown fields."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        raise InvalidInputException(f"{kind!r} is not a struct of the metastore's API")
    if not isinstance(values, Mapping):
        raise InvalidInputException(f"a {kind.__name__} is made from a dict, not from {values!r}")
    known = names(kind)
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InvalidInputException(
            f"{kind.__name__} has no field {', '.join(map(str, unknown))}; it has {', '.join(known)}"
        )
    # Of a name with several lines, the last one is that of today's versions.
    types = {field.name: field.type for field in fields(kind)}
    made: T = kind(**{name: _typed(types[name], value) for name, value in values.items()})
    return made


def _typed(type: Type, value: Any) -> Any:
    if value is None or type.name in BASE_TYPES or type.name in generated.ENUMS:
        return value
    if type.name == "list":
        return tuple(_typed(type.args[0], each) for each in value)
    if type.name == "set":
        return frozenset(_typed(type.args[0], each) for each in value)
    if type.name == "map":
        return {key: _typed(type.args[1], each) for key, each in value.items()}
    return value if isinstance(value, Struct) else from_dict(generated.STRUCTS[type.name], value)
