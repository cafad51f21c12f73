"""Errors of the metastore and of pylance as `lance_namespace.errors`, each with its code. No I/O.

    metastored.errors                   lance_namespace.errors
    database, catalog not found         1 NamespaceNotFound
    table not found                     4 TableNotFound
    exists already                      2 NamespaceAlreadyExists, 5 TableAlreadyExists
    an argument is not valid            13 InvalidInput
    no permission, read-only            15 PermissionDenied
    authentication failed               16 Unauthenticated
    the network, a busy server          17 ServiceUnavailable
    too many calls                      21 Throttling
    not supported                       0 UnsupportedOperation
    anything else                       18 Internal

pylance raises OSError, ValueError, RuntimeError and others whose text alone has the reason; `LANCE_TEXTS` is the only
list of these texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lance_namespace import (
    ConcurrentModificationError,
    InternalError,
    InvalidInputError,
    LanceNamespaceError,
    NamespaceAlreadyExistsError,
    NamespaceNotFoundError,
    PermissionDeniedError,
    ServiceUnavailableError,
    TableAlreadyExistsError,
    TableColumnNotFoundError,
    TableIndexAlreadyExistsError,
    TableIndexNotFoundError,
    TableNotFoundError,
    TableSchemaValidationError,
    TableTagAlreadyExistsError,
    TableTagNotFoundError,
    TableVersionNotFoundError,
    ThrottlingError,
    UnauthenticatedError,
    UnsupportedOperationError,
)

from metastored import errors

METASTORE: Final[Sequence[tuple[tuple[type[Exception], ...], type[LanceNamespaceError]]]] = (
    ((errors.PermissionDenied, errors.ReadOnlyServer), PermissionDeniedError),
    ((errors.RateLimited,), ThrottlingError),
    ((errors.TableNotFound, errors.UnknownTableException), TableNotFoundError),
    ((errors.DatabaseNotFound, errors.UnknownDBException, errors.NoSuchObjectException), NamespaceNotFoundError),
    ((errors.TableAlreadyExists,), TableAlreadyExistsError),
    ((errors.AlreadyExistsException,), NamespaceAlreadyExistsError),
    ((errors.AuthenticationError,), UnauthenticatedError),
    ((errors.TransportError, errors.RemoteProtocolError, errors.StoreError), ServiceUnavailableError),
    ((errors.NotSupported,), UnsupportedOperationError),
    ((errors.ConfigError, errors.ConversionError, errors.LocalProtocolError), InvalidInputError),
    ((errors.InvalidObjectException, errors.InvalidInputException), InvalidInputError),
    ((errors.InvalidOperationException,), InvalidInputError),
)
"""The first line that has the class of an error decides."""

LANCE_TEXTS: Final[Sequence[tuple[re.Pattern[str], type[LanceNamespaceError]]]] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"commit result .* is unknown", ServiceUnavailableError),
        (r"tag .*(already exists)|already exists.* tag|tag conflict", TableTagAlreadyExistsError),
        (r"tag .*(does not exist|not found)|ref not found.* tag", TableTagNotFoundError),
        (r"index name .* already exists", TableIndexAlreadyExistsError),
        (r"index not found|index .* not found", TableIndexNotFoundError),
        (r"version .*(does not exist|not found)|manifest.* (was )?not found|no version", TableVersionNotFoundError),
        (r"append with different schema|schema mismatch|different schema|cannot cast", TableSchemaValidationError),
        (r"column .*(does not exist|not found)|field ?notfound|no field named", TableColumnNotFoundError),
        (r"dataset already exists", TableAlreadyExistsError),
        (r"commit conflict|concurrent|too many retries|retryable", ConcurrentModificationError),
        (r"dataset at path .* was not found|dataset .* not found", TableNotFoundError),
        (r"permission denied|access denied|forbidden", PermissionDeniedError),
        (
            r"invalid user input|invalid input|parse error|parser error|error parsing|lance error: invalid",
            InvalidInputError,
        ),
        (r"not supported|not implemented|unsupported", UnsupportedOperationError),
    )
)
"""What the texts of pylance's errors mean; the first that matches decides."""

_SOURCE: Final = re.compile(r",? ?(location: )?(/\S+/)?rust/\S+\.rs:\d+(:\d+)?")
"""The position in Lance's source code at the end of its messages."""


def of_metastore(error: errors.Error) -> LanceNamespaceError:
    """An error of the metastore or of its client, with its sentence."""
    for kinds, kind in METASTORE:
        if isinstance(error, kinds):
            return kind(str(error))
    return InternalError(f"the metastore reported: {error}")


def of_pylance(error: Exception) -> LanceNamespaceError:
    """An error of pylance, by its text."""
    text = _SOURCE.sub("", str(error)).strip() or type(error).__name__
    for pattern, kind in LANCE_TEXTS:
        if pattern.search(text):
            return kind(text)
    if isinstance(error, (ValueError, KeyError, TypeError)):
        return InvalidInputError(text)
    return InternalError(text)
