"""The addresses in a remote's definition as those of metastored's client: TLS, SASL, protocol, credentials, identity.

Credentials are read for each new connection, so a secret that was replaced is used without a restart.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from socket import socket
from typing import Final
from urllib.parse import urlsplit

from metastored.client.endpoints import Endpoint as Address
from metastored.client.endpoints import Identity
from metastored.client.endpoints import endpoints_of as addresses_of
from metastored.connectors.background import in_thread
from metastored.connectors.context import Context
from metastored.connectors.delegation import DelegationTokens, Prepare
from metastored.connectors.network import open_socket
from metastored.errors import ConfigError
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import URIS, shown
from metastored.model.remotes.logins import (
    CALLER,
    COMPACT,
    DELEGATION,
    FRAMED,
    IDENTITIES,
    PASSWORD,
    PRINCIPAL,
    SERVER_PRINCIPAL,
    SSL,
    TOKEN,
    TRUSTSTORE,
    USER,
    has_credentials,
    identity_of,
    login_mistake,
)
from metastored.model.remotes.values import split
from metastored.wire.message import Session

ACTOR: Final = "x-actor-username"
"""The header in which Hive 4's clients name the caller."""
CONNECT_TIMEOUT: Final = 5.0
"""Seconds for one connection, TLS and SASL included; less where the timeout of the remote is short."""
MAX_REPLY: Final = 100 * 1024 * 1024
"""Bytes of one answer, which is held in memory and passed on."""

Dial = Callable[[str, int], Awaitable[socket]]
"""Opens a socket to a host and port. Raises ConnectError."""


@dataclass(frozen=True, slots=True)
class Identities:
    """Whose name a metastore gets: the caller's, or always the same; the caller's by a token where it is delegated."""

    mode: str
    user: str | None

    @classmethod
    def read(cls, endpoint: Endpoint) -> Identities:
        """Raises ConfigError."""
        mode = identity_of(endpoint)
        if mode not in IDENTITIES:
            raise ConfigError(login_mistake(endpoint) or mode)
        return cls(mode, None if has_credentials(endpoint) else endpoint.get(USER) or None)

    def of(self, session: Session) -> Identity:
        """For whom a connection is opened."""
        if self.mode == DELEGATION:
            return Identity(session.user)  # Hive learns the groups of a token's owner by itself.
        return Identity(session.user, session.groups) if self.mode == CALLER else Identity(self.user)


def read_addresses(
    endpoint: Endpoint, context: Context, dial: Dial | None = None, key: str = URIS, slower: float = 0.0
) -> tuple[Address, ...]:
    """The addresses under a key, in their order. `slower`: seconds that `dial` may take in addition.

    Raises ConfigError for keys that contradict each other.
    """
    mistake = login_mistake(endpoint)
    if mistake is not None:
        raise ConfigError(mistake)
    for uri in split(endpoint.get(key)):
        if "@" in urlsplit(uri).netloc:
            raise ConfigError(
                f"{shown(key, uri)!r} in '{key}' has a user in it: give '{USER}' and '{PASSWORD}' instead"
            )
    addresses = addresses_of(endpoint.get(key))
    limit = min(CONNECT_TIMEOUT + slower, endpoint.timeout / len(addresses))
    dial = dial or partial(open_socket, hosts=context.hosts)
    return tuple(_address(endpoint, each, context, dial, limit) for each in addresses)


def _address(endpoint: Endpoint, address: Address, context: Context, dial: Dial, limit: float) -> Address:
    is_http = address.path is not None
    authenticates = has_credentials(endpoint)
    base = address._replace(
        protocol="compact" if endpoint.enabled(COMPACT) else "binary",
        framed=endpoint.enabled(FRAMED),
        connect_timeout=limit,
        max_reply=MAX_REPLY,
        tls=None,
        open_socket=partial(dial, address.host, address.port),
        introduces=not is_http and not authenticates,
    )
    secure = endpoint.enabled(SSL) or (is_http and address.tls is not None)
    if not (secure or authenticates or is_http):
        return base
    # The context of TLS names the address as secure in messages; each connection has its own.
    prepare: Prepare = partial(in_thread, _prepare, endpoint, base, context, secure)
    if Identities.read(endpoint).mode == DELEGATION:
        prepare = DelegationTokens(prepare, base, endpoint.timeout).prepare
    return base._replace(prepare=prepare, tls=ssl.create_default_context() if secure else None)


def _prepare(endpoint: Endpoint, base: Address, context: Context, secure: bool, identity: Identity) -> Address:
    """An address with present credentials. Raises ConfigError, StoreError, MissingExtra."""
    resolved = context.resolved(endpoint)
    prepared = base._replace(tls=_tls(resolved) if secure else None)
    wants_caller = Identities.read(resolved).mode == CALLER and identity.user is not None
    acts_for = identity.user or "" if wants_caller else ""
    if base.path is not None:
        return prepared._replace(headers=_headers(resolved, acts_for))
    if not has_credentials(resolved):
        return prepared
    from metastored.client.sasl import kerberos, plain

    if server := resolved.get(SERVER_PRINCIPAL):
        return prepared._replace(sasl=kerberos(server, client=resolved.get(PRINCIPAL) or None, acts_for=acts_for))
    return prepared._replace(sasl=plain(resolved.get(USER), resolved.get(PASSWORD), acts_for))


def _headers(endpoint: Endpoint, acts_for: str) -> tuple[tuple[str, str], ...]:
    from metastored.client.http import basic, bearer

    headers: list[tuple[str, str]] = []
    if token := endpoint.get(TOKEN):
        headers.append(bearer(token))
    elif endpoint.get(PASSWORD):
        headers.append(basic(endpoint.get(USER), endpoint.get(PASSWORD)))
    elif user := endpoint.get(USER):
        headers.append((ACTOR, user))
    return (*headers, (ACTOR, acts_for)) if acts_for else tuple(headers)


def _tls(endpoint: Endpoint) -> ssl.SSLContext:
    path = endpoint.get(TRUSTSTORE)
    if not path:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else ""
        raise ConfigError(
            f"'{TRUSTSTORE}' is {path}, which cannot be used: {reason or 'it has no certificates in PEM'}; convert a "
            "Java key store with keytool -exportcert -rfc"
        ) from None
