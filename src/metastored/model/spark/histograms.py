"""Spark's histograms as text: base64 of an LZ4 block stream over big-endian numbers. Pure.

The text is what Spark's HistogramSerializer reads and writes. The numbers of a histogram repeat many bytes, and the
text is a parameter of the table, which every reader of the table gets: so it is compressed, as Spark does it.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Final

from metastored.errors import ConversionError
from metastored.model.spark.values import Histogram, HistogramBin

MAGIC: Final = b"LZ4Block"
SEED: Final = 0x9747B28C
RAW, COMPRESSED = 0x16, 0x26
"""The tokens of a block with and without compression, of at most 64 KiB."""
BLOCK: Final = 1 << 16
_SHORTEST: Final = 4
"""The bytes of the shortest match in LZ4."""
_AFTER_MATCH, _AFTER_START = 5, 12
"""How many bytes of a block must follow a match, and its start."""
MAX_BYTES: Final = 1 << 24
_HEADER: Final = struct.Struct("<8sBiiI")
_MASK: Final = 0xFFFFFFFF


def histogram_to_text(histogram: Histogram) -> str:
    """The text of a histogram."""
    bins = histogram.bins
    count = len(bins)
    content = struct.pack(">di", histogram.height, count)
    content += struct.pack(f">{count}d", *(each.lo for each in bins))
    content += struct.pack(f">{count}d", *(each.hi for each in bins))
    content += struct.pack(f">{count}q", *(each.ndv for each in bins))
    content += struct.pack(">i", -1)
    blocks = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    stream = b"".join(map(_block, blocks))
    return base64.b64encode(stream + _HEADER.pack(MAGIC, RAW, 0, 0, 0)).decode("ascii")


def histogram_from_text(text: str) -> Histogram:
    """Reads a histogram that Spark wrote. Raises ConversionError if the text is not one."""
    try:
        content = _decompressed(base64.b64decode(text, validate=True))
        height, count = struct.unpack_from(">di", content)
        if not 0 <= count <= len(content) // 24:
            raise ConversionError(f"a histogram of {len(content)} bytes cannot have {count} bins")
        numbers = struct.unpack_from(f">{count}d{count}d{count}q", content, 12)
    except (binascii.Error, struct.error, IndexError) as error:
        raise ConversionError(f"not a histogram of Spark: {error}: {text[:40]!r}") from error
    bins = zip(numbers[:count], numbers[count : 2 * count], numbers[2 * count :], strict=True)
    return Histogram(height, tuple(HistogramBin(*each) for each in bins))


def _block(data: bytes) -> bytes:
    packed = _compressed(data)
    token, body = (COMPRESSED, packed) if len(packed) < len(data) else (RAW, data)
    return _HEADER.pack(MAGIC, token, len(body), len(data), _checksum(data)) + body


def _compressed(data: bytes) -> bytes:
    """One block of LZ4: each match is with the last place that has the same four bytes."""
    out, places = bytearray(), dict[bytes, int]()
    at = start = 0
    while at < len(data) - _AFTER_START:
        word = data[at : at + _SHORTEST]
        place = places.get(word)
        places[word] = at
        if place is None:
            at += 1
            continue
        end = at + _SHORTEST
        while end < len(data) - _AFTER_MATCH and data[end] == data[place + end - at]:
            end += 1
        out += _sequence(data[start:at], end - at - _SHORTEST) + struct.pack("<H", at - place)
        out += _more(end - at - _SHORTEST)
        at = start = end
    return bytes(out + _sequence(data[start:], 0))


def _sequence(literals: bytes, matched: int) -> bytes:
    """The token of a sequence and its literals."""
    return bytes([min(len(literals), 15) << 4 | min(matched, 15)]) + _more(len(literals)) + literals


def _more(length: int) -> bytes:
    """The rest of a length that does not fit into the four bits of a token."""
    if length < 15:
        return b""
    whole, rest = divmod(length - 15, 255)
    return b"\xff" * whole + bytes([rest])


def _decompressed(stream: bytes) -> bytes:
    content, at = bytearray(), 0
    while at < len(stream):
        magic, token, packed, length, checksum = _HEADER.unpack_from(stream, at)
        at += _HEADER.size
        if magic != MAGIC or packed < 0 or length < 0 or len(content) + length > MAX_BYTES:
            raise ConversionError("not a histogram of Spark: the stream has no valid block")
        if length == 0:
            break
        data = stream[at : at + packed]
        at += packed
        block = data if token & 0xF0 == 0x10 else _lz4(data, length)
        if len(block) != length or _checksum(block) != checksum:
            raise ConversionError("not a histogram of Spark: a block is damaged")
        content += block
    return bytes(content)


def _lz4(data: bytes, length: int) -> bytes:
    """Decompresses one block of LZ4."""
    content, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        literals, at = _length(data, at + 1, token >> 4)
        content += data[at : at + literals]
        at += literals
        if at >= len(data):
            break
        offset = data[at] | data[at + 1] << 8
        matched, at = _length(data, at + 2, token & 15)
        if not 0 < offset <= len(content) or len(content) + matched + 4 > length:
            raise ConversionError("not a histogram of Spark: a block is damaged")
        for _ in range(matched + 4):
            content.append(content[-offset])
    return bytes(content)


def _length(data: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            more = data[at]
            at += 1
            length += more
            if more != 255:
                break
    return length, at


def _checksum(data: bytes) -> int:
    """xxHash32 with the seed of Java's LZ4 block stream, of which it keeps 28 bits."""
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    at, size = 0, len(data)
    if size >= 16:
        lanes = [(SEED + p1 + p2) & _MASK, (SEED + p2) & _MASK, SEED, (SEED - p1) & _MASK]
        while at <= size - 16:
            for lane, word in enumerate(struct.unpack_from("<4I", data, at)):
                lanes[lane] = _rotated((lanes[lane] + word * p2) & _MASK, 13) * p1 & _MASK
            at += 16
        hashed = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    else:
        hashed = SEED + p5
    hashed = (hashed + size) & _MASK
    while at + 4 <= size:
        hashed = (hashed + struct.unpack_from("<I", data, at)[0] * p3) & _MASK
        hashed = _rotated(hashed, 17) * p4 & _MASK
        at += 4
    for each in data[at:]:
        hashed = _rotated((hashed + each * p5) & _MASK, 11) * p1 & _MASK
    hashed ^= hashed >> 15
    hashed = hashed * p2 & _MASK
    hashed ^= hashed >> 13
    hashed = hashed * p3 & _MASK
    return (hashed ^ hashed >> 16) & 0x0FFFFFFF


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> 32 - by) & _MASK
