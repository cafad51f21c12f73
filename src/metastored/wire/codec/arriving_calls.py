"""The calls that are decoded while they arrive: those with a list of structs, such as `add_partitions`.

The list is an argument, or a field of a struct that is one. The result is that of `BinaryProtocol.read_call`. All other
calls, and all that is unusual or malformed, are walked over and decoded by the caller.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from metastored.wire.codec.arriving import FIELD, ArrivingList, LeftToWalker
from metastored.wire.codec.binary import INCOMPLETE, REQUESTS, read_structs, request_codec, skip, unpack_u
from metastored.wire.codec.binary_protocol import read_header
from metastored.wire.codec.compiler import Malformed, Reader
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import BY_BYTES, Method
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.structs import fields, names, new
from metastored.wire.types import STOP, STRUCT, Field

LEAST_ELEMENT: Final = 128
"""Bytes that the elements of a piece must have on average. Values of shorter ones take many times their bytes, and are
decoded when the call is complete."""


class _List(NamedTuple):
    """Where the list is: an argument, or a field of the struct that is an argument."""

    headers: tuple[bytes, ...]
    """Of the argument, and of the field in it."""
    slots: tuple[int, ...]
    struct: type | None
    """The class of the argument, if the list is in it."""
    reader: Reader
    """Of an element."""


class ArrivingCall(ArrivingList):
    """A walker over a call."""

    def __init__(self, at: int, limit: int = MAX_MESSAGE) -> None:
        super().__init__(at, limit)
        self._list: _List | None = None

    def _decode(self, data: bytes | bytearray) -> int | None:
        try:
            return super()._decode(data)
        except (Malformed, RecursionError):
            raise LeftToWalker from None

    def _begin(self, data: bytes | bytearray) -> None:
        try:
            self._find(data)
        except INCOMPLETE:
            raise LeftToWalker from None  # The list is not among the first bytes.

    def _find(self, data: bytes | bytearray) -> None:
        _, name, _, start = read_header(data, self._start)
        method = BY_BYTES.get(name)
        if method is None:
            raise LeftToWalker
        known, opened, at = _lists(method), b"", start
        while data[at] != STOP:
            header = bytes(data[at : at + FIELD])
            found = known.get((opened, header) if opened else (header,))
            if found is not None:
                at += FIELD
                count = unpack_u(data, at + 1)[0]
                if data[at] != STRUCT or at + count > self._start + self._limit:
                    break
                self._method, self._list, self._remaining = method, found, count
                self.body, self._head, self._at = start, bytes(data[start : at + 1]), at + 5
                return
            if not opened and any(path[0] == header for path in known):
                opened, at = header, at + FIELD
            else:
                at = skip(data, at + FIELD, header[0])
        raise LeftToWalker

    def _read(self, piece: bytes, most: int) -> tuple[list[Any], int]:
        assert self._list is not None
        elements, at = read_structs(self._list.reader, piece, 0, most)
        if at < len(elements) * LEAST_ELEMENT:
            raise LeftToWalker
        return elements, at

    def _read_around(self, around: bytes, rest: bytes) -> tuple[tuple[Any, ...], int]:
        assert self._method is not None and self._list is not None
        values, end = request_codec(self._method)[0](around, 0)
        if end <= len(around):
            _check_single(self._list, rest)
        return values, end

    def _with_list(self, values: tuple[Any, ...], elements: tuple[Any, ...]) -> tuple[Any, ...]:
        assert self._list is not None
        args, slots = list(values), self._list.slots
        if self._list.struct is None:
            args[slots[0]] = elements
        else:
            within = list(args[slots[0]])
            within[slots[1]] = elements
            args[slots[0]] = new(self._list.struct, within)
        return tuple(args)


def _check_single(found: _List, rest: bytes) -> None:
    """Raises LeftToWalker if a field that has the list, or is in it, occurs again behind it: then the last counts."""
    at = 0
    for header in reversed(found.headers):
        while rest[at] != STOP:
            if rest.startswith(header, at):
                raise LeftToWalker
            at = skip(rest, at + FIELD, rest[at])
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
