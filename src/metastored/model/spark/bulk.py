"""Makes many values of a frozen dataclass at once, from columns. Pure.

The constructor of a frozen dataclass calls `object.__setattr__` in Python for each field. A wide table has thousands of
columns and a table ten thousands of partitions, so most of the time of reading them would be spent there. Here each
field is set in all values by one loop in C. A class with `__post_init__` is never made here: it would not be called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields
from itertools import repeat
from typing import Any, Final, TypeVar

T = TypeVar("T")
Setter = Callable[[Any, Any], None]
_SETTERS: Final[dict[type[Any], tuple[Setter, ...]]] = {}
"""By class: the few classes whose values are made here."""


def made(cls: type[T], count: int, *columns: Iterable[Any]) -> list[T]:
    """`count` values of a frozen dataclass with slots. A column has the values of one field, in the class's order.

    Every field has a column, and every column at least `count` values.
    """
    values = list(map(_new, repeat(cls, count)))
    for setter, column in zip(_setters(cls), columns, strict=True):
        deque(map(setter, values, column), maxlen=0)
    return values


_new: Callable[[type[Any]], Any] = object.__new__


def _setters(cls: type[Any]) -> tuple[Setter, ...]:
    """The functions that set a field; the descriptors of slots know nothing of frozen classes."""
    if cls not in _SETTERS:
        if hasattr(cls, "__post_init__"):
            raise TypeError(f"{cls.__name__} has __post_init__: use its constructor")
        _SETTERS[cls] = tuple(getattr(cls, each.name).__set__ for each in fields(cls))
    return _SETTERS[cls]
