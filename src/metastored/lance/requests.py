"""What all operations share: requests as models, errors as Lance's, modes, and pages. No I/O.

pylance's Rust code passes requests as dicts with a method `model_dump`; callers in Python pass the models. An operation
gets the model in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from lance_namespace import InvalidInputError, LanceNamespaceError
from pydantic import BaseModel, ValidationError

from metastored.errors import Error
from metastored.lance.refusals import of_metastore, of_pylance

Self = TypeVar("Self")
Request = TypeVar("Request", bound=BaseModel)
Response = TypeVar("Response")
Rest = ParamSpec("Rest")

MAX_LIMIT: Final = 2**31 - 1

# What pyo3 turns Lance's own errors into.
_OF_PYLANCE: Final = (OSError, ValueError, RuntimeError, NotImplementedError, KeyError, TypeError)


def operation(
    kind: type[Request],
) -> Callable[[Callable[Concatenate[Self, Request, Rest], Response]], Callable[Concatenate[Self, Any, Rest], Response]]:
    """Marks an operation with requests of this kind: it raises errors of `lance_namespace.errors` only."""

    def mark(
        run: Callable[Concatenate[Self, Request, Rest], Response],
    ) -> Callable[Concatenate[Self, Any, Rest], Response]:
        @wraps(run)
        def operate(self: Self, request: Any, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Response:
            try:
                return run(self, read_request(kind, request), *args, **kwargs)
            except LanceNamespaceError:
                raise
            except Error as error:
                raise of_metastore(error) from error
            except ArrowInvalid() as error:
                raise InvalidInputError(f"the data is no Arrow IPC stream: {error}") from error
            except _OF_PYLANCE as error:
                raise of_pylance(error) from error

        return operate

    return mark


def ArrowInvalid() -> type[Exception]:
    """pyarrow's error for bytes that it cannot read; it is a ValueError too."""
    import pyarrow

    invalid: type[Exception] = pyarrow.ArrowInvalid
    return invalid


def read_request(kind: type[Request], request: Any) -> Request:
    """The request as a model. Raises InvalidInputError, which names the field, for a value that does not fit."""
    if isinstance(request, kind):
        return request
    if isinstance(request, BaseModel):
        values: Any = request.model_dump(by_alias=True)
    elif hasattr(request, "model_dump"):
        values = dict(request.model_dump())
    else:
        values = request
    if not isinstance(values, Mapping):
        raise InvalidInputError(f"a {kind.__name__} is needed, not {request!r}")
    try:
        return kind.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or kind.__name__
        raise InvalidInputError(f"{where} of the request is not valid: {first['msg']}") from None


def mode_of(text: str | None, modes: Sequence[str], what: str) -> str:
    """One of the modes, the first if none was requested: ExistOk, exist_ok and EXIST_OK are the same."""
    if not text:
        return modes[0]
    word = text.replace("_", "").lower()
    if word not in modes:
        raise InvalidInputError(f"{what} is {text!r}: it is one of {', '.join(modes)}")
    return word


def page_of(names: Sequence[str], token: str | None, limit: int | None) -> tuple[list[str], str | None]:
    """The names after the token, at most `limit`, and the token of the next page; None at the end.

    The token is the last name of the page, so objects that appear or disappear between two pages shift nothing.
    """
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"limit is {limit}: it is a number from 1 on")
    remaining = [name for name in names if name > token] if token else list(names)
    if limit is None or len(remaining) <= limit:
        return remaining, None
    return remaining[:limit], remaining[limit - 1]
