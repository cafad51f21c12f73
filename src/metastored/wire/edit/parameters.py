"""Other parameters in the tables and databases of a result: edited in the bytes, without reading the rest into objects.

Only the tables and databases that a call returns are edited, not those inside of another one's definition. This module
does not know which parameters there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, TypeAlias

from metastored.errors import RemoteProtocolError
from metastored.wire.codec.binary import (
    FIXED,
    IN_RESULT,
    INCOMPLETE,
    SKIPPED,
    SkipMemo,
    pack_field,
    pack_i,
    pack_map,
    skip,
    unpack_u,
)
from metastored.wire.generated import STRUCTS
from metastored.wire.methods import Method
from metastored.wire.structs import fields
from metastored.wire.types import LIST, MAP, STRING, STRUCT, Type

Entries: TypeAlias = list[tuple[bytes, bytes]]
Edit = Callable[[bytes, bytes, Entries], Entries]
"""Gets the name of a table or database, the type of a table, and its parameters; returns its new parameters."""

OBJECTS: Final = ("Table", "Database")
_NAME: Final = pack_field(STRING, 1)
"""Both have their name in field 1."""
_TABLE_TYPE: Final = next(field.id for field in fields(STRUCTS["Table"]) if field.name == "tableType")


class _Object:
    """A struct with parameters, by the heads of the fields with them and with the type of a table."""

    __slots__ = ("head", "type")

    def __init__(self, struct: str) -> None:
        number = next(field.id for field in fields(STRUCTS[struct]) if field.name == "parameters")
        self.head: Final = pack_field(MAP, number)
        self.type: Final = pack_field(STRING, _TABLE_TYPE) if struct == "Table" else b""


class _List:
    __slots__ = ("element",)

    def __init__(self, element: _Node) -> None:
        self.element = element


class _Around:
    """A struct around objects: by the head of a field, what is inside."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[bytes, _Node]) -> None:
        self.fields = fields


_Node: TypeAlias = _Object | _List | _Around


def edit_parameters(method: Method, body: bytes, edit: Edit) -> bytes:
    """The result with other parameters in its tables and databases; the same bytes where the method returns none."""
    plan = _plan(method)
    if plan is None:
        return body
    walk = _Walk(body, edit)
    try:
        walk.around(_Around({pack_field(STRUCT if not isinstance(plan, _List) else LIST, 0): plan}), 0)
    except INCOMPLETE:
        raise RemoteProtocolError(f"the result of {method.name} ends too early, after {len(body)} bytes") from None
    return walk.result()


@cache
def _plan(method: Method) -> _Node | None:
    return None if method.returns is None else _node(method.returns)


def _node(type: Type) -> _Node | None:
    if type.name in OBJECTS:
        return _Object(type.name)
    if type.name == "list":
        element = _node(type.args[0])
        return None if element is None else _List(element)
    if type.name not in STRUCTS:
        return None
    children: dict[bytes, _Node] = {}
    for field in fields(STRUCTS[type.name]):
        # Results have objects one struct deep; what is deeper is part of a definition.
        direct = field.type.args[0] if field.type.name == "list" else field.type
        if direct.name in OBJECTS:
            node = _node(field.type)
            assert node is not None
            children[pack_field(LIST if field.type.name == "list" else STRUCT, field.id)] = node
    return _Around(children) if children else None


class _Walk:
    def __init__(self, data: bytes, edit: Edit) -> None:
        self.data = data
        self.edit = edit
        self.memo = SkipMemo(SKIPPED)
        self.out: list[bytes] = []
        self.copied = 0

    def result(self) -> bytes:
        if not self.out:
            return self.data
        self.out.append(self.data[self.copied :])
        return b"".join(self.out)

    def value(self, node: _Node, at: int) -> int:
        if isinstance(node, _Object):
            return self.object(node, at)
        if isinstance(node, _Around):
            return self.around(node, at)
        kind, count = self.data[at], unpack_u(self.data, at + 1)[0]
        at += 5
        for _ in range(count):
            at = self.value(node.element, at) if kind == STRUCT else skip(self.data, at, kind)
        return at

    def around(self, node: _Around, at: int) -> int:
        data = self.data
        while kind := data[at]:
            inside = node.fields.get(data[at : at + 3])
            at = skip(data, at + 3, kind) if inside is None else self.value(inside, at + 3)
        return at + 1

    def object(self, node: _Object, at: int) -> int:
        data, name, type, place = self.data, b"", b"", None
        while kind := data[at]:
            head = data[at : at + 3]
            at += 3
            start = at
            if kind == STRING:
                at += 4 + unpack_u(data, at)[0]
                if head == _NAME:
                    name = data[start + 4 : at]
                elif head == node.type:
                    type = data[start + 4 : at]
            elif head == node.head and place is None:
                at = skip(data, at, kind)
                place = start, at
            else:
                at = at + FIXED[kind] if kind in FIXED else skip(data, at, kind, IN_RESULT, self.memo)
        if place is not None:
            self._put(*place, _encoded(self.edit(name, type, _entries(data, place[0]))))
        elif added := self.edit(name, type, []):
            self._put(at, at, node.head + _encoded(added))
        return at + 1

    def _put(self, start: int, end: int, new: bytes) -> None:
        self.out += (self.data[self.copied : start], new)
        self.copied = end


def _entries(data: bytes, at: int) -> Entries:
    key, value, count = data[at], data[at + 1], unpack_u(data, at + 2)[0]
    if count and (key, value) != (STRING, STRING):
        raise RemoteProtocolError(f"parameters at byte {at} are not texts")
    at += 6
    entries: Entries = []
    for _ in range(count):
        middle = at + 4 + unpack_u(data, at)[0]
        end = middle + 4 + unpack_u(data, middle)[0]
        entries.append((data[at + 4 : middle], data[middle + 4 : end]))
        at = end
    return entries


def _encoded(entries: Entries) -> bytes:
    parts = [pack_map(STRING, STRING, len(entries))]
    for entry in entries:
        for text in entry:
            parts += (pack_i(len(text)), text)
    return b"".join(parts)
