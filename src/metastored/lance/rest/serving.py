"""Serves one request with a `LanceNamespace`: parses it, calls the method of its operation, and makes the response.

It blocks, as the methods do, and never raises: every error is a response.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lance_namespace import LanceNamespace
from lance_namespace.errors import InvalidInputError, UnsupportedOperationError

from metastored.lance.rest.operations import Operation
from metastored.lance.rest.replies import HttpReply, failed, succeeded
from metastored.lance.rest.requests import HttpRequest, Parsed, parse

__all__ = ["MAX_ROWS", "is_served", "refusal", "serve"]

MAX_ROWS: Final = 100_000
"""The most rows of one query: the result is in memory as a whole."""


def refusal(kind: type[LanceNamespace], http: HttpRequest, allow: Callable[[Parsed], None]) -> HttpReply | None:
    """The response to a request that is not valid or not allowed; None if a namespace of this kind may serve it.

    Nothing of it is done. `allow` raises if the caller lacks a privilege.
    """
    try:
        allow(_checked(kind, http))
    except Exception as error:
        return failed(http.route.operation.name, error)
    return None


def serve(namespace: LanceNamespace, http: HttpRequest, allow: Callable[[Parsed], None] | None = None) -> HttpReply:
    """The response to a request. `allow` is called before the method and raises if the caller lacks a privilege."""
    operation = http.route.operation
    try:
        parsed = _checked(type(namespace), http)
        if allow is not None:
            allow(parsed)
        method = getattr(namespace, operation.name)
        result = method(parsed.request) if parsed.rows is None else method(parsed.request, parsed.rows)
        return succeeded(operation, result)
    except Exception as error:
        return failed(operation.name, error)


def is_served(kind: type[LanceNamespace], operation: Operation) -> bool:
    """Whether a namespace has this operation: the interface itself only raises."""
    return getattr(kind, operation.name) is not getattr(LanceNamespace, operation.name)


def _checked(kind: type[LanceNamespace], http: HttpRequest) -> Parsed:
    operation = http.route.operation
    if not is_served(kind, operation):
        raise UnsupportedOperationError(f"this namespace does not serve {operation.name}")
    parsed = parse(http)
    _bounded(parsed)
    return parsed


def _bounded(parsed: Parsed) -> None:
    """Raises InvalidInputError for a query whose result could be too long."""
    query = getattr(parsed.request, "query", None) or parsed.request
    rows = getattr(query, "k", None)
    if isinstance(rows, int) and rows > MAX_ROWS:
        raise InvalidInputError(
            f"k is {rows}: at most {MAX_ROWS} rows are served in one reply; describe_table returns the location, from "
            "which lance.dataset reads a table of any length"
        )
