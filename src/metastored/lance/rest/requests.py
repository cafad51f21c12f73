"""From an HTTP request to the request's model of Lance: the path, the query and the body are put together and checked.

Raises lance_namespace's InvalidInputError with one sentence. A field or a parameter that the operation does not have
is refused, not ignored: a client that sends `branch` would otherwise write to another branch than it means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

import lance_namespace
from lance_namespace.errors import InvalidInputError
from pydantic import BaseModel, ValidationError

from metastored.lance.rest.operations import Body, Operation
from metastored.lance.rest.routes import Route

__all__ = ["DELIMITER", "HttpRequest", "Parsed", "parse"]

DELIMITER: Final = "$"
"""Separates the names of an id in a path, unless the query names another delimiter."""


class HttpRequest(NamedTuple):
    """What an operation reads of a request."""

    route: Route
    query: str = ""
    body: bytes = b""


class Parsed(NamedTuple):
    """A call of a method of `LanceNamespace`."""

    operation: Operation
    request: Any
    """The request's model."""
    rows: bytes | None = None
    """An Arrow IPC stream; None where the operation takes no rows."""

    @property
    def id(self) -> list[str]:
        """The names of the object; empty for the root, and where the path has none."""
        return list(getattr(self.request, "id", None) or ())


def parse(http: HttpRequest) -> Parsed:
    """The call that a request means. Raises InvalidInputError."""
    operation = http.route.operation
    fields, delimiter = _from_query(operation, http.query)
    if operation.body is Body.JSON:
        fields |= _object(http.body)
    elif operation.body is Body.METADATA:
        fields["metadata"] = _object(http.body)
    elif operation.body is Body.NONE:
        # Generated clients send an empty object, or the id again.
        _same_id(_object(http.body), http.route.id, delimiter)
    if http.route.id is not None:
        fields["id"] = _same_id(fields, http.route.id, delimiter)
    if http.route.index_name is not None:
        if fields.get("index_name") not in (None, http.route.index_name):
            raise InvalidInputError(
                f"the body names the index {fields['index_name']!r}, the path {http.route.index_name!r}"
            )
        fields["index_name"] = http.route.index_name
    request = _model(getattr(lance_namespace, operation.request), fields)
    return Parsed(operation, request, http.body if operation.body is Body.ROWS else None)


def _names(id: str, delimiter: str) -> list[str]:
    """The names of an id; the delimiter alone is the root."""
    return [] if id == delimiter else id.split(delimiter)


def _same_id(fields: Mapping[str, Any], id: str | None, delimiter: str) -> list[str]:
    names = [] if id is None else _names(id, delimiter)
    sent = fields.get("id")
    if sent is not None and sent != names:
        raise InvalidInputError(f"the body has the id {sent!r}, the path has {names!r}")
    return names


def _from_query(operation: Operation, query: str) -> tuple[dict[str, Any], str]:
    """The fields in the query, and the delimiter."""
    sent = parse_qs(query, keep_blank_values=True)
    delimiter = sent.pop("delimiter", [DELIMITER])[-1]
    if not delimiter:
        raise InvalidInputError("the delimiter is empty")
    fields: dict[str, Any] = {}
    for name, values in sent.items():
        if name not in operation.query:
            known = ", ".join(("delimiter", *operation.query))
            raise InvalidInputError(f"{operation.name} has no parameter {name!r}; it has {known}")
        fields[name] = values if name == "on" else _READERS.get(name, _text)(name, values[-1])
    return fields, delimiter


def _text(name: str, value: str) -> str:
    return value


def _bool(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InvalidInputError(f"{name} is {value!r}: true or false was expected")
    return value.lower() == "true"


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise InvalidInputError(f"{name} is {value!r}: a number was expected")
    return int(value)


def _map(name: str, value: str) -> Any:
    return _object(value.encode(), f"the parameter {name}")


_READERS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "limit": _number,
    "properties": _map,
    "storage_options": _map,
    **dict.fromkeys(
        (
            *("descending", "include_declared", "with_table_uri", "load_detailed_metadata", "check_declared"),
            *("when_matched_update_all", "when_not_matched_insert_all", "when_not_matched_by_source_delete"),
            "use_index",
        ),
        _bool,
    ),
}
"""How the values of parameters are read that are not texts."""


def _object(body: bytes, what: str = "the body") -> dict[str, Any]:
    """A JSON object; an empty body is an empty object."""
    if not body.strip():
        return {}
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{what} is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidInputError(f"{what} is not a JSON object")
    return fields


def _model(kind: type[BaseModel], fields: dict[str, Any]) -> Any:
    known = {field.alias or name for name, field in kind.model_fields.items()}
    unknown = [name for name, value in fields.items() if name not in known and value is not None]
    if unknown:
        raise InvalidInputError(f"{kind.__name__} has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")
    try:
        # The generated models have `from_dict`, which also builds nested models.
        return kind.from_dict(fields)  # type: ignore[attr-defined]
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidInputError(f"{_place(first['loc'])}: {first['msg']}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"the request is not a {kind.__name__}: {error}") from None


def _place(location: Sequence[int | str]) -> str:
    return ".".join(map(str, location)) or "the request"
