"""From a result of a `LanceNamespace`, or an error, to the HTTP response of Lance's REST namespace.

An error is a JSON object with `error`, `code` and `detail`; its status follows from its code, by the specification.
"""

from __future__ import annotations

import logging
from typing import Any, Final, NamedTuple

import orjson
from lance_namespace.errors import ErrorCode, LanceNamespaceError

from metastored.errors import (
    AuthenticationError,
    Error,
    PermissionDenied,
    RateLimited,
    ReadOnlyServer,
    StoreError,
    TransportError,
)
from metastored.lance.rest.operations import Operation, Result

__all__ = ["ARROW_FILE", "JSON", "STATUSES", "HttpReply", "code_of", "error_reply", "failed", "succeeded"]

log = logging.getLogger("metastored.lance")

JSON: Final = "application/json"
ARROW_FILE: Final = "application/vnd.apache.arrow.file"
MAX_MESSAGE: Final = 4096
"""Characters of an error's message: Lance repeats whole schemas in some."""

STATUSES: Final = {
    ErrorCode.UNSUPPORTED: 406,
    ErrorCode.NAMESPACE_NOT_FOUND: 404,
    ErrorCode.NAMESPACE_ALREADY_EXISTS: 409,
    ErrorCode.NAMESPACE_NOT_EMPTY: 409,
    ErrorCode.TABLE_NOT_FOUND: 404,
    ErrorCode.TABLE_ALREADY_EXISTS: 409,
    ErrorCode.TABLE_INDEX_NOT_FOUND: 404,
    ErrorCode.TABLE_INDEX_ALREADY_EXISTS: 409,
    ErrorCode.TABLE_TAG_NOT_FOUND: 404,
    ErrorCode.TABLE_TAG_ALREADY_EXISTS: 409,
    ErrorCode.TRANSACTION_NOT_FOUND: 404,
    ErrorCode.TABLE_VERSION_NOT_FOUND: 404,
    ErrorCode.TABLE_COLUMN_NOT_FOUND: 404,
    ErrorCode.INVALID_INPUT: 400,
    ErrorCode.CONCURRENT_MODIFICATION: 409,
    ErrorCode.PERMISSION_DENIED: 403,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.SERVICE_UNAVAILABLE: 503,
    ErrorCode.INTERNAL: 500,
    ErrorCode.INVALID_TABLE_STATE: 409,
    ErrorCode.TABLE_SCHEMA_VALIDATION_ERROR: 400,
    ErrorCode.THROTTLING: 429,
    ErrorCode.TABLE_BRANCH_NOT_FOUND: 404,
    ErrorCode.TABLE_BRANCH_ALREADY_EXISTS: 409,
}
"""The HTTP status of each code."""


class HttpReply(NamedTuple):
    """A complete response."""

    status: int
    body: bytes = b""
    content_type: str | None = None


def succeeded(operation: Operation, result: Any) -> HttpReply:
    """The response with the result of an operation: a model of Lance's, or a dictionary with its fields."""
    match operation.result:
        case Result.EMPTY:
            return HttpReply(200)
        case Result.ROWS:
            return HttpReply(200, _field(result, "data") or b"", ARROW_FILE)
        case Result.COUNT:
            value = result if isinstance(result, int) else _field(result, "count")
        case Result.METADATA:
            value = _field(result, "metadata") or {}
        case Result.TEXT:
            value = result
        case _:
            value = result if isinstance(result, dict) else result.to_dict()
    return HttpReply(200, orjson.dumps(value), JSON)


def failed(operation: str, error: Exception) -> HttpReply:
    """The response for an exception. An unexpected error is logged, and its text is not sent."""
    code = code_of(error)
    if code is None:
        log.error("%s failed: %s", operation, error, exc_info=error)
        return error_reply(ErrorCode.INTERNAL, f"{operation} failed; the server's log has the reason")
    return error_reply(code, str(error))


def code_of(error: Exception) -> ErrorCode | None:
    """The code of an error; None for one that nobody expected."""
    match error:
        case LanceNamespaceError():
            return ErrorCode(error.code)
        case PermissionDenied() | ReadOnlyServer():
            return ErrorCode.PERMISSION_DENIED
        case RateLimited():
            return ErrorCode.THROTTLING
        case AuthenticationError():
            return ErrorCode.UNAUTHENTICATED
        case TransportError() | StoreError():
            return ErrorCode.SERVICE_UNAVAILABLE
        case Error():
            return ErrorCode.INTERNAL
    return None


def error_reply(code: ErrorCode, message: str, status: int | None = None) -> HttpReply:
    """A response with an error; the status is that of the code unless another is given."""
    text = message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "…"
    body = {"error": text, "code": int(code), "detail": code.name}
    return HttpReply(STATUSES[code] if status is None else status, orjson.dumps(body), JSON)


def _field(result: Any, name: str) -> Any:
    return result.get(name) if isinstance(result, dict) else getattr(result, name)
