"""Which argument of a call has the wrong type, in a sentence. Pure.

Structs are tuples, so that a text in the place of a list would be sent as a list of its letters. The arguments
themselves are checked before each call; their contents only if encoding failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from metastored.wire import generated
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import Struct, fields, names
from metastored.wire.types import Type

_PYTHON: dict[str, tuple[type, ...]] = {
    "bool": (bool, int),
    "byte": (int,),
    "i16": (int,),
    "i32": (int,),
    "i64": (int,),
    "double": (float, int),
    "string": (str,),
    "binary": (bytes, bytearray, memoryview),
    "list": (tuple, list),
    "set": (frozenset, set, tuple, list),
    "map": (dict, Mapping),
}
_BITS = {"byte": 8, "i16": 16, "i32": 32, "i64": 64}
_WORDS = {
    "bool": "True or False",
    "byte": "a number",
    "i16": "a number",
    "i32": "a number",
    "i64": "a number",
    "double": "a number",
    "string": "a text",
    "binary": "bytes",
    "list": "a list",
    "set": "a set",
    "map": "a dict",
}


@cache
def _expected(type: Type) -> tuple[type, ...]:
    if type.name in _PYTHON:
        return _PYTHON[type.name]
    return (int,) if type.name in generated.ENUMS else (generated.STRUCTS[type.name],)


@cache
def _arguments(method: str) -> tuple[tuple[tuple[type, ...], bool], ...]:
    """For each argument the Python types that fit, and whether it is a list or a set."""
    return tuple((_expected(field.type), field.type.name in ("list", "set")) for field in METHODS[method].args)


def fits(method: Method, args: tuple[Any, ...]) -> bool:
    """Whether each argument, not looking inside of it, has the type that the method takes; None fits everywhere."""
    for arg, (kinds, many) in zip(args, _arguments(method.name), strict=True):
        # A struct is a tuple too, and still no list.
        if arg is not None and (not isinstance(arg, kinds) or (many and isinstance(arg, Struct))):
            return False
    return True


def fault(method: Method, args: tuple[Any, ...]) -> str | None:
    """The first value of a wrong type, where it is and what would work; None where all fit."""
    for field, arg in zip(method.args, args, strict=True):
        problem = _fault(field.type, arg, field.name)
        if problem is not None:
            return f"{method.name}: {problem}"
    return None


def _fault(type: Type, value: Any, path: str) -> str | None:
    if value is None:
        return None
    if not _is_one(type, value):
        return f"{path} has to be {_described(type)}, not {_shown(value)}{_hint(type)}"
    if type.name in ("list", "set"):
        inner = [(type.args[0], each, f"{path}[{at}]") for at, each in enumerate(value)]
    elif type.name == "map":
        inner = [(type.args[0], key, f"a key of {path}") for key in value]
        inner += [(type.args[1], each, f"{path}[{key!r}]") for key, each in value.items()]
    elif type.name in _BITS:
        limit = 1 << (_BITS[type.name] - 1)
        fitting = -limit <= value < limit
        return None if fitting else f"{path} is {value}, and has to be between {-limit} and {limit - 1}"
    elif type.name in _PYTHON or type.name in generated.ENUMS:
        return None
    else:
        # Of a name with several lines (other types in old versions), the last one is that of today's versions.
        types = {field.name: field.type for field in fields(_expected(type)[0])}
        own = zip(names(_expected(type)[0]), value, strict=True)
        inner = [(types[name], each, f"{path}.{name}") for name, each in own]
    for kind, each, where in inner:
        problem = _fault(kind, each, where)
        if problem is not None:
            return problem
    return None


def _is_one(type: Type, value: Any) -> bool:
    many = type.name in ("list", "set")
    return isinstance(value, _expected(type)) and not (many and isinstance(value, Struct))


def _described(type: Type) -> str:
    if type.name in ("list", "set"):
        return f"{_WORDS[type.name]} of {_described_many(type.args[0])}"
    if type.name in _WORDS:
        return _WORDS[type.name]
    return f"a number of metastored.structs.{type.name}" if type.name in generated.ENUMS else _article(type.name)


def _described_many(type: Type) -> str:
    plural = {"string": "texts", "binary": "bytes", "i64": "numbers", "i32": "numbers"}
    return plural.get(type.name, f"{type.name} structs" if type.name in generated.STRUCTS else _described(type))


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _hint(type: Type) -> str:
    makers = {
        "Table": "metastored.table(…)",
        "Partition": "metastored.partition(…)",
        "Database": "metastored.database(…)",
    }
    if type.name in makers:
        return f"; {makers[type.name]} makes one"
    return "; import it from metastored.structs" if type.name in generated.STRUCTS else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return f"the {type(value).__name__} {text if len(text) <= 60 else text[:57] + '…'}"
