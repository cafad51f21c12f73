"""The common parts of all transports around a call: log lines, and the reply to a call that failed.

It never makes a call itself.
"""

from __future__ import annotations

import logging
from typing import Any

from metastored.errors import ApplicationError, Error, MetastoreError
from metastored.wire.message import Call, Reply
from metastored.wire.structs import Struct, fields, names
from metastored.wire.types import Field

log = logging.getLogger("metastored.server")

_DEPTH = 4
"""Requests hold structs that hold names; no name is deeper."""


def subject(call: Call) -> str:
    """`db.table`, `db`, or nothing: the first names among the arguments that the method table has roles for."""
    by_role: dict[str, str] = {}
    _look(list(zip(call.method.args, call.args, strict=False)), by_role)
    return ".".join(by_role[role] for role in ("db", "table") if role in by_role)


def describe(call: Call, seconds: float) -> str:
    """`get_table db.t took 1.234 s`."""
    about = subject(call)
    return f"{call.method.name}{' ' + about if about else ''} took {seconds:.3f} s"


def log_when_slow(call: Call, peer: str, seconds: float, limit: float) -> None:
    if seconds >= limit:
        log.warning("%s: %s", peer, describe(call, seconds))


def failure(call: Call, error: Exception, peer: str) -> Reply:
    """The reply to a call whose handler raised; the API's own errors are replies of the handler already."""
    if not isinstance(error, MetastoreError | ApplicationError):
        ours = isinstance(error, Error)
        log.error("%s: %s failed: %s", peer, call.method.name, error, exc_info=None if ours else error)
        if ours:
            error = ApplicationError(ApplicationError.INTERNAL_ERROR, str(error))
    return Reply.raised(call.method, error)


def _look(level: list[tuple[Field, Any]], by_role: dict[str, str]) -> None:
    """Breadth first: an argument of the method itself says more than a field deep inside a struct."""
    for _ in range(_DEPTH):
        deeper: list[tuple[Field, Any]] = []
        for field, value in level:
            if field.role in ("db", "table") and isinstance(value, str):
                by_role.setdefault(field.role, value)
            elif isinstance(value, Struct):
                by_name = {line.name: line for line in fields(type(value))}
                deeper += ((by_name[name], each) for name, each in zip(names(type(value)), value, strict=True))
            elif isinstance(value, tuple) and value:
                deeper.append((field, value[0]))
        if "table" in by_role or not deeper:
            return
        level = deeper
