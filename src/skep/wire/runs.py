"""Readers of structs for a protocol in which a field's bytes do not depend on what was before it: Thrift binary.

Every writer there is writes fields by their ids, so a struct is first read straight through, one test a field. What is
not in this order, or not known, is read by a loop (`rest_<name>`) that is compiled when it is first needed, and goes on
where the first reader stopped: nothing is read twice.

Partitions of one table differ in a few fields and repeat the others: their *runs* (`plan.RUNS`) are compared with the
bytes of the last one as a whole, and where they are the same, so are the values. Maps are copied, since whoever got
them may change them; everything else is immutable and shared. A run is remembered only when it was read in order, so
its bytes alone say what it sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from skep.wire.compiler import NOTHING, PositionCompiler
from skep.wire.generated import STRUCTS
from skep.wire.limits import MEMO_LIMIT
from skep.wire.plan import RUNS, Slot, holds_map, is_struct, old_layout
from skep.wire.structs import fields, names
from skep.wire.types import Field, Type

LOOK = 8
"""After so many fields it is worth looking whether the struct has ended: the last fields of most are seldom set."""


class _Run(NamedTuple):
    """Fields that are compared as one, and the memo that holds the last bytes and values of them."""

    memo: str
    slots: tuple[Slot, ...]
    ends: bool
    """It reaches to the end of the struct."""

    @property
    def indexes(self) -> list[int]:
        return sorted({slot.index for slot in self.slots})


class OrderedCompiler(PositionCompiler):
    """Readers that expect fields in the order of their ids."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        super().__init__(namespace)
        self.copier = cache(self._copier)

    def header(self, field: Field) -> bytes:
        """The bytes in front of a field's value."""
        raise NotImplementedError

    def reader(self, name: str, plan: tuple[Slot, ...], make: str, width: int) -> str:
        if old_layout(name) or name.startswith("old_"):
            return super().reader(name, plan, make, width)
        self._rest_when_needed(name, plan, make, width)
        values = "".join(f"f{i}, " for i in range(width)).rstrip()
        done = f"return {make.format(values)}, p + 1"
        out = [f"def read_{name}(b, p):\n", *self.absent(name, plan, width), "    h = b[p:p + 3]\n"]
        since, ended = 0, False
        for group in self._groups(name, plan):
            if isinstance(group, _Run):
                out.append(self._run(group, make.format(values)))
                ended, since = group.ends, 0
                continue
            if since >= LOOK:
                out.append(f"    if not b[p]: {done}\n")
                since = 0
            out.append(self._in_order(group, "    "))
            since += 1
        if not ended:
            out.append(f"    if not b[p]: {done}\n")
        out.append(f"    return rest_{name}(b, p{''.join(f', f{i}' for i in range(width))})\n")
        return "".join(out)

    def _in_order(self, slot: Slot, pad: str) -> str:
        value = self.read(slot.field.type, f"f{slot.index}", pad + "    ")
        return f"{pad}if h == {self.header(slot.field)!r}:\n{pad}    p += 3\n{value}{pad}    h = b[p:p + 3]\n"

    def _groups(self, name: str, plan: tuple[Slot, ...]) -> list[Slot | _Run]:
        """The slots by their ids; those that make a run are one."""
        ordered = sorted(plan, key=lambda slot: slot.field.id)
        groups: list[Slot | _Run] = list(ordered)
        for number, (first, last) in enumerate(RUNS.get(name, ())):
            at = [slot.field.name for slot in ordered]
            start, end = at.index(first), at.index(last) + 1 if last else len(ordered)
            memo = f"run_{name}_{number}"
            self.namespace[memo] = [(NOTHING, None)]
            run = _Run(memo, tuple(ordered[start:end]), not last)
            here = groups.index(ordered[start])
            groups[here : here + end - start] = [run]
        return groups

    def _run(self, run: _Run, made: str) -> str:
        names = ", ".join(f"f{i}" for i in run.indexes) + ","
        types = {slot.index: slot.field.type for slot in run.slots}
        copies = "".join(
            f"        if f{i} is not None: f{i} = {self.copied(type, f'f{i}')}\n"
            for i, type in types.items()
            if holds_map(type)
        )
        out = [f"    kb, kv = {run.memo}[0]\n    if b.startswith(kb, p):\n        {names} = kv\n{copies}"]
        if run.ends:
            out.append(f"        return {made}, p + len(kb)\n    s = p\n")
            out += [self._in_order(slot, "    ") for slot in run.slots]
            out.append("    if not b[p]:\n")
            kept, known = "b[s:p + 1]", f"        if p - s < {MEMO_LIMIT}:\n"
        else:
            out.append("        p += len(kb); h = b[p:p + 3]\n    else:\n        s = p\n")
            out += [self._in_order(slot, "        ") for slot in run.slots]
            kept, known = "b[s:p]", f"        if s < p <= len(b) and p - s < {MEMO_LIMIT}:\n"
        values = ", ".join(
            f"None if f{i} is None else {self.copied(types[i], f'f{i}')}" if holds_map(types[i]) else f"f{i}"
            for i in run.indexes
        )
        out.append(f"{known}            {run.memo}[0] = ({kept}, ({values},))\n")
        if run.ends:
            out.append(f"        return {made}, p + 1\n")
        return "".join(out)

    def copied(self, type: Type, value: str) -> str:
        """An expression: the same value, in which no map is shared with the first."""
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
