"""Thrift's JSON protocol as Apache's TJSONProtocol has it: structs to text and back.

    {"1":{"str":"sales"},"2":{"lst":["rec",1,{…}]},"3":{"map":["str","str",1,{"k":"v"}]}}

A struct is an object of field ids; a value is stored under the name of its type. Numbers that are keys are strings,
bools are 0 and 1, binary is base64 without padding. Keys of maps may be lists, which is not JSON but what Apache
writes (SkewedInfo has such a map): `tjson_text.py` reads that. Text is written straight from the structs; reading goes
through orjson's parsed values. This module never waits and never opens a socket.
"""

from __future__ import annotations

import math
import re
from binascii import a2b_base64, b2a_base64
from typing import Any, Final

import orjson

from metastored.wire import types
from metastored.wire.codec.compiler import Compiler, Malformed
from metastored.wire.methods.plan import MEMOS, Slot, default_of, is_struct, old_layout, wire_type
from metastored.wire.types import Field, Type

_NAMES = {
    types.BOOL: "tf", types.BYTE: "i8", types.I16: "i16", types.I32: "i32", types.I64: "i64", types.DOUBLE: "dbl",
    types.STRING: "str", types.STRUCT: "rec", types.MAP: "map", types.SET: "set", types.LIST: "lst",
}  # fmt: skip
_BITS = {"byte": 8, "i16": 16, "i64": 64}
_DUMPED: Final = ("string", "i16", "i32", "i64", "byte")
"""Types whose lists, and maps from strings to them, orjson writes as TJSON does."""
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z")
_NOTHING: Final = object()
_ODD_DOUBLES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def json_name(type: Type) -> str:
    """The name of a type in TJSON."""
    return _NAMES[wire_type(type)]


# Reading: called by generated code.


def _wrong(expected: str, actual: object) -> Malformed:
    return Malformed(f"{expected} was expected, not {str(actual)[:80]!r}")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _wrong("a string", value)
    return value


def _base64(value: Any) -> bytes:
    text = _text(value).rstrip("=")
    return a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)


def _integer(value: Any, bits: int) -> int:
    if type(value) is not int or value >> (bits - 1) not in (0, -1):
        raise _wrong(f"a whole number of {bits} bits", value)
    return value


def _integer_key(value: Any, bits: int) -> int:
    if not _INTEGER.match(_text(value)):
        raise _wrong("a whole number in quotes", value)
    return _integer(int(value), bits)


def _bool(value: Any) -> bool:
    return _integer(value, 8) != 0


def _double(value: Any) -> float:
    if type(value) is str and value in _ODD_DOUBLES:
        return _ODD_DOUBLES[value]
    if type(value) not in (int, float):
        raise _wrong("a number", value)
    return float(value)


def _elements(expected: str, value: Any) -> Any:
    """The elements of a list or set: `["str",2,"a","b"]`."""
    name, count = value[0], value[1]
    if type(count) is not int or len(value) != count + 2 or type(value) is str:
        raise _wrong("a list with its type and count", value)
    if count and name != expected:
        raise Malformed(f"a list holds elements of type {name!r}, not {expected!r}")
    return value[2:]


def _texts(value: Any) -> list[str]:
    elements: list[str] = _elements("str", value)
    for element in elements:
        if type(element) is not str:
            raise _wrong("a string", element)
    return elements


def _pairs(key: str, inner: str, value: Any) -> dict[Any, Any]:
    """The entries of a map: `["str","i64",1,{"a":1}]`."""
    key_name, inner_name, count, pairs = value
    if type(pairs) is not dict or type(count) is not int or len(pairs) != count:
        raise _wrong("a map with its types and count", value)
    if count and (key_name, inner_name) != (key, inner):
        raise Malformed(f"a map holds {key_name!r} to {inner_name!r}, not {key!r} to {inner!r}")
    return pairs


# Writing: called by generated code.


def _dump_base64(value: bytes) -> bytes:
    return b'"' + b2a_base64(value, newline=False).rstrip(b"=") + b'"'


def _dump_double(value: float) -> bytes:
    if math.isfinite(value):
        return repr(float(value)).encode()
    return b'"NaN"' if math.isnan(value) else b'"Infinity"' if value > 0 else b'"-Infinity"'


def _mended(value: Any) -> Any:
    """Strings from bytes that are not valid UTF-8 cannot be JSON: the wrong bytes become U+FFFD, as in Java."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_mended(k): _mended(v) for k, v in value.items()}
    return [_mended(v) for v in value] if isinstance(value, tuple | list) else value


def _mending_dumps(value: Any) -> bytes:
    return orjson.dumps(_mended(value))


class TjsonCompiler(Compiler):
    """Codecs for TJSON. Readers take a parsed value; writers write `},` or `{` before a field and `}}` at the end."""

    protocol = "TJSON"
    writer_begins = "    some = 0\n"
    writer_ends = "    w(ENDS[some])\n"

    def __init__(self, namespace: dict[str, Any], as_2_3_0: bool = False) -> None:
        """`as_2_3_0`: only fields that Hive 2.3.0 has are written."""
        super().__init__(namespace)
        self._as_2_3_0 = as_2_3_0
        self._memos: list[list[tuple[object, Any]]] = []

    def forget(self) -> None:
        """Empties the memos of reading, at a message's end: parsed values are large, and nothing bounds them."""
        for memo in self._memos:
            memo[0] = (_NOTHING, None)

    def writer(self, name: str, plan: tuple[Slot, ...]) -> str:
        if self._as_2_3_0:
            # Names of catalogs came to 2.3 in a later release than its first.
            plan = tuple(s for s in plan if "2.3" in s.field.versions and s.field.role != "cat")
        return super().writer(name, plan)

    def field(self, field: Field, before: list[int], pad: str) -> str:
        head = b'"%d":{"%b":' % (field.id, json_name(field.type).encode())
        return f"{pad}w({b'},' + head!r} if some else {b'{' + head!r}); some = 1\n"

    def write(self, type: Type, value: str, pad: str) -> str:
        name = type.name
        if name in ("list", "set"):
            return self._write_list(type, value, pad)
        if name == "map":
            return self._write_map(type, value, pad)
        if name == "string":
            return f"{pad}w(dumps({value}))\n"
        if name == "binary":
            return f"{pad}w(dump_base64({value}))\n"
        if name == "bool":
            return f"{pad}w(b'1' if {value} else b'0')\n"
        if name == "double":
            return f"{pad}w(dump_double({value}))\n"
        if is_struct(type):
            return f"{pad}write_{self.struct(type)}({value}, w)\n"
        return f"{pad}w(b'%d' % {value})\n"

    def _write_list(self, type: Type, value: str, pad: str) -> str:
        k, inner = self.fresh(), type.args[0]
        head = f'["{json_name(inner)}",%d'.encode()
        if inner.name in _DUMPED:
            items = value if type.name == "list" else f"list({value})"
            whole = f"w({head + b','!r} % len({value})); w(dumps({items})[1:])"
            return f"{pad}if {value}: {whole}\n{pad}else: w({head % 0 + b']'!r})\n"
        body = f"{pad}w({head!r} % len({value}))\n{pad}for x{k} in {value}:\n{pad}    w(b',')\n"
        return body + self.write(inner, f"x{k}", pad + "    ") + f"{pad}w(b']')\n"

    def _write_map(self, type: Type, value: str, pad: str) -> str:
        k, (key, inner) = self.fresh(), type.args
        head = f'["{json_name(key)}","{json_name(inner)}",%d,'.encode()
        body = f"{pad}w({head!r} % len({value}))\n"
        if key.name == "string" and inner.name in _DUMPED:
            return body + f"{pad}w(dumps({value})); w(b']')\n"
        body += f"{pad}s{k} = b'{{'\n{pad}for k{k}, x{k} in {value}.items():\n{pad}    w(s{k}); s{k} = b','\n"
        if key.name in ("string", "list"):
            body += self.write(key, f"k{k}", pad + "    ") + f"{pad}    w(b':')\n"
        else:
            body += f"{pad}    w(b'\"%d\":' % k{k})\n"
        body += self.write(inner, f"x{k}", pad + "    ")
        return body + f"{pad}w(b'}}]' if {value} else b'{{}}]')\n"

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        defaults = {slot.index: default_of(name, slot.field) for slot in plan}
        out = [f"def read_{name}(o):\n    if type(o) is not dict: raise wrong('a struct', o)\n"]
        if old := old_layout(name):
            sign = f"o.get('{old[0].id}')"
            out.append(f"    f = {sign}\n    if f is not None and f.get('{json_name(old[0].type)}') is not None: ")
            out.append(f"return read_old_{name}(o)\n")
        out += [f"    f{i} = {defaults.get(i)!r}\n" for i in range(width)]
        for slot in plan:
            field = slot.field
            kind = json_name(field.type)
            out.append(f"    f = o.get('{field.id}')\n    if f is not None:\n        v = f.get('{kind}', NOTHING)\n")
            out.append("        if v is not NOTHING:\n")
            out.append(self.field_value(name, field, f"f{slot.index}", " " * 12))
        values = "".join(f"f{i}, " for i in range(width)).rstrip()
        out.append(f"    return {make.format(values)}\n")
        return "".join(out)

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        if field.type.name == "string":
            return f"{pad}if type(v) is not str: raise wrong('a string', v)\n{pad}{target} = v\n"
        if (name, field.name) not in MEMOS:
            return f"{pad}{target} = {self.value(field.type, 'v')}\n"
        memo = f"memo_{name}_{field.name}"
        self._memos.append(self.namespace.setdefault(memo, [(_NOTHING, None)]))
        body = f"{pad}seen, {target} = {memo}[0]\n"
        return body + f"{pad}if v != seen: {target} = {self.value(field.type, 'v')}; {memo}[0] = (v, {target})\n"

    def value(self, type: Type, source: str) -> str:
        """An expression: the typed value of a parsed one."""
        name = type.name
        if name in ("list", "set"):
            make, inner = "tuple" if name == "list" else "frozenset", type.args[0]
            if inner.name == "string":
                return f"{make}(texts({source}))"
            x = f"x{self.fresh()}"
            elements = f"elements('{json_name(inner)}', {source})"
            return f"{make}([{self.value(inner, x)} for {x} in {elements}])"
        if name == "map":
            key, inner = type.args
            k = self.fresh()
            pairs = f"pairs('{json_name(key)}', '{json_name(inner)}', {source})"
            return f"{{{self.key(key, f'k{k}')}: {self.value(inner, f'x{k}')} for k{k}, x{k} in {pairs}.items()}}"
        if name in ("string", "binary", "bool", "double"):
            helper = {"string": "text", "binary": "base64", "bool": "boolean", "double": "double"}[name]
            return f"{helper}({source})"
        if is_struct(type):
            return f"read_{self.struct(type)}({source})"
        return f"integer({source}, {_BITS.get(name, 32)})"

    def key(self, type: Type, source: str) -> str:
        """The same for a map's key, which is a string, a number in quotes or a list."""
        if type.name in ("string", "list"):
            return self.value(type, source)
        return f"integer_key({source}, {_BITS.get(type.name, 32)})"


_NAMESPACE: dict[str, Any] = {
    "wrong": _wrong, "text": _text, "base64": _base64, "integer": _integer, "integer_key": _integer_key,
    "boolean": _bool, "double": _double, "elements": _elements, "texts": _texts, "pairs": _pairs,
    "dumps": orjson.dumps, "dump_base64": _dump_base64, "dump_double": _dump_double, "ENDS": (b"{}", b"}}"),
    "NOTHING": _NOTHING,
}  # fmt: skip
CODEC: Final = TjsonCompiler(_NAMESPACE)
MENDING_CODEC: Final = TjsonCompiler({**_NAMESPACE, "dumps": _mending_dumps})
"""For the rare body with a string that is not valid UTF-8, which orjson refuses to write."""
CODEC_2_3_0: Final = TjsonCompiler(_NAMESPACE, as_2_3_0=True)
MENDING_CODEC_2_3_0: Final = TjsonCompiler({**_NAMESPACE, "dumps": _mending_dumps}, as_2_3_0=True)
"""Both compilers for peers with the structs of Hive 2.3.0."""


def _parts(value: tuple[Any, ...]) -> list[bytes]:
    name = type(value).__name__
    parts: list[bytes] = []
    try:
        CODEC.named(name)[1](value, parts.append)
    except orjson.JSONEncodeError:
        parts = []
        MENDING_CODEC.named(name)[1](value, parts.append)
    return parts


def text(value: tuple[Any, ...]) -> str:
    """A struct as TJSON, without a message around it."""
    return b"".join(_parts(value)).decode()


def opened(value: tuple[Any, ...]) -> str:
    """The same, open at its end for one more field."""
    closed = text(value)
    return "{" if closed == "{}" else closed[:-1] + ","


def quoted(text: str) -> bytes:
    """A text as the content of a JSON string, without the quotation marks."""
    return orjson.dumps(text)[1:-1]
