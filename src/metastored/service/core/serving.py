"""Declares which functions of the service serve Thrift methods, and collects them. It names no method itself.

A function that serves a method is named as the method, takes a `Context` first, and is marked:

    @method
    def get_table(ctx: Context, dbname: str | None, tbl_name: str | None) -> Encoded: ...

Where a reply is mostly short but may be long, a second function replies on the event loop if it is short:

    @short(get_open_txns)
    def _few_open_txns(ctx: Context) -> Encoded | None: ...
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
_SHORT: dict[str, Function] = {}


def method(function: F) -> F:
    """Marks the function that serves the method of the same name."""
    name = function.__name__
    if name not in METHODS:
        raise TypeError(f"{function.__module__}.{name} is marked as a method, but the API has no method of that name")
    if name in _SERVED:
        raise TypeError(f"{name} is served by {_SERVED[name].__module__} and by {function.__module__}")
    _SERVED[name] = function
    return function


def short(whole: Function) -> Callable[[F], F]:
    """Marks the function that serves the same method by reading a few rows, and returns None where that is not enough.

    It raises no errors of its own, and its arguments were not checked: where it returns None, `whole` is called next,
    and says what is wrong. It must not walk long arguments.
    """

    def mark(function: F) -> F:
        _SHORT[whole.__name__] = function
        return function

    return mark


def served_if_short() -> dict[str, Function]:
    """The functions marked with `short`, by the names of their methods. `served` imports them."""
    return dict(_SHORT)


def served() -> dict[str, Function]:
    """Every method that is served, with its function. Imports all modules of the service."""
    for module in walk_packages(metastored.service.__path__, "metastored.service."):
        import_module(module.name)
    return dict(_SERVED)
