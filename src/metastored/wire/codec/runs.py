"""Readers of structs for a protocol in which a field's bytes do not depend on earlier fields: Thrift binary.

Most writers write fields in the order of their ids, so a struct is first read sequentially, with one test per field.
A struct that metastored splices (`SPLICED`) has two such sequences.
Fields that are out of order or unknown are read by a loop (`rest_<name>`) that is compiled at its first use and
continues where the first reader stopped: nothing is read twice.

Partitions of one table differ in a few fields and repeat the others. Repeated fields form a *run* (`plan.RUNS`). At
the first field of a run, the bytes are compared with the bytes of the last run; if they are equal, the cached values
are used. A run consists of complete fields, so its values do not depend on earlier bytes. A run that could be longer is
read again: the last one may have ended where a part of a message ended. Maps are copied, since the caller may change
them; all other values are immutable and shared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import repeat
from typing import Any

from metastored.wire.codec.compiler import NOTHING, PositionCompiler
from metastored.wire.generated import STRUCTS
from metastored.wire.limits import MEMO_LIMIT
from metastored.wire.methods.plan import RUNS, Slot, default_of, holds_map, is_struct, old_layout
from metastored.wire.structs import fields, names
from metastored.wire.types import Field, Type

AHEAD = 96
"""Bytes that a column takes, at most, in most tables."""

SPLICED = frozenset({"Partition", "StorageDescriptor"})
"""Structs that metastored writes from two parts, each in the order of the ids: they are read in two such passes."""

LOOK = 8
"""After this many fields a reader checks for the end of the struct: the last fields of most structs are seldom set."""


class OrderedCompiler(PositionCompiler):
    """Readers that expect fields in the order of their ids."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        super().__init__(namespace)
        self.copier = cache(self._copier)

    def header(self, field: Field) -> bytes:
        """The three bytes in front of a field's value."""
        raise NotImplementedError

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        if old_layout(name) or name.startswith("old_"):
            return super().reader(name, plan, make, width)
        self._rest_when_needed(name, plan, make, width)
        values = "".join(f"f{i}, " for i in range(width)).rstrip()
        done = f"    if not b[p]: return {make.format(values)}, p + 1\n"
        out = [f"def read_{name}(b, p):\n", *self.absent(name, plan, width), "    h = b[p:p + 3]\n"]
        order = sorted(plan, key=lambda slot: slot.field.id)
        for _ in range(2 if name in SPLICED else 1):
            for number, slot in enumerate(order):
                if number and number % LOOK == 0:
                    out.append(done)
                value = self.field_value(name, slot.field, f"f{slot.index}", " " * 8)
                out.append(f"    if h == {self.header(slot.field)!r}:\n        p += 3\n{value}        h = b[p:p + 3]\n")
            out.append(done)
        out.append(f"    return rest_{name}(b, p{''.join(f', f{i}' for i in range(width))})\n")
        return "".join(out)

    def texts(self, type: Type) -> str | None:
        """The name of a function that reads a list of these structs; None if a field is not a string.

        It decodes all bytes into one string and slices the fields out of it, as long as they are ASCII, in the order
        of their ids, short, and none but the last is missing. Other structs are read by the struct's own reader.
        """
        cls = STRUCTS.get(type.name)
        if cls is None or not fields(cls) or any(field.type.name != "string" for field in fields(cls)):
            return None
        name = f"texts_{type.name}"
        if name in self.namespace:
            return name
        self.struct(type)
        order = sorted(fields(cls), key=lambda field: field.id)
        *first, last = [f"p{i}" for i in range(len(order))]
        heads = [self.header(field) + bytes(3) for field in order]
        slices = [f"t[p{i} + 7:p{i + 1}]" for i in range(len(order))]
        parts = dict(zip([field.name for field in order], slices, strict=True))
        whole = "".join(f"{parts[each]}, " for each in names(cls))
        parts[order[-1].name] = repr(default_of(type.name, order[-1]))
        short = "".join(f"{parts[each]}, " for each in names(cls))
        walked = "".join(f"            p{i + 1} = {at} + 7 + w[{at} + 6]\n" for i, at in enumerate(first))
        expected = " or ".join(f"w[{at}:{at} + 6] != {head!r}" for at, head in zip(first, heads, strict=False))
        end = f"p{len(order)}"
        self.namespace |= {"repeat": repeat, "PLAIN": AHEAD}
        self.define(
            name,
            f"def {name}(b, p, n):\n"
            "    L = []; a = L.append; w = b[p:p + n * PLAIN]; p0 = 0\n"
            "    try:\n"
            "        t = w.decode('latin-1')\n"
            "        for _ in range(n):\n"
            f"{walked}"
            + (f"            if {expected}: break\n" if expected else "")
            + f"            if w[{last}:{last} + 6] == {heads[-1]!r}:\n"
            f"                {end} = {last} + 7 + w[{last} + 6]\n"
            f"                if w[{end}]: break\n"
            f"                a(({whole})); p0 = {end} + 1\n"
            f"            elif w[{last}]: break\n"
            f"            else: a(({short})); p0 = {last} + 1\n"
            "    except IndexError: pass\n"
            "    if not w[:p0].isascii(): L = []; p0 = 0\n"
            f"    p += p0; L = list(map(new, repeat({type.name}), L)); a = L.append\n"
            "    for _ in range(n - len(L)):\n"
            f"        x, p = read_{type.name}(b, p); a(x)\n"
            "    return tuple(L), p\n",
        )
        return name

    def field_value(self, name: str, field: Field, target: str, pad: str) -> str:
        """A field's value; at the first field of a run, also the values of the following fields."""
        following = RUNS.get((name, field.name))
        if following is None:
            return self.read(field.type, target, pad)
        order = names(STRUCTS[name])
        members = [field, *(each for each in fields(STRUCTS[name]) if each.name in following)]
        run = {order.index(each.name): each for each in sorted(members, key=lambda each: each.id)}
        memo = f"run_{name}_{field.name}"
        self.namespace.setdefault(memo, [(NOTHING, None)])
        # `r…` and not `k…`, which are the keys of maps that are being read.
        values = "".join(f"r{i}, " for i in run)
        more = f"more_{name}_{field.name}"
        self.namespace[more] = frozenset(self.header(each) for each in run.values())
        out = [
            f"kb, kv = {memo}[0]; q = p + len(kb)\n",
            f"if b.startswith(kb, p) and b[q:q + 3] not in {more}:\n    p = q; {values}= kv\n",
        ]
        for i, each in run.items():
            if holds_map(each.type):
                out.append(f"    if r{i} is not None: r{i} = {self.copied(each.type, f'r{i}')}\n")
        out.append(f"else:\n    s = p; {' = '.join(f'r{i}' for i in run)} = None\n")
        for i, each in run.items():
            if each is field:
                out.append(self.read(each.type, f"r{i}", "    ") + "    h = b[p:p + 3]\n")
            else:
                value = self.read(each.type, f"r{i}", " " * 8)
                out.append(f"    if h == {self.header(each)!r}:\n        p += 3\n{value}        h = b[p:p + 3]\n")
        kept = "".join(
            f"None if r{i} is None else {self.copied(each.type, f'r{i}')}, " if holds_map(each.type) else f"r{i}, "
            for i, each in run.items()
        )
        out.append(f"    if p <= len(b) and p - s < {MEMO_LIMIT}: {memo}[0] = (b[s:p], ({kept}))\n")
        out += [f"if r{i} is not None: f{i} = r{i}\n" for i in run]
        return "".join(f"{pad}{line}\n" for line in "".join(out).splitlines())

    def copied(self, type: Type, value: str) -> str:
        """An expression: a copy of the value that shares no map with the original."""
        if not holds_map(type):
            return value
        x = f"x{self.fresh()}"
        if type.name == "map":
            if not holds_map(type.args[1]):
                return f"{value}.copy()"
            return f"{{k: {self.copied(type.args[1], x)} for k, {x} in {value}.items()}}"
        if not is_struct(type):
            make = "tuple" if type.name == "list" else "frozenset"
            return f"{make}([{self.copied(type.args[0], x)} for {x} in {value}])"
        helper = f"copy_{type.name}"
        if helper not in self.namespace:
            self.namespace[helper] = None  # A struct may hold itself: then the name is bound when the code runs.
            cls = STRUCTS[type.name]
            order = names(cls)
            types = {order.index(field.name): field.type for field in fields(cls)}
            parts = "".join(
                f"None if o[{i}] is None else {self.copied(types[i], f'o[{i}]')}, "
                if holds_map(types[i])
                else f"o[{i}], "
                for i in range(len(order))
            )
            self.namespace[type.name] = cls
            self.define(helper, f"def {helper}(o): return new({type.name}, ({parts}))\n")
        return f"{helper}({value})"

    def _copier(self, type: Type) -> Callable[[Any], Any]:
        """A function that copies a value as far as it can be changed."""
        with self.lock:
            name = f"copier_{self.fresh()}"
            self.define(name, f"def {name}(v): return {self.copied(type, 'v')}\n")
            made: Callable[[Any], Any] = self.namespace[name]
            return made

    def _rest_when_needed(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> None:
        def first(*args: object) -> object:
            parameters = "".join(f", f{i}" for i in range(width))
            source = f"def rest_{name}(b, p{parameters}):\n" + self.loop(name, plan, make, width)
            with self.lock:
                self.define(name, source)
            return self.namespace[f"rest_{name}"](*args)

        self.namespace[f"rest_{name}"] = first
