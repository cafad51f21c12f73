"""A long result on its way through: it comes in pieces, and what is complete goes on, with other names where needed.

The lists of a result are passed on element by element: those in field 0, and those in the fields of a response struct
there. Everything else is held until it is complete, one value at a time. The bytes of a result therefore need not be
in memory together, and its end is found without a length in front of it.

Pure: bytes in, bytes out. Names are replaced by `splice.py`, whose walk goes over each complete value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from metastored.errors import RemoteProtocolError
from metastored.wire.codec.binary import INCOMPLETE, SkipMemo, skip, unpack_u
from metastored.wire.codec.binary_protocol import BinaryWalker
from metastored.wire.edit.splice import ElementsPlan, Node, OldPlan, Renames, StructPlan, Walk, method_plan
from metastored.wire.limits import MAX_MESSAGE
from metastored.wire.methods import Method
from metastored.wire.types import LIST, SET, STOP, STRUCT

_SAME: Final[Renames] = {"db": lambda name: name}
"""For a result that keeps its names: the walk of `splice.py` is faster over partitions than to skip them."""
_NOTHING: Final = StructPlan()
"""The plan of a struct in which nothing is renamed."""
_RETRIED: Final = 64 * 1024
"""Bytes up to which an incomplete value is tried again with each piece; over a longer one, a walker goes once."""


class PassingResult:
    """One result: `feed` it pieces until it has `ended`; `rest` has the bytes behind it."""

    def __init__(self, method: Method, renames: Renames = _SAME, most: int = MAX_MESSAGE) -> None:
        """`most`: the most bytes of one value that are held until the value is complete."""
        self._method = method
        self._most = most
        self._walk = Walk(b"", renames)
        self._memo = SkipMemo()
        self._at = 0
        """Everything before it is complete."""
        self._kind = STOP
        """The type of the incomplete value; STOP while less than that is known."""
        self._long: BinaryWalker | None = None
        """Finds the end of a long value that is incomplete."""
        self._steps = self._struct(method_plan(method, "result", frozenset(renames)) or _NOTHING, 0)
        self.ended = False
        self.rest = b""

    def feed(self, data: bytes) -> bytes:
        """The bytes of the new result that are complete now. Raises RemoteProtocolError if they are not a result."""
        walk = self._walk
        walk.data = walk.data[self._at :] + data if self._at < len(walk.data) else data
        self._at = 0
        if self._long is not None:
            if self._long.end(walk.data) is None:
                return b""
            self._long = None
        walk.edits.clear()
        try:
            next(self._steps)
        except StopIteration:
            self.ended, self.rest = True, walk.data[self._at :]
        else:
            held = len(walk.data) - self._at
            if held > self._most:
                raise RemoteProtocolError(f"a value in the result of {self._method.name} has more than {held} bytes")
            if held > _RETRIED and self._kind != STOP:
                self._long = BinaryWalker(0, self._most).of_value(self._kind)
        if not walk.edits:
            return walk.data if self._at == len(walk.data) else walk.data[: self._at]
        return b"".join(walk.pieces(self._at))

    # Each yields when more bytes are needed, and moves `_at` only behind complete values.

    def _struct(self, plan: StructPlan, depth: int) -> Iterator[None]:
        """A struct whose fields are passed on one by one: the result itself, and a response in it."""
        walk = self._walk
        while True:
            while self._at >= len(walk.data) or (walk.data[self._at] != STOP and len(walk.data) - self._at < 3):
                yield
            kind = walk.data[self._at]
            if kind == STOP:
                self._at += 1
                return
            node = plan.fields.get(walk.data[self._at : self._at + 3])
            self._at += 3
            if kind in (LIST, SET) and (node is None or type(node) is ElementsPlan):
                yield from self._list(None if node is None else node.element, depth + 1)
            elif kind == STRUCT and depth == 0 and (node is None or _has_one_layout(node)):
                yield from self._struct(node if isinstance(node, StructPlan) else _NOTHING, depth + 1)
            else:
                assert not isinstance(node, OldPlan)  # A result and its response have one layout.
                yield from self._values(node, kind, 1, depth + 1)

    def _list(self, element: Node | None, depth: int) -> Iterator[None]:
        walk = self._walk
        while len(walk.data) - self._at < 5:
            yield
        kind, count = walk.data[self._at], unpack_u(walk.data, self._at + 1)[0]
        self._at += 5
        yield from self._values(element, kind, count, depth + 1)

    def _values(self, node: Node | None, kind: int, count: int, depth: int) -> Iterator[None]:
        """So many values of one kind, one after the other."""
        walk, memo = self._walk, self._memo
        while count:
            data, at, edits = walk.data, self._at, 0
            try:
                while count:
                    edits = len(walk.edits)
                    end = skip(data, at, kind, depth, memo) if node is None else walk.value(node, kind, at, depth)
                    if end > len(data):
                        raise IndexError
                    at = end
                    count -= 1
            except INCOMPLETE:
                del walk.edits[edits:]
            self._at = at
            if count:
                self._kind = kind
                yield
                self._kind = STOP


def _has_one_layout(node: object) -> bool:
    """Whether the fields of a struct can be passed on before all of it is there."""
    return (
        type(node) is StructPlan
        and not node.repeats
        and not any(type(each) is OldPlan for each in node.fields.values())
    )
