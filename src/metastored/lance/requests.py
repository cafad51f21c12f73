"""What all operations share: requests as models, errors as Lance's, modes, and pages. No I/O.

pylance's Rust code passes requests as dicts with a method `model_dump`; callers in Python pass the models. An operation
gets the model in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from lance_namespace import (
    ConcurrentModificationError,
    InternalError,
    InvalidInputError,
    LanceNamespace,
    LanceNamespaceError,
    TableNotFoundError,
)
from pydantic import BaseModel, ValidationError

from metastored.errors import Error
from metastored.lance.refusals import of_metastore, of_pylance

Self = TypeVar("Self")
Request = TypeVar("Request", bound=BaseModel)
Response = TypeVar("Response")
Rest = ParamSpec("Rest")

MAX_LIMIT: Final = 2**31 - 1

PANIC: Final = "PanicException"
"""The class of a panic in Lance's Rust code, as for a damaged file. It is not an Exception, and cannot be imported."""

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
            failures: list[LanceNamespaceError] = []
            token = _failures.set(failures)
            try:
                return run(self, read_request(kind, request), *args, **kwargs)
            except LanceNamespaceError:
                raise
            except Error as error:
                raise of_metastore(error) from error
            except _OF_PYLANCE as error:
                raise (failures[-1] if failures else of_pylance(error)) from error
            except BaseException as error:
                if type(error).__name__ != PANIC:
                    raise
                raise InternalError(f"Lance failed: {error}") from error
            finally:
                _failures.reset(token)

        return operate

    return mark


_failures: ContextVar[list[LanceNamespaceError] | None] = ContextVar("failures", default=None)


class CommitCalls(LanceNamespace):
    """A namespace as pylance calls it during an operation: the errors of commits are kept for the operation.

    pylance reports every failure of a commit as one whose outcome is not known, without the error itself.
    """

    def __init__(self, namespace: LanceNamespace, check_place: Callable[[str], None]) -> None:
        """`check_place` raises an error if the location of the table may not be opened: pylance opens it."""
        self._namespace = namespace
        self._check_place = check_place
        failure = _failures.get()
        self._failures: list[LanceNamespaceError] = [] if failure is None else failure

    def namespace_id(self) -> str:
        return self._namespace.namespace_id()

    def describe_table(self, request: Any) -> Any:
        described = self._namespace.describe_table(request)
        self._check_place(described.location or "")
        return described

    def describe_table_version(self, request: Any) -> Any:
        return self._namespace.describe_table_version(request)

    def list_table_versions(self, request: Any) -> Any:
        return self._kept(self._namespace.list_table_versions, request)

    def create_table_version(self, request: Any) -> Any:
        return self._kept(self._namespace.create_table_version, request)

    def _kept(self, call: Callable[[Any], Any], request: Any) -> Any:
        try:
            return call(request)
        except (ConcurrentModificationError, TableNotFoundError):
            raise  # Lance acts on these.
        except LanceNamespaceError as error:
            self._failures.append(error)
            raise


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
