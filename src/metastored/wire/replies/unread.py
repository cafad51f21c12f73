"""Replies in which the columns of tables stay bytes until somebody reads them.

A wide table is mostly columns, and a reader that has the schema from elsewhere needs few of them: Spark stores its own
schema in a table's parameters. `UNREAD` is a codec that reads a storage descriptor's columns into `UnreadColumns`,
which has their bytes. The bytes were checked: they are complete, and each column consists of a name, a type and perhaps
a comment of less than 64 bytes, in this order. All other columns are decoded at once, as everywhere else. Only callers
that ask for this form get it: see `Method.with_unread_columns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from metastored.wire.codec import binary
from metastored.wire.codec.binary import BinaryCompiler, unpack_u
from metastored.wire.generated.common import FieldSchema, StorageDescriptor
from metastored.wire.types import STRUCT, Field

LEAST: Final = 8
"""Fewer columns are decoded at once."""
_HEAD: Final = 5
"""Bytes of a list before its elements: their type and their number."""
_MANY: Final = 32
_LONGEST: Final = 63
"""Bytes of a name, a type or a comment; a longer one is found by reading it."""
_SD_HEAD: Final = b"\x0f\x00\x01"


_COLUMN: Final = binary.struct_codec(FieldSchema)[0]


class UnreadColumns:
    """The columns of a storage descriptor as bytes: a list of FieldSchemas in Thrift binary."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        count: int = unpack_u(self._data, 1)[0]
        return count

    def __repr__(self) -> str:
        return f"UnreadColumns({len(self)} columns)"

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self._data)

    def read(self) -> tuple[FieldSchema, ...]:
        """The columns."""
        return binary.decode(StorageDescriptor, _SD_HEAD + self._data + b"\x00").cols or ()

    def has_only(self, types: frozenset[str]) -> bool:
        """Whether each column has one of these types; False also if that cannot be told without reading them."""
        return _other_type(types).search(self._data) is None


def unread_columns(sd: StorageDescriptor | None) -> UnreadColumns | None:
    """The columns of a storage descriptor if they were not read."""
    columns: object = None if sd is None else sd.cols
    return columns if isinstance(columns, UnreadColumns) else None


class UnreadCompiler(BinaryCompiler):
    """Codecs that leave columns unread."""

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        value = super().field_value(name, field, target, pad)
        if (name, field.name) != ("StorageDescriptor", "cols"):
            return value
        inner = "".join(f"    {line}\n" for line in value.splitlines())
        return f"{pad}u = unread(b, p)\n{pad}if u is not None:\n{pad}    {target} = u; p += u.size\n{pad}else:\n{inner}"


def _unread(data: bytes, at: int) -> UnreadColumns | None:
    """The list of columns at this position; None if it is short or contains an unusual column.

    Raises one of INCOMPLETE if the data ends inside the list.
    """
    if data[at] != STRUCT:
        return None
    count = unpack_u(data, at + 1)[0]
    if count < LEAST or count > len(data):
        return None
    end = at + _HEAD
    for number in (_MANY, 1):
        match = _columns(number).match
        while count >= number and (matched := match(data, end)) is not None:
            end = matched.end()
            count -= number
    if not count:
        return UnreadColumns(data[at:end])
    # An unusual column, or the end of the data: then the columns before it are not decoded in vain.
    if _COLUMN(data, end)[1] > len(data):
        raise IndexError
    return None


@cache
def _columns(count: int) -> re.Pattern[bytes]:
    """Matches so many columns. The length of a text is checked by one alternative for each possible length."""
    lengths = b"|".join(b"%s.{%d}" % (re.escape(bytes((length,))), length) for length in range(_LONGEST + 1))
    text = rb"\x00\x00\x00(?:%s)" % lengths
    column = rb"\x0b\x00\x01%s\x0b\x00\x02%s(?:\x0b\x00\x03%s)?+\x00" % (text, text, text)
    return re.compile(rb"(?:%s){%d}+" % (column, count), re.DOTALL)


@cache
def _other_type(types: Iterable[str]) -> re.Pattern[bytes]:
    """Finds the header of a type that is not followed by one of these types. A name may contain the same bytes."""
    encoded = sorted(each.encode() for each in types)
    known = b"|".join(re.escape(bytes((len(each),)) + each) for each in encoded)
    return re.compile(rb"\x0b\x00\x02(?!\x00\x00\x00(?:%s)(?:\x00|\x0b\x00\x03))" % known)


UNREAD: Final = UnreadCompiler({**binary.NAMESPACE, "unread": _unread})
