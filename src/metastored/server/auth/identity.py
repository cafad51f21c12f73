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
from typing import Any, Final, Protocol, TypeVar

from metastored.errors import AuthenticationError
from metastored.hive.limits import MAX_NAME
from metastored.server.auth.passwords import WRONG, Attempts, Passwords, TooManyAttempts
from metastored.server.tls import common_name
from metastored.threads import Pool
from metastored.wire.message import Session

log = logging.getLogger("metastored.server")

ACTOR: Final = b"x-actor-username"
"""The header in which Hive 4's clients say who they are."""
BASIC: Final = 'Basic realm="metastored", charset="UTF-8"'
NEGOTIATE: Final = "Negotiate"
BEARER: Final = 'Bearer realm="metastored"'
KNOWN_SCHEMES: Final = ("basic", "bearer", "digest", "negotiate", "ntlm")
NOTHING: Final = "this server wants to know who is asking, and the request has no Authorization"
LATER: Final = 10
"""Seconds after which somebody may come again whose proof could not be checked."""

T = TypeVar("T")


class Unverifiable(AuthenticationError):
    """The proof cannot be checked now. Whether it is right is not known, so it is no failed attempt."""


class Unauthorized(AuthenticationError):
    """The request is refused, with what would be taken or when to come again."""

    def __init__(
        self, message: str, challenges: Iterable[str] = (), status: int = 401, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.challenges: Final = tuple(challenges)
        self.status: Final = status
        self.retry_after: Final = retry_after


class Tickets(Protocol):
    """Kerberos over HTTP."""

    def accept(self, token: bytes) -> tuple[str, str, bytes]:
        """The user, the principal and the answer to a client's token; raises AuthenticationError. It may block."""
        ...


class WebTokens(Protocol):
    """JWT."""

    async def user_of(self, token: str, pool: Pool) -> str:
        """Whose token this is, verified on the pool's threads; raises AuthenticationError."""
        ...


@dataclass(frozen=True, slots=True)
class Proofs:
    """What a server can verify; None is what it has not."""

    passwords: Passwords | None = None
    tickets: Tickets | None = None
    web_tokens: WebTokens | None = None
    attempts: Attempts = field(default_factory=Attempts)


class Identities:
    """Finds out who is asking. What takes long is done in a pool that no call waits for."""

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
            session.user = _actor(actor) or session.user

    async def _authorization(
        self, headers: dict[bytes, bytes], session: Session, *, bearer: bool
    ) -> list[tuple[bytes, bytes]] | None:
        """None when the request has no such header. What is offered as proof is checked, wanted or not."""
        given = headers.get(b"authorization")
        if given is None:
            return None
        scheme, _, rest = given.decode("latin-1").strip().partition(" ")
        try:
            self._proofs.attempts.admit(_address(session))
            match scheme.lower():
                case "basic" if self._proofs.passwords is not None:
                    await self._basic(rest.strip(), session, self._proofs.passwords)
                case "negotiate" if self._proofs.tickets is not None:
                    return await self._negotiate(rest.strip(), session, self._proofs.tickets)
                case "bearer" if bearer and self._proofs.web_tokens is not None:
                    await self._bearer(rest.strip(), session, self._proofs.web_tokens)
                case _:
                    raise AuthenticationError(_not_taken(scheme))
        except TooManyAttempts as error:
            raise Unauthorized(str(error), (), 429, error.wait) from None
        except Unverifiable as error:
            raise Unauthorized(str(error), (), 503, LATER) from None
        except AuthenticationError as error:
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
            await self._verify(session, partial(passwords.check, user, password))
        prove(session, user, user)

    async def _bearer(self, token: str, session: Session, web_tokens: WebTokens) -> None:
        try:
            user = await web_tokens.user_of(token, self._pool)
        except Unverifiable:
            raise
        except AuthenticationError:
            self._proofs.attempts.failed(_address(session))
            raise
        prove(session, user, user)

    async def _negotiate(self, text: str, session: Session, tickets: Tickets) -> list[tuple[bytes, bytes]]:
        try:
            token = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise AuthenticationError("the token after Negotiate is no base64") from None
        user, principal, answer = await self._verify(session, partial(tickets.accept, token))
        prove(session, user, principal)
        if not answer:
            return []
        return [(b"www-authenticate", b"Negotiate " + base64.b64encode(answer))]

    async def _verify(self, session: Session, work: Callable[[], T]) -> T:
        return await self._pool.run(partial(self._proofs.attempts.counted, _address(session), work))

    def _challenges(self, *, bearer: bool) -> list[str]:
        found = [NEGOTIATE] if self._proofs.tickets is not None else []
        if bearer and self._proofs.web_tokens is not None:
            found.append(BEARER)
        if self._proofs.passwords is not None:
            found.append(BASIC)
        return found


def _not_taken(scheme: str) -> str:
    """Only names of schemes are repeated: who forgets the name sends a secret in its place."""
    name = scheme if scheme.lower() in KNOWN_SCHEMES else "something unknown"
    return f"Authorization by {name} is not taken here"


def _actor(header: bytes) -> str:
    """The user that a header names. Raises Unauthorized for what cannot be a name."""
    try:
        name = header.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Unauthorized(f"the header {ACTOR.decode()} is no UTF-8", (), 400) from None
    if len(name) > MAX_NAME:
        raise Unauthorized(f"the header {ACTOR.decode()} has more than {MAX_NAME} characters", (), 400)
    return name


def _address(session: Session) -> str:
    """Where the peer is, without its port: that is what attempts are counted by."""
    return session.peer.rpartition(":")[0]


def prove(session: Session, user: str, principal: str) -> None:
    """From here on the session is this user's."""
    session.user, session.principal, session.authenticated = user, principal, True
