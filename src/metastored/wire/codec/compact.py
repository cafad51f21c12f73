"""Thrift's compact protocol: structs to bytes and back.

Numbers are zigzag varints, field ids are written as differences, a bool is stored in its field's header, doubles are
little-endian as Apache writes them. As in binary, nothing is allocated by a claimed size: a count that the data does
not hold ends in an IndexError, which means "incomplete". A varint that is too long or too large for its type is
refused. This module never waits and never opens a socket.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from metastored.wire import types
from metastored.wire.codec.compiler import Malformed, PositionCompiler
from metastored.wire.limits import MAX_DEPTH
from metastored.wire.methods.plan import is_struct, wire_type
from metastored.wire.types import Field, Type

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
STOP: Final = 0

_TYPES = {
    types.BOOL: TRUE, types.BYTE: BYTE, types.I16: I16, types.I32: I32, types.I64: I64, types.DOUBLE: DOUBLE,
    types.STRING: BINARY, types.LIST: LIST, types.SET: SET, types.MAP: MAP, types.STRUCT: STRUCT,
}  # fmt: skip
FIXED: Final = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8}
"""Sizes as elements of a container; as fields, bools have none."""
VARINTS: Final = (I16, I32, I64)
INCOMPLETE: Final = (IndexError, struct.error)
"""The exceptions that reading raises when the data ends too early."""

MAX_SIZE: Final = 2**31 - 1
_LARGEST = {"i16": 2**16 - 1, "i64": 2**64 - 1}
_BYTES = tuple(bytes((n,)) for n in range(256))

unpack_d = struct.Struct("<d").unpack_from
pack_d = struct.Struct("<d").pack
unpack_b = struct.Struct("b").unpack_from
pack_b = struct.Struct("b").pack


def varint(data: bytes | bytearray, at: int, first: int, largest: int) -> tuple[int, int]:
    """The number whose first byte (above 127) is just before `at`, and the position behind it."""
    number, shift = first & 0x7F, 7
    while (byte := data[at]) > 127:
        number |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if shift > 63:
            raise Malformed(f"a number of more than ten bytes at byte {at}")
    number |= byte << shift
    if number > largest:
        raise Malformed(f"a number before byte {at + 1} is larger than its type or any size")
    return number, at + 1


def read_size(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """A length or count, and the position behind it."""
    first = data[at]
    return (first, at + 1) if first < 128 else varint(data, at + 1, first, MAX_SIZE)


def pack_size(number: int) -> bytes:
    """A number that is not negative, as a varint."""
    if number < 128:
        return _BYTES[number]
    out = bytearray()
    while number > 127:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def pack_zigzag(number: int) -> bytes:
    return pack_size((number << 1) ^ (number >> 63))


def pack_list(type: int, count: int) -> bytes:
    return _BYTES[count << 4 | type] if count < 15 else _BYTES[0xF0 | type] + pack_size(count)


def _field_id(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    number, at = (first, at + 1) if first < 128 else varint(data, at + 1, first, 2**16 - 1)
    return number >> 1 ^ -(number & 1), at


def skip_varint(data: bytes | bytearray, at: int) -> int:
    """The position behind a number."""
    end = at + 1
    while data[end - 1] > 127:
        end += 1
        if end - at > 10:
            raise Malformed(f"a number of more than ten bytes at byte {at}")
    return end


def skip(data: bytes, at: int, type: int, depth: int = 0) -> int:
    """The position behind an element of this type."""
    size = FIXED.get(type)
    if size is not None:
        at += size
    elif type in VARINTS:
        at = skip_varint(data, at)
    elif type == BINARY:
        size, at = read_size(data, at)
        at += size
    elif depth > MAX_DEPTH:
        raise Malformed(f"more than {MAX_DEPTH} values inside each other at byte {at}")
    elif type == STRUCT:
        while (head := data[at]) != STOP:
            at = skip_field(data, at + 1 if head > 15 else skip_varint(data, at + 1), head & 15, depth + 1)
        return at + 1
    elif type in (LIST, SET):
        head = data[at]
        count, at = (head >> 4, at + 1) if head < 0xF0 else read_size(data, at + 1)
        for _ in range(count):
            at = skip(data, at, head & 15, depth + 1)
    elif type == MAP:
        count, at = read_size(data, at)
        if count:
            kinds = data[at]
            at += 1
            for _ in range(count):
                at = skip(data, skip(data, at, kinds >> 4, depth + 1), kinds & 15, depth + 1)
    else:
        raise Malformed(f"unknown type {type} at byte {at}")
    if at > len(data):
        raise IndexError
    return at


def skip_field(data: bytes, at: int, type: int, depth: int = 1) -> int:
    """The position behind the value of a field; the value of a bool is in the header."""
    return at if type in (TRUE, FALSE) else skip(data, at, type, depth)


def _wrong_element(expected: int, actual: int, at: int) -> Malformed:
    return Malformed(f"a container at byte {at} holds elements of type {actual}, not {expected}")


def _compact(type: Type) -> int:
    return _TYPES[wire_type(type)]


class CompactCompiler(PositionCompiler):
    """Codecs for Thrift compact."""

    protocol = "compact"
    errors = "surrogateescape"
    """How bytes that are not UTF-8 are read, as in `binary.BinaryCompiler`."""
    reader_begins = "    i = 0\n"
    field_header = """        t = b[p]
        if t == 0: break
        p += 1
        if t > 15: i += t >> 4; t &= 15
        else: i, p = field_id(b, p)
"""
    writer_begins = "    last = 0\n"
    writer_ends = "    w(b'\\x00')\n"

    def matches(self, type: Type, code: str = "t") -> str:
        return f"{code} in (1, 2)" if type.name == "bool" else f"{code} == {_compact(type)}"

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        if field.type.name == "bool":
            return f"{pad}{target} = t == 1\n"
        return super().field_value(name, field, target, pad)

    def field(self, field: Field, before: list[int], pad: str) -> str:
        if field.type.name == "bool":
            heads = f"({self._heads(field.id, TRUE, before)} if v else {self._heads(field.id, FALSE, before)})"
        else:
            heads = self._heads(field.id, _compact(field.type), before)
        return f"{pad}w({heads}[last]); last = {field.id}\n"

    def _heads(self, number: int, type: int, before: list[int]) -> str:
        """The name of a dict: the header of a field by the id that was written before it."""
        name = f"heads_{number & 0xFFFF}_{type}"
        heads = self.namespace.setdefault(name, {})
        for last in (0, *before):
            delta = number - last
            heads[last] = _BYTES[delta << 4 | type] if 0 < delta < 16 else _BYTES[type] + pack_zigzag(number)
        return name

    def field_written(self, name: str, field: Field, pad: str) -> str:
        return "" if field.type.name == "bool" else super().field_written(name, field, pad)

    def number(self, target: str, largest: int, pad: str) -> str:
        """Statements that read a varint, most of which are one byte long."""
        return f"{pad}n = b[p]; p += 1\n{pad}if n > 127: n, p = varint(b, p, n, {largest})\n{pad}{target} = n\n"

    def read(self, type: Type, target: str, pad: str) -> str:
        name = type.name
        if name in ("list", "set"):
            k, inner = self.fresh(), type.args[0]
            body = f"{pad}h = b[p]\n{pad}if h < 240: n{k} = h >> 4; p += 1\n{pad}else: n{k}, p = read_size(b, p + 1)\n"
            body += self._check(inner, f"n{k}", "h & 15", pad)
            body += f"{pad}L{k} = []; a{k} = L{k}.append\n{pad}for _ in range(n{k}):\n"
            body += self.read(inner, f"x{k}", pad + "    ") + f"{pad}    a{k}(x{k})\n"
            return body + f"{pad}{target} = {'tuple' if name == 'list' else 'frozenset'}(L{k})\n"
        if name == "map":
            k, (key, value) = self.fresh(), type.args
            body = f"{pad}n{k}, p = read_size(b, p)\n{pad}M{k} = {{}}\n{pad}if n{k}: h = b[p]; p += 1\n"
            body += self._check(key, f"n{k}", "h >> 4", pad) + self._check(value, f"n{k}", "h & 15", pad)
            body += f"{pad}for _ in range(n{k}):\n"
            body += self.read(key, f"k{k}", pad + "    ") + self.read(value, f"x{k}", pad + "    ")
            return body + f"{pad}    M{k}[k{k}] = x{k}\n{pad}{target} = M{k}\n"
        if name in ("string", "binary"):
            decode = f".decode('utf-8', {self.errors!r})" if name == "string" else ""
            return self.number("q", MAX_SIZE, pad) + f"{pad}q += p; {target} = b[p:q]{decode}; p = q\n"
        if name == "bool":
            return f"{pad}{target} = b[p] == 1; p += 1\n"
        if name == "byte":
            return f"{pad}{target} = unpack_b(b, p)[0]; p += 1\n"
        if name == "double":
            return f"{pad}{target} = unpack_d(b, p)[0]; p += 8\n"
        if is_struct(type):
            return f"{pad}{target}, p = read_{self.struct(type)}(b, p)\n"
        return self.number("n", _LARGEST.get(name, 2**32 - 1), pad) + f"{pad}{target} = n >> 1 ^ -(n & 1)\n"

    def _check(self, inner: Type, count: str, code: str, pad: str) -> str:
        wrong = f"raise wrong_element({_compact(inner)}, {code}, p)"
        return f"{pad}if {count} and not ({self.matches(inner, f'({code})')}): {wrong}\n"

    def write(self, type: Type, value: str, pad: str) -> str:
        name = type.name
        if name in ("list", "set"):
            k, inner = self.fresh(), type.args[0]
            body = f"{pad}w(pack_list({_compact(inner)}, len({value})))\n{pad}for x{k} in {value}:\n"
            return body + self.write(inner, f"x{k}", pad + "    ")
        if name == "map":
            k, (key, inner) = self.fresh(), type.args
            body = f"{pad}w(pack_size(len({value})))\n"
            body += f"{pad}if {value}: w({_BYTES[_compact(key) << 4 | _compact(inner)]!r})\n"
            body += f"{pad}for k{k}, x{k} in {value}.items():\n"
            return body + self.write(key, f"k{k}", pad + "    ") + self.write(inner, f"x{k}", pad + "    ")
        if name == "string":
            return f"{pad}e = {value}.encode('utf-8', 'surrogateescape'); w(pack_size(len(e))); w(e)\n"
        if name == "binary":
            return f"{pad}w(pack_size(len({value}))); w({value})\n"
        if name == "bool":
            return f"{pad}w(b'\\x01' if {value} else b'\\x02')\n"
        if name == "byte":
            return f"{pad}w(pack_b({value}))\n"
        if name == "double":
            return f"{pad}w(pack_d({value}))\n"
        if is_struct(type):
            return f"{pad}write_{self.struct(type)}({value}, w)\n"
        return f"{pad}w(pack_zigzag({value}))\n"


class RequestCompiler(CompactCompiler):
    """Codecs of requests. A server reads bytes that are not UTF-8 as U+FFFD, as Java does."""

    errors = "replace"


_NAMESPACE: dict[str, Any] = {
    "skip_field": skip_field, "field_id": _field_id, "varint": varint, "read_size": read_size,
    "wrong_element": _wrong_element, "unpack_b": unpack_b, "unpack_d": unpack_d, "pack_b": pack_b, "pack_d": pack_d,
    "pack_size": pack_size, "pack_zigzag": pack_zigzag, "pack_list": pack_list,
}  # fmt: skip
CODEC = CompactCompiler(_NAMESPACE)
REQUESTS = RequestCompiler(_NAMESPACE)
