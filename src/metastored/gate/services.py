"""A handler that restricts the store of tokens and keys to services, even without `authorization`.

A user who can read a master key can sign tokens, and a user who can write a token can log in as any user. So these
methods (`service` in the method table) are for authenticated `admin_users` and `service_users` only. A delegation token
is not enough: a token, which a job carries through a cluster, must not be used to get further tokens. A server without
authentication refuses these methods to all callers; it accepts no tokens either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.errors import InvalidOperationException, MetaException
from metastored.gate.needs import is_for_services
from metastored.model.refusals import DENIED
from metastored.wire.message import Call, Handler, Reply, Session

WHO: Final = "an authenticated user of admin_users or service_users"


class ForServices:
    """Refuses the methods for services to all other callers."""

    def __init__(self, inner: Handler, users: Iterable[str]) -> None:
        self.inner: Final = inner
        self._users = frozenset(users)

    async def handle(self, call: Call, session: Session) -> Reply:
        if is_for_services(call.method):
            refusal = self._refusal(session)
            if refusal is not None:
                text = f"{DENIED}{call.method.name} is for {WHO}, and {refusal}"
                return Reply.failed(call.method, text, session.version, MetaException, InvalidOperationException)
        return await self.inner.handle(call, session)

    def _refusal(self, session: Session) -> str | None:
        if not session.authenticated:
            return "this connection is not authenticated"
        if session.by_token:
            return "this connection was authenticated by a delegation token"
        if session.user not in self._users:
            return f"user {session.user} is not in them"
        return None
