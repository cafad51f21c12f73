"""A handler that keeps the store of tokens and keys for services, whatever else is enforced.

Who reads a master key can sign tokens, and who writes a token can log in as anybody. So these methods (`service` in the
method table) are for `admin_users` and `service_users` who have proven who they are by more than a delegation token: a
token, which a job carries through a cluster, must not become further ones. Where no authentication is configured nobody
has proven anything, and nobody may call them; such a server takes no tokens either.
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
    """Refuses what is for services to everybody else."""

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
            return "this connection has not proven who it is"
        if session.by_token:
            return "this connection was authenticated by a delegation token"
        if session.user not in self._users:
            return f"user {session.user} is none"
        return None
