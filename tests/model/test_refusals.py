"""Why a server refused a call, recognised by its message."""

from __future__ import annotations

import pickle

import pytest

from metastored.errors import (
    ApplicationError,
    Error,
    ErrorKind,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    PermissionDenied,
    RateLimited,
    ReadOnlyServer,
    kind_of,
)
from metastored.model.refusals import DENIED, READ_ONLY, TOO_MANY, refusal


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MetaException(f"{DENIED}user bob needs SELECT on table d.t"), PermissionDenied),
        (NoSuchObjectException(f"{DENIED}user bob needs SELECT on table d.t"), PermissionDenied),
        (
            MetaException("java.security.AccessControlException: Permission denied: user=bob, access=WRITE"),
            PermissionDenied,
        ),
        (MetaException("Permission denied: user [bob] does not have [SELECT] privilege on [d/t]"), PermissionDenied),
        (
            MetaException(f"{READ_ONLY}, and drop_table would change it; call one that is not"),
            ReadOnlyServer,
        ),
        (InvalidOperationException(TOO_MANY), RateLimited),
        (ApplicationError(ApplicationError.INTERNAL_ERROR, TOO_MANY), RateLimited),
    ],
)
def test_a_refusal_has_a_class_of_its_own_whatever_carried_it(error: Error, expected: type[Error]) -> None:
    result = refusal(error)
    assert type(result) is expected
    assert isinstance(result, MetaException)
    assert str(result) == str(error)
    assert kind_of(result) is ErrorKind.REFUSED
    assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(
    "error", [MetaException("disk full"), MetaException(None), NoSuchObjectException("d.t"), Error("x")]
)
def test_other_errors_are_no_refusals(error: Error) -> None:
    assert refusal(error) is None
