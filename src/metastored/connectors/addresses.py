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
from metastored.model.remote_keys import URIS, shown
from metastored.model.remotes import Endpoint, split
from metastored.wire.message import Session

SSL: Final = "hive.metastore.use.SSL"
TRUSTSTORE: Final = "hive.metastore.truststore.path"
SASL: Final = "hive.metastore.sasl.enabled"
SERVER_PRINCIPAL: Final = "hive.metastore.kerberos.principal"
COMPACT: Final = "hive.metastore.thrift.compact.protocol.enabled"
FRAMED: Final = "hive.metastore.thrift.framed.transport.enabled"
PRINCIPAL: Final = "metastored.remote.principal"
USER: Final = "metastored.remote.user"
PASSWORD: Final = "metastored.remote.password"
TOKEN: Final = "metastored.remote.token"
IDENTITY: Final = "metastored.remote.identity"
CALLER, FIXED, DELEGATION = "caller", "fixed", "delegation"
IDENTITIES: Final = (CALLER, FIXED, DELEGATION)

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
        has_credentials = has_password(endpoint) or endpoint.enabled(SASL)
        user = endpoint.get(USER) or None
        mode = endpoint.get(IDENTITY).lower() or (FIXED if has_credentials or user else CALLER)
        if mode not in IDENTITIES:
            raise ConfigError(f"'{IDENTITY}' is {endpoint.get(IDENTITY)!r}, and must be one of {', '.join(IDENTITIES)}")
        return cls(mode, None if has_credentials else user)

    def of(self, session: Session) -> Identity:
        """For whom a connection is opened."""
        if self.mode == DELEGATION:
            return Identity(session.user)  # Hive learns the groups of a token's owner by itself.
        return Identity(session.user, session.groups) if self.mode == CALLER else Identity(self.user)


def has_password(endpoint: Endpoint) -> bool:
    return bool(endpoint.get(PASSWORD) or endpoint.get(TOKEN))


def read_addresses(
    endpoint: Endpoint, context: Context, dial: Dial | None = None, key: str = URIS, slower: float = 0.0
) -> tuple[Address, ...]:
    """The addresses under a key, in their order. `slower`: seconds that `dial` may take in addition.

    Raises ConfigError for keys that contradict each other.
    """
    _check(endpoint)
    for uri in split(endpoint.get(key)):
        if "@" in urlsplit(uri).netloc:
            raise ConfigError(
                f"{shown(key, uri)!r} in '{key}' has a user in it: give '{USER}' and '{PASSWORD}' instead"
            )
    found = addresses_of(endpoint.get(key))
    limit = min(CONNECT_TIMEOUT + slower, endpoint.timeout / len(found))
    dial = dial or partial(open_socket, hosts=context.hosts)
    return tuple(_address(endpoint, each, context, dial, limit) for each in found)


def _address(endpoint: Endpoint, address: Address, context: Context, dial: Dial, limit: float) -> Address:
    is_http = address.path is not None
    has_credentials = has_password(endpoint) or endpoint.enabled(SASL)
    base = address._replace(
        protocol="compact" if endpoint.enabled(COMPACT) else "binary",
        framed=endpoint.enabled(FRAMED),
        connect_timeout=limit,
        max_reply=MAX_REPLY,
        tls=None,
        open_socket=partial(dial, address.host, address.port),
        introduces=not is_http and not has_credentials,
    )
    secure = endpoint.enabled(SSL) or (is_http and address.tls is not None)
    if not (secure or has_credentials or is_http):
        return base
    # The context of TLS names the address as secure in messages; each connection has its own.
    prepare: Prepare = partial(in_thread, _prepare, endpoint, base, context, secure)
    if Identities.read(endpoint).mode == DELEGATION:
        prepare = DelegationTokens(prepare, base, endpoint.timeout).prepare
    return base._replace(prepare=prepare, tls=ssl.create_default_context() if secure else None)


def _prepare(endpoint: Endpoint, base: Address, context: Context, secure: bool, identity: Identity) -> Address:
    """An address with present credentials. Raises ConfigError, StoreError, MissingExtra."""
    found = context.resolved(endpoint)
    prepared = base._replace(tls=_tls(found) if secure else None)
    wants_caller = Identities.read(found).mode == CALLER and identity.user is not None
    acts_for = identity.user or "" if wants_caller else ""
    if base.path is not None:
        return prepared._replace(headers=_headers(found, acts_for))
    if not (found.enabled(SASL) or has_password(found)):
        return prepared
    from metastored.client.sasl import kerberos, plain

    if server := found.get(SERVER_PRINCIPAL):
        return prepared._replace(sasl=kerberos(server, client=found.get(PRINCIPAL) or None, acts_for=acts_for))
    return prepared._replace(sasl=plain(found.get(USER), found.get(PASSWORD), acts_for))


def _headers(endpoint: Endpoint, acts_for: str) -> tuple[tuple[str, str], ...]:
    from metastored.client.http import basic, bearer

    found: list[tuple[str, str]] = []
    if token := endpoint.get(TOKEN):
        found.append(bearer(token))
    elif endpoint.get(PASSWORD):
        found.append(basic(endpoint.get(USER), endpoint.get(PASSWORD)))
    elif user := endpoint.get(USER):
        found.append((ACTOR, user))
    return (*found, (ACTOR, acts_for)) if acts_for else tuple(found)


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


def _check(endpoint: Endpoint) -> None:
    """Raises ConfigError for keys of which one would silently be ignored."""
    sasl, kerberos = endpoint.enabled(SASL), bool(endpoint.get(SERVER_PRINCIPAL))
    is_http = split(endpoint.get(URIS))[:1] and split(endpoint.get(URIS))[0].startswith("http")
    if is_http:
        for key in (COMPACT, FRAMED, SASL, SSL):
            if endpoint.enabled(key):
                raise ConfigError(f"'{key}' is true, and the address is one of HTTP, which has no such thing")
        for key in (SERVER_PRINCIPAL, PRINCIPAL):
            if endpoint.get(key):
                raise ConfigError(
                    f"'{key}' is given, and Kerberos is not supported over HTTP; use {USER} and {PASSWORD}, or {TOKEN}"
                )
        if Identities.read(endpoint).mode == DELEGATION:
            raise ConfigError(f"'{IDENTITY}' is {DELEGATION}, and delegation tokens are not supported over HTTP")
        if endpoint.get(PASSWORD) and not endpoint.get(USER):
            raise ConfigError(f"'{PASSWORD}' is given and '{USER}' is not")
        return
    if endpoint.get(TOKEN):
        raise ConfigError(f"'{TOKEN}' is for addresses with https://")
    if endpoint.get(TRUSTSTORE) and not endpoint.enabled(SSL):
        raise ConfigError(f"'{TRUSTSTORE}' is given and '{SSL}' is not true")
    if kerberos and not sasl:
        raise ConfigError(f"'{SERVER_PRINCIPAL}' is given and '{SASL}' is not true")
    if endpoint.get(PRINCIPAL) and not kerberos:
        raise ConfigError(f"'{PRINCIPAL}' is given and '{SERVER_PRINCIPAL}', the principal of the metastore, is not")
    if sasl and not kerberos and not (endpoint.get(USER) and endpoint.get(PASSWORD)):
        raise ConfigError(
            f"'{SASL}' is true: give '{SERVER_PRINCIPAL}' for Kerberos, or '{USER}' and '{PASSWORD}' for PLAIN"
        )
    if endpoint.get(PASSWORD) and not sasl:
        raise ConfigError(f"'{PASSWORD}' is given and '{SASL}' is not true: the password would not be sent")
    if Identities.read(endpoint).mode == DELEGATION and not kerberos:
        raise ConfigError(
            f"'{IDENTITY}' is {DELEGATION}, and delegation tokens are requested with Kerberos: give '{SASL}' and "
            f"'{SERVER_PRINCIPAL}'"
        )
    if sasl and endpoint.enabled(FRAMED):
        raise ConfigError(f"'{FRAMED}' and '{SASL}' are both true; SASL has frames of its own")
