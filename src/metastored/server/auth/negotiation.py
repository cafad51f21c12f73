"""Authentication of a connection: the interface between `thrift.py` and the SASL mechanisms.

If a server has an authenticator, only authenticated connections are served. This module contains no mechanism and no
secret.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, Protocol

from metastored.errors import AuthenticationError
from metastored.server.user_names import checked_user

START: Final = 1
OK: Final = 2
BAD: Final = 3
ERROR: Final = 4
COMPLETE: Final = 5
"""The status byte of Thrift's SASL messages."""

NOT_CONFIGURED: Final = (
    "this server does not use authentication: connect without SASL (hive.metastore.sasl.enabled=false), "
    "or give the server kerberos_principal and kerberos_keytab"
)
REQUIRED: Final = "this server requires authentication: connect with SASL (hive.metastore.sasl.enabled=true)"

NOT_NOW: Final = "authentication is not available now: try again later"


class Channel(NamedTuple):
    """The connection of a negotiation."""

    address: str
    """The address of the peer, without its port."""
    encrypted: bool


class NotYet(Exception):
    """The message was not read: call `step` again with the same message after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"try again in {seconds:.2f} s")
        self.seconds: Final = seconds


def acting_as(requested: bytes, user: str, principal: str, proxies: Collection[str]) -> str:
    """The effective user of the authenticated `user`. Only proxy users may act for another user."""
    name = requested.decode("utf-8", "replace")
    if not name or name in (user, principal):
        return user
    if user not in proxies:
        raise AuthenticationError(f"{principal} may not act as {name!r}: log in as that user")
    return checked_user(name, "the user to act as")


class Negotiation(Protocol):
    """One connection's exchange. Its methods may block: the server calls them in its pool."""

    @property
    def user(self) -> str:
        """The authenticated user; valid only after `step` returned that the negotiation is complete."""
        ...

    @property
    def principal(self) -> str:
        """The user's full name, such as alice@REALM."""
        ...

    @property
    def by_token(self) -> bool:
        """Whether the credential is a delegation token: its holder gets no tokens and acts for no other user."""
        ...

    @property
    def frame_size(self) -> int:
        """The most bytes to pass to `wrap` at a time, so that the client accepts the result."""
        ...

    def step(self, payload: bytes) -> tuple[bytes, bool]:
        """The reply to the client's message, and whether the negotiation is complete.

        Raises AuthenticationError or NotYet.
        """
        ...

    def wrap(self, data: bytes) -> bytes: ...

    def unwrap(self, data: bytes) -> bytes:
        """Raises RemoteProtocolError for bytes that the agreed protection does not let pass."""
        ...


class Authenticator(Protocol):
    def start(self, mechanism: str, channel: Channel) -> Negotiation:
        """A new exchange; raises AuthenticationError for a mechanism it does not have."""
        ...
