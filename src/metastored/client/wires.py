"""The protocol of one connection, without I/O: Thrift directly, over HTTP, or within SASL.

All have the methods of wire/connection.py: `send` returns bytes for the socket, `receive_data` takes received bytes,
and `next_part` returns what they mean. None of them waits or opens anything.
"""

from __future__ import annotations

from typing import Protocol

from metastored.client.endpoints import Endpoint
from metastored.client.hints import HEAD, hint
from metastored.errors import RemoteProtocolError
from metastored.wire.connection import NEED_DATA, ClientConnection, NeedData, Piece
from metastored.wire.message import Reply
from metastored.wire.methods import Method


class Ready:
    """The negotiation is complete: calls may be sent."""


READY = Ready()

Event = Reply | Piece | NeedData | Ready | bytes
"""A reply or a piece of it, a need for more data, the end of the negotiation, or bytes to send in order to continue."""


class Wire(Protocol):
    """The protocol state of one connection: one call at a time."""

    closes: bool
    """The peer has announced that it closes the connection after its reply."""

    def begin(self) -> bytes:
        """The first bytes of a negotiation, which ends with READY. Empty if calls may be sent at once."""
        ...

    def send(self, method: Method, body: bytes, relays: bool = False) -> bytes:
        """The call. With `relays` a long reply may come as pieces, of which the last one says so."""
        ...

    def receive_data(self, data: bytes) -> None: ...

    def next_part(self) -> Event: ...

    def hint(self) -> str:
        """A hint from the first bytes of the peer, if they were not a reply."""
        ...


class ThriftWire(ClientConnection):
    """Thrift messages, framed or not."""

    closes = False

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint.wire_protocol, bool(endpoint.framed), endpoint.max_reply, endpoint.decode)
        self._port = endpoint.port
        self._head = b""
        self._replied = False

    def begin(self) -> bytes:
        return b""

    def receive_data(self, data: bytes) -> None:
        if not self._replied and len(self._head) < HEAD:
            self._head += data[:HEAD]
        super().receive_data(data)

    def next_part(self) -> Reply | Piece | NeedData:
        try:
            event = super().next_part()
        except RemoteProtocolError as error:
            text = self.hint()
            raise RemoteProtocolError(f"{error}; {text}" if text else str(error)) from None
        if event is not NEED_DATA:
            self._replied = True
        return event

    def hint(self) -> str:
        return "" if self._replied else hint(self._head, self._port)
