"""The tail of an ORC file that is made of the stripes of several files, one after the other. Pure.

    file 1  [stripes][tail]
    file 2  [stripes][tail]     ->   [stripes of 1][stripes of 2][new tail]

A stripe has no position of its own in it, so its bytes are copied as they are and only its offset changes. No row is
decoded, and no stripe: the files must have been written with the same columns and the same compression.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from metastored.hive.orc import Sections, metadata_fields, new_postscript, plain, sections_of, stored, tail_length
from metastored.hive.orc_messages import (
    OrcError,
    as_map,
    bytes_field,
    damage,
    double_field,
    fields_of,
    number_field,
    read_varint,
    signed,
    unsigned,
    varint,
)

_CONTENT, _STRIPES, _TYPES, _METADATA, _ROWS, _STATISTICS, _ENCRYPTION = 2, 3, 4, 5, 6, 7, 10
"""The fields of a footer."""
_INT64: Final = range(-(2**63), 2**63)


class Concatenation(NamedTuple):
    """How files become one: so many bytes from the start of each, and then the tail."""

    bodies: tuple[int, ...]
    tail: bytes


def concatenation(files: Sequence[tuple[int, bytes]], metadata: Mapping[str, bytes]) -> Concatenation:
    """How files of these sizes and ends become one, with this user metadata. Raises OrcError if they cannot."""
    with damage():
        return _concatenation(files, metadata)


def _concatenation(files: Sequence[tuple[int, bytes]], metadata: Mapping[str, bytes]) -> Concatenation:
    sections = [sections_of(end) for _, end in files]
    footers = [list(fields_of(plain(each.footer, each))) for each in sections]
    _check(sections, footers)
    bodies = tuple(size - tail_length(end) for size, end in files)
    starts = [sum(bodies[:at]) for at in range(len(bodies))]
    stripes = b"".join(
        bytes_field(_STRIPES, _moved(value, start))
        for footer, start in zip(footers, starts, strict=True)
        for number, value in footer
        if number == _STRIPES
    )
    columns = zip(*([value for number, value in each if number == _STATISTICS] for each in footers), strict=True)
    statistics = b"".join(bytes_field(_STATISTICS, _merged(each)) for each in columns)
    footer = stripes + metadata_fields(metadata) + statistics
    for number, value in footers[0]:
        if number == _CONTENT:
            value = sum(bodies) - dict(footers[0]).get(1, 0)
        elif number == _ROWS:
            value = sum(int(dict(each).get(_ROWS, 0)) for each in footers)
        elif number in (_STRIPES, _METADATA, _STATISTICS):
            continue
        footer += bytes_field(number, value) if isinstance(value, bytes) else number_field(number, value)
    kept = stored(footer, sections[0])
    of_stripes = b"".join(each.metadata for each in sections)  # A repeated field, in chunks of their own.
    postscript = new_postscript(sections[0], {1: len(kept), 5: len(of_stripes)})
    return Concatenation(bodies, of_stripes + kept + postscript)


def _check(sections: Sequence[Sections], footers: Sequence[Sequence[tuple[int, Any]]]) -> None:
    first = sections[0]
    for each in sections:
        if (each.compression, each.block) != (first.compression, first.block):
            raise OrcError("the files are not compressed in the same way")
    kinds = [[field for field in each if field[0] in (_TYPES, _ENCRYPTION)] for each in footers]
    if any(each != kinds[0] for each in kinds):
        raise OrcError("the files have different columns")
    if any(number == _ENCRYPTION for number, _ in kinds[0]):
        raise OrcError("the files are encrypted")


def _moved(stripe: bytes, by: int) -> bytes:
    """A StripeInformation with another offset."""
    fields = as_map(stripe) | {1: int(as_map(stripe).get(1, 0)) + by}
    return b"".join(
        bytes_field(number, value) if isinstance(value, bytes) else number_field(number, value)
        for number, value in fields.items()
    )


# --- statistics of a column --------------------------------------------------------------------------------

Part = Mapping[int, Any]
"""The statistics of one type in one file, by field."""


def _merged(statistics: Sequence[bytes]) -> bytes:
    """The ColumnStatistics of a column in all files together. What is not known of all files is left out."""
    parts = [as_map(each) for each in statistics]
    written = number_field(1, sum(int(each.get(1, 0)) for each in parts))
    for number, merge in _TYPED.items():
        if any(number in each for each in parts):
            # A file without values says nothing about the lowest and the highest value.
            filled = [as_map(each.get(number, b"")) for each in parts if each.get(1, 0)]
            written += bytes_field(number, b"".join(merge(filled)))
    written += number_field(10, int(any(each.get(10, 0) for each in parts)))
    if all(11 in each for each in parts):
        written += number_field(11, sum(int(each[11]) for each in parts))
    return written


def _known(parts: Sequence[Part], field: int) -> list[Any] | None:
    """The values of a field in all parts; None if it is missing in one, or there is no part."""
    return [each[field] for each in parts] if parts and all(field in each for each in parts) else None


def _integers(with_sum: bool) -> Callable[[Sequence[Part]], Iterator[bytes]]:
    def merge(parts: Sequence[Part]) -> Iterator[bytes]:
        lows, highs = _known(parts, 1), _known(parts, 2)
        if lows is not None and highs is not None:
            yield number_field(1, unsigned(min(map(signed, lows))))
            yield number_field(2, unsigned(max(map(signed, highs))))
        if with_sum and (sums := _known(parts, 3)) is not None and (total := sum(map(signed, sums))) in _INT64:
            yield number_field(3, unsigned(total))

    return merge


def _doubles(parts: Sequence[Part]) -> Iterator[bytes]:
    for field, choose in ((1, min), (2, max), (3, sum)):
        known = _known(parts, field)
        if known is not None:
            values = [struct.unpack("<d", each)[0] for each in known]
            if not any(map(math.isnan, values)):
                yield double_field(field, struct.pack("<d", choose(values)))


def _texts(parts: Sequence[Part]) -> Iterator[bytes]:
    lows, highs = _known(parts, 1), _known(parts, 2)
    if lows is not None and highs is not None:
        yield bytes_field(1, min(lows))
        yield bytes_field(2, max(highs))
    yield from _lengths(parts, 3)


def _lengths(parts: Sequence[Part], field: int) -> Iterator[bytes]:
    yield number_field(field, unsigned(sum(signed(each.get(field, 0)) for each in parts)))


def _binary(parts: Sequence[Part]) -> Iterator[bytes]:
    yield from _lengths(parts, 1)


def _decimals(parts: Sequence[Part]) -> Iterator[bytes]:
    lows, highs = _known(parts, 1), _known(parts, 2)
    if lows is not None and highs is not None:
        yield bytes_field(1, min(lows, key=_decimal))
        yield bytes_field(2, max(highs, key=_decimal))


def _decimal(text: bytes) -> Decimal:
    return Decimal(text.decode())


def _counts(parts: Sequence[Part]) -> Iterator[bytes]:
    """The number of true values."""
    yield bytes_field(1, varint(sum(read_varint(each[1], 0)[0] for each in parts if each.get(1))))


def _collections(parts: Sequence[Part]) -> Iterator[bytes]:
    for field, choose in ((1, min), (2, max), (3, sum)):
        known = _known(parts, field)
        if known is not None:
            yield number_field(field, choose(known))


_TYPED: Final[Mapping[int, Callable[[Sequence[Part]], Iterator[bytes]]]] = {
    2: _integers(with_sum=True),
    3: _doubles,
    4: _texts,
    5: _counts,
    6: _decimals,
    7: _integers(with_sum=False),  # Dates.
    8: _binary,
    9: _integers(with_sum=False),  # Timestamps: without nanoseconds a reader assumes all of a millisecond.
    12: _collections,
}
"""How the statistics of a type are merged, by the field of ColumnStatistics."""
