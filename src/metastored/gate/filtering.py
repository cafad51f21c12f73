"""Filters the lists of a decoded result, one level deep, to the elements that the caller may see. Pure.

A result is a list, or a struct that has lists. Which element is visible is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metastored.wire.structs import Struct, names, replace


def only(value: Any, visible: Callable[[Any], bool]) -> Any:
    """The same result with the visible elements of its lists."""
    if isinstance(value, Struct):
        lists = {name: each for name, each in zip(names(type(value)), value, strict=True) if type(each) is tuple}
        return replace(value, **{name: tuple(filter(visible, each)) for name, each in lists.items()})
    return tuple(filter(visible, value)) if value is not None else None
