"""The sizes in an Arrow IPC stream, before Arrow reads it: how long its buffers are without compression. Pure.

A few kilobytes of compressed buffers can stand for gigabytes, and Arrow takes the memory that each buffer asks for. So
the messages are walked here: each is a flatbuffer with a body after it, and a compressed buffer begins with its length.
Nothing else of a stream is read or checked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["MAX_BYTES", "MAX_ROWS", "check_sizes"]

MAX_BYTES: Final = 512 * 1024 * 1024
"""The most bytes of all buffers without compression."""
MAX_ROWS: Final = 1 << 27
"""The most rows: columns of nulls have no buffers, so a stream of a few bytes could have any number of rows."""

CONTINUES: Final = 0xFFFFFFFF
DICTIONARY, RECORDS = 2, 3
"""The messages with buffers; a dictionary has a batch of records in it."""
STORED: Final = -1
"""The length of a buffer that was left uncompressed."""


def check_sizes(data: bytes) -> None:
    """Raises ValueError if the buffers or the rows are too many, or if the bytes are not a stream."""
    try:
        rows = size = 0
        for batch in _batches(data):
            rows += batch.rows
            size += sum(_sizes(data, batch))
            if rows > MAX_ROWS:
                raise ValueError(f"it has more than {MAX_ROWS} rows: send fewer at once")
            if size > MAX_BYTES:
                raise ValueError(f"its buffers have more than {MAX_BYTES} bytes without compression: send fewer rows")
    except (struct.error, IndexError):
        raise ValueError("a message is cut off") from None


class _Batch(NamedTuple):
    """A batch of records in a stream."""

    rows: int
    buffers: tuple[tuple[int, int], ...]
    """The positions in the stream, and the lengths."""
    compressed: bool


def _batches(data: bytes) -> Iterator[_Batch]:
    at = 0
    while at + 4 <= len(data):
        length = _number(data, "<I", at)
        at += 4
        if length == CONTINUES:
            length = _number(data, "<I", at)
            at += 4
        if length == 0:
            return  # The end of the stream.
        message = _Table.root(data, at)
        body = at + length
        if body > len(data):
            raise ValueError("a message is cut off")
        kind, header = message.scalar(1, "<B"), message.table(2)
        if kind == DICTIONARY and header is not None:
            header = header.table(1)
        if kind in (DICTIONARY, RECORDS) and header is not None:
            buffers = tuple((body + offset, size) for offset, size in header.pairs(2))
            yield _Batch(header.scalar(0, "<q"), buffers, header.table(3) is not None)
        at = body + _length(message.scalar(3, "<q"), data)


def _sizes(data: bytes, batch: _Batch) -> Iterator[int]:
    if batch.rows < 0:
        raise ValueError("a batch has fewer than 0 rows")
    for at, length in batch.buffers:
        size = length
        if batch.compressed and length:
            size = _number(data, "<q", at)
            size = length if size == STORED else size
        if size < 0:
            raise ValueError("a buffer has fewer than 0 bytes")
        yield size


class _Table:
    """A table of a flatbuffer: its fields are found by a list of their positions."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - _number(data, "<i", at)
        self._size = _number(data, "<H", self._fields)

    @classmethod
    def root(cls, data: bytes, at: int) -> _Table:
        return cls(data, at + _number(data, "<I", at))

    def _position(self, field: int) -> int | None:
        """The position of a field; None for one that is not there, and has its default."""
        slot = 4 + 2 * field
        offset = _number(self._data, "<H", self._fields + slot) if slot + 2 <= self._size else 0
        return self._at + offset if offset else None

    def scalar(self, field: int, format: str) -> int:
        at = self._position(field)
        return 0 if at is None else _number(self._data, format, at)

    def table(self, field: int) -> _Table | None:
        at = self._position(field)
        return None if at is None else _Table(self._data, at + _number(self._data, "<I", at))

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """A list of pairs of 64-bit numbers."""
        at = self._position(field)
        if at is None:
            return
        at += _number(self._data, "<I", at)
        count = _number(self._data, "<I", at)
        if at + 4 + 16 * count > len(self._data):
            raise ValueError("a list of buffers is cut off")
        # In a message, numbers of 64 bits begin at a multiple of 8; the list's length is right before them.
        yield from struct.iter_unpack("<qq", self._data[at + 4 : at + 4 + 16 * count])


def _number(data: bytes, format: str, at: int) -> int:
    if at < 0:
        raise ValueError("a position is before the beginning")
    number: int = struct.unpack_from(format, data, at)[0]
    return number


def _length(value: int, data: bytes) -> int:
    if not 0 <= value <= len(data):
        raise ValueError("a message is cut off")
    return value
