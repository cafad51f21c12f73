"""The messages in the tail of an ORC file: fields of protocol buffers by number, without their definitions.

A field that is repeated is yielded as often as it occurs. Numbers are as they are stored: `signed` decodes those of the
types sint32 and sint64. Pure.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class OrcError(ValueError):
    """Bytes that are not the tail of an ORC file, or a tail that cannot be read here."""


@contextmanager
def damage() -> Iterator[None]:
    """For `with`: whatever a damaged tail makes fail becomes an OrcError."""
    try:
        yield
    except OrcError:
        raise
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, struct.error, zlib.error) as error:
        raise OrcError(f"the tail is damaged: {error}") from error


def as_map(message: bytes) -> dict[int, Any]:
    """The fields of a message by number: of a repeated one, the last."""
    return dict(fields_of(message))


def fields_of(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: an int for a number, bytes for everything else. Raises OrcError."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        match key & 7:
            case 0:
                value, at = read_varint(message, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, message[at : at + 8]
                at += 8
            case 2:
                size, at = read_varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            case 5:
                yield key >> 3, message[at : at + 4]
                at += 4
            case other:
                raise OrcError(f"the tail is damaged: wire type {other}")


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and the position after it. Raises OrcError."""
    number = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at
    raise OrcError("the tail is damaged: it ends inside of a number")


def signed(number: int) -> int:
    """The value of a number of the types sint32 and sint64."""
    return number >> 1 ^ -(number & 1)


def unsigned(number: int) -> int:
    """How a value of the types sint32 and sint64 is stored."""
    return number << 1 if number >= 0 else -number * 2 - 1


def number_field(field: int, number: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(number)


def double_field(field: int, value: bytes) -> bytes:
    """A field with the eight bytes of a double."""
    return varint(field << 3 | 1) + value


def bytes_field(field: int, value: bytes) -> bytes:
    """A field with text, bytes or a message."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    """A number of variable length."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
