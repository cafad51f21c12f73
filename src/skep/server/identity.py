"""Who is asking over HTTP: Basic, Kerberos (SPNEGO), a web token, a client's certificate, or a name that is believed.

Proof is looked for in this order: the `Authorization` header, then the certificate. Only where the settings want no
proof at all is `x-actor-username` believed, as `set_ugi` is on the Thrift port; from proxy users it is believed as
well. This module decides who somebody is, never what they may do.
"""

from __future__ import annotations

import base64
import binascii
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from skep.errors import AuthenticationError
from skep.server.passwords import WRONG, Attempts, Passwords
from skep.server.tls import common_name
from skep.store.pool import Pool
from skep.wire.message import Session

log = logging.getLogger("skep.server")

ACTOR: Final = b"x-actor-username"
"""The header in which Hive 4's clients say who they are."""
BASIC: Final = 'Basic realm="skep", charset="UTF-8"'
NEGOTIATE: Final = "Negotiate"
BEARER: Final = 'Bearer realm="skep"'
NOTHING: Final = "this server wants to know who is asking, and the request has no Authorization"


class Unauthorized(AuthenticationError):
    """The request is refused, with what would be taken."""

    def __init__(self, message: str, challenges: Iterable[str] = (), retry_after: int = 0) -> None:
        super().__init__(message)
        self.challenges = tuple(challenges)
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        return 429 if self.retry_after else 401


class Tickets(Protocol):
    """Kerberos over HTTP."""

    def accept(self, token: bytes) -> tuple[str, str, bytes]:
        """The user, the principal and the answer to a client's token; raises AuthenticationError. It may block."""
        ...


class WebTokens(Protocol):
    """JWT."""

    def user_of(self, token: str) -> str:
        """Whose token this is; raises AuthenticationError. It may block."""
        ...


@dataclass(frozen=True, slots=True)
class Proofs:
    """What a server can verify; None is what it has not."""

    passwords: Passwords | None = None
    tickets: Tickets | None = None
    web_tokens: WebTokens | None = None
    attempts: Attempts = field(default_factory=Attempts)


class Identities:
    """Finds out who is asking."""

    def __init__(self, proofs: Proofs, pool: Pool, *, wanted: bool, proxies: Iterable[str] = ()) -> None:
        self._proofs = proofs
        self._pool = pool
        self._wanted = wanted
        self._proxies = frozenset(proxies)

    async def caller(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> list[tuple[bytes, bytes]]:
        """Who asks at /metastore. Raises Unauthorized."""
        answer = await self._authorization(headers, session, bearer=True)
        if answer is None:
            name = common_name(scope.get("state", {}).get("certificate"))
            if name is not None:
                prove(session, name, f"CN={name}")
            elif self._wanted:
                raise Unauthorized(NOTHING, self._challenges(bearer=True))
        self._act(headers.get(ACTOR), session)
        return answer or []

    async def proven_caller(
        self, scope: Any, headers: dict[bytes, bytes], session: Session
    ) -> list[tuple[bytes, bytes]]:
        """Who asks where only Basic and Kerberos are taken. Raises Unauthorized."""
        answer = await self._authorization(headers, session, bearer=False)
        if answer is None:
            raise Unauthorized(NOTHING, self._challenges(bearer=False))
        self._act(headers.get(ACTOR), session)
        return answer

    def _act(self, actor: bytes | None, session: Session) -> None:
        """Whom the caller acts for, where it is believed."""
        session.may_impersonate = session.authenticated and session.user in self._proxies
        if actor and (session.may_impersonate or not session.authenticated):
            session.user = actor.decode("utf-8", "surrogateescape").strip() or session.user

    async def _authorization(
        self, headers: dict[bytes, bytes], session: Session, *, bearer: bool
    ) -> list[tuple[bytes, bytes]] | None:
        """None when the request has no such header. What is offered as proof is checked, wanted or not."""
        given = headers.get(b"authorization")
        if given is None:
            return None
        scheme, _, rest = given.decode("latin-1").strip().partition(" ")
        address, attempts = session.peer.rpartition(":")[0], self._proofs.attempts
        if wait := attempts.wait(address):
            raise Unauthorized("too many failed attempts from this address: try again later", (), wait)
        try:
            match scheme.lower():
                case "basic" if self._proofs.passwords is not None:
                    await self._basic(rest.strip(), session, self._proofs.passwords)
                case "negotiate" if self._proofs.tickets is not None:
                    return await self._negotiate(rest.strip(), session, self._proofs.tickets)
                case "bearer" if bearer and self._proofs.web_tokens is not None:
                    user = await self._run(partial(self._proofs.web_tokens.user_of, rest.strip()))
                    prove(session, user, user)
                case _:
                    raise AuthenticationError(f"Authorization by {scheme[:20]!r} is not taken here")
        except AuthenticationError as error:
            attempts.failed(address)
            log.warning("%s: not authenticated: %s", session.peer, error)
            raise Unauthorized(str(error), self._challenges(bearer=bearer)) from None
        return []

    async def _basic(self, credentials: str, session: Session, passwords: Passwords) -> None:
        try:
            user, colon, password = base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise AuthenticationError("the credentials after Basic are no base64 of user:password in UTF-8") from None
        if not colon:
            raise AuthenticationError(WRONG)
        if not (passwords.is_quick and passwords.is_remembered(user, password)):
            await self._run(partial(passwords.check, user, password))
        prove(session, user, user)

    async def _negotiate(self, text: str, session: Session, tickets: Tickets) -> list[tuple[bytes, bytes]]:
        try:
            token = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise AuthenticationError("the token after Negotiate is no base64") from None
        user, principal, answer = await self._run(partial(tickets.accept, token))
        prove(session, user, principal)
        if not answer:
            return []
        return [(b"www-authenticate", b"Negotiate " + base64.b64encode(answer))]

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await self._pool.run(work)

    def _challenges(self, *, bearer: bool) -> list[str]:
        found = [NEGOTIATE] if self._proofs.tickets is not None else []
        if bearer and self._proofs.web_tokens is not None:
            found.append(BEARER)
        if self._proofs.passwords is not None:
            found.append(BASIC)
        return found


def prove(session: Session, user: str, principal: str) -> None:
    """From here on the session is this user's."""
    session.user, session.principal, session.authenticated = user, principal, True
