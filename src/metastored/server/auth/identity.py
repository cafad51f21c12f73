"""Authentication over HTTP: Basic, Kerberos (SPNEGO), a web token, a client's certificate, or a claimed user name.

Credentials are looked for in this order: the `Authorization` header, then the certificate. The claimed name in
`x-actor-username` is accepted only where the settings require no authentication, as `set_ugi` is on the Thrift port,
and from proxy users. This module authenticates users; authorization is elsewhere.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from metastored.errors import AuthenticationError
from metastored.hive.limits import MAX_NAME
from metastored.server.auth.attempts import Attempts, TooManyAttempts
from metastored.server.auth.passwords import WRONG, Passwords
from metastored.server.tls import common_name
from metastored.server.user_names import is_user_name
from metastored.threads import Pool
from metastored.wire.message import Session

log = logging.getLogger("metastored.server")

AUTHORIZATION: Final = b"authorization"
ACTOR: Final = b"x-actor-username"
"""The header in which Hive 4's clients send their user name."""
BASIC: Final = 'Basic realm="metastored", charset="UTF-8"'
NEGOTIATE: Final = "Negotiate"
BEARER: Final = 'Bearer realm="metastored"'
KNOWN_SCHEMES: Final = ("basic", "bearer", "digest", "negotiate", "ntlm")
NOTHING: Final = "this server requires authentication, and the request has no Authorization"
LATER: Final = 10
"""Seconds after which a client may retry whose credentials could not be checked (Retry-After)."""


class Unverifiable(AuthenticationError):
    """The credentials cannot be checked now. They may be right, so this does not count as a failed attempt."""


class Unauthorized(AuthenticationError):
    """The request is refused; the response lists accepted schemes, or the time after which to retry."""

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
        """The user, the principal and the reply to a client's token; raises AuthenticationError. It may block."""
        ...


class WebTokens(Protocol):
    """JWT."""

    async def user_of(self, token: str, pool: Pool) -> str:
        """The user of the token, verified on the pool's threads; raises AuthenticationError."""
        ...


@dataclass(frozen=True, slots=True)
class Verifiers:
    """The verifier of each kind of credential; None if the server does not accept that kind."""

    passwords: Passwords | None = None
    tickets: Tickets | None = None
    web_tokens: WebTokens | None = None
    attempts: Attempts = field(default_factory=Attempts)


class Identities:
    """Authenticates HTTP requests. Slow checks run in a pool of their own, so that calls do not wait for them."""

    def __init__(self, verifiers: Verifiers, pool: Pool, *, required: bool, proxies: Iterable[str] = ()) -> None:
        self._verifiers = verifiers
        self._pool = pool
        self._required = required
        self._proxies = frozenset(proxies)

    async def caller(self, scope: Any, headers: dict[bytes, bytes], session: Session) -> list[tuple[bytes, bytes]]:
        """Authenticates a request to /metastore and returns response headers. Raises Unauthorized."""
        _refuse_twice(scope)
        response_headers = await self._authorization(headers, session, bearer=True)
        if response_headers is None:
            name = common_name(scope.get("state", {}).get("certificate"))
            if name is not None:
                authenticate_session(session, name, f"CN={name}")
            elif self._required:
                raise Unauthorized(NOTHING, self.challenges(bearer=True))
        self._act(headers.get(ACTOR), session)
        return response_headers or []

    async def authenticated_caller(
        self, scope: Any, headers: dict[bytes, bytes], session: Session
    ) -> list[tuple[bytes, bytes]]:
        """Authenticates a request by Basic or Kerberos and returns response headers. Raises Unauthorized."""
        _refuse_twice(scope)
        response_headers = await self._authorization(headers, session, bearer=False)
        if response_headers is None:
            raise Unauthorized(NOTHING, self.challenges(bearer=False))
        self._act(headers.get(ACTOR), session)
        return response_headers

    def _act(self, actor: bytes | None, session: Session) -> None:
        """Sets the user for whom the caller acts, if the caller may act for others."""
        session.may_impersonate = session.authenticated and session.user in self._proxies
        if actor and (session.may_impersonate or not session.authenticated):
            session.user = _actor(actor) or session.user

    async def _authorization(
        self, headers: dict[bytes, bytes], session: Session, *, bearer: bool
    ) -> list[tuple[bytes, bytes]] | None:
        """None when the request has no such header. Credentials are always checked, even where not required."""
        header = headers.get(AUTHORIZATION)
        if header is None:
            return None
        scheme, _, rest = header.decode("latin-1").strip().partition(" ")
        try:
            match scheme.lower():
                case "basic" if self._verifiers.passwords is not None:
                    await self._basic(rest.strip(), session, self._verifiers.passwords)
                case "negotiate" if self._verifiers.tickets is not None:
                    return await self._negotiate(rest.strip(), session, self._verifiers.tickets)
                case "bearer" if bearer and self._verifiers.web_tokens is not None:
                    await self._bearer(rest.strip(), session, self._verifiers.web_tokens)
                case _:
                    raise AuthenticationError(_not_taken(scheme))
        except TooManyAttempts as error:
            raise Unauthorized(str(error), (), 429, error.wait) from None
        except Unverifiable as error:
            raise Unauthorized(str(error), (), 503, LATER) from None
        except AuthenticationError as error:
            log.warning("%s: not authenticated: %s", session.peer, error)
            raise Unauthorized(str(error), self.challenges(bearer=bearer)) from None
        return []

    async def _basic(self, credentials: str, session: Session, passwords: Passwords) -> None:
        try:
            user, colon, password = base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise AuthenticationError("the credentials after Basic are not base64 of user:password in UTF-8") from None
        if not colon:
            raise AuthenticationError(WRONG)
        if not (passwords.is_quick and passwords.is_cached(user, password)):
            address, attempts = _address(session), self._verifiers.attempts
            if not passwords.was_right(user, password):
                await asyncio.sleep(attempts.wait(user, address))
            check = partial(passwords.check, user, password)
            await self._pool.run(partial(attempts.counted, user, address, check))
        authenticate_session(session, user, user)

    async def _bearer(self, token: str, session: Session, web_tokens: WebTokens) -> None:
        user = await web_tokens.user_of(token, self._pool)
        authenticate_session(session, user, user)

    async def _negotiate(self, text: str, session: Session, tickets: Tickets) -> list[tuple[bytes, bytes]]:
        try:
            token = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise AuthenticationError("the token after Negotiate is not base64") from None
        user, principal, reply = await self._pool.run(partial(tickets.accept, token))
        authenticate_session(session, user, principal)
        if not reply:
            return []
        return [(b"www-authenticate", b"Negotiate " + base64.b64encode(reply))]

    def challenges(self, *, bearer: bool = False) -> list[str]:
        """The values of `WWW-Authenticate`."""
        challenges = [NEGOTIATE] if self._verifiers.tickets is not None else []
        if bearer and self._verifiers.web_tokens is not None:
            challenges.append(BEARER)
        if self._verifiers.passwords is not None:
            challenges.append(BASIC)
        return challenges


def _not_taken(scheme: str) -> str:
    """Only known schemes are repeated in messages: without a scheme, the first word is a secret."""
    name = scheme if scheme.lower() in KNOWN_SCHEMES else "something unknown"
    return f"Authorization by {name} is not taken here"


def _refuse_twice(scope: Any) -> None:
    """Raises Unauthorized for two headers of one kind: a gateway may have checked the one that is not read here."""
    names = [name for name, _ in scope["headers"]]
    for header in (AUTHORIZATION, ACTOR):
        if names.count(header) > 1:
            raise Unauthorized(f"the request has the header {header.decode()} twice", (), 400)


def _actor(header: bytes) -> str:
    """The user that a header names. Raises Unauthorized for what cannot be a name."""
    try:
        name = header.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Unauthorized(f"the header {ACTOR.decode()} is not UTF-8", (), 400) from None
    if len(name) > MAX_NAME:
        raise Unauthorized(f"the header {ACTOR.decode()} has more than {MAX_NAME} characters", (), 400)
    if name and not is_user_name(name):
        raise Unauthorized(f"the header {ACTOR.decode()} has characters that no name of a user has", (), 400)
    return name


def _address(session: Session) -> str:
    """The peer's address without its port, by which attempts are counted."""
    return session.peer.rpartition(":")[0]


def authenticate_session(session: Session, user: str, principal: str) -> None:
    """Sets the authenticated user of the session."""
    session.user, session.principal, session.authenticated = user, principal, True
