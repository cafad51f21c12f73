"""The tail of an ORC file: its statistics and user metadata, read from bytes and changed in bytes. Pure.

    [stripes][metadata: statistics of stripes][footer][postscript][length of the postscript, one byte]

Spark's ORC writer cannot write user metadata, and Hive 3 needs some in the files of transactional tables. Entries of
the footer's field 5 are repeated, so more of them are appended to the footer and only the tail is written again. No row
is decoded here. Compressions other than zlib are decompressed by pyarrow; without it such a tail cannot be read.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from metastored.hive.orc_messages import (
    OrcError,
    as_map,
    bytes_field,
    damage,
    fields_of,
    number_field,
    read_varint,
    signed,
)

END: Final = 16 * 1024
"""The number of bytes at the end of a file that most tails fit in."""
MAGIC: Final = b"ORC"

_NONE, _ZLIB = 0, 1
_CODECS: Final = {2: "snappy", 4: "lz4_raw", 5: "zstd"}
OLD_COMPRESSIONS: Final = frozenset({_NONE, _ZLIB, 2, 3, 4})
"""The compressions that all versions of Hive read: none, zlib, snappy, LZO, LZ4. Hive 3.1 cannot read zstd (5)."""
_HEADER: Final = 3  # Each compressed chunk begins with its length and a flag for "not compressed".
_BLOCK: Final = 256 * 1024


class Range(NamedTuple):
    """The lowest and the highest value of a column of integers."""

    low: int
    high: int


class Stripe(NamedTuple):
    """A stripe of a file: its rows, and the ranges of its columns by column id."""

    rows: int
    ranges: tuple[Range | None, ...] = ()


class Tail(NamedTuple):
    """What the tail of a file says about it."""

    rows: int
    fields: tuple[str, ...]
    """The names of the fields of the root, in their order."""
    ranges: tuple[Range | None, ...]
    """The ranges of integers, by column id: the root is 0, and its fields follow in depth-first order."""
    stripes: tuple[Stripe, ...]
    metadata: Mapping[str, bytes]


class Sections(NamedTuple):
    """The parts of a tail as they are stored."""

    metadata: bytes
    footer: bytes
    postscript: bytes
    compression: int
    block: int


def tail_length(end: bytes) -> int:
    """The number of bytes of the tail, from the last bytes of a file. Raises OrcError."""
    fields = _postscript(end)
    return int(fields.get(5, 0)) + int(fields.get(1, 0)) + end[-1] + 1


def compression(end: bytes) -> int:
    """The number of the compression of a file, from its last bytes. Raises OrcError."""
    return int(_postscript(end).get(2, _NONE))


def read_tail(end: bytes) -> Tail:
    """The tail, from the last bytes of a file, at least `tail_length` of them. Raises OrcError."""
    with damage():
        return _read_tail(sections_of(end))


def _read_tail(sections: Sections) -> Tail:
    rows, stripes, statistics, metadata, types = 0, [], [], {}, []
    for number, value in fields_of(plain(sections.footer, sections)):
        match number:
            case 3:
                stripes.append(int(as_map(value).get(5, 0)))
            case 4:
                types.append(value)
            case 5:
                item = as_map(value)
                metadata[bytes(item.get(1, b"")).decode()] = bytes(item.get(2, b""))
            case 6:
                rows = int(value)
            case 7:
                statistics.append(_range(value))
    per_stripe = [
        tuple(_range(each) for field, each in fields_of(value) if field == 1)
        for number, value in fields_of(plain(sections.metadata, sections))
        if number == 1
    ]
    ranges = per_stripe if len(per_stripe) == len(stripes) else [()] * len(stripes)
    return Tail(
        rows=rows,
        fields=tuple(value.decode() for number, value in fields_of(types[0]) if number == 3) if types else (),
        ranges=tuple(statistics),
        stripes=tuple(Stripe(count, each) for count, each in zip(stripes, ranges, strict=True)),
        metadata=metadata,
    )


def with_metadata(end: bytes, metadata: Mapping[str, bytes]) -> tuple[int, bytes]:
    """Adds user metadata. Returns how many bytes are cut from the end of the file, and the bytes that replace them."""
    sections = sections_of(end)
    footer, postscript = _extended(sections, metadata)
    replaced = len(sections.footer) + len(sections.postscript) + 1
    return replaced, footer + postscript


def appended_metadata(end: bytes, metadata: Mapping[str, bytes]) -> bytes:
    """Adds user metadata where a file can only be appended to: returns the bytes of a second, complete tail."""
    sections = sections_of(end)
    footer, postscript = _extended(sections, metadata)
    return sections.metadata + footer + postscript


def _extended(sections: Sections, metadata: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    footer = sections.footer + stored(metadata_fields(metadata), sections)
    return footer, new_postscript(sections, {1: len(footer)})


def metadata_fields(metadata: Mapping[str, bytes]) -> bytes:
    """User metadata, as it is in a footer."""
    items = (bytes_field(1, key.encode()) + bytes_field(2, value) for key, value in metadata.items())
    return b"".join(bytes_field(5, each) for each in items)


def stored(message: bytes, sections: Sections) -> bytes:
    """A part of a section as it is stored in the file of a tail: in chunks that are not compressed."""
    if sections.compression == _NONE:
        return message
    chunks = (message[at : at + sections.block] for at in range(0, len(message), sections.block))
    return b"".join((len(each) << 1 | 1).to_bytes(_HEADER, "little") + each for each in chunks)


def new_postscript(sections: Sections, numbers: Mapping[int, int]) -> bytes:
    """The postscript of a tail with other numbers in some of its fields, and its length."""
    fields = [(number, numbers.get(number, value)) for number, value in fields_of(sections.postscript)]
    postscript = b"".join(
        bytes_field(number, value) if isinstance(value, bytes) else number_field(number, value)
        for number, value in fields
    )
    return postscript + bytes([len(postscript)])


def _postscript(end: bytes) -> dict[int, Any]:
    size = end[-1] if end else 0
    fields = as_map(end[-1 - size : -1]) if 0 < size < len(end) else {}
    if fields.get(8000) != MAGIC:
        raise OrcError("this is not the end of an ORC file")
    return fields


def sections_of(end: bytes) -> Sections:
    """The parts of a tail, from the last bytes of a file. Raises OrcError."""
    fields = _postscript(end)
    if tail_length(end) > len(end):
        raise OrcError(f"the tail has {tail_length(end)} bytes, and {len(end)} were read")
    after_footer = len(end) - 1 - end[-1]
    footer = after_footer - int(fields.get(1, 0))
    metadata = footer - int(fields.get(5, 0))
    return Sections(
        end[metadata:footer], end[footer:after_footer], end[after_footer:-1],
        int(fields.get(2, _NONE)), int(fields.get(3, _BLOCK)),
    )  # fmt: skip


def plain(section: bytes, sections: Sections) -> bytes:
    """A section of a tail without its compression. Raises OrcError."""
    if sections.compression == _NONE:
        return section
    plain, at = [], 0
    while at < len(section):
        header = int.from_bytes(section[at : at + _HEADER], "little")
        chunk = section[at + _HEADER : at + _HEADER + (header >> 1)]
        at += _HEADER + (header >> 1)
        plain.append(chunk if header & 1 else _decompressed(chunk, sections.compression, sections.block))
    return b"".join(plain)


def _decompressed(chunk: bytes, compression: int, block: int) -> bytes:
    if compression == _ZLIB:
        return zlib.decompress(chunk, wbits=-15)
    name = _CODECS.get(compression)
    if name is None:
        raise OrcError(f"compression {compression} is not supported")
    try:
        import pyarrow
    except ImportError:
        raise OrcError(f"a tail that is compressed with {name} needs pyarrow") from None
    if name == "zstd":
        with pyarrow.input_stream(pyarrow.BufferReader(chunk), compression=name) as stream:
            return bytes(stream.read())
    size = _snappy_length(chunk) if name == "snappy" else block
    return bytes(pyarrow.Codec(name).decompress(chunk, decompressed_size=size, asbytes=True))


def _snappy_length(chunk: bytes) -> int:
    return read_varint(chunk, 0)[0]


def _range(statistics: bytes) -> Range | None:
    """The range in a ColumnStatistics; None for columns of other types, and for columns without values."""
    numbers = as_map(as_map(statistics).get(2, b""))
    if 1 not in numbers or 2 not in numbers:
        return None
    return Range(signed(numbers[1]), signed(numbers[2]))
