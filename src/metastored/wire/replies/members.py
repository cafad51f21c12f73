"""Reads many partitions of a spec at once, by a regular expression: in 60 % of the time of their reader.

A PartitionWithoutSD has a few short fields, and a list has ten thousands of them: most of the time of the reader is
spent between fields. A regular expression takes apart all that have the usual fields in the usual order; then all
lengths are compared with those that were written, and each distinct map of parameters is decoded by the usual reader.
Whatever is unusual, or does not fit, is left to the usual reader: no error is raised here.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import repeat
from struct import unpack
from typing import Final

from metastored.wire.codec import binary
from metastored.wire.codec.binary import INCOMPLETE
from metastored.wire.codec.compiler import Malformed
from metastored.wire.generated.partitions import PartitionWithoutSD
from metastored.wire.structs import new

MAX_VALUES: Final = 8
"""Partitions with more keys are left to the usual reader."""
_LEAST: Final = 16
"""As are fewer partitions."""
_VALUES: Final = b"\x0f\x00\x01\x0b\x00\x00\x00"
_TEXT: Final = r"\x00\x00\x00(.)([^\x00]*)"
"""A text of less than 256 bytes, with its length; a text with a zero is unusual."""
_PARAMETERS: Final = b"\x0d\x00\x05"
_STOP: Final = b"\x00"
_AROUND: Final = 8 + 7 + 7 + 3 + 3 + 1
"""The bytes of a partition besides its texts and its parameters."""
_READER: Final = binary.struct_codec(PartitionWithoutSD)[0]


def read_members(piece: bytes, at: int, most: int) -> tuple[list[PartitionWithoutSD], int]:
    """Some partitions that begin here, at most so many, and the position behind them. There may be none."""
    count = piece[at + 7] if piece.startswith(_VALUES, at) and at + 7 < len(piece) else 0
    if not 0 < count <= MAX_VALUES or most < _LEAST:
        return [], at
    groups = _pattern(count).findall(piece[at:].decode("latin-1"))
    if len(groups) > most:
        del groups[most:]
    else:
        # The last match is what follows the partitions. The one before may have been cut off by the end of the piece.
        del groups[-2:]
    if len(groups) < _LEAST:
        return [], at
    *texts, created, accessed, path_length, paths, encoded = zip(*groups, strict=True)
    lengths, columns = [*texts[::2], path_length], [*texts[1::2], paths]
    if any(list(map(ord, one)) != list(map(len, other)) for one, other in zip(lengths, columns, strict=True)):
        return [], at
    parameters = _parameters(set(encoded))
    if parameters is None:
        return [], at
    size = sum(sum(map(len, each)) for each in (*columns, encoded))
    *values, paths = map(_decoded, columns)
    maps = map(dict.copy, map(parameters.__getitem__, encoded))
    fields = zip(zip(*values, strict=True), _times(created), _times(accessed), paths, maps, repeat(None), strict=False)
    members = list(map(new, repeat(PartitionWithoutSD), fields))
    return members, at + size + (_AROUND + 4 * (count + 1)) * len(groups)


@cache
def _pattern(count: int) -> re.Pattern[str]:
    """Matches one partition with so many values; where none begins, everything that follows."""
    fields = (
        rf"\x0f\x00\x01\x0b\x00\x00\x00\x{count:02x}{_TEXT * count}",
        r"\x08\x00\x02(.{4})",
        r"\x08\x00\x03(.{4})",
        rf"\x0b\x00\x04{_TEXT}",
        r"\x0d\x00\x05(\x0b\x0b\x00\x00\x00.(?:\x00\x00\x00.[^\x00]*+)*+)",
    )
    return re.compile("".join(fields) + r"\x00|.+", re.DOTALL)


def _times(encoded: tuple[str, ...]) -> tuple[int, ...]:
    return unpack(f">{len(encoded)}i", "".join(encoded).encode("latin-1"))


def _decoded(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Texts whose characters are bytes, as the reader decodes them."""
    if all(map(str.isascii, texts)):
        return texts
    return tuple(each.encode("latin-1").decode("utf-8", "surrogateescape") for each in texts)


def _parameters(encoded: set[str]) -> dict[str, dict[str, str]] | None:
    """The maps, by their bytes; None if one is not exactly a map."""
    decoded = {}
    for each in encoded:
        data = _PARAMETERS + each.encode("latin-1") + _STOP
        try:
            member, end = _READER(data, 0)
        except (*INCOMPLETE, Malformed):
            return None
        if end != len(data):
            return None
        decoded[each] = member.parameters
    return decoded
