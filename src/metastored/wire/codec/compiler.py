"""Compiles the functions that read and write a struct, for whichever protocol: at first use, straight-line Python.

A protocol is a subclass that defines how a field and a value are encoded; the common part is here: structs inside
structs, the arguments and results of methods, declared exceptions, layouts of old versions, and the *run memo*: a
codec caches the last values of a few fields (`plan.MEMOS`), and where the next one is the same, as the columns of
one partition after another are, it is not decoded or encoded again. Memos are replaced whole, so threads may share
a codec. This module contains no byte of any protocol.
"""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from metastored.errors import THRIFT_EXCEPTIONS, RemoteProtocolError
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MEMO_LIMIT
from metastored.wire.methods import Method
from metastored.wire.methods.plan import MEMOS, Slot, default_of, instead, old_layout, result_fields, slots
from metastored.wire.structs import names, new
from metastored.wire.types import EXCEPTION, REPLY, Field, Type

Reader = Callable[..., Any]
"""(data, position) -> (value, position behind it); TJSON's take a parsed value and return the typed one."""
Writer = Callable[[Any, Callable[[bytes], Any]], None]
Codec = tuple[Reader, Writer]

_APPLICATION_ERROR = (Field(1, Type("string"), "message"), Field(2, Type("i32"), "type"))
NOTHING = b"\xff" * 11
"""Bytes with which no value begins, in any protocol."""


class Malformed(RemoteProtocolError):
    """Bytes that no longer data can make right."""


class Compiler:
    """The codecs of one protocol. Generated code sees `namespace` as its globals."""

    protocol: str

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace: dict[str, Any] = {"new": new, **namespace}
        self._counter = 0
        self._started: set[str] = set()
        self.lock = threading.RLock()
        self.named = cache(self._named)
        self.args = cache(self._args)
        self.result = cache(self._result)
        self.application_error = cache(self._application_error)

    # Defined by each protocol.

    def read(self, type: Type, target: str, pad: str) -> str:
        """Statements that read a value of this type into a variable."""
        raise NotImplementedError

    def write(self, type: Type, value: str, pad: str) -> str:
        """Statements that write the value of an expression."""
        raise NotImplementedError

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        """The source of `read_<name>`; `make` is an expression around the fields' values."""
        raise NotImplementedError

    def field(self, field: Field, before: list[int], pad: str) -> str:
        """Statements that write a field's header; `before` are the ids that may have been written before it."""
        raise NotImplementedError

    writer_begins: str = ""
    writer_ends: str

    # Common to all protocols.

    def fresh(self) -> int:
        """A number for variables that no other value of the function uses."""
        self._counter += 1
        return self._counter

    def struct(self, type: Type) -> str:
        """The name in `read_<name>` and `write_<name>` of a nested struct."""
        # Structs may contain themselves (Table, through CreationMetadata): the names are bound when the code runs.
        if type.name not in self._started:
            self.named(type.name)
        return type.name

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        """Statements that read a field's value behind its header, with the memo where it is worth one."""
        if (name, field.name) not in MEMOS:
            return self.read(field.type, target, pad)
        memo = f"memo_{name}_{field.name}"
        self.namespace[memo] = [(NOTHING, None)]
        body = f"{pad}kb, kv = {memo}[0]\n"
        body += f"{pad}if b.startswith(kb, p): {target} = kv; p += len(kb)\n{pad}else:\n{pad}    s = p\n"
        body += self.read(field.type, target, pad + "    ")
        return body + f"{pad}    if p - s < {MEMO_LIMIT} and p <= len(b): {memo}[0] = (b[s:p], {target})\n"

    def writer(self, name: str, plan: tuple[Slot, ...]) -> str:
        """The source of `write_<name>`."""
        out = [f"def write_{name}(o, w):\n{self.writer_begins}"]
        before: list[int] = []
        for slot in plan:
            if not slot.written:
                continue
            out.append(f"    v = o[{slot.index}]\n    if v is not None:\n")
            pad = " " * 8
            for other, python in instead(plan, slot):
                inner = pad + "    "
                out.append(f"{pad}if isinstance(v, {python}):\n{self.field(other, before, inner)}")
                out.append(f"{self.write(other.type, 'v', inner)}{pad}else:\n")
                pad = inner
            out.append(self.field(slot.field, before, pad))
            out.append(self.field_written(name, slot.field, pad))
            before.append(slot.field.id)
        out.append(f"{self.writer_ends}\n")
        return "".join(out)

    def field_written(self, name: str, field: Field, pad: str) -> str:
        if (name, field.name) not in MEMOS or field.type.name == "string":
            return self.write(field.type, "v", pad)
        memo = f"kept_{name}_{field.name}"
        # The last two: a table and its partition, with columns of their own, are often written in turn.
        self.namespace[memo] = [(None, b""), (None, b"")]
        body = f"{pad}kv, kb = {memo}[0]\n{pad}if kv is not v: kv, kb = {memo}[1]\n"
        body += f"{pad}if kv is v: w(kb)\n{pad}else:\n{pad}    out = w; L = []; w = L.append\n"
        body += self.write(field.type, "v", pad + "    ")
        return (
            body
            + f"{pad}    w = out; kb = b''.join(L); w(kb)\n"
            + f"{pad}    if type(v) is tuple and len(kb) < {MEMO_LIMIT}: {memo}[:] = (v, kb), {memo}[0]\n"
        )

    def define(self, name: str, source: str) -> None:
        """Compile functions into the namespace. Tracebacks and debuggers find their source in `linecache`."""
        file = f"<metastored {self.protocol} codec of {name} {self.fresh()}>"
        exec(compile(source, file, "exec"), self.namespace)
        # Without a modification time, linecache.checkcache keeps an entry that has no file.
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)

    def _compile(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> Codec:
        self.define(name, self.reader(name, plan, make, width) + self.writer(name, plan))
        return self.namespace[f"read_{name}"], self.namespace[f"write_{name}"]

    def _named(self, name: str) -> Codec:
        with self.lock:
            self._started.add(name)
            exception = THRIFT_EXCEPTIONS.get(name)
            if exception is not None:
                return self._exception(name, exception)
            cls = STRUCTS[name]
            self.namespace[name] = cls
            order = names(cls)
            make = f"new({name}, ({{}}))"
            if old := old_layout(name):
                plan = tuple(Slot(order.index(f.name), f, False) for f in old[1])
                self.define(name, self.reader(f"old_{name}", plan, make, len(order)))
            return self._compile(name, slots(cls), make, len(order))

    def _exception(self, name: str, exception: type) -> Codec:
        self.namespace[name] = exception
        plan = (Slot(0, Field(1, Type("string"), "message"), True),)
        reader, write = self._compile(name, plan, f"{name}({{}})", 1)
        # An exception is not a tuple: its only field is the message.
        writer: Writer = lambda error, w: write((error.message,), w)  # noqa: E731
        self.namespace[f"write_{name}"] = writer
        return reader, writer

    def _tuple(self, name: str, fields: tuple[Field, ...]) -> Codec:
        with self.lock:
            plan = tuple(Slot(i, field, True) for i, field in enumerate(fields))
            return self._compile(name, plan, "({})", len(plan))

    def _args(self, method: Method) -> Codec:
        return self._tuple(f"args_of_{method.name}", method.args)

    def _result(self, method: Method) -> Codec:
        return self._tuple(f"result_of_{method.name}", result_fields(method))

    def _application_error(self) -> Codec:
        return self._tuple("TApplicationException", _APPLICATION_ERROR)

    def body(self, kind: int, method: Method | None) -> Codec:
        """The codec of the struct that a message of this kind carries, as a tuple of its fields."""
        if kind == EXCEPTION:
            return self.application_error()
        if method is None:
            raise ValueError("a call or reply of an unknown method has no codec")
        return self.result(method) if kind == REPLY else self.args(method)


class PositionCompiler(Compiler):
    """A compiler for protocols whose structs are a run of field headers and values in bytes."""

    field_header: str
    """Statements that read a header at `b[p]` into the type `t` and the id `i`, and `break` at the STOP."""
    reader_begins: str = ""

    def matches(self, type: Type) -> str:
        """The condition under which a header's `t` announces this type."""
        raise NotImplementedError

    def field_id(self, field: Field) -> int:
        """A field's id as `i` has it."""
        return field.id

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        begins = "    start = p\n" if old_layout(name) else ""
        absent = "".join(self.absent(name, plan, width))
        return f"def read_{name}(b, p):\n{begins}{absent}{self.loop(name, plan, make, width)}"

    def absent(self, name: str, plan: tuple[Slot, ...], width: int) -> list[str]:
        """Statements that give each field the value of one that is not there."""
        defaults = {slot.index: default_of(name, slot.field) for slot in plan}
        return [f"    f{i} = {defaults.get(i)!r}\n" for i in range(width)]

    def loop(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        """Statements that read fields in whatever order they come, to the end of the struct."""
        out = [f"{self.reader_begins}    while True:\n{self.field_header}"]
        if old := old_layout(name):
            sign = f"i == {self.field_id(old[0])} and {self.matches(old[0].type)}"
            out.append(f"        if {sign}: return read_old_{name}(b, start)\n")
        branch = "if"
        for slot in plan:
            out.append(f"        {branch} i == {self.field_id(slot.field)} and {self.matches(slot.field.type)}:\n")
            out.append(self.field_value(name, slot.field, f"f{slot.index}", " " * 12))
            branch = "elif"
        out.append("        else: p = skip_field(b, p, t)\n" if plan else "        p = skip_field(b, p, t)\n")
        values = "".join(f"f{i}, " for i in range(width)).rstrip()
        out.append(f"    return {make.format(values)}, p + 1\n")
        return "".join(out)
