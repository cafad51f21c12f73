"""Walks a message as its bytes arrive: the common part of the walkers of binary and compact.

A walker keeps a stack of open values: a struct is open until its STOP; a container is [kind, remaining count, turn,
types in turn]. Sizes are checked against the longest message, so that a wrong size is refused before its bytes arrive.
"""

from __future__ import annotations

import struct
from typing import Final, Self

from metastored.wire.codec.protocol import BadMessage, Incomplete
from metastored.wire.limits import MAX_MESSAGE

OPEN_STRUCT: Final = 0
OPEN_CONTAINER: Final = 1


class StackWalker:
    """Finds the end of one message in data that grows. `end` may be called again and again."""

    def __init__(self, at: int, limit: int = MAX_MESSAGE) -> None:
        self._start = at
        self._limit = limit
        """The longest message that is accepted."""
        self._at = at
        self._header = True
        self._name: tuple[bytes, int] = (b"", 0)
        self._stack: list[list[int]] = []
        self._tried = -1
        """The position where skipping a complete element was tried."""

    def of_value(self, kind: int) -> Self:
        """Walks over one value of this type instead of a message."""
        self._header = False
        self._stack = [[OPEN_CONTAINER, 1, 0, kind]]
        return self

    def _read_header(self, data: bytes | bytearray, at: int) -> tuple[int, bytes, int, int]:
        """(kind, name, seqid, position of the struct)."""
        raise NotImplementedError

    def _walk(self, data: bytes | bytearray) -> int | None:
        """Continues from `self._at`, and moves it only past complete values."""
        raise NotImplementedError

    def end(self, data: bytes | bytearray) -> int | None:
        try:
            if self._header:
                _, name, seqid, self._at = self._read_header(data, self._start)
                self._name = (name, seqid)
                self._header = False
                self._stack = [[OPEN_STRUCT]]
            end = self._walk(data)
        except (Incomplete, IndexError, struct.error):
            end = None
        if end is None and len(data) - self._start > self._limit:
            raise self._bad(f"a message of more than {self._limit} bytes")
        return end

    def _bad(self, message: str) -> BadMessage:
        return BadMessage(message, *self._name)

    def _open(self, top: list[int], count: int, at: int, *types: int) -> None:
        """A container begins inside `top`."""
        if at + count > self._start + self._limit:
            raise self._bad(f"a container of {count} elements does not fit in a message")
        self._done(top)
        self._stack.append([OPEN_CONTAINER, count * len(types), 0, *types])

    @staticmethod
    def _done(top: list[int]) -> None:
        """One element of the container on top has been skipped (or opened)."""
        if top[0] != OPEN_STRUCT:
            top[1] -= 1
            if len(top) == 5:
                top[2] ^= 1
