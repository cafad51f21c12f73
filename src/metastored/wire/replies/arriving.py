"""Decodes a long reply in binary while it arrives: the elements of its list, piece by piece.

A stream without frames does not tell where a reply ends. To find the end first and to decode then would go over each
byte twice, and a client would begin to work when the server has ended. A result whose first field is a list of structs,
or a struct that begins with one, is decoded element by element; everything around the list is decoded at the end, with
an empty list in its place. Elements may have long lists of their own (`nested.py`). Other replies are walked over
(`BinaryWalker`) and decoded by the caller.

Pure: it never waits, and it holds no bytes but those of an element that is not complete.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from metastored.collection import collection_paused
from metastored.errors import RemoteProtocolError
from metastored.wire.codec.binary import CODEC, INCOMPLETE, BinaryCompiler, pack_i, result_codec, unpack_u
from metastored.wire.codec.binary_protocol import BinaryWalker, read_header
from metastored.wire.codec.protocol import Incoming
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MAX_REPLY
from metastored.wire.methods import Method
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.replies.nested import Elements
from metastored.wire.structs import fields, names, new
from metastored.wire.types import LIST, REPLY, STRUCT, Field

_RETRIED: Final = 1 << 20
"""Bytes of incomplete elements that may be decoded in vain, beside as many bytes as were received."""
_FIELD: Final = 3
"""Bytes of a field's header: its type and its id."""


class ArrivingResult:
    """A walker that has decoded the result when it has found its end: `values` are the fields of the result."""

    def __init__(self, method: Method, at: int, limit: int = MAX_REPLY) -> None:
        self._method = method
        self._start = at
        self._limit = limit
        self._begun = False
        self.body = at
        """Where the result begins, behind the header of the message."""
        self._walker: BinaryWalker | None = None
        """Walks over a reply that has no list to decode."""
        self._reader: Elements | None = None
        self._slot: int | None = None
        self._struct: type | None = None
        self._head = b""
        self._at = at
        """Everything before it is decoded."""
        self._remaining = 0
        self._retried = 0
        """Bytes that were decoded in vain, since their element was not complete."""
        self._elements: list[Any] = []
        self.values: tuple[Any, ...] | None = None
        """The fields of the result; None if the caller has to decode it."""

    def end(self, data: bytes | bytearray) -> int | None:
        """The position behind the reply, or None while it is incomplete. Raises RemoteProtocolError."""
        if not self._begun:
            self._begin(data)
            self._begun = True
        if self._walker is not None:
            return self._walker.end(data)
        if len(data) - self._start > self._limit:
            raise RemoteProtocolError(f"the reply to {self._method.name} has more than {self._limit} bytes")
        with memoryview(data) as view:  # A slice of a bytearray would be copied twice.
            piece = bytes(view[self._at :])
        try:
            with collection_paused():
                at = self._decode(piece)
            self._at += at
            end = None if self._remaining else self._tail(piece[at:])
        except RecursionError:
            raise RemoteProtocolError(
                f"the result of {self._method.name} holds too many structs inside each other"
            ) from None
        if end is None:
            self._retried += len(piece) - at
            if self._retried > _RETRIED + len(data) - self._start:
                # Few bytes at a time, or an element of many pieces: a walker goes over each byte once.
                self._elements.clear()
                self._walker = BinaryWalker(self._start, self._limit)
                return self._walker.end(data)
        return end

    def incoming(self, head: bytes, body: bytes) -> Incoming:
        """The reply, from the bytes before and after the position `body`."""
        kind, name, seqid, _ = read_header(head, 0)
        return Incoming(kind, name, seqid, self._method, self.values, body, len(head) + len(body))

    def _begin(self, data: bytes | bytearray) -> None:
        """Finds the list: the bytes before its elements, and the reader of an element."""
        kind, name, _, start = read_header(data, self._start)
        self.body = start
        if kind == REPLY and name == self._method.name_bytes and self._method.returns is not None:
            at, returns = start + _FIELD, self._method.returns
            opened = bytes(data[start:at])
            if opened == bytes((STRUCT, 0, 0)) and returns.name in STRUCTS and old_layout(returns.name) is None:
                self._struct = STRUCTS[returns.name]
                field = _list_fields(returns.name).get(bytes(data[at : at + _FIELD]))
                if field is not None:
                    self._slot, returns, at = names(self._struct).index(field.name), field.type, at + _FIELD
            is_list = self._slot is not None or opened == bytes((LIST, 0, 0))
            if is_list and returns.name == "list" and wire_type(returns.args[0]) == STRUCT == data[at]:
                self._reader = Elements(returns.args[0].name, CODEC if self._method.reads_columns else _unread())
                self._remaining = unpack_u(data, at + 1)[0]
                self._head, self._at = bytes(data[start : at + 1]), at + 5
                return
        self._walker = BinaryWalker(self._start, self._limit)

    def _decode(self, piece: bytes) -> int:
        """Decodes the elements that are complete in the piece; returns the position behind them."""
        assert self._reader is not None
        elements, at = self._reader.read(piece, 0, self._remaining)
        self._elements += elements
        self._remaining -= len(elements)
        return at

    def _tail(self, rest: bytes) -> int | None:
        """Decodes what is around the list; returns None if that is not complete."""
        around = self._head + pack_i(0) + rest
        try:
            values, end = result_codec(self._method)[0](around, 0)
        except INCOMPLETE:
            return None
        if end > len(around):
            return None
        value: Any = tuple(self._elements)
        if self._struct is not None:
            within = list(values[0])
            within[self._slot or 0] = value
            value = new(self._struct, within)
        self.values = (value, *values[1:])
        return self._at + int(end) - len(self._head) - 4


def _unread() -> BinaryCompiler:
    from metastored.wire.replies.unread import UNREAD  # Few callers use it.

    return UNREAD


@cache
def _list_fields(struct: str) -> dict[bytes, Field]:
    """The fields of a struct that are lists of structs, by their headers."""
    return {
        CODEC.header(each): each
        for each in fields(STRUCTS[struct])
        if each.type.name == "list" and wire_type(each.type.args[0]) == STRUCT
    }
