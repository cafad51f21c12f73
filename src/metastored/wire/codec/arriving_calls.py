"""Decodes a long call in binary while it arrives: the elements of its list of structs, piece by piece.

A stream without frames does not tell where a call ends. To find the end first and to decode then goes over each byte
twice, the second time all at once, while other connections wait. Here a list of structs that is an argument, or a field
of a struct that is one, is decoded element by element; everything around it is decoded at the end, with an empty list
in its place. The result is that of `BinaryProtocol.read_call`. All other calls, and all that is unusual or malformed,
are walked over (`BinaryWalker`) and decoded by the caller.

Pure: it never waits. It holds the elements that have arrived, and the bytes before the list.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from metastored.wire.codec.binary import INCOMPLETE, REQUESTS, pack_i, read_structs, request_codec, skip, unpack_u
from metastored.wire.codec.binary_protocol import BinaryWalker, read_header
from metastored.wire.codec.compiler import Malformed, Reader
from metastored.wire.codec.protocol import Incoming
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import BY_BYTES, Method
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.structs import fields, names, new
from metastored.wire.types import STOP, STRUCT, Field

LEAST_ELEMENT: Final = 128
"""Bytes that the elements of a piece must have on average. Values of shorter ones take many times their bytes, and are
decoded when the call is complete."""
_IN_VAIN: Final = 1 << 20
"""Bytes of incomplete elements that may be decoded in vain, beside as many bytes as were received."""
_FIELD: Final = 3
"""Bytes of a field's header: its type and its id."""


class _Unusual(Exception):
    """The call is left to the walker."""


class _List(NamedTuple):
    """Where the list is: an argument, or a field of the struct that is an argument."""

    headers: tuple[bytes, ...]
    """Of the argument, and of the field in it."""
    slots: tuple[int, ...]
    struct: type | None
    """The class of the argument, if the list is in it."""
    reader: Reader
    """Of an element."""


class ArrivingCall:
    """A walker that has decoded the arguments when it has found the end of the call: `values`."""

    def __init__(self, at: int, limit: int = MAX_MESSAGE) -> None:
        self._start = at
        self._limit = limit
        self.body = at
        """Where the arguments begin, behind the header of the message."""
        self.values: tuple[Any, ...] | None = None
        """The arguments; None if the caller has to decode them."""
        self._walker: BinaryWalker | None = None
        self._method: Method | None = None
        self._list: _List | None = None
        self._head = b""
        """The arguments up to the type of the list's elements."""
        self._at = at
        """Everything before it is decoded."""
        self._remaining = 0
        self._in_vain = 0
        self._elements: list[Any] = []

    def end(self, data: bytes | bytearray) -> int | None:
        """The position behind the call, or None while it is incomplete. Raises as `BinaryWalker`."""
        if self._walker is None:
            try:
                return self._decode(data)
            except (_Unusual, Malformed, RecursionError):
                self._elements.clear()
                self._walker = BinaryWalker(self._start, self._limit)
        return self._walker.end(data)

    def incoming(self, head: bytes, body: bytes) -> Incoming:
        """The call, from the bytes before and after the position `body`."""
        kind, name, seqid, _ = read_header(head, 0)
        return Incoming(kind, name, seqid, self._method, self.values, body, len(head) + len(body))

    def _decode(self, data: bytes | bytearray) -> int | None:
        found = self._list
        if found is None:
            try:
                found = self._begin(data)
            except INCOMPLETE:
                raise _Unusual from None
        if len(data) - self._start > self._limit:
            raise _Unusual
        with memoryview(data) as view:  # A slice of a bytearray would be copied twice.
            piece = bytes(view[self._at :])
        elements, at = read_structs(found.reader, piece, 0, self._remaining)
        if at < len(elements) * LEAST_ELEMENT:
            raise _Unusual
        self._elements += elements
        self._remaining -= len(elements)
        self._at += at
        end = None if self._remaining else self._tail(found, piece[at:])
        if end is None:
            self._in_vain += len(piece) - at
            if self._in_vain > _IN_VAIN + len(data) - self._start:
                raise _Unusual  # Few bytes at a time, or an element of many pieces: a walker goes over each byte once.
        return end

    def _begin(self, data: bytes | bytearray) -> _List:
        """Finds the list. Raises errors of INCOMPLETE if it is not among the first bytes."""
        _, name, _, start = read_header(data, self._start)
        method = BY_BYTES.get(name)
        if method is None:
            raise _Unusual
        known, opened, at = _lists(method), b"", start
        while data[at] != STOP:
            header = bytes(data[at : at + _FIELD])
            found = known.get((opened, header) if opened else (header,))
            if found is not None:
                at += _FIELD
                count = unpack_u(data, at + 1)[0]
                if data[at] != STRUCT or at + count > self._start + self._limit:
                    break
                self._method, self._list, self._remaining = method, found, count
                self.body, self._head, self._at = start, bytes(data[start : at + 1]), at + 5
                return found
            if not opened and any(path[0] == header for path in known):
                opened, at = header, at + _FIELD
            else:
                at = skip(data, at + _FIELD, header[0])
        raise _Unusual

    def _tail(self, found: _List, rest: bytes) -> int | None:
        """Decodes what is around the list; returns None if that is not complete."""
        assert self._method is not None
        around = self._head + pack_i(0) + rest
        try:
            values, end = request_codec(self._method)[0](around, 0)
            if end > len(around):
                return None
            _check_single(found, rest)
        except INCOMPLETE:
            return None
        args = list(values)
        if found.struct is None:
            args[found.slots[0]] = tuple(self._elements)
        else:
            within = list(args[found.slots[0]])
            within[found.slots[1]] = tuple(self._elements)
            args[found.slots[0]] = new(found.struct, within)
        self.values = tuple(args)
        return self._at + int(end) - len(self._head) - 4


def _check_single(found: _List, rest: bytes) -> None:
    """Raises _Unusual if a field that has the list, or is in it, occurs again behind it: then the last one counts."""
    at = 0
    for header in reversed(found.headers):
        while rest[at] != STOP:
            if rest.startswith(header, at):
                raise _Unusual
            at = skip(rest, at + _FIELD, rest[at])
        at += 1


@cache
def _lists(method: Method) -> dict[tuple[bytes, ...], _List]:
    """The lists of structs in the arguments of a method, by the headers of the fields that lead to them."""
    lists: dict[tuple[bytes, ...], _List] = {}
    for slot, argument in enumerate(method.args):
        header = REQUESTS.header(argument)
        if (reader := _element(argument)) is not None:
            lists[header,] = _List((header,), (slot,), None, reader)
            continue
        cls = STRUCTS.get(argument.type.name)
        if cls is None or old_layout(argument.type.name) is not None:
            continue
        for field in fields(cls):
            if (reader := _element(field)) is not None:
                path = header, REQUESTS.header(field)
                lists[path] = _List(path, (slot, names(cls).index(field.name)), cls, reader)
    return lists


def _element(field: Field) -> Reader | None:
    """The reader of the elements of a list of structs; None for other fields."""
    if field.type.name != "list" or wire_type(field.type.args[0]) != STRUCT:
        return None
    return REQUESTS.named(field.type.args[0].name)[0]
