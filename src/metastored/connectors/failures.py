"""How a connector reports that it got no answer: unlike an error that the remote catalog itself answered with."""

from __future__ import annotations

from metastored.errors import MetaException
from metastored.wire.message import Reply
from metastored.wire.methods import Method


class Unreachable(MetaException):
    """The remote catalog gave no usable answer in time."""


class CredentialsRefused(Unreachable):
    """The remote catalog does not accept the credentials: they are read again for the next call."""


def unreachable(method: Method, failure: str | Unreachable, version: str) -> Reply:
    """A failure as the caller gets it, whose `error` is an `Unreachable`."""
    error = Unreachable(failure) if isinstance(failure, str) else failure
    reply = Reply.failed(method, str(error), version)
    return Reply(reply.body, reply.kind, error)
