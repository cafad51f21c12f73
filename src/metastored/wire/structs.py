"""The base of every generated struct class: an immutable tuple with named fields.

The classes themselves are in `generated/`, one file a topic, made from `api/*.toml` by `tools/generate.py`.
Absent fields are None; lists are tuples, sets frozensets, maps dicts. This module never encodes anything.
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]
from functools import cache
from typing import Any, ClassVar, TypeVar

from metastored.wire.types import Field, parse_field

new = tuple.__new__
# The C getter that collections.namedtuple uses: a third of the time of property(itemgetter(i)).
at = tuple(_tuplegetter(i, "") for i in range(64))


class Struct(tuple[Any, ...]):
    """The base of all structs at run time; type checkers see NamedTuples."""

    __slots__ = ()
    SPEC: ClassVar[tuple[str, ...]] = ()
    """The fields, as lines of the API file; several lines may share a name (other ids or types of old versions)."""
    WAS_WHEN: ClassVar[str] = ""
    """A field ("2 string") whose presence shows that an older layout, WAS, is on the wire."""
    WAS: ClassVar[tuple[str, ...]] = ()
    UNION: ClassVar[bool] = False

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={v!r}" for n, v in zip(names(type(self)), self, strict=True) if v is not None)
        return f"{type(self).__name__}({fields})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


@cache
def fields(cls: type) -> tuple[Field, ...]:
    """All lines of a struct, alternatives of old versions included."""
    return tuple(parse_field(line) for line in cls.SPEC)  # type: ignore[attr-defined]


@cache
def names(cls: type) -> tuple[str, ...]:
    """The struct's field names in the order of its tuple."""
    return tuple(dict.fromkeys(field.name for field in fields(cls)))


@cache
def _indexes(cls: type) -> dict[str, int]:
    return {name: at for at, name in enumerate(names(cls))}


T = TypeVar("T", bound=tuple[Any, ...])


def replace(struct: T, **changes: Any) -> T:
    """The struct with some fields changed; an unknown name is a TypeError."""
    cls = type(struct)
    at = _indexes(cls)
    values = list(struct)
    try:
        for name, value in changes.items():
            values[at[name]] = value
    except KeyError as unknown:
        name = unknown.args[0]
        raise TypeError(f"{cls.__name__} has no field {name!r}; it has {', '.join(at)}") from None
    return new(cls, values)
