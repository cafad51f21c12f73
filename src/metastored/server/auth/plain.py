"""Passwords on the Thrift port: the SASL mechanism PLAIN (RFC 4616), over TLS only.

It sends passwords unencrypted, so it is refused without TLS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.errors import AuthenticationError
from metastored.server.auth.attempts import Attempts
from metastored.server.auth.negotiation import Channel, NotYet, acting_as
from metastored.server.auth.passwords import Passwords
from metastored.wire.connection import SECURE_FRAME

MECHANISM: Final = "PLAIN"


class Plain:
    """The mechanism, for all connections."""

    def __init__(self, passwords: Passwords, attempts: Attempts, proxies: Iterable[str] = ()) -> None:
        self.passwords: Final = passwords
        self.attempts: Final = attempts
        self.proxies: Final = frozenset(proxies)

    def start(self, channel: Channel) -> PlainNegotiation:
        if not channel.encrypted:
            raise AuthenticationError("passwords are taken over TLS only: connect with hive.metastore.use.SSL=true")
        return PlainNegotiation(self, channel.address)


class PlainNegotiation:
    """One connection: one message."""

    by_token: Final = False
    frame_size: Final = SECURE_FRAME

    def __init__(self, plain: Plain, address: str) -> None:
        self._plain = plain
        self._address = address
        self._has_turn = False
        self.user = ""
        self.principal = ""

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        if not payload:
            return b"", False  # A client may wait for an empty challenge.
        parts = payload.split(b"\0")
        if len(parts) != 3:
            raise AuthenticationError(f"a PLAIN message has three parts, this one {len(parts)}")
        actor, user, password = parts
        name, secret = user.decode("utf-8", "replace"), password.decode("utf-8", "surrogateescape")
        passwords, attempts = self._plain.passwords, self._plain.attempts
        if not (self._has_turn or passwords.was_right(name, secret)):
            self._has_turn = True
            wait = attempts.wait(name, self._address)
            if wait:
                raise NotYet(wait)
        attempts.counted(name, self._address, lambda: passwords.check(name, secret))
        self.principal = name
        self.user = acting_as(actor, name, name, self._plain.proxies)
        return b"", True

    def wrap(self, data: bytes) -> bytes:
        return data

    def unwrap(self, data: bytes) -> bytes:
        return data
