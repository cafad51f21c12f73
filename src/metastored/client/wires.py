"""What is spoken on one connection, without its socket: Thrift directly, inside HTTP, or inside SASL.

All have the verbs of wire/connection.py: `send` gives bytes for the socket, `receive_data` takes what came,
`next_event` says what it means. None of them waits or opens anything.
"""

from __future__ import annotations

from typing import Protocol

from metastored.client.endpoints import Endpoint
from metastored.client.hints import HEAD, hint
from metastored.errors import RemoteProtocolError
from metastored.wire.connection import ClientConnection, NeedData
from metastored.wire.message import Reply
from metastored.wire.methods import Method


class Ready:
    """The negotiation is over: calls may be sent."""


READY = Ready()

Event = Reply | NeedData | Ready | bytes
"""A reply, a wish for more data, the end of the negotiation, or bytes that have to be sent to go on."""


class Wire(Protocol):
    """One connection's conversation: one call at a time."""

    closes: bool
    """The peer said that it closes the connection after its answer."""

    def begin(self) -> bytes:
        """What goes out first; READY comes when it is answered. Nothing where calls may be sent at once."""
        ...

    def send(self, method: Method, body: bytes) -> bytes: ...

    def receive_data(self, data: bytes) -> None: ...

    def next_event(self) -> Event: ...

    def hint(self) -> str:
        """What the peer's first bytes give away, when they were no answer."""
        ...


class ThriftWire(ClientConnection):
    """Thrift messages, framed or not."""

    closes = False

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint.spoken, bool(endpoint.framed), endpoint.max_reply, endpoint.decode)
        self._port = endpoint.port
        self._head = b""
        self._answered = False

    def begin(self) -> bytes:
        return b""

    def receive_data(self, data: bytes) -> None:
        if not self._answered and len(self._head) < HEAD:
            self._head += data[:HEAD]
        super().receive_data(data)

    def next_event(self) -> Reply | NeedData:
        try:
            event = super().next_event()
        except RemoteProtocolError as error:
            found = self.hint()
            raise RemoteProtocolError(f"{error}; {found}" if found else str(error)) from None
        if isinstance(event, Reply):
            self._answered = True
        return event

    def hint(self) -> str:
        return "" if self._answered else hint(self._head, self._port)
