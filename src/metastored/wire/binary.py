"""Thrift's binary protocol (strict): structs and messages to bytes and back.

How the functions that read and write a struct come about, and what they remember, is in `compiler.py`.

Lengths and counts are read as unsigned numbers, so that a hostile one points behind the end of the data and the
next read fails; nothing is ever allocated by a claimed size. This module never waits and never opens a socket.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, TypeVar

from metastored.errors import ApplicationError, MetastoreError
from metastored.wire.compiler import Codec, Malformed, Reader, Writer
from metastored.wire.limits import MAX_DEPTH, MEMO_LIMIT
from metastored.wire.methods import Method
from metastored.wire.plan import is_struct, result_fields, wire_type
from metastored.wire.runs import OrderedCompiler
from metastored.wire.types import BOOL, BYTE, DOUBLE, I16, I32, I64, LIST, MAP, SET, STOP, STRING, STRUCT, Field, Type

T = TypeVar("T")

unpack_h = struct.Struct(">h").unpack_from
unpack_i = struct.Struct(">i").unpack_from
unpack_u = struct.Struct(">I").unpack_from
unpack_q = struct.Struct(">q").unpack_from
unpack_d = struct.Struct(">d").unpack_from
unpack_b = struct.Struct(">b").unpack_from
pack_b = struct.Struct(">b").pack
pack_h = struct.Struct(">h").pack
pack_i = struct.Struct(">i").pack
pack_q = struct.Struct(">q").pack
pack_d = struct.Struct(">d").pack
pack_list = struct.Struct(">bi").pack
pack_map = struct.Struct(">bbi").pack
pack_field = struct.Struct(">bh").pack

FIXED = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8}
_READ = {"byte": ("unpack_b", 1), "i16": ("unpack_h", 2), "i32": ("unpack_i", 4), "i64": ("unpack_q", 8),
         "double": ("unpack_d", 8)}  # fmt: skip
_PACK = {"byte": "pack_b", "i16": "pack_h", "i32": "pack_i", "i64": "pack_q", "double": "pack_d"}
MEMO_LEAST = 64
"""Bytes from which on comparing is cheaper than skipping."""
INCOMPLETE = (IndexError, struct.error)
"""What reading raises when the data ends too early."""


def skip(data: bytes | bytearray, at: int, type: int, depth: int = 0, memo: list[bytes] | None = None) -> int:
    """The position behind a value of this type.

    With a `memo` (a list, empty at first), a list of structs whose bytes are those of the last one is passed over as
    a whole: the partitions of a table have the same columns.
    """
    size = FIXED.get(type)
    if size is not None:
        at += size
    elif type == STRING:
        at += 4 + unpack_u(data, at)[0]
    elif depth > MAX_DEPTH:
        raise Malformed(f"more than {MAX_DEPTH} values inside each other at byte {at}")
    elif type == STRUCT:
        # Strings are most of what is inside of structs, lists and maps: they are passed over without a call.
        while (inner := data[at]) != STOP:
            if inner == STRING:
                at += 7 + unpack_u(data, at + 3)[0]
            else:
                at = skip(data, at + 3, inner, depth + 1, memo)
        return at + 1
    elif type in (LIST, SET):
        start = at
        inner, count = data[at], unpack_u(data, at + 1)[0]
        at += 5
        size = FIXED.get(inner)
        if size is not None:
            at += size * count
        elif inner == STRING:
            for _ in range(count):
                at += 4 + unpack_u(data, at)[0]
        elif inner == STRUCT and depth < MAX_DEPTH:
            if memo and count and data.startswith(memo[0], start):
                return start + len(memo[0])
            # As above, once more: the columns of a table are structs of strings.
            for _ in range(count):
                while (field := data[at]) != STOP:
                    if field == STRING:
                        at += 7 + unpack_u(data, at + 3)[0]
                    else:
                        at = skip(data, at + 3, field, depth + 2, memo)
                at += 1
            if memo is not None and MEMO_LEAST <= at - start <= MEMO_LIMIT and at <= len(data):
                memo[:] = (bytes(data[start:at]),)
        else:
            for _ in range(count):
                at = skip(data, at, inner, depth + 1, memo)
    elif type == MAP:
        key, value, count = data[at], data[at + 1], unpack_u(data, at + 2)[0]
        at += 6
        if key == STRING and value == STRING:
            for _ in range(count * 2):
                at += 4 + unpack_u(data, at)[0]
        else:
            for _ in range(count):
                at = skip(data, skip(data, at, key, depth + 1), value, depth + 1)
    else:
        raise Malformed(f"unknown type {type} at byte {at}")
    if at > len(data):
        raise IndexError
    return at


_LENGTHS = tuple(pack_i(length) for length in range(256))
"""As most names are short, their lengths are packed beforehand."""


def pack_texts(texts: Iterable[str]) -> bytes:
    """The elements of a list of strings."""
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    try:
        return b"".join([_LENGTHS[len(data)] + data for data in encoded])
    except IndexError:
        return b"".join([pack_i(len(data)) + data for data in encoded])


class BinaryCompiler(OrderedCompiler):
    """Codecs for Thrift binary."""

    protocol = "binary"
    field_header = """        t = b[p]
        if t == 0: break
        i = b[p + 1] << 8 | b[p + 2]; p += 3
"""
    writer_ends = "    w(b'\\x00')\n"

    def matches(self, type: Type) -> str:
        return f"t == {wire_type(type)}"

    def field_id(self, field: Field) -> int:
        return field.id & 0xFFFF

    def header(self, field: Field) -> bytes:
        return pack_field(wire_type(field.type), field.id)

    def field(self, field: Field, before: list[int], pad: str) -> str:
        return f"{pad}w({self.header(field)!r})\n"

    def read(self, type: Type, target: str, pad: str) -> str:
        name = type.name
        if name in ("list", "set"):
            k, inner = self.fresh(), type.args[0]
            expected = wire_type(inner)
            body = f"{pad}n{k} = unpack_u(b, p + 1)[0]\n"
            body += f"{pad}if n{k} and b[p] != {expected}: raise wrong_element({expected}, b[p], p)\n"
            body += f"{pad}p += 5\n"
            if name == "list" and inner.name == "i64":
                body += f"{pad}if p + n{k} * 8 > len(b): raise IndexError\n"
                return body + f"{pad}{target} = unpack_many(f'>{{n{k}}}q', b, p); p += 8 * n{k}\n"
            if name == "list" and (texts := self.texts(inner)) is not None:
                return body + f"{pad}{target}, p = {texts}(b, p, n{k})\n"
            body += f"{pad}L{k} = []; a{k} = L{k}.append\n{pad}for _ in range(n{k}):\n"
            body += self.read(inner, f"x{k}", pad + "    ") + f"{pad}    a{k}(x{k})\n"
            return body + f"{pad}{target} = {'tuple' if name == 'list' else 'frozenset'}(L{k})\n"
        if name == "map":
            k, (key, value) = self.fresh(), type.args
            body = f"{pad}n{k} = unpack_u(b, p + 2)[0]\n"
            for offset, inner in enumerate((key, value)):
                t = wire_type(inner)
                at = f"b[p + {offset}]" if offset else "b[p]"
                body += f"{pad}if n{k} and {at} != {t}: raise wrong_element({t}, {at}, p)\n"
            body += f"{pad}p += 6; M{k} = {{}}\n{pad}for _ in range(n{k}):\n"
            body += self.read(key, f"k{k}", pad + "    ") + self.read(value, f"x{k}", pad + "    ")
            return body + f"{pad}    M{k}[k{k}] = x{k}\n{pad}{target} = M{k}\n"
        if name == "string":
            return (
                f"{pad}q = p + 4 + unpack_u(b, p)[0]; {target} = str(b[p + 4:q], 'utf-8', 'surrogateescape'); p = q\n"
            )
        if name == "binary":
            return f"{pad}q = p + 4 + unpack_u(b, p)[0]; {target} = b[p + 4:q]; p = q\n"
        if name == "bool":
            return f"{pad}{target} = b[p] != 0; p += 1\n"
        if is_struct(type):
            return f"{pad}{target}, p = read_{self.struct(type)}(b, p)\n"
        unpack, size = _READ.get(name, ("unpack_i", 4))
        return f"{pad}{target} = {unpack}(b, p)[0]; p += {size}\n"

    def write(self, type: Type, value: str, pad: str) -> str:
        name = type.name
        if name in ("list", "set"):
            k, inner = self.fresh(), type.args[0]
            if inner.name == "string":
                return f"{pad}w(pack_list({wire_type(inner)}, len({value}))); w(pack_texts({value}))\n"
            if inner.name == "i64":
                return f"{pad}n{k} = len({value}); w(pack_many(f'>bi{{n{k}}}q', {wire_type(inner)}, n{k}, *{value}))\n"
            body = f"{pad}w(pack_list({wire_type(inner)}, len({value})))\n{pad}for x{k} in {value}:\n"
            return body + self.write(inner, f"x{k}", pad + "    ")
        if name == "map":
            k, (key, inner) = self.fresh(), type.args
            body = f"{pad}w(pack_map({wire_type(key)}, {wire_type(inner)}, len({value})))\n"
            body += f"{pad}for k{k}, x{k} in {value}.items():\n"
            return body + self.write(key, f"k{k}", pad + "    ") + self.write(inner, f"x{k}", pad + "    ")
        if name == "string":
            return f"{pad}e = {value}.encode('utf-8', 'surrogateescape'); w(pack_i(len(e))); w(e)\n"
        if name == "binary":
            return f"{pad}w(pack_i(len({value}))); w({value})\n"
        if name == "bool":
            return f"{pad}w(b'\\x01' if {value} else b'\\x00')\n"
        if is_struct(type):
            return f"{pad}write_{self.struct(type)}({value}, w)\n"
        return f"{pad}w({_PACK.get(name, 'pack_i')}({value}))\n"


def _wrong_element(expected: int, found: int, at: int) -> Malformed:
    return Malformed(f"a container at byte {at} holds elements of type {found}, not {expected}")


CODEC = BinaryCompiler({
    "skip_field": skip, "wrong_element": _wrong_element, "unpack_many": struct.unpack_from,
    "pack_many": struct.pack, "pack_texts": pack_texts,
    "unpack_b": unpack_b, "unpack_h": unpack_h, "unpack_i": unpack_i, "unpack_u": unpack_u, "unpack_q": unpack_q,
    "unpack_d": unpack_d, "pack_b": pack_b, "pack_h": pack_h, "pack_i": pack_i, "pack_q": pack_q, "pack_d": pack_d,
    "pack_list": pack_list, "pack_map": pack_map,
})  # fmt: skip

args_codec = CODEC.args
"""Reader and writer of a method's arguments, as a tuple in the order of `method.args`."""
result_codec = CODEC.result
"""Reader and writer of a method's result, as a tuple in the order of `plan.result_fields`."""


def struct_codec(cls: type) -> Codec:
    """Reader and writer of a generated struct class."""
    return CODEC.named(cls.__name__)


def _encode(writer: Writer, value: Any) -> bytes:
    parts: list[bytes] = []
    writer(value, parts.append)
    return b"".join(parts)


def _decode(reader: Reader, data: bytes, what: str) -> Any:
    try:
        value, end = reader(data, 0)
    except INCOMPLETE:
        raise Malformed(f"{what} ends too early, after {len(data)} bytes") from None
    except RecursionError:
        raise Malformed(f"{what} holds too many structs inside each other") from None
    if end > len(data):
        raise Malformed(f"{what} ends too early, after {len(data)} bytes")
    return value


def encode(value: Any) -> bytes:
    """A struct (or declared exception) with its STOP."""
    return _encode(CODEC.named(type(value).__name__)[1], value)


def decode(cls: type[T], data: bytes) -> T:
    """The struct that starts at the data's first byte; what follows its STOP is ignored."""
    value: T = _decode(struct_codec(cls)[0], data, cls.__name__)
    return value


def encode_args(method: Method, args: tuple[Any, ...]) -> bytes:
    return _encode(args_codec(method)[1], args)


def decode_args(method: Method, data: bytes) -> tuple[Any, ...]:
    args: tuple[Any, ...] = _decode(args_codec(method)[0], data, f"the arguments of {method.name}")
    return args


def encode_result(method: Method, value: Any) -> bytes:
    """A result struct with this success value; None leaves it out."""
    if method.returns is None or value is None:
        return b"\x00"
    parts: list[bytes] = []
    result_codec(method)[1]((value, *(None,) * (len(result_fields(method)) - 1)), parts.append)
    return b"".join(parts)


def encode_exception_result(slot: int, error: MetastoreError) -> bytes:
    """A result struct that carries a declared exception."""
    return pack_field(STRUCT, slot) + encode(error) + b"\x00"


def decode_result(method: Method, data: bytes) -> Any:
    """The success value; a declared exception is raised, a missing value is None."""
    return result_value(method, _decode(result_codec(method)[0], data, f"the result of {method.name}"))


def result_value(method: Method, values: tuple[Any, ...]) -> Any:
    """The same of the fields of a result struct."""
    errors = values if method.returns is None else values[1:]
    for error in errors:
        if error is not None:
            raise error
    return None if method.returns is None else values[0]


def copy_result(method: Method, value: Any) -> Any:
    """A success value that shares no map with the first; all else is immutable."""
    return None if method.returns is None else CODEC.copier(method.returns)(value)


def encode_application_error(error: ApplicationError) -> bytes:
    return _encode(CODEC.application_error()[1], (error.message, error.type))


def decode_application_error(data: bytes) -> ApplicationError:
    message, number = _decode(CODEC.application_error()[0], data, "a TApplicationException")
    return ApplicationError(number or 0, message or "")


def decode_body(kind: int, method: Method | None, data: bytes) -> tuple[Any, ...]:
    """The fields of the struct that a message of this kind carries: arguments, result or TApplicationException."""
    values: tuple[Any, ...] = _decode(CODEC.body(kind, method)[0], data, "a message's body")
    return values


def encode_body(kind: int, method: Method | None, values: tuple[Any, ...]) -> bytes:
    try:
        return _encode(CODEC.body(kind, method)[1], values)
    except RecursionError:
        raise Malformed("a message's body holds too many structs inside each other") from None
