"""How a metastore that is remote is logged in to: the keys, in whose name it is called, and keys that contradict.

Pure: it connects to nothing, and reads no secret.
"""

from __future__ import annotations

from typing import Final

from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import HTTP, SSH, THRIFT, URIS

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
"""In whose name a metastore is called: the caller's, always the same, or the caller's by a delegation token."""


def has_credentials(endpoint: Endpoint) -> bool:
    """Whether metastored authenticates there, and not only names the caller."""
    return bool(endpoint.get(PASSWORD) or endpoint.get(TOKEN)) or endpoint.enabled(SASL)


def identity_of(endpoint: Endpoint) -> str:
    """The value of the key, or its default; `login_mistake` has the error for a value that does not exist."""
    default = FIXED if has_credentials(endpoint) or endpoint.get(USER) else CALLER
    return endpoint.get(IDENTITY).lower() or default


def identity_mistake(endpoint: Endpoint) -> str | None:
    """Why callers cannot be named as the keys say; None where they can, and for catalogs that are not metastores."""
    if endpoint.via not in (THRIFT, SSH, HTTP):
        return None
    identity = identity_of(endpoint)
    if identity not in IDENTITIES:
        return f"'{IDENTITY}' is {endpoint.get(IDENTITY)!r}, and must be one of {', '.join(IDENTITIES)}"
    if identity == DELEGATION and _is_http(endpoint):
        return f"'{IDENTITY}' is {DELEGATION}, and delegation tokens are not supported over HTTP"
    if identity == DELEGATION and not (endpoint.enabled(SASL) and endpoint.get(SERVER_PRINCIPAL)):
        return (
            f"'{IDENTITY}' is {DELEGATION}, and delegation tokens are requested with Kerberos: give '{SASL}' and "
            f"'{SERVER_PRINCIPAL}'"
        )
    return None


def login_mistake(endpoint: Endpoint) -> str | None:
    """What is wrong with the keys: a wrong identity, or keys of which one would silently be ignored."""
    return identity_mistake(endpoint) or (_over_http(endpoint) if _is_http(endpoint) else _over_thrift(endpoint))


def _is_http(endpoint: Endpoint) -> bool:
    return endpoint.get(URIS).strip().startswith("http")


def _over_http(endpoint: Endpoint) -> str | None:
    for key in (COMPACT, FRAMED, SASL, SSL):
        if endpoint.enabled(key):
            return f"'{key}' is true, and the address is one of HTTP, which has no such thing"
    for key in (SERVER_PRINCIPAL, PRINCIPAL):
        if endpoint.get(key):
            return f"'{key}' is given, and Kerberos is not supported over HTTP; use {USER} and {PASSWORD}, or {TOKEN}"
    if endpoint.get(PASSWORD) and not endpoint.get(USER):
        return f"'{PASSWORD}' is given and '{USER}' is not"
    return None


def _over_thrift(endpoint: Endpoint) -> str | None:
    sasl, kerberos = endpoint.enabled(SASL), bool(endpoint.get(SERVER_PRINCIPAL))
    if endpoint.get(TOKEN):
        return f"'{TOKEN}' is for addresses with https://"
    if endpoint.get(TRUSTSTORE) and not endpoint.enabled(SSL):
        return f"'{TRUSTSTORE}' is given and '{SSL}' is not true"
    if kerberos and not sasl:
        return f"'{SERVER_PRINCIPAL}' is given and '{SASL}' is not true"
    if endpoint.get(PRINCIPAL) and not kerberos:
        return f"'{PRINCIPAL}' is given and '{SERVER_PRINCIPAL}', the principal of the metastore, is not"
    if sasl and not kerberos and not (endpoint.get(USER) and endpoint.get(PASSWORD)):
        return f"'{SASL}' is true: give '{SERVER_PRINCIPAL}' for Kerberos, or '{USER}' and '{PASSWORD}' for PLAIN"
    if endpoint.get(PASSWORD) and not sasl:
        return f"'{PASSWORD}' is given and '{SASL}' is not true: the password would not be sent"
    if sasl and endpoint.enabled(FRAMED):
        return f"'{FRAMED}' and '{SASL}' are both true; SASL has frames of its own"
    return None
