"""Delegation tokens as Hadoop writes them: identifiers, tokens, master keys. Pure: it signs, and stores nothing.

A token is an identifier (owner, dates, number of the signing key), a password (the identifier's HMAC under that key),
a kind and a service. Clients carry it as URL-safe base64 and log in with its two halves by DIGEST-MD5.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from typing import Final, NamedTuple

KIND: Final = "HIVE_DELEGATION_TOKEN"
_VERSION: Final = 0


class DelegationError(ValueError):
    """Bytes or a text that are not a token, identifier or key."""


class Identifier(NamedTuple):
    """The fields of a token's identifier. Dates are in milliseconds."""

    owner: str
    renewer: str
    real_user: str
    issue_date: int
    max_date: int
    number: int
    key_id: int

    @property
    def user(self) -> str:
        """The user whose rights the token has: the owner's short name."""
        return short_name(self.owner)

    def encode(self) -> bytes:
        texts = b"".join(_text(text) for text in (self.owner, self.renewer, self.real_user))
        numbers = (self.issue_date, self.max_date, self.number, self.key_id)
        return bytes((_VERSION,)) + texts + b"".join(map(vlong, numbers))

    @classmethod
    def decode(cls, data: bytes) -> Identifier:
        reader = _Reader(data)
        version = reader.take(1)[0]
        if version != _VERSION:
            raise DelegationError(f"a token identifier of version {version}; known is {_VERSION}")
        texts = (reader.text(), reader.text(), reader.text())
        return cls(*texts, reader.vlong(), reader.vlong(), reader.vlong(), reader.vlong())


class Token(NamedTuple):
    """A token as clients get it."""

    identifier: bytes
    password: bytes
    kind: str = KIND
    service: str = ""

    def encode(self) -> str:
        """The URL-safe text."""
        return to_text(_bytes(self.identifier) + _bytes(self.password) + _text(self.kind) + _text(self.service))

    @classmethod
    def decode(cls, text: str) -> Token:
        reader = _Reader(from_text(text))
        return cls(reader.bytes(), reader.bytes(), reader.text(), reader.text())


class MasterKey(NamedTuple):
    """A key that signs tokens, until it is replaced, and verifies them, until it expires (milliseconds)."""

    id: int
    expires: int
    key: bytes

    def encode(self) -> str:
        return to_text(vlong(self.id) + vlong(self.expires) + _bytes(self.key))

    @classmethod
    def decode(cls, text: str) -> MasterKey:
        reader = _Reader(from_text(text))
        return cls(reader.vlong(), reader.vlong(), reader.bytes())

    def password(self, identifier: bytes) -> bytes:
        """The password of a token. Hadoop's algorithm, so that servers that share the keys agree."""
        return hmac.digest(self.key, identifier, hashlib.sha1)


class StoredToken(NamedTuple):
    """A server's record of a token: its password, and when it must have been renewed (milliseconds)."""

    password: bytes
    renew_date: int

    def encode(self) -> str:
        return to_text(_bytes(self.password) + struct.pack(">q", self.renew_date))

    @classmethod
    def decode(cls, text: str) -> StoredToken:
        reader = _Reader(from_text(text))
        return cls(reader.bytes(), struct.unpack(">q", reader.take(8))[0])


def short_name(principal: str) -> str:
    """`hive` of hive/host@REALM."""
    return principal.partition("@")[0].partition("/")[0]


def to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_text(text: str) -> bytes:
    try:
        data = text.rstrip("=").encode("ascii")
        return base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise DelegationError(f"not URL-safe base64: {error}") from None


def vlong(value: int) -> bytes:
    """A number in Hadoop's variable length."""
    if -112 <= value <= 127:
        return struct.pack("b", value)
    first = -112
    if value < 0:
        value, first = ~value, -120
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return struct.pack("b", first - len(data)) + data


def _bytes(data: bytes) -> bytes:
    return vlong(len(data)) + data


def _text(text: str) -> bytes:
    return _bytes(text.encode("utf-8", "surrogateescape"))


class _Reader:
    """Reads values from the front of bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, length: int) -> bytes:
        if length < 0:
            raise DelegationError(f"a length below zero ({length}) in front of byte {self._at}")
        if self._at + length > len(self._data):
            raise DelegationError(f"cut short: {length} bytes were expected at {self._at} of {len(self._data)}")
        chunk = self._data[self._at : self._at + length]
        self._at += length
        return chunk

    def vlong(self) -> int:
        first: int = struct.unpack("b", self.take(1))[0]
        if first >= -112:
            return first
        negative = first < -120
        value = int.from_bytes(self.take(-120 - first if negative else -112 - first), "big")
        return ~value if negative else value

    def bytes(self) -> bytes:
        return self.take(self.vlong())

    def text(self) -> str:
        return self.bytes().decode("utf-8", "surrogateescape")
