"""What the three protocols (binary, compact, TJSON) have in common: how a message is read and written.

A protocol turns bytes into an `Incoming` message and calls and replies into bytes. Where a stream has no frames,
a `Walker` finds the end of a message that arrives in pieces without starting again at each piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from metastored.errors import RemoteProtocolError
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import Method


class Incomplete(Exception):
    """The message goes on behind the end of the data."""


class BadMessage(RemoteProtocolError):
    """A message whose header could be read but whose rest is wrong: it can be answered before hanging up."""

    def __init__(self, message: str, name: bytes, seqid: int) -> None:
        super().__init__(message)
        self.name = name
        self.seqid = seqid


class BadVersion(BadMessage):
    """A whole message in a version of its protocol that nobody speaks."""


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
    """The struct behind the header in Thrift binary, where the protocol has it for free."""
    end: int
    """Where the next message starts."""
    size: int = 0
    """Bytes of a call, where `body` is not given."""


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
        """The answer to a call of this method; `body` is always given, in Thrift binary, and `value` is None."""
        ...

    def walker(self, at: int, limit: int = MAX_MESSAGE) -> Walker:
        """Finds the end of the message that starts here and has at most `limit` bytes."""
        ...

    def write(self, kind: int, name: bytes, seqid: int, body: bytes, method: Method | None) -> bytes:
        """A message around a struct given in Thrift binary.

        `kind` tells which struct it is: the arguments (CALL, ONEWAY) or the result (REPLY) of `method`,
        or a TApplicationException (EXCEPTION).
        """
        ...
