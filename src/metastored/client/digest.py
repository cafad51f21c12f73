"""Delegation tokens of the client: the SASL mechanism DIGEST-MD5 (RFC 2831), as Hadoop's clients use it.

The name is the token's identifier and the password its other half, both in base64. Protection is auth or auth-int; a
server that requires encryption by this mechanism (auth-conf), which is broken (RFC 6331), is refused. Nothing here
waits or opens a socket.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import Final

from metastored.client.sasl import SEND_SIZE
from metastored.errors import AuthenticationError, RemoteProtocolError
from metastored.hive.delegation import DelegationError, Token

URI: Final = b"null/default"
"""What Hadoop's clients name as the service: no protocol, and the realm of tokens as the server."""
_SEAL: Final = 16
"""Bytes that a protected message ends with: 10 of its MAC, 2 of its version, 4 of its number."""
_MAXBUF: Final = 65536
_TO_SERVER = b"Digest session key to client-to-server signing key magic constant"
_TO_CLIENT = b"Digest session key to server-to-client signing key magic constant"
_DIRECTIVE = re.compile(rb'([a-zA-Z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))')


class DigestMd5:
    """The mechanism of one connection that logs in with a delegation token."""

    name = "DIGEST-MD5"

    def __init__(self, token: Token, on_refusal: Callable[[], None] | None = None) -> None:
        """`on_refusal` is called when the server refuses the token, as it does when the token has expired."""
        self.frame_size = SEND_SIZE
        self._on_refusal = on_refusal
        self._user = base64.b64encode(token.identifier)
        self._password = base64.b64encode(token.password)
        self._cnonce = base64.b64encode(secrets.token_bytes(24))
        self._expected = b""
        self._keys: tuple[bytes, bytes] | None = None
        self._sent = self._received = 0

    def first(self) -> bytes:
        return b""

    def step(self, challenge: bytes) -> tuple[bytes, bool]:
        if self._expected:
            raise AuthenticationError("the server sent another challenge after the response of a delegation token")
        fields = {
            name.decode("ascii").lower(): bare or re.sub(rb"\\(.)", rb"\1", quoted)
            for name, quoted, bare in _DIRECTIVE.findall(challenge)
        }
        nonce, realm = fields.get("nonce", b""), fields.get("realm", b"")
        if not nonce:
            raise AuthenticationError("the server's challenge is not one of DIGEST-MD5 (RFC 2831): it has no nonce")
        offered = [each.strip() for each in fields.get("qop", b"auth").split(b",")]
        qop = next((each for each in (b"auth", b"auth-int") if each in offered), None)
        if qop is None:
            raise AuthenticationError(
                f"the server takes delegation tokens with {b', '.join(offered).decode('latin-1')} only; auth and "
                "auth-int are supported (hadoop.rpc.protection)"
            )
        secret = _md5(b":".join((self._user, realm, self._password)))
        session = _md5(b":".join((secret, nonce, self._cnonce)))
        tail = b":" + b"0" * 32 if qop == b"auth-int" else b""

        def response(purpose: bytes) -> bytes:
            parts = (_hex(session), nonce, b"00000001", self._cnonce, qop, _hex(_md5(purpose + b":" + URI + tail)))
            return _hex(_md5(b":".join(parts)))

        if qop == b"auth-int":
            self._keys = (_md5(session + _TO_SERVER), _md5(session + _TO_CLIENT))
            longest = fields.get("maxbuf", b"")
            self.frame_size = min(int(longest) if longest.isdigit() else _MAXBUF, SEND_SIZE) - _SEAL
        self._expected = b"rspauth=" + response(b"")
        answer = (
            b'charset=utf-8,username="%b",realm="%b",nonce="%b",nc=00000001,cnonce="%b",digest-uri="%b",maxbuf=%d,'
            b"response=%b,qop=%b"
        )
        values = (self._user, realm, nonce, self._cnonce, URI, 0xFFFFFF, response(b"AUTHENTICATE"), qop)
        return answer % values, True

    def finish(self, payload: bytes) -> None:
        if not self._expected or not hmac.compare_digest(payload.strip(), self._expected):
            raise AuthenticationError("the server does not know the delegation token that it accepted (rspauth)")

    def refused(self) -> None:
        if self._on_refusal is not None:
            self._on_refusal()

    def wrap(self, data: bytes) -> bytes:
        if self._keys is None:
            return data
        number, self._sent = self._sent.to_bytes(4, "big"), (self._sent + 1) % 2**32
        return data + _mac(self._keys[0], number, data) + b"\0\1" + number

    def unwrap(self, data: bytes) -> bytes:
        if self._keys is None:
            return data
        message, seal = data[:-_SEAL], data[-_SEAL:]
        number, self._received = self._received.to_bytes(4, "big"), (self._received + 1) % 2**32
        if not hmac.compare_digest(seal, _mac(self._keys[1], number, message) + b"\0\1" + number):
            raise RemoteProtocolError("a message was changed, repeated or dropped in transit (DIGEST-MD5)")
        return message


def read_token(text: str) -> Token:
    """A token as `get_delegation_token` returns it. Raises AuthenticationError, without the text."""
    try:
        return Token.decode(text.strip())
    except (DelegationError, UnicodeDecodeError):
        raise AuthenticationError(
            "this is not a delegation token: URL-safe base64 of Hadoop's token is expected"
        ) from None


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _hex(data: bytes) -> bytes:
    return data.hex().encode()


def _mac(key: bytes, number: bytes, data: bytes) -> bytes:
    return hmac.digest(key, number + data, "md5")[:10]
