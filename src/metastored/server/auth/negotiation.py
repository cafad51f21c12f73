"""How a connection proves who it is: the interface that `thrift.py` speaks SASL through.

An authenticator is given to the server; where there is one, only authenticated connections are served. This module
holds no mechanism and no secret.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, Protocol

from metastored.errors import AuthenticationError

START: Final = 1
OK: Final = 2
BAD: Final = 3
ERROR: Final = 4
COMPLETE: Final = 5
"""The status byte of Thrift's SASL messages."""

NOT_CONFIGURED: Final = (
    "this server does not ask for authentication: connect without SASL (hive.metastore.sasl.enabled=false), "
    "or give the server kerberos_principal and kerberos_keytab"
)
REQUIRED: Final = "this server requires authentication: connect with SASL (hive.metastore.sasl.enabled=true)"

NOT_NOW: Final = "who is asking cannot be found out now: try again later"


class Channel(NamedTuple):
    """What an exchange is held over."""

    address: str
    """The peer's, without its port."""
    encrypted: bool


def acting_as(asked: bytes, user: str, principal: str, proxies: Collection[str]) -> str:
    """As whom somebody acts who has proven to be `user` and asks to be another: only proxy users may."""
    name = asked.decode("utf-8", "replace")
    if not name or name in (user, principal):
        return user
    if user not in proxies:
        raise AuthenticationError(f"{principal} may not act as {name!r}: log in as that user")
    return name


class Negotiation(Protocol):
    """One connection's exchange. Its methods may block: the server calls them in its pool."""

    @property
    def user(self) -> str:
        """Who was proven; asked for only after `step` said that it is done."""
        ...

    @property
    def principal(self) -> str:
        """The same by its full name, such as alice@REALM."""
        ...

    @property
    def by_token(self) -> bool:
        """Whether the proof is a delegation token, whose holder gets no further tokens and acts for nobody else."""
        ...

    @property
    def frame_size(self) -> int:
        """How many bytes at most `wrap` is given at a time, so that the client takes the result."""
        ...

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        """The answer to what the client sent, and whether that was the last; raises AuthenticationError."""
        ...

    def wrap(self, data: bytes) -> bytes: ...

    def unwrap(self, data: bytes) -> bytes:
        """Raises RemoteProtocolError for bytes that the agreed protection does not let pass."""
        ...


class Authenticator(Protocol):
    def start(self, mechanism: str, channel: Channel) -> Negotiation:
        """A new exchange; raises AuthenticationError for a mechanism it does not have."""
        ...
