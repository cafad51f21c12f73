"""Errors of Iceberg's REST catalog: each has a status, a type and a sentence. No I/O.

    400  BadRequestException             the request, or the metadata in it, is not valid
         IllegalArgumentException        the same, where Iceberg's own clients tell it apart
    403  ForbiddenException              a privilege is missing, or the server is read-only
    404  NoSuch…Exception                a namespace, table, view or catalog does not exist
    406  UnsupportedOperationException   an endpoint that this server does not have
    409  AlreadyExistsException          the name is taken
         NamespaceNotEmptyException      the namespace has tables
         CommitFailedException           a requirement does not hold, or others commit all the time
    422  UnprocessableEntityException    the parts of a request contradict each other
    429  TooManyRequestsException        the caller has made too many calls
    500  CommitStateUnknownException     whether the commit took effect could not be found out
    503  ServiceUnavailableException     the database, a file system or a remote does not respond

Messages begin as those of Iceberg's own catalogs where programs look for their words. The text of an unexpected error
is logged and not sent.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from metastored import errors

__all__ = [
    "AlreadyExists",
    "BadRequest",
    "CommitFailed",
    "CommitUnknown",
    "Forbidden",
    "IcebergError",
    "InvalidArgument",
    "NamespaceNotEmpty",
    "NoSuchNamespace",
    "NoSuchTable",
    "NoSuchView",
    "NotFound",
    "Unavailable",
    "Unprocessable",
    "Unsupported",
    "body_of",
    "is_of_remote",
    "known_error",
]

log = logging.getLogger("metastored.iceberg")

MAX_MESSAGE: Final = 4096
"""Characters of a message that are sent: some repeat what the client sent."""
OF_REMOTES: Final = ("remote database ", "remote table ", "remote catalog ")
"""How the messages of remotes begin that failed or do not respond."""


class IcebergError(errors.Error):
    """An error that a client gets as it is."""

    status: int = 500
    kind: str = "InternalServerError"


class BadRequest(IcebergError):
    """The request is not valid."""

    status, kind = 400, "BadRequestException"


class InvalidArgument(BadRequest):
    """The same, where Iceberg's own clients expect this type."""

    kind = "IllegalArgumentException"


class Forbidden(IcebergError):
    """A privilege is missing."""

    status, kind = 403, "ForbiddenException"


class NotFound(IcebergError):
    """A catalog or another object does not exist."""

    status, kind = 404, "NotFoundException"


class NoSuchNamespace(NotFound):
    """A namespace does not exist."""

    kind = "NoSuchNamespaceException"


class NoSuchTable(NotFound):
    """There is no Iceberg table of this name."""

    kind = "NoSuchTableException"


class NoSuchView(NotFound):
    """There is no Iceberg view of this name."""

    kind = "NoSuchViewException"


class NoSuchPlan(NotFound):
    """No plan of this id is held: each plan is completed in its response."""

    kind = "NoSuchPlanIdException"


class NoSuchPlanTask(NotFound):
    """The text is not a task of a plan of this table, or its snapshot has expired."""

    kind = "NoSuchPlanTaskException"


class Unsupported(IcebergError):
    """The server does not have the endpoint, or cannot do this with the table."""

    status, kind = 406, "UnsupportedOperationException"


class AlreadyExists(IcebergError):
    """The name is taken."""

    status, kind = 409, "AlreadyExistsException"


class NamespaceNotEmpty(IcebergError):
    """The namespace has tables."""

    status, kind = 409, "NamespaceNotEmptyException"


class CommitFailed(IcebergError):
    """Nothing was committed. The client reads the table and commits again."""

    status, kind = 409, "CommitFailedException"


class CommitUnknown(IcebergError):
    """Whether the commit took effect could not be found out."""

    status, kind = 500, "CommitStateUnknownException"


class Unprocessable(IcebergError):
    """The parts of a request contradict each other."""

    status, kind = 422, "UnprocessableEntityException"


class TooMany(IcebergError):
    """The caller has made too many calls."""

    status, kind = 429, "TooManyRequestsException"


class Unavailable(IcebergError):
    """The database, a file system or a remote does not respond."""

    status, kind = 503, "ServiceUnavailableException"


_OTHERS: Final[Sequence[tuple[tuple[type[Exception], ...], type[IcebergError]]]] = (
    ((errors.PermissionDenied, errors.ReadOnlyServer), Forbidden),
    ((errors.RateLimited,), TooMany),
    ((errors.TableNotFound, errors.UnknownTableException), NoSuchTable),
    ((errors.DatabaseNotFound, errors.UnknownDBException), NoSuchNamespace),
    ((errors.NoSuchObjectException,), NotFound),
    ((errors.AlreadyExistsException,), AlreadyExists),
    ((errors.LockFailed,), CommitFailed),
    ((errors.CommitUnknown,), CommitUnknown),
    ((errors.TransportError, errors.RemoteProtocolError, errors.StoreError), Unavailable),
    ((errors.NotSupported,), Unsupported),
    ((errors.InvalidObjectException, errors.InvalidInputException, errors.InvalidOperationException), BadRequest),
    ((errors.MetaException, errors.ConversionError), BadRequest),
)
"""Errors of the metastore and its client; the first line that has the class decides."""


def is_of_remote(error: Exception) -> bool:
    """Whether a remote failed or does not respond."""
    return type(error) is errors.MetaException and (error.message or "").startswith(OF_REMOTES)


def known_error(error: Exception, operation: str) -> IcebergError:
    """The error that the client gets. One that nobody expected is logged, and its text is not sent."""
    if isinstance(error, IcebergError):
        return error
    if is_of_remote(error):
        return Unavailable(str(error))
    for kinds, kind in _OTHERS:
        if isinstance(error, kinds):
            return kind(str(error))
    log.error("%s failed: %s", operation, error, exc_info=error)
    return IcebergError(f"{operation} failed; the server's log has the reason")


def body_of(status: int, kind: str, message: str) -> dict[str, Any]:
    """The body of an error, as the specification has it."""
    text = message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "…"
    return {"error": {"message": text, "type": kind, "code": status}}
