"""Decodes the elements of an arriving list one by one, also elements that have a long list of their own.

A PartitionSpec has all partitions that share a storage descriptor: it may be as long as the whole reply. Its list is
decoded while it arrives; what is around the list is decoded at its end, with an empty list in its place. Which structs
have such lists is in `plan.LONG_LISTS`. Pure: it never waits, and it holds no bytes but those before the list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from metastored.wire.codec.arriving import FIELD
from metastored.wire.codec.binary import CODEC, BinaryCompiler, pack_i, read_structs, unpack_u
from metastored.wire.generated import STRUCTS
from metastored.wire.methods.plan import LONG_LISTS, wire_type
from metastored.wire.replies.members import read_members
from metastored.wire.structs import fields, names, new
from metastored.wire.types import STRING, STRUCT

_BULK = {"PartitionWithoutSD": (read_members,)}
"""Faster readers of many structs, which may read none."""


class _Path(NamedTuple):
    """Where a struct has a list: in the first field of the struct in one of its fields."""

    opened: bytes
    """The headers of the two fields, and the type of the list's elements."""
    readers: tuple[Callable[[bytes, int, int], tuple[list[Any], int]], ...]
    """They read elements of the list, one after the other: each begins where the one before it ended."""
    outer: int
    inner: int
    struct: type


class Elements:
    """Reads structs of one type from pieces: `read` is called again with the bytes that it did not use."""

    def __init__(self, struct: str, codec: BinaryCompiler = CODEC) -> None:
        self._reader = codec.named(struct)[0]
        self._paths = _paths(struct)
        self._path: _Path | None = None
        """Of the list that is being read."""
        self._head = b""
        self._remaining = 0
        self._list: list[Any] = []

    def read(self, piece: bytes, at: int, most: int) -> tuple[list[Any], int]:
        """The structs that end in the piece, at most so many, and the position behind what was read."""
        items: list[Any] = []
        while len(items) < most:
            if self._paths and self._path is None:
                at = self._opened(piece, at)
            if self._path is None:
                structs, at = read_structs(self._reader, piece, at, 1 if self._paths else most)
            else:
                structs, at = self._read_list(self._path, piece, at)
            if not structs:
                break
            items += structs
        return items, at

    def _opened(self, piece: bytes, at: int) -> int:
        """Finds the list of the struct that begins here; returns the position of its first element, or `at`."""
        start, end = at, len(piece)
        while at + FIELD + 4 < end:
            path = self._paths.get(piece[at : at + FIELD])
            if path is not None:
                first = at + len(path.opened) + 4
                if first <= end and piece.startswith(path.opened, at):
                    self._path, self._head = path, piece[start : first - 4]
                    self._remaining = unpack_u(piece, first - 4)[0]
                    return first
                break
            if piece[at] != STRING:
                break
            at += FIELD + 4 + unpack_u(piece, at + FIELD)[0]
        return start

    def _read_list(self, path: _Path, piece: bytes, at: int) -> tuple[list[Any], int]:
        for read in path.readers:
            elements, at = read(piece, at, self._remaining)
            self._list += elements
            self._remaining -= len(elements)
        if self._remaining:
            return [], at
        around = self._head + pack_i(0) + piece[at:]
        structs, end = read_structs(self._reader, around, 0, 1)
        if not structs:
            return [], at
        outer = list(structs[0])
        inner = list(outer[path.outer])
        inner[path.inner] = tuple(self._list)
        outer[path.outer] = new(path.struct, inner)
        self._path, self._list = None, []
        return [new(type(structs[0]), outer)], at + end - len(self._head) - 4


@cache
def _paths(struct: str) -> dict[bytes, _Path]:
    """The lists that are read in pieces, by the header of the field they are in."""
    paths = {}
    for outer, inner in LONG_LISTS.get(struct, ()):
        field = next(each for each in fields(STRUCTS[struct]) if each.name == outer)
        cls = STRUCTS[field.type.name]
        within = next(each for each in fields(cls) if each.name == inner)
        element = within.type.args[0]
        assert wire_type(element) == STRUCT
        header = CODEC.header(field)
        paths[header] = _Path(
            header + CODEC.header(within) + bytes((STRUCT,)),
            (*_BULK.get(element.name, ()), partial(read_structs, CODEC.named(element.name)[0])),
            names(STRUCTS[struct]).index(outer),
            names(cls).index(inner),
            cls,
        )
    return paths
