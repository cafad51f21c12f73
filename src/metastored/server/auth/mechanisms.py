"""The kinds of authentication that a server's settings turn on: SASL mechanisms for Thrift, and verifiers for HTTP.

A mechanism is a function that begins an exchange; the exchange itself is in the mechanism's own module, which is
imported only when it is turned on. Nothing here decides what a user may do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from metastored.config import Settings
from metastored.errors import AuthenticationError, ConfigError
from metastored.server.auth.negotiation import Authenticator, Channel, Negotiation
from metastored.store.engine.database import Database
from metastored.store.security.users import is_empty

if TYPE_CHECKING:
    from metastored.server.auth.attempts import Attempts
    from metastored.server.auth.identity import Verifiers
    from metastored.server.auth.passwords import Passwords

log = logging.getLogger("metastored.server")

Start = Callable[[Channel], Negotiation]
TokenPassword = Callable[[bytes], tuple[str, bytes]]
"""The owner of the delegation token with an identifier, and the password of the token."""


class Mechanisms:
    """An authenticator of several mechanisms; the client selects one by name."""

    def __init__(self, starts: Mapping[str, Start]) -> None:
        self._starts = dict(starts)

    def start(self, mechanism: str, channel: Channel) -> Negotiation:
        begin = self._starts.get(mechanism)
        if begin is None:
            raise AuthenticationError(
                f"the SASL mechanism {mechanism!r} is not offered here; offered are {', '.join(self._starts)}"
            )
        return begin(channel)


class Users(NamedTuple):
    """The users in the database, and the failed attempts. Shared by all kinds of login."""

    passwords: Passwords
    attempts: Attempts


def users(settings: Settings, database: Database) -> Users | None:
    """None if no kind of login uses passwords."""
    if settings.http_port is None and settings.password_login == "off":
        return None
    from metastored.server.auth.attempts import Attempts
    from metastored.server.auth.passwords import Passwords

    if settings.password_login == "on" and is_empty(database.reader()):
        log.warning("password_login is on and there are no users yet, so no password is right: metastored user add")
    return Users(Passwords(database), Attempts())


def authenticator(
    settings: Settings, users: Users | None = None, token_password: TokenPassword | None = None
) -> Authenticator | None:
    """The SASL authentication of Thrift clients; None if there is none. Raises ConfigError or MissingExtra."""
    starts: dict[str, Start] = {}
    if settings.kerberos_principal is not None and settings.kerberos_keytab is not None:
        from metastored.server.auth import kerberos

        acceptor = kerberos.Kerberos(
            settings.kerberos_principal, settings.kerberos_keytab, settings.sasl_qop, settings.proxy_users
        )
        starts[kerberos.MECHANISM] = lambda channel: acceptor.start()
    if settings.password_login == "on" and users is not None:
        from metastored.server.auth import plain

        checks = plain.Plain(users.passwords, users.attempts, settings.proxy_users)
        starts[plain.MECHANISM] = checks.start
    if starts and token_password is not None:
        from metastored.server.auth import digest

        tokens = digest.Digest(token_password, settings.sasl_qop)
        starts[digest.MECHANISM] = tokens.start
    return Mechanisms(starts) if starts else None


def verifiers(settings: Settings, users: Users | None) -> Verifiers | None:
    """The verifiers of HTTP credentials; None without an HTTP port. Raises ConfigError or MissingExtra."""
    if settings.http_port is None:
        return None
    from metastored.server.auth.identity import Verifiers

    tickets = web_tokens = None
    if settings.kerberos_principal is not None and settings.kerberos_keytab is not None:
        from metastored.server.auth.spnego import Spnego, http_principal

        principal = settings.kerberos_http_principal or http_principal(settings.kerberos_principal)
        try:
            tickets = Spnego(principal, settings.kerberos_keytab)
        except ConfigError as error:
            # Without kerberos_http_principal the metastore's own principal is enough; a configured one must exist.
            if settings.kerberos_http_principal is not None:
                raise
            log.warning("Kerberos is not offered over HTTP: %s", error)
    if settings.jwt_keys is not None:
        from metastored.server.auth.web_keys import WebKeys
        from metastored.server.auth.web_tokens import JwtTokens

        web_tokens = JwtTokens(WebKeys(settings.jwt_keys), settings.jwt_issuer, settings.jwt_audience)
    if users is None:
        return Verifiers(None, tickets, web_tokens)
    return Verifiers(users.passwords, tickets, web_tokens, users.attempts)
