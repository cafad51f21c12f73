"""SASL of the client, in Thrift's framing: PLAIN, and GSSAPI with the extra `kerberos`. Tokens are in `digest.py`.

    negotiation     status (1 byte), length (4), payload: START, then OK … COMPLETE
    afterwards      length (4), payload: Thrift messages, wrapped where integrity or encryption was agreed on

Nothing here waits or opens a socket; GSSAPI itself may ask a KDC for a ticket, once a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Final

from metastored.client.endpoints import Endpoint
from metastored.client.hints import HEAD
from metastored.client.mechanisms import Mechanism
from metastored.client.wires import READY, Event
from metastored.errors import AuthenticationError, MissingExtra, RemoteProtocolError
from metastored.wire.connection import MAX_SASL, NEED_DATA, ClientConnection
from metastored.wire.methods import Method

if TYPE_CHECKING:
    import gssapi

START, OK, BAD, ERROR, COMPLETE = 1, 2, 3, 4, 5
LAYERS: Final = {"auth": 1, "auth-int": 2, "auth-conf": 4}
SEND_SIZE: Final = 1024 * 1024
"""Maximum bytes of a frame that is sent, unless the server accepts only shorter ones."""
RECEIVE_SIZE: Final = 0xFFFFFF
"""Maximum bytes of a wrapped message that is accepted: the largest number of three bytes."""

_head = Struct(">BI")
_length = Struct(">I")


class Plain:
    """RFC 4616: user and password, which are readable on the network unless TLS is used."""

    name = "PLAIN"
    frame_size = SEND_SIZE

    def __init__(self, user: str, password: str, acts_for: str = "") -> None:
        """`acts_for`: on whose behalf a proxy user calls."""
        if "\0" in user + password + acts_for:
            raise AuthenticationError("a user name or password with a zero byte cannot be sent")
        self._first = f"{acts_for}\0{user}\0{password}".encode()

    def first(self) -> bytes:
        return self._first

    def step(self, challenge: bytes) -> tuple[bytes, bool]:
        raise AuthenticationError("the server sent another challenge after a PLAIN password")

    def finish(self, payload: bytes) -> None:
        """The server has nothing to show."""

    def refused(self) -> None:
        """The error of the connection says it."""

    def wrap(self, data: bytes) -> bytes:
        return data

    def unwrap(self, data: bytes) -> bytes:
        return data


class Gssapi:
    """RFC 4752: a Kerberos ticket from the credential cache, and a protection that both sides support."""

    name = "GSSAPI"

    def __init__(self, principal: str, qop: str = "auth", client: str | None = None, acts_for: str = "") -> None:
        """`principal` is the server's, service/host@REALM; `client` the one to use among those with a ticket.

        `acts_for`: the user for whom a proxy user calls.
        """
        try:
            import gssapi
        except ImportError as error:
            raise MissingExtra("Kerberos", "kerberos") from error
        self.frame_size = SEND_SIZE
        self._error: Final = gssapi.raw.GSSError
        self._principal = principal
        self._requested = LAYERS[qop]
        self._qop = qop
        self._layer = 0
        self._acts_for = acts_for
        flag = gssapi.RequirementFlag
        kind = gssapi.NameType.kerberos_principal
        try:
            creds = gssapi.Credentials(name=gssapi.Name(client, kind), usage="initiate") if client else None
            self._context: gssapi.SecurityContext = gssapi.SecurityContext(
                name=gssapi.Name(principal, kind),
                creds=creds,
                flags=flag.mutual_authentication
                | flag.integrity
                | flag.confidentiality
                | flag.out_of_sequence_detection,
                mech=gssapi.MechType.kerberos,
                usage="initiate",
            )
        except self._error as error:
            raise self._failure(error) from None

    def first(self) -> bytes:
        try:
            return self._context.step() or b""
        except self._error as error:
            raise self._failure(error) from None

    def step(self, challenge: bytes) -> tuple[bytes, bool]:
        try:
            if not self._context.complete:
                return self._context.step(challenge) or b"", False
            return self._choose(self._context.unwrap(challenge).message), True
        except self._error as error:
            raise self._failure(error) from None

    def finish(self, payload: bytes) -> None:
        """The server has authenticated itself before: the last message of the client is protected by both keys."""

    def refused(self) -> None:
        """The error of the connection says it."""

    def wrap(self, data: bytes) -> bytes:
        if self._layer == LAYERS["auth"]:
            return data
        wrapped: bytes = self._context.wrap(data, self._layer == LAYERS["auth-conf"]).message
        return wrapped

    def unwrap(self, data: bytes) -> bytes:
        if self._layer == LAYERS["auth"]:
            return data
        try:
            unwrapped = self._context.unwrap(data)
        except self._error as error:
            raise RemoteProtocolError(f"Kerberos refused a message of the server: {error}") from None
        if self._layer == LAYERS["auth-conf"] and not unwrapped.encrypted:
            raise RemoteProtocolError(
                "the server sent an unencrypted message, although encryption (auth-conf) was negotiated"
            )
        message: bytes = unwrapped.message
        return message

    def _choose(self, offer: bytes) -> bytes:
        """The weakest protection that the server offers and that is at least the requested one."""
        if len(offer) != 4:
            raise AuthenticationError(f"the server's offer of protection has {len(offer)} bytes, not 4")
        possible = [layer for layer in LAYERS.values() if layer >= self._requested and layer & offer[0]]
        if not possible:
            offered = ", ".join(name for name, bit in LAYERS.items() if bit & offer[0])
            raise AuthenticationError(f"the server offers {offered or 'nothing'}, but qop={self._qop!r} was requested")
        layer = possible[0]
        size = 0
        if layer != LAYERS["auth"]:
            longest = int.from_bytes(offer[1:], "big")
            self.frame_size = min(self._context.get_wrap_size_limit(longest, layer == LAYERS["auth-conf"]), SEND_SIZE)
            size = RECEIVE_SIZE
        choice: bytes = self._context.wrap(self._choice(layer, size), False).message
        self._layer = layer
        return choice

    def _choice(self, layer: int, size: int) -> bytes:
        return bytes((layer,)) + size.to_bytes(3, "big") + self._acts_for.encode()

    def _failure(self, error: Exception) -> AuthenticationError:
        return AuthenticationError(f"Kerberos, for {self._principal}: {error}; kinit, and compare the server's name")


def plain(user: str, password: str, acts_for: str = "") -> Callable[[str], Mechanism]:
    """For `sasl=`: PLAIN with this user and password."""
    return lambda host: Plain(user, password, acts_for)


def kerberos(
    principal: str, qop: str = "auth", client: str | None = None, acts_for: str = ""
) -> Callable[[str], Mechanism]:
    """For `sasl=`: Kerberos, with `_HOST` in the server's principal standing for the host in its address.

    `qop` is auth, auth-int or auth-conf; the server may raise it. `client` is the client's principal, where the
    credential cache or the client keytab has several.
    """
    if qop not in LAYERS:
        raise AuthenticationError(f"unknown qop {qop!r}; known are {', '.join(LAYERS)}")
    return lambda host: Gssapi(principal.replace("_HOST", host.lower()), qop, client, acts_for)


class SaslWire:
    """The negotiation, then Thrift messages in SASL frames."""

    closes = False

    def __init__(self, endpoint: Endpoint) -> None:
        assert endpoint.sasl is not None
        self._mechanism = endpoint.sasl(endpoint.host)
        self._inner = ClientConnection(endpoint.wire_protocol, False, endpoint.max_reply, endpoint.decode)
        self._max_reply = endpoint.max_reply
        self._data = bytearray()
        self._ready = False
        self._sent_last = False

    def begin(self) -> bytes:
        first = self._mechanism.first()
        name = self._mechanism.name.encode()
        self._sent_last = self._mechanism.name == "PLAIN"
        return _message(START, name) + _message(COMPLETE if self._sent_last else OK, first)

    def send(self, method: Method, body: bytes, relays: bool = False) -> bytes:
        message, parts, size = self._inner.send(method, body, relays), [], self._mechanism.frame_size
        for start in range(0, len(message), size):
            wrapped = self._mechanism.wrap(message[start : start + size])
            parts += [_length.pack(len(wrapped)), wrapped]
        return b"".join(parts)

    def receive_data(self, data: bytes) -> None:
        self._data += data

    def next_part(self) -> Event:
        if not self._ready:
            return self._negotiate()
        while True:
            event = self._inner.next_part()
            if event is not NEED_DATA:
                return event
            if len(self._data) < _length.size:
                return NEED_DATA
            length = _length.unpack_from(self._data)[0]
            if length > self._max_reply:
                raise RemoteProtocolError(f"a SASL frame of {length} bytes; at most {self._max_reply} are accepted")
            if len(self._data) < _length.size + length:
                return NEED_DATA
            frame = bytes(self._data[_length.size : _length.size + length])
            del self._data[: _length.size + length]
            self._inner.receive_data(self._mechanism.unwrap(frame))

    def hint(self) -> str:
        return (
            ""
            if self._ready
            else "this was during the SASL negotiation: perhaps the server uses no SASL, or requires TLS first"
        )

    def _negotiate(self) -> Event:
        if len(self._data) < _head.size:
            return NEED_DATA
        status, length = _head.unpack_from(self._data)
        if status not in (OK, BAD, ERROR, COMPLETE) or length > MAX_SASL:
            raise RemoteProtocolError(
                f"not a SASL reply: {bytes(self._data[:HEAD])!r}; perhaps the server uses no SASL"
            )
        if len(self._data) < _head.size + length:
            return NEED_DATA
        payload = bytes(self._data[_head.size : _head.size + length])
        del self._data[: _head.size + length]
        if status in (BAD, ERROR):
            text = payload.decode("utf-8", "replace")
            self._mechanism.refused()
            raise AuthenticationError(f"the server refuses {self._mechanism.name}: {text}")
        if status == COMPLETE:
            if not self._sent_last:
                raise AuthenticationError("the server ended the negotiation without authenticating itself")
            self._mechanism.finish(payload)
            self._ready = True
            return READY
        response, self._sent_last = self._mechanism.step(payload)
        return _message(COMPLETE if self._sent_last else OK, response)


def _message(status: int, payload: bytes) -> bytes:
    return _head.pack(status, len(payload)) + payload
