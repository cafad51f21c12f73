"""Changes to objects, and their results in the scripts. The objects themselves are in `tests/support/objects.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metastored.wire.structs import replace
from tests.support.objects import columns

# --- changes ----------------------------------------------------------------------------------------------------


def with_parameters(**new: str) -> Callable[[Any], Any]:
    return lambda result: replace(result, parameters={**(result.parameters or {}), **new})


def without_parameters(*gone: str) -> Callable[[Any], Any]:
    def change(result: Any) -> Any:
        return replace(result, parameters={k: v for k, v in (result.parameters or {}).items() if k not in gone})

    return change


def with_storage(**new: Any) -> Callable[[Any], Any]:
    return lambda result: replace(result, sd=replace(result.sd, **new))


def with_columns(text: str) -> Callable[[Any], Any]:
    return with_storage(cols=columns(text))


def with_fields(**new: Any) -> Callable[[Any], Any]:
    return lambda result: replace(result, **new)


def all_of(*changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def change(result: Any) -> Any:
        for one in changes:
            result = one(result)
        return result

    return change


# --- what is shown ----------------------------------------------------------------------------------------------


def field(*path: str) -> Callable[[Any], Any]:
    """One field of a struct, or of every struct of a list."""

    def pick(value: Any) -> Any:
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(pick(item) for item in value)
        for name in path:
            value = getattr(value, name)
        return value

    return pick


def starting(*prefixes: str) -> Callable[[Any], Any]:
    """The names of this script in a list: the server may have other databases."""
    return lambda names: tuple(name for name in names if name.startswith(prefixes))
