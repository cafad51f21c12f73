"""The replies that are decoded while they arrive: lists of structs, and structs that begin with one.

So a client does not begin to work when the server has ended. Elements may have long lists of their own (`nested.py`).
Other replies are walked over and decoded by the caller.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from metastored.collection import collection_paused
from metastored.errors import RemoteProtocolError
from metastored.wire.codec.arriving import FIELD, ArrivingList, LeftToWalker
from metastored.wire.codec.binary import CODEC, BinaryCompiler, result_codec, unpack_u
from metastored.wire.codec.binary_protocol import read_header
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MAX_REPLY
from metastored.wire.methods import Method
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.replies.nested import Elements
from metastored.wire.structs import fields, names, new
from metastored.wire.types import LIST, REPLY, STRUCT, Field


class ArrivingResult(ArrivingList):
    """A walker over a reply."""

    def __init__(self, method: Method, at: int, limit: int = MAX_REPLY) -> None:
        super().__init__(at, limit)
        self._called = self._method = method
        self._reader: Elements | None = None
        self._slot: int | None = None
        self._struct: type | None = None

    def _decode(self, data: bytes | bytearray) -> int | None:
        if len(data) - self._start > self._limit:
            raise RemoteProtocolError(f"the reply to {self._called.name} has more than {self._limit} bytes")
        try:
            with collection_paused():
                return super()._decode(data)
        except RecursionError:
            raise RemoteProtocolError(
                f"the result of {self._called.name} holds too many structs inside each other"
            ) from None

    def _begin(self, data: bytes | bytearray) -> None:
        kind, name, _, start = read_header(data, self._start)
        self.body = start
        if kind == REPLY and name == self._called.name_bytes and self._called.returns is not None:
            at, returns = start + FIELD, self._called.returns
            opened = bytes(data[start:at])
            if opened == bytes((STRUCT, 0, 0)) and returns.name in STRUCTS and old_layout(returns.name) is None:
                self._struct = STRUCTS[returns.name]
                field = _list_fields(returns.name).get(bytes(data[at : at + FIELD]))
                if field is not None:
                    self._slot, returns, at = names(self._struct).index(field.name), field.type, at + FIELD
            is_list = self._slot is not None or opened == bytes((LIST, 0, 0))
            if is_list and returns.name == "list" and wire_type(returns.args[0]) == STRUCT == data[at]:
                self._reader = Elements(returns.args[0].name, CODEC if self._called.reads_columns else _unread())
                self._remaining = unpack_u(data, at + 1)[0]
                self._head, self._at = bytes(data[start : at + 1]), at + 5
                return
        raise LeftToWalker

    def _read(self, piece: bytes, most: int) -> tuple[list[Any], int]:
        assert self._reader is not None
        return self._reader.read(piece, 0, most)

    def _read_around(self, around: bytes, rest: bytes) -> tuple[tuple[Any, ...], int]:
        values, end = result_codec(self._called)[0](around, 0)
        return values, end

    def _with_list(self, values: tuple[Any, ...], elements: tuple[Any, ...]) -> tuple[Any, ...]:
        value: Any = elements
        if self._struct is not None:
            within = list(values[0])
            within[self._slot or 0] = value
            value = new(self._struct, within)
        return value, *values[1:]


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
