"""Thrift's binary protocol (strict): structs and messages to bytes and back.

The functions that read and write a struct are compiled at its first use, straight-line Python without a
table in the loop. Reading remembers the last value of a few fields (`plan.MEMOS`): where the next bytes are
the same, as the columns of one partition after another are, the decoded value is used again.

Lengths and counts are read as unsigned numbers, so that a hostile one points behind the end of the data and the
next read fails; nothing is ever allocated by a claimed size. This module never waits and never opens a socket.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from skep.errors import THRIFT_EXCEPTIONS, ApplicationError, MetastoreError, RemoteProtocolError
from skep.wire.generated import STRUCTS
from skep.wire.limits import MAX_DEPTH, MEMO_LIMIT
from skep.wire.methods import Method
from skep.wire.plan import MEMOS, Slot, default_of, is_struct, old_layout, slots, wire_type
from skep.wire.structs import names, new
from skep.wire.types import BOOL, BYTE, DOUBLE, I16, I32, I64, LIST, MAP, SET, STOP, STRING, STRUCT, Field, Type

Reader = Callable[[bytes, int], tuple[Any, int]]
Writer = Callable[[Any, Callable[[bytes], Any]], None]
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
_SMALLEST = {**FIXED, STRING: 4, STRUCT: 1, MAP: 6, SET: 5, LIST: 5}
_READ = {"byte": ("unpack_b", 1), "i16": ("unpack_h", 2), "i32": ("unpack_i", 4), "i64": ("unpack_q", 8),
         "double": ("unpack_d", 8)}  # fmt: skip
_PACK = {"byte": "pack_b", "i16": "pack_h", "i32": "pack_i", "i64": "pack_q", "double": "pack_d"}
INCOMPLETE = (IndexError, struct.error)
"""What reading raises when the data ends too early."""


class Malformed(RemoteProtocolError):
    """Bytes that no longer data can make right."""


def skip(data: bytes, at: int, type: int, depth: int = 0) -> int:
    """The position behind a value of this type."""
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
                at = skip(data, at + 3, inner, depth + 1)
        return at + 1
    elif type in (LIST, SET):
        inner, count = data[at], unpack_u(data, at + 1)[0]
        at += 5
        size = FIXED.get(inner)
        if size is not None:
            at += size * count
        elif inner == STRING:
            for _ in range(count):
                at += 4 + unpack_u(data, at)[0]
        else:
            for _ in range(count):
                at = skip(data, at, inner, depth + 1)
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


class _Compiler:
    """Source text of the reader and writer of one struct; nested structs are compiled before it."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.counter = 0

    def fresh(self) -> int:
        self.counter += 1
        return self.counter

    def struct(self, type: Type) -> str:
        # Structs may contain themselves (Table, through CreationMetadata): the names are bound when the code runs.
        if type.name not in _STARTED:
            _compile_named(type.name)
        return type.name

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
                f"{pad}q = p + 4 + unpack_u(b, p)[0]; {target} = b[p + 4:q].decode('utf-8', 'surrogateescape'); p = q\n"
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

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        defaults = {slot.index: default_of(name, slot.field) for slot in plan}
        out = [f"def read_{name}(b, p):"]
        if old_layout(name):
            out.append("    start = p")
        out += [f"    f{i} = {defaults.get(i)!r}" for i in range(width)]
        out.append("    while True:\n        t = b[p]\n        if t == 0: break")
        out.append("        i = b[p + 1] << 8 | b[p + 2]; p += 3")
        branch = "if"
        if old := old_layout(name):
            sign = old[0]
            out.append(f"        if i == {sign.id} and t == {wire_type(sign.type)}: return read_old_{name}(b, start)")
        for slot in plan:
            field = slot.field
            number = field.id & 0xFFFF
            out.append(f"        {branch} i == {number} and t == {wire_type(field.type)}:")
            branch = "elif"
            if (name, field.name) in MEMOS:
                out.append(self.memo_read(name, field, f"f{slot.index}"))
            else:
                out.append(self.read(field.type, f"f{slot.index}", " " * 12).rstrip("\n"))
        if plan:
            out.append("        else:\n            p = skip(b, p, t)")
        else:
            out.append("        p = skip(b, p, t)")
        values = "".join(f"f{i}, " for i in range(width)).rstrip()
        out.append(f"    return {make.format(values)}, p + 1\n")
        return "\n".join(out)

    def memo_read(self, name: str, field: Field, target: str) -> str:
        memo = f"memo_{name}_{field.name}"
        self.namespace[memo] = [(b"\xff\xff\xff\xff\xff", None)]
        body = f"            kb, kv = {memo}[0]\n"
        body += f"            if b.startswith(kb, p): {target} = kv; p += len(kb)\n"
        body += "            else:\n                s = p\n"
        body += self.read(field.type, target, " " * 16)
        return body + f"                if p - s < {MEMO_LIMIT} and p <= len(b): {memo}[0] = (b[s:p], {target})"

    def writer(self, name: str, plan: tuple[Slot, ...]) -> str:
        out = [f"def write_{name}(o, w):"]
        for slot in plan:
            if not slot.written:
                continue
            field = slot.field
            head = pack_field(wire_type(field.type), field.id)
            out.append(f"    v = o[{slot.index}]\n    if v is not None:")
            if (name, field.name) in MEMOS and field.type.name not in ("string",):
                memo = f"kept_{name}_{field.name}"
                self.namespace[memo] = [(None, b"")]
                out.append(f"        kv, kb = {memo}[0]\n        if kv is v: w(kb)\n        else:")
                out.append(f"            out = w; L = []; w = L.append; w({head!r})")
                out.append(self.write(field.type, "v", " " * 12).rstrip("\n"))
                out.append(f"            w = out; kb = b''.join(L); {memo}[0] = (v, kb); w(kb)")
            else:
                out.append(f"        w({head!r})")
                out.append(self.write(field.type, "v", " " * 8).rstrip("\n"))
        out.append("    w(b'\\x00')\n")
        return "\n".join(out)


def _wrong_element(expected: int, found: int, at: int) -> Malformed:
    return Malformed(f"a container at byte {at} holds elements of type {found}, not {expected}")


_NAMESPACE: dict[str, Any] = {
    "skip": skip, "new": new, "wrong_element": _wrong_element, "unpack_many": struct.unpack_from,
    "unpack_b": unpack_b, "unpack_h": unpack_h, "unpack_i": unpack_i, "unpack_u": unpack_u, "unpack_q": unpack_q,
    "unpack_d": unpack_d, "pack_b": pack_b, "pack_h": pack_h, "pack_i": pack_i, "pack_q": pack_q, "pack_d": pack_d,
    "pack_list": pack_list, "pack_map": pack_map,
}  # fmt: skip


def _compile(name: str, plan: tuple[Slot, ...], make: str, width: int) -> tuple[Reader, Writer]:
    compiler = _Compiler(_NAMESPACE)
    source = compiler.reader(name, plan, make, width) + compiler.writer(name, plan)
    exec(compile(source, f"<skep binary codec of {name}>", "exec"), _NAMESPACE)
    return _NAMESPACE[f"read_{name}"], _NAMESPACE[f"write_{name}"]


_STARTED: set[str] = set()
_COMPILING = threading.RLock()


@cache
def _compile_named(name: str) -> tuple[Reader, Writer]:
    with _COMPILING:
        _STARTED.add(name)
        return _compile_known(name)


def _compile_known(name: str) -> tuple[Reader, Writer]:
    exception = THRIFT_EXCEPTIONS.get(name)
    if exception is not None:
        _NAMESPACE[name] = exception
        field = Field(1, Type("string"), "message")
        reader, write = _compile(name, (Slot(0, field, True),), f"{name}({{}})", 1)
        # An exception is no tuple: its message stands for its only field.
        writer: Writer = lambda error, w: write((error.message,), w)  # noqa: E731
        _NAMESPACE[f"write_{name}"] = writer
        return reader, writer
    cls = STRUCTS[name]
    _NAMESPACE[name] = cls
    plan, width = slots(cls), len(names(cls))
    if old := old_layout(name):
        order = names(cls)
        old_plan = tuple(Slot(order.index(f.name), f, False) for f in old[1])
        compiler = _Compiler(_NAMESPACE)
        source = compiler.reader(f"old_{name}", old_plan, f"new({name}, ({{}}))", width)
        exec(compile(source, f"<skep binary codec of old {name}>", "exec"), _NAMESPACE)
    return _compile(name, plan, f"new({name}, ({{}}))", width)


def struct_codec(cls: type) -> tuple[Reader, Writer]:
    """Reader and writer of a generated struct class."""
    return _compile_named(cls.__name__)


@cache
def args_codec(method: Method) -> tuple[Reader, Writer]:
    """Reader and writer of a method's arguments, as a tuple in the order of `method.args`."""
    plan = tuple(Slot(i, field, True) for i, field in enumerate(method.args))
    with _COMPILING:
        return _compile(f"args_of_{method.name}", plan, "({})", len(plan))


def result_fields(method: Method) -> tuple[Field, ...]:
    """The fields of a method's result struct: the success value, then the exceptions."""
    fields = [] if method.returns is None else [Field(0, method.returns, "success")]
    fields += [Field(slot, Type(name), name) for name, slot in method.throws.items() if slot > 0]
    return tuple(fields)


@cache
def result_codec(method: Method) -> tuple[Reader, Writer]:
    """Reader and writer of a method's result, as a tuple in the order of `result_fields`."""
    plan = tuple(Slot(i, field, True) for i, field in enumerate(result_fields(method)))
    with _COMPILING:
        return _compile(f"result_of_{method.name}", plan, "({})", len(plan))


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
    return _encode(_compile_named(type(value).__name__)[1], value)


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
    values = _decode(result_codec(method)[0], data, f"the result of {method.name}")
    errors = values if method.returns is None else values[1:]
    for error in errors:
        if error is not None:
            raise error
    return None if method.returns is None else values[0]


def encode_application_error(error: ApplicationError) -> bytes:
    text = error.message.encode("utf-8", "surrogateescape")
    return b"\x0b\x00\x01" + pack_i(len(text)) + text + b"\x08\x00\x02" + pack_i(error.type) + b"\x00"


def decode_application_error(data: bytes) -> ApplicationError:
    message, number, at = "", 0, 0
    try:
        while (type := data[at]) != STOP:
            field = unpack_h(data, at + 1)[0]
            end = skip(data, at + 3, type)
            if field == 1 and type == STRING:
                message = data[at + 7 : end].decode("utf-8", "surrogateescape")
            elif field == 2 and type == I32:
                number = unpack_i(data, at + 3)[0]
            at = end
    except INCOMPLETE:
        raise Malformed("a TApplicationException ends too early") from None
    return ApplicationError(number, message)
