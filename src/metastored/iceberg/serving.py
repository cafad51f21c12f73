"""From a request to a response: calls the operation of its route, and turns errors into responses.

It blocks, as the operations do, and never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import orjson

from metastored.iceberg import commits, namespaces, signing, tables, views
from metastored.iceberg.catalog import Catalog
from metastored.iceberg.errors import body_of, known_error
from metastored.iceberg.planning import operations as planning
from metastored.iceberg.requests import Request
from metastored.iceberg.routes import ENDPOINTS

__all__ = ["OPERATIONS", "Response", "failed", "serve"]

JSON: Final = "application/json"


class Response(NamedTuple):
    """A complete response."""

    status: int
    body: bytes = b""
    etag: str | None = None


OPERATIONS: Final[Mapping[str, Callable[[Catalog, Request], Any]]] = {
    name: getattr(module, name)
    for name in ENDPOINTS
    for module in (commits, namespaces, planning, signing, tables, views)
    if hasattr(module, name)
}
"""The function of each operation; all are named as in `routes.py`."""


def serve(catalog: Catalog, request: Request) -> Response:
    """The response to a request."""
    endpoint = request.route.endpoint
    try:
        result = OPERATIONS[endpoint.operation](catalog, request)
        if endpoint.operation == "load_table":
            return _table(request, result)
        if result is None:
            return Response(204)
        return Response(200, orjson.dumps(result), _etag(request, result))
    except Exception as error:
        return failed(endpoint.operation, error)


def failed(operation: str, error: Exception) -> Response:
    """The response for an error."""
    known = known_error(error, operation)
    return Response(known.status, orjson.dumps(body_of(known.status, known.kind, str(known))))


def _table(request: Request, result: Any) -> Response:
    if result is None:
        return Response(304)
    return Response(200, orjson.dumps(result), _etag(request, result))


def _etag(request: Request, result: Mapping[str, Any]) -> str | None:
    """The entity tag of a table that is in a response."""
    file = result.get("metadata-location")
    if file is None or "view" in request.route.endpoint.operation:
        return None
    return tables.etag_of(file, (request.parameter("snapshots") or "all").lower())
