"""Delegation tokens on the Thrift port: the SASL mechanism DIGEST-MD5 (RFC 2831), as Hadoop's clients use it.

The name is the token's identifier and the password its other half, both in base64. Protection is auth or auth-int;
encryption by this mechanism is broken (RFC 6331), so clients that need encryption connect with TLS.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection
from threading import Lock
from typing import Final

from metastored.errors import AuthenticationError, RemoteProtocolError
from metastored.server.auth.negotiation import Channel
from metastored.wire.connection import MAX_SASL, SECURE_FRAME

MECHANISM: Final = "DIGEST-MD5"
REALM: Final = "default"
"""Hadoop's name for the realm of tokens."""
QOPS: Final = ("auth", "auth-int")
MAX_RECEIVED: Final = 0xFFFFFF
DEFAULT_MAXBUF: Final = 65536
SMALLEST_FRAME: Final = 1024
_SEAL: Final = 16
"""Bytes that a protected message ends with: 10 of its MAC, 2 of its version, 4 of its number."""
_TO_SERVER = b"Digest session key to client-to-server signing key magic constant"
_TO_CLIENT = b"Digest session key to server-to-client signing key magic constant"
_DIRECTIVE = re.compile(rb'\s*([a-zA-Z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))\s*(?:,|$)')
WRONG: Final = "the delegation token's password is wrong"

Secret = Callable[[bytes], tuple[str, bytes]]
"""The owner of the token with this identifier, and its password; raises AuthenticationError. It may block."""


class Digest:
    """The mechanism, for all connections."""

    def __init__(self, secret: Secret, qops: Collection[str] = QOPS) -> None:
        self._secret = secret
        self._qops = tuple(each for each in QOPS if each in qops)

    def start(self, channel: Channel) -> DigestNegotiation:
        qops = QOPS if channel.encrypted else self._qops
        if not qops:
            raise AuthenticationError(
                "delegation tokens are not encrypted by SASL, as this server requires it (sasl_qop): connect with TLS"
            )
        return DigestNegotiation(self._secret, qops)


class DigestNegotiation:
    """One connection: a challenge, a response, and the server's own authentication to the client."""

    by_token: Final = True

    def __init__(self, secret: Secret, qops: Collection[str]) -> None:
        self._secret = secret
        self._qops = qops
        self._nonce = base64.b64encode(secrets.token_bytes(24))
        self._challenged = False
        self._integrity = False
        self._keys = (b"", b"")
        self._sent = self._received = 0
        self._lock = Lock()
        self.user = ""
        self.principal = ""
        self.frame_size = SECURE_FRAME

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        if not self._challenged:
            if payload:
                raise AuthenticationError("DIGEST-MD5 begins with the server's challenge; the client sent a response")
            self._challenged = True
            challenge = b'realm="%b",nonce="%b",qop="%b",charset=utf-8,algorithm=md5-sess,maxbuf=%d'
            return challenge % (REALM.encode(), self._nonce, ",".join(self._qops).encode(), MAX_RECEIVED), False
        return self._check(_directives(payload)), True

    def _check(self, fields: dict[str, bytes]) -> bytes:
        """The server's authentication to the client (rspauth), if the response is right."""
        name, cnonce, count, uri = (_needed(fields, each) for each in ("username", "cnonce", "nc", "digest-uri"))
        qop = fields.get("qop", b"auth")
        if fields.get("nonce") != self._nonce or count != b"00000001" or fields.get("realm", b"") != REALM.encode():
            raise AuthenticationError(f"the response is not to this server's challenge (realm {REALM!r})")
        if qop.decode("latin-1") not in self._qops:
            raise AuthenticationError(
                f"the client requests the protection {qop.decode('latin-1')!r}; tokens are accepted with "
                f"{' or '.join(self._qops)} (hadoop.rpc.protection), or over TLS"
            )
        actor = fields.get("authzid", b"")
        if actor and actor != name:
            raise AuthenticationError("a user purpose logs in with a delegation token can act for its owner only")
        try:
            identifier = base64.b64decode(name, validate=True)
        except binascii.Error:
            raise AuthenticationError("the name is not the identifier of a delegation token in base64") from None
        user, password = self._secret(identifier)
        secret = _md5(b":".join((name, REALM.encode(), base64.b64encode(password))))
        session = _md5(b":".join((secret, self._nonce, cnonce, *((actor,) if actor else ()))))
        tail = b":" + b"0" * 32 if qop == b"auth-int" else b""

        def response(purpose: bytes) -> bytes:
            parts = (_hex(session), self._nonce, count, cnonce, qop, _hex(_md5(purpose + b":" + uri + tail)))
            return _hex(_md5(b":".join(parts)))

        if not hmac.compare_digest(response(b"AUTHENTICATE"), fields.get("response", b"")):
            raise AuthenticationError(WRONG)
        if qop == b"auth-int":
            self._protect(session, fields.get("maxbuf", b"%d" % DEFAULT_MAXBUF))
        self.user = self.principal = user
        return b"rspauth=" + response(b"")

    def _protect(self, session: bytes, maxbuf: bytes) -> None:
        longest = int(maxbuf) if maxbuf.isdigit() else 0
        if longest < SMALLEST_FRAME:
            raise AuthenticationError(f"the client takes messages of {longest} bytes only, which is too few")
        self.frame_size = min(longest - _SEAL, SECURE_FRAME)
        self._keys = (_md5(session + _TO_CLIENT), _md5(session + _TO_SERVER))
        self._integrity = True

    def wrap(self, data: bytes) -> bytes:
        if not self._integrity:
            return data
        with self._lock:
            number = self._sent.to_bytes(4, "big")
            self._sent = (self._sent + 1) % 2**32
        return data + _mac(self._keys[0], number, data) + b"\0\1" + number

    def unwrap(self, data: bytes) -> bytes:
        if not self._integrity:
            return data
        message, seal = data[:-_SEAL], data[-_SEAL:]
        with self._lock:
            number = self._received.to_bytes(4, "big")
            self._received = (self._received + 1) % 2**32
        if not hmac.compare_digest(seal, _mac(self._keys[1], number, message) + b"\0\1" + number):
            raise RemoteProtocolError("a message was changed, repeated or dropped in transit (DIGEST-MD5)")
        return message


def _directives(data: bytes) -> dict[str, bytes]:
    """`name="value",other=value` as a dict; a repeated name and malformed text are refused."""
    fields: dict[str, bytes] = {}
    at = 0
    if len(data) > MAX_SASL:
        raise AuthenticationError(f"a response of {len(data)} bytes; at most {MAX_SASL} are accepted")
    while at < len(data):
        match = _DIRECTIVE.match(data, at)
        if match is None:
            raise AuthenticationError("the client's response is not a DIGEST-MD5 response (RFC 2831)")
        name = match[1].decode("ascii").lower()
        if name in fields:
            raise AuthenticationError(f"the client's response has {name} twice")
        fields[name] = match[3] if match[3] is not None else re.sub(rb"\\(.)", rb"\1", match[2])
        at = match.end()
    return fields


def _needed(fields: dict[str, bytes], name: str) -> bytes:
    if not fields.get(name):
        raise AuthenticationError(f"the client's response has no {name}")
    return fields[name]


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _hex(data: bytes) -> bytes:
    return binascii.hexlify(data)


def _mac(key: bytes, number: bytes, data: bytes) -> bytes:
    return hmac.digest(key, number + data, "md5")[:10]
