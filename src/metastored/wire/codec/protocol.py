"""The common interface of the three protocols (binary, compact, TJSON): how a message is read and written.

A protocol turns bytes into an `Incoming` message and calls and replies into bytes. Where a stream has no frames,
a `Walker` finds the end of a message that arrives in pieces without starting again at each piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from metastored.errors import RemoteProtocolError
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import Method


class Incomplete(Exception):
    """The message continues behind the end of the data."""


class BadMessage(RemoteProtocolError):
    """A message with a valid header and a malformed rest: an error can be sent before the connection is closed."""

    def __init__(self, message: str, name: bytes, seqid: int) -> None:
        super().__init__(message)
        self.name = name
        self.seqid = seqid


class BadVersion(BadMessage):
    """A complete message in an unsupported version of its protocol."""


class Incoming(NamedTuple):
    """One message from a peer."""

    kind: int
    """CALL, REPLY, EXCEPTION or ONEWAY, as on the wire."""
    name: bytes
    seqid: int
    method: Method | None
    """None when the table has no method of this name."""
    value: Any
    """The decoded arguments of a known method; None otherwise."""
    body: bytes | None
    """The struct behind the header in Thrift binary, where the protocol has it without conversion."""
    end: int
    """Where the next message starts."""
    size: int = 0
    """Bytes of a call, where `body` is not set."""


class Walker(Protocol):
    """Finds the end of one message in data that grows."""

    def end(self, data: bytes | bytearray) -> int | None:
        """The position behind the message, or None while it is incomplete. `data` only ever grows."""
        ...


class WireProtocol(Protocol):
    """One of Thrift's protocols."""

    name: str

    def read_call(self, data: bytes, at: int) -> Incoming:
        """The call or oneway that starts here. Raises Incomplete, BadMessage or RemoteProtocolError."""
        ...

    def read_reply(self, method: Method, data: bytes, at: int) -> Incoming:
        """The reply to a call of this method; `body` is always set, in Thrift binary, and `value` is None."""
        ...

    def walker(self, at: int, limit: int = MAX_MESSAGE) -> Walker:
        """Finds the end of the message that starts here and has at most `limit` bytes."""
        ...

    def write(self, kind: int, name: bytes, seqid: int, body: bytes, method: Method | None) -> bytes:
        """A message around a struct in Thrift binary.

        `kind` says which struct it is: the arguments (CALL, ONEWAY) or the result (REPLY) of `method`,
        or a TApplicationException (EXCEPTION).
        """
        ...
