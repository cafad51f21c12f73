"""Decodes a long message in binary while it arrives: the elements of its list of structs, piece by piece.

A stream without frames does not tell where a message ends. To find the end first and to decode then goes over each byte
twice, the second time all at once. Here the elements of one list are decoded as they arrive; everything around it is
decoded at the end, with an empty list in its place. Calls (`arriving_calls.py`) and replies (`replies/arriving.py`) say
where the list is, and how its elements are read. A message without such a list, or an unusual one, is walked over
(`BinaryWalker`) and decoded by the caller.

Pure: it never waits. It holds the elements that have arrived, and the bytes before the list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

from metastored.wire.codec.binary import INCOMPLETE, pack_i
from metastored.wire.codec.binary_protocol import BinaryWalker, read_header
from metastored.wire.codec.protocol import Incoming
from metastored.wire.methods import Method

FIELD: Final = 3
"""Bytes of a field's header: its type and its id."""
_IN_VAIN: Final = 1 << 20
"""Bytes of incomplete elements that may be decoded in vain, beside as many bytes as were received."""


class LeftToWalker(Exception):
    """The message is not decoded here."""


class ArrivingList(ABC):
    """A walker that has decoded the message when it has found its end: `values`."""

    def __init__(self, at: int, limit: int) -> None:
        self._start = at
        self._limit = limit
        self._begun = False
        self.body = at
        """Where the arguments or the result begin, behind the header of the message."""
        self.values: tuple[Any, ...] | None = None
        """The arguments, or the fields of the result; None if the caller has to decode them."""
        self._walker: BinaryWalker | None = None
        self._method: Method | None = None
        self._head = b""
        """The bytes from `body` up to the type of the list's elements."""
        self._at = at
        """Everything before it is decoded."""
        self._remaining = 0
        """How many elements have not arrived."""
        self._in_vain = 0
        self._elements: list[Any] = []

    def end(self, data: bytes | bytearray) -> int | None:
        """The position behind the message, or None while it is incomplete. Raises as `BinaryWalker`."""
        if self._walker is None:
            try:
                return self._decode(data)
            except LeftToWalker:
                self._elements.clear()
                self._walker = BinaryWalker(self._start, self._limit)
        return self._walker.end(data)

    def incoming(self, head: bytes, body: bytes) -> Incoming:
        """The message, from the bytes before and after the position `body`."""
        kind, name, seqid, _ = read_header(head, 0)
        return Incoming(kind, name, seqid, self._method, self.values, body, len(head) + len(body))

    def _decode(self, data: bytes | bytearray) -> int | None:
        """Decodes what has arrived, as far as it is complete; returns as `end`. Raises LeftToWalker."""
        if not self._begun:
            self._begin(data)
            self._begun = True
        if len(data) - self._start > self._limit:
            raise LeftToWalker
        with memoryview(data) as view:  # A slice of a bytearray would be copied twice.
            piece = bytes(view[self._at :])
        elements, at = self._read(piece, self._remaining)
        self._elements += elements
        self._remaining -= len(elements)
        self._at += at
        end = None if self._remaining else self._tail(piece[at:])
        if end is None:
            self._in_vain += len(piece) - at
            if self._in_vain > _IN_VAIN + len(data) - self._start:
                raise LeftToWalker  # Few bytes at a time, or an element of many pieces: a walker reads each byte once.
        return end

    def _tail(self, rest: bytes) -> int | None:
        """Decodes what is around the list; returns None if that is not complete."""
        around = self._head + pack_i(0) + rest
        try:
            values, end = self._read_around(around, rest)
        except INCOMPLETE:
            return None
        if end > len(around):
            return None
        self.values = self._with_list(values, tuple(self._elements))
        return self._at + end - len(self._head) - 4

    @abstractmethod
    def _begin(self, data: bytes | bytearray) -> None:
        """Finds the list, and sets `body`, `_method`, `_head`, `_at` and `_remaining`. Raises LeftToWalker."""

    @abstractmethod
    def _read(self, piece: bytes, most: int) -> tuple[list[Any], int]:
        """The elements that are complete at the beginning of a piece, and the position behind them."""

    @abstractmethod
    def _read_around(self, around: bytes, rest: bytes) -> tuple[tuple[Any, ...], int]:
        """The values with an empty list, and the position behind them. `rest` is what follows the list."""

    @abstractmethod
    def _with_list(self, values: tuple[Any, ...], elements: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values with the list."""
