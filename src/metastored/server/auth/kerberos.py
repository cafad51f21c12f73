"""Kerberos for the Thrift port: the SASL mechanism GSSAPI (RFC 4752), the server's side.

`Kerberos` holds the server's credential, from its keytab; each connection gets a `GssapiNegotiation`, which accepts
the client's ticket, agrees on a layer of protection, and from then on wraps and unwraps messages. It authenticates
users; authorization is elsewhere. No key, ticket or token is ever written to an error or the log.

The package gssapi is imported only when a server has a principal.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from metastored.errors import AuthenticationError, ConfigError, MissingExtra, RemoteProtocolError
from metastored.server.auth.negotiation import acting_as
from metastored.server.user_names import checked_user
from metastored.wire.connection import MAX_SASL, SECURE_FRAME

if TYPE_CHECKING:
    import gssapi

MECHANISM: Final = "GSSAPI"
LAYERS: Final = {"auth": 1, "auth-int": 2, "auth-conf": 4}
"""The qualities of protection, and the bit of each: authentication only, also integrity, also encryption."""
MAX_RECEIVED: Final = 0xFFFFFF
"""The longest wrapped message that clients may send: the largest number of three bytes."""
SMALLEST_FRAME: Final = 1024
"""A client that takes less at a time would make millions of frames of a long reply."""

_SERVER_PRINCIPAL = re.compile(r"([^/@\\\s]+)/([^/@\\\s]+)@([^/@\\\s]+)")
_CLIENT_PRINCIPAL = re.compile(r"([^/@\\\s]+)(?:/[^/@\\\s]+)*@([^/@\\\s]+)")
_NOBODY = "WELLKNOWN"
"""The first part of the principal that anonymous tickets have (RFC 8062)."""

_PROTOCOL_ERRORS = -1765328384 % 2**32
"""Where MIT Kerberos begins to number the errors of RFC 4120, section 7.5.9."""
_NO_TEXTS = ("Success", "Unknown error")
"""The placeholder for a minor code that the mechanism did not set."""
_WRONG_KEY = "the server's keytab has another key than the KDC: recreate it (ktadd), then kinit again"
_SAID = (
    ("Ticket expired", 32),
    ("Ticket not yet valid", 33),
    ("Request is a replay", 34),
    ("does not match server principal", 35),
    ("Cannot decrypt ticket for", 36),
    ("Clock skew too great", 37),
    ("Cannot find key for", 45),
)
"""Within SPNEGO error numbers are replaced by others; MIT's error texts stay and identify the error."""


def server_principal(configured: str, host: Callable[[], str] = socket.getfqdn) -> str:
    """The principal with `_HOST` replaced by this machine's full name in lower case, as Hive does."""
    parts = _SERVER_PRINCIPAL.fullmatch(configured)
    if parts is None:
        raise ConfigError(
            f"kerberos_principal is {configured!r}; service/host@REALM was expected, such as hive/_HOST@EXAMPLE.COM"
        )
    service, instance, realm = parts.groups()
    return f"{service}/{host().lower() if instance == '_HOST' else instance}@{realm}"


def short_name(principal: str, realm: str) -> str:
    """The user: the first part of a principal of the server's own realm. Other principals are refused."""
    parts = _CLIENT_PRINCIPAL.fullmatch(principal)
    if parts is None or parts[1] == _NOBODY:
        raise AuthenticationError(f"{principal} is not a principal of a user; name@{realm} or name/host@{realm} is")
    if parts[2] != realm:
        raise AuthenticationError(f"{principal} is of the realm {parts[2]}; this server takes users of {realm} only")
    return checked_user(parts[1], "the name in the principal")


def explain(error: gssapi.raw.GSSError, principal: str) -> str:
    """Why a ticket was not accepted, with advice. Valid only in the thread that raised the error."""
    other = (
        f"the ticket is not for {principal}: compare hive.metastore.kerberos.principal, the host in "
        "hive.metastore.uris and the realm with it"
    )
    hint = {
        31: _WRONG_KEY,
        32: "kinit again, or log in from a keytab",
        33: "the clocks of the client, the KDC and the server must agree",
        34: "it was seen before, and tokens are taken once",
        35: other,
        36: other,
        37: "the clocks of the client, the KDC and the server must agree",
        44: _WRONG_KEY,
        45: _WRONG_KEY,
    }.get(_number(error))
    return f"{_texts(error)}{'; ' + hint if hint else ''}"


def _number(error: gssapi.raw.GSSError) -> int:
    """The error number of RFC 4120; 0 if unknown."""
    number: int = error.min_code - _PROTOCOL_ERRORS
    if 0 < number < 128:
        return number
    texts = _texts(error)
    return next((code for words, code in _SAID if words in texts), 0)


class Kerberos:
    """The server's identity. One for all connections; it is used by several threads."""

    def __init__(
        self, principal: str, keytab: Path, layers: Iterable[str] = tuple(LAYERS), proxies: Iterable[str] = ()
    ) -> None:
        try:
            import gssapi
        except ImportError as error:
            raise MissingExtra("Kerberos (kerberos_principal)", "kerberos") from error
        self.principal: Final = server_principal(principal)
        self.realm: Final = self.principal.rpartition("@")[2]
        self.layers: Final = sum(LAYERS[name] for name in set(layers))
        self.proxies: Final = frozenset(proxies)
        """Users who may act for others."""
        try:
            with keytab.open("rb"):
                pass
            # The file is read again for every ticket, so a new key in it needs no restart.
            self._credentials = gssapi.Credentials(
                name=gssapi.Name(self.principal, gssapi.NameType.kerberos_principal),
                usage="accept",
                mechs=[gssapi.MechType.kerberos],
                store={"keytab": str(keytab)},
            )
        except OSError as error:
            raise ConfigError(f"kerberos_keytab {keytab}: {error.strerror or error}") from error
        except gssapi.raw.GSSError as error:
            raise ConfigError(
                f"kerberos_keytab {keytab} cannot be used for {self.principal}: {_texts(error)} "
                f"(klist -k {keytab} lists what it holds)"
            ) from error

    def start(self) -> GssapiNegotiation:
        """A new exchange with a client."""
        import gssapi

        return GssapiNegotiation(self, gssapi.SecurityContext(creds=self._credentials, usage="accept"))


class GssapiNegotiation:
    """One connection: ticket, offer of layers, choice; then the chosen layer."""

    by_token: Final = False

    def __init__(self, kerberos: Kerberos, context: gssapi.SecurityContext) -> None:
        import gssapi

        self._error: Final = gssapi.raw.GSSError
        self._flags: Final = gssapi.RequirementFlag
        self._kerberos = kerberos
        self._context = context
        self._lock = Lock()
        """A security context may be used by one thread at a time."""
        self._next: Callable[[bytes], tuple[bytes, bool]] = self._accept
        """The next step: how to handle the client's next message."""
        self._challenged = False
        self._offered = 0
        self._layer = 0
        self.principal = ""
        self.user = ""
        self.frame_size = SECURE_FRAME

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        if len(payload) > MAX_SASL:
            raise AuthenticationError(f"a token of {len(payload)} bytes; at most {MAX_SASL} are accepted")
        with self._lock:
            try:
                return self._next(payload)
            except self._error as error:
                raise AuthenticationError(f"Kerberos: {explain(error, self._kerberos.principal)}") from None

    def wrap(self, data: bytes) -> bytes:
        if self._layer == LAYERS["auth"]:
            return data
        with self._lock:
            wrapped: bytes = self._context.wrap(data, self._layer == LAYERS["auth-conf"]).message
        return wrapped

    def unwrap(self, data: bytes) -> bytes:
        if self._layer == LAYERS["auth"]:
            return data
        with self._lock:
            try:
                unwrapped = self._context.unwrap(data)
            except self._error as error:
                raise RemoteProtocolError(f"a message that Kerberos does not accept: {_texts(error)}") from None
        if self._layer == LAYERS["auth-conf"] and not unwrapped.encrypted:
            raise RemoteProtocolError("a message in the clear, though encryption (auth-conf) was agreed on")
        message: bytes = unwrapped.message
        return message

    # The client's messages, in their order

    def _accept(self, token: bytes) -> tuple[bytes, bool]:
        if not token:
            # A client may wait for an empty challenge before its first token.
            if self._challenged:
                raise AuthenticationError("the client sent no Kerberos token")
            self._challenged = True
            return b"", False
        reply = self._context.step(token)
        # A step that failed may give a token for the client; then it is this look that raises.
        if not self._context.complete:
            self._challenged = True
            return reply or b"", False
        self.principal = str(self._context.initiator_name)
        self.user = short_name(self.principal, self._kerberos.realm)
        if not reply:
            return self._offer(b"")
        self._next = self._offer
        return reply, False

    def _offer(self, nothing: bytes) -> tuple[bytes, bool]:
        if nothing:
            raise AuthenticationError("the client sent a token after its ticket was accepted (RFC 4752, section 3.1)")
        possible, flags = LAYERS["auth"], self._context.actual_flags
        if self._flags.integrity in flags:
            possible |= LAYERS["auth-int"]
            if self._flags.confidentiality in flags:
                possible |= LAYERS["auth-conf"]
        self._offered = possible & self._kerberos.layers
        if not self._offered:
            raise AuthenticationError(
                f"this server requires {_names(self._kerberos.layers)}, the client supports {_names(possible)}: "
                "set hadoop.rpc.protection (or the SASL quality of protection) at the client, or sasl_qop here"
            )
        protects = self._offered != LAYERS["auth"]
        offer = bytes((self._offered,)) + (MAX_RECEIVED if protects else 0).to_bytes(3, "big")
        self._next = self._choose
        return self._context.wrap(offer, False).message, False

    def _choose(self, wrapped: bytes) -> tuple[bytes, bool]:
        choice = self._context.unwrap(wrapped).message
        if len(choice) < 4:
            raise AuthenticationError(f"the client's choice of protection has {len(choice)} bytes, not 4 or more")
        layer, longest = choice[0], int.from_bytes(choice[1:4], "big")
        if layer not in LAYERS.values() or not layer & self._offered:
            raise AuthenticationError(
                f"the client chose the protection {_names(layer) or layer}; offered were {_names(self._offered)}"
            )
        self._authorize(choice[4:])
        if layer != LAYERS["auth"]:
            room = self._context.get_wrap_size_limit(longest, layer == LAYERS["auth-conf"])
            if room < SMALLEST_FRAME:
                raise AuthenticationError(f"the client takes messages of {longest} bytes only, which is too few")
            self.frame_size = min(room, SECURE_FRAME)
        self._layer = layer
        self._next = self._over
        return b"", True

    def _authorize(self, name: bytes) -> None:
        """Sets the user for whom the client acts."""
        self.user = acting_as(name, self.user, self.principal, self._kerberos.proxies)

    def _over(self, payload: bytes) -> tuple[bytes, bool]:
        raise AuthenticationError("the client went on after the negotiation was complete")


def _names(layers: int) -> str:
    return ", ".join(name for name, bit in LAYERS.items() if layers & bit)


def _texts(error: gssapi.raw.GSSError) -> str:
    """GSSAPI's own messages, the general message first."""
    texts = [*error.get_all_statuses(error.maj_code, True), *error.get_all_statuses(error.min_code, False)]
    return ": ".join(" ".join(text.split()) for text in texts if text not in _NO_TEXTS)
