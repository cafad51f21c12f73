"""Declares which functions of the service serve Thrift methods, and collects them. It names no method itself.

A function that serves a method is named as the method, takes a `Context` first, and is marked:

    @method
    def get_table(ctx: Context, dbname: str | None, tbl_name: str | None) -> Encoded: ...
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, TypeVar

import metastored.service
from metastored.wire.methods import METHODS

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

_SERVED: dict[str, Function] = {}


def method(function: F) -> F:
    """Marks the function that serves the method of the same name."""
    name = function.__name__
    if name not in METHODS:
        raise TypeError(f"{function.__module__}.{name} is marked as a method, but the API has no method of that name")
    if name in _SERVED:
        raise TypeError(f"{name} is served by {_SERVED[name].__module__} and by {function.__module__}")
    _SERVED[name] = function
    return function


def served() -> dict[str, Function]:
    """Every method that is served, with its function. Imports all modules of the service."""
    for module in walk_packages(metastored.service.__path__, "metastored.service."):
        import_module(module.name)
    return dict(_SERVED)
