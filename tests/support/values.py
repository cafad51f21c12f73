"""Hypothesis strategies for every struct of the API, built from the struct specs."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods.plan import default_of, is_struct
from metastored.wire.structs import fields, names, new
from metastored.wire.types import Field, Type

Values = st.SearchStrategy[Any]

_BASE: dict[str, Values] = {
    "bool": st.booleans(),
    "byte": st.integers(-(2**7), 2**7 - 1),
    "i16": st.integers(-(2**15), 2**15 - 1),
    "i32": st.integers(-(2**31), 2**31 - 1),
    "i64": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "string": st.text(max_size=6),
    "binary": st.binary(max_size=6),
}


@cache
def values(type: Type, depth: int = 3, version: str | None = None) -> Values:
    """Values of a type; structs deeper than `depth` are left out."""
    name = type.name
    if name in _BASE:
        return _BASE[name]
    if name in ENUMS:
        return st.sampled_from(sorted(ENUMS[name].NAMES))  # type: ignore[attr-defined]
    if name == "map":
        key, inner = (values(arg, depth, version) for arg in type.args)
        return st.dictionaries(key, inner, max_size=2)
    if name == "set":
        return st.frozensets(_hashable(type.args[0], depth, version), max_size=2)
    if name == "list":
        return st.lists(values(type.args[0], depth, version), max_size=2).map(tuple)
    if name in THRIFT_EXCEPTIONS:
        return st.text(max_size=6).map(THRIFT_EXCEPTIONS[name])
    return structs(STRUCTS[name], depth, version)


def _hashable(type: Type, depth: int, version: str | None) -> Values:
    if is_struct(type):
        # A set can only contain structs without dicts inside.
        return st.just(new(STRUCTS[type.name], [None] * len(names(STRUCTS[type.name]))))
    return values(type, depth, version)


@cache
def structs(cls: type, depth: int = 3, version: str | None = None) -> Values:
    """Instances of a struct class, of all versions or of the fields of one."""
    parts: dict[str, Values] = {}
    for field in fields(cls):
        if version is not None and version not in field.versions:
            parts.setdefault(field.name, st.none())
        else:
            parts[field.name] = _field(field, depth, version)
    return st.tuples(*(parts[name] for name in names(cls))).map(lambda given: new(cls, given))


def _field(field: Field, depth: int, version: str | None) -> Values:
    if depth <= 1 and _holds_struct(field.type):
        return st.none()
    return st.none() | values(field.type, depth - 1, version)


def _holds_struct(type: Type) -> bool:
    return is_struct(type) or any(_holds_struct(arg) for arg in type.args)


def with_defaults(value: Any) -> Any:
    """The value as it is read again: absent fields of requests have the IDL's defaults."""
    cls: Any = type(value)
    if cls in (tuple, list):
        return tuple(with_defaults(x) for x in value)
    if cls is frozenset:
        return frozenset(with_defaults(x) for x in value)
    if cls is dict:
        return {k: with_defaults(x) for k, x in value.items()}
    if cls not in STRUCTS.values():
        return value
    defaults = {field.name: default_of(cls.__name__, field) for field in fields(cls)}
    return new(cls, [defaults[n] if v is None else with_defaults(v) for n, v in zip(names(cls), value, strict=True)])
