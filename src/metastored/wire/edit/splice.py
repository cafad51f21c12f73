"""Replaces names in a Thrift body: in the bytes, without decoding the body into objects.

A body is walked by its layout (`methods/naming.py` says where names are), the names are replaced, and the runs of bytes
between them are copied unchanged. If nothing changes, the same bytes object is returned.

There are two fast paths. In a list of partitions, storage descriptors differ in their location only: the bytes before
and behind the location are compared with the previous partition instead of walked. In a result, when no further name
can follow, the rest is copied without a walk: of a table with fifty columns only the first two fields are walked.

Only names are replaced, that is strings: never ids of transactions or locks. Which name becomes which is decided
by the caller.

A long result is not copied: the replacements are listed, and the new body is a stream over the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from metastored.errors import LocalProtocolError, RemoteProtocolError
from metastored.wire.codec.binary import FIXED, INCOMPLETE, pack_field, pack_i, skip, unpack_u
from metastored.wire.limits import MAX_DEPTH, MEMO_LIMIT
from metastored.wire.message import Stream
from metastored.wire.methods import Method
from metastored.wire.methods.naming import (
    Each,
    Inside,
    Layout,
    Leaf,
    Nested,
    Pairs,
    argument_layout,
    old_struct_layout,
    result_layout,
    struct_layout,
)
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.types import LIST, MAP, SET, STRING, STRUCT

Renames = Mapping[str, Callable[[str], str]]
"""By role, the function that renames. Names of other roles are not changed."""

CHUNK: Final = 512 * 1024
"""Bytes of a chunk of a streamed result."""
_NUMBERS: Final = frozenset(("txn_id", "lock_id"))
_REPEATING: Final = "StorageDescriptor"
_LOCATION: Final = pack_field(STRING, 2)
_MESSAGE: Final = pack_field(STRING, 1)
_NO_RUN: Final = b"\xff"
"""Equal to no run: no field begins with this byte."""


def splice_arguments(method: Method, body: bytes, renames: Renames) -> bytes:
    """The arguments of a call with other names.

    Every byte is walked, because it comes from a client: a field that occurs twice is renamed twice.
    """
    plan = method_plan(method, "arguments", frozenset(renames))
    return body if plan is None else Walk(body, renames).run(plan, f"the arguments of {method.name}", False)


def splice_result(method: Method, body: bytes, renames: Renames) -> bytes:
    """The result of a call with other names. The bytes must be whole: they are not all looked at."""
    plan = method_plan(method, "result", frozenset(renames))
    return body if plan is None else Walk(body, renames).run(plan, f"the result of {method.name}", True)


def stream_result(method: Method, body: bytes, renames: Renames) -> bytes | Stream:
    """The same as a stream, where names change: the new body is never in memory as a whole."""
    plan = method_plan(method, "result", frozenset(renames))
    if plan is None:
        return body
    walk = Walk(body, renames)
    walk.walk(plan, f"the result of {method.name}", True)
    return Stream(walk.chunks(), walk.length(), at_hand=True) if walk.edits else body


def carries_exception(body: bytes) -> bool:
    """Whether a result is a declared exception, by the id of its first field."""
    return body[:1] == b"\x0c" and body[1:3] != b"\0\0"


def splice_message(body: bytes, rename: Callable[[str], str]) -> bytes:
    """A result that carries a declared exception, with another text in it."""
    plan, exception = StructPlan(), StructPlan()
    plan.add({body[:3]: exception})
    exception.add({_MESSAGE: "message"})
    return Walk(body, {"message": rename}).run(plan, "an exception", False)


# The plan for each field: only the parts of a layout that lead to a requested role.


class StructPlan:
    """By the three bytes of a field's head (type and id), what is inside it."""

    __slots__ = ("awaited", "fields", "repeats")

    def __init__(self, repeats: bool = False) -> None:
        self.fields: dict[bytes, Node | OldPlan] = {}
        self.awaited: frozenset[bytes] = frozenset()
        """The fields in which something may be renamed."""
        self.repeats = repeats
        """A storage descriptor: part of every plan for its shortcut, even where its location keeps its name."""

    def add(self, fields: dict[bytes, Node | OldPlan]) -> None:
        self.fields.update(fields)
        self.awaited |= {head for head, node in fields.items() if not _only_passed(node)}


class OldPlan:
    """The field that gives an older layout away: the struct is walked again as that."""

    __slots__ = ("plan",)

    def __init__(self, plan: StructPlan) -> None:
        self.plan = plan


class ElementsPlan:
    __slots__ = ("element",)

    def __init__(self, element: Node) -> None:
        self.element = element


class EntriesPlan:
    __slots__ = ("key", "value")

    def __init__(self, key: Node | None, value: Node | None) -> None:
        self.key = key
        self.value = value


Node: TypeAlias = str | StructPlan | ElementsPlan | EntriesPlan
"""A string is the role of a name."""


def _only_passed(node: Node | OldPlan) -> bool:
    return type(node) is StructPlan and node.repeats and not node.fields


@cache
def method_plan(method: Method, part: str, roles: frozenset[str]) -> StructPlan | None:
    """None when there is nothing of these roles."""
    if numbers := roles & _NUMBERS:
        raise LocalProtocolError(f"only names can be replaced; {', '.join(sorted(numbers))} is a number")
    layout = argument_layout(method) if part == "arguments" else result_layout(method)
    if not _roles(layout) & roles:
        return None
    plan = StructPlan()
    plan.add(_plan_fields(layout, roles, {}))
    return plan


def _plan_fields(layout: Layout, roles: frozenset[str], known: dict[str, StructPlan]) -> dict[bytes, Node | OldPlan]:
    plans = {pack_field(type, number): _plan(inside, roles, known) for (number, type), inside in layout.items()}
    return {head: node for head, node in plans.items() if node is not None}


def _plan(inside: Inside, roles: frozenset[str], known: dict[str, StructPlan]) -> Node | None:
    match inside:
        case Leaf(role):
            return role if role in roles else None
        case Each(element):
            node = _plan(element, roles, known)
            return None if node is None else ElementsPlan(node)
        case Pairs(key, value):
            left = None if key is None else _plan(key, roles, known)
            right = None if value is None else _plan(value, roles, known)
            return None if left is None and right is None else EntriesPlan(left, right)
        case Nested(struct):
            return _plan_struct(struct, roles, known)


def _plan_struct(struct: str, roles: frozenset[str], known: dict[str, StructPlan]) -> StructPlan | None:
    """Structs may contain themselves: each is planned once, and known while it is being planned."""
    repeats = struct == _REPEATING and set(struct_layout(struct)) == {(2, STRING)}
    if not repeats and not _struct_roles(struct) & roles:
        return None
    if struct in known:
        return known[struct]
    plan = known[struct] = StructPlan(repeats)
    plan.add(_plan_fields(struct_layout(struct), roles, known))
    was, old = old_layout(struct), old_struct_layout(struct)
    if was is not None and old is not None:
        older = StructPlan()
        older.add(_plan_fields(old, roles, known))
        plan.add({pack_field(wire_type(was[0].type), was[0].id): OldPlan(older)})
    return plan


@cache
def _struct_roles(struct: str) -> frozenset[str]:
    """The roles that are reached from a struct through any number of others."""
    return _roles(struct_layout(struct)) | _roles(old_struct_layout(struct) or {})


def _roles(layout: Layout) -> frozenset[str]:
    roles: set[str] = set()
    seen: set[str] = set()
    waiting: list[Inside | None] = list(layout.values())
    while waiting:
        match waiting.pop():
            case Leaf(role):
                roles.add(role)
            case Each(element):
                waiting.append(element)
            case Pairs(key, value):
                waiting += (key, value)
            case Nested(struct) if struct not in seen:
                seen.add(struct)
                waiting += struct_layout(struct).values()
                waiting += (old_struct_layout(struct) or {}).values()
    return frozenset(roles)


class _RestIsOpaque(Exception):
    """Nothing behind this position can hold a name."""


class Walk:
    """One body on its way through: `edits` has what is replaced by what, in order."""

    __slots__ = ("_after", "_before", "data", "edits", "known", "renames")

    def __init__(self, data: bytes, renames: Renames) -> None:
        self.data = data
        self.renames = renames
        self.edits: list[tuple[int, int, bytes]] = []
        """Begin and end of the bytes that are replaced, and the new ones."""
        self.known: dict[str, dict[bytes, bytes | None]] = {role: {} for role in renames}
        self._before = self._after = _NO_RUN

    def run(self, plan: StructPlan, what: str, last: bool) -> bytes:
        self.walk(plan, what, last)
        return b"".join(self.pieces()) if self.edits else self.data

    def pieces(self, until: int | None = None) -> Iterator[bytes]:
        """The new body, or its beginning: runs of the old one, and what is new between them."""
        data, copied = self.data, 0
        for start, end, new in self.edits:
            yield data[copied:start]
            yield new
            copied = end
        yield data[copied:until]

    def chunks(self) -> Iterator[bytes]:
        """The same in pieces of about CHUNK bytes."""
        waiting: list[bytes] = []
        size = 0
        for piece in self.pieces():
            waiting.append(piece)
            size += len(piece)
            if size >= CHUNK:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)

    def length(self) -> int:
        """Bytes of the new body."""
        return len(self.data) + sum(len(new) - (end - start) for start, end, new in self.edits)

    def walk(self, plan: StructPlan, what: str, last: bool) -> None:
        """Finds what is replaced. Raises RemoteProtocolError for bytes that are not such a struct."""
        try:
            if self.struct(plan, 0, 0, last) > len(self.data):
                raise IndexError
        except _RestIsOpaque:
            pass
        except INCOMPLETE:
            raise RemoteProtocolError(f"{what} ends too early, after {len(self.data)} bytes") from None

    def struct(self, plan: StructPlan, at: int, depth: int, last: bool) -> int:
        """The position behind a struct. `last`: no names are behind it."""
        if depth > MAX_DEPTH:
            raise RemoteProtocolError(f"more than {MAX_DEPTH} values inside each other at byte {at}")
        if plan.repeats:
            return self.descriptor(plan, at, depth)
        data, fields = self.data, plan.fields
        start, written = at, len(self.edits)
        awaited = set(plan.awaited) if last else None
        while kind := data[at]:
            head = data[at : at + 3]
            node = fields.get(head)
            at += 3
            if node is None:
                if kind == STRING:
                    at += 4 + unpack_u(data, at)[0]
                elif kind in FIXED:
                    at += FIXED[kind]
                else:
                    at = skip(data, at, kind, depth + 1)
                continue
            if awaited is not None:
                awaited.discard(head)
            if type(node) is str:
                at = self.name(node, at)
                # A field whose header bytes do not occur in the rest is not in the rest.
                if awaited is not None and not any(data.find(other, at) >= 0 for other in awaited):
                    raise _RestIsOpaque
            elif type(node) is OldPlan:
                del self.edits[written:]
                return self.struct(node.plan, start, depth, last)
            elif type(node) is StructPlan:
                at = self.struct(node, at, depth + 1, awaited is not None and not awaited)
            else:
                at = self.value(node, kind, at, depth + 1)  # type: ignore[arg-type]
        return at + 1

    def value(self, node: Node, kind: int, at: int, depth: int) -> int:
        """The position behind a value that is not a field, or behind a container."""
        if type(node) is str:
            if kind == STRING:
                return self.name(node, at)
        elif type(node) is StructPlan:
            if kind == STRUCT:
                return self.struct(node, at, depth, False)
        elif depth > MAX_DEPTH:
            raise RemoteProtocolError(f"more than {MAX_DEPTH} values inside each other at byte {at}")
        elif type(node) is ElementsPlan:
            if kind in (LIST, SET):
                return self.elements(node.element, at, depth)
        elif type(node) is EntriesPlan and kind == MAP:
            return self.entries(node, at, depth)
        raise RemoteProtocolError(f"a container at byte {at} holds elements of type {kind}")

    def elements(self, element: Node, at: int, depth: int) -> int:
        kind, count = self.data[at], unpack_u(self.data, at + 1)[0]
        at += 5
        for _ in range(count):
            at = self.value(element, kind, at, depth + 1)
        return at

    def entries(self, node: EntriesPlan, at: int, depth: int) -> int:
        data = self.data
        key, value, count = data[at], data[at + 1], unpack_u(data, at + 2)[0]
        at += 6
        for _ in range(count):
            at = self.entry(node.key, key, at, depth + 1)
            at = self.entry(node.value, value, at, depth + 1)
        return at

    def entry(self, node: Node | None, kind: int, at: int, depth: int) -> int:
        return skip(self.data, at, kind, depth) if node is None else self.value(node, kind, at, depth)

    def name(self, role: str, at: int) -> int:
        data, known = self.data, self.known[role]
        end: int = at + 4 + unpack_u(data, at)[0]
        if end > len(data):
            raise IndexError
        old = data[at + 4 : end]
        if old in known:
            new = known[old]
        else:
            name = old.decode("utf-8", "surrogateescape")
            changed = self.renames[role](name)
            text = changed.encode("utf-8", "surrogateescape")
            new = known[old] = None if changed == name else pack_i(len(text)) + text
        if new is not None:
            self.edits.append((at, end, new))
        return end

    def descriptor(self, plan: StructPlan, at: int, depth: int) -> int:
        """The position behind a StorageDescriptor that differs from the previous one in its location only."""
        data = self.data
        if data.startswith(self._before, at):
            at += len(self._before)
        else:
            start = at
            while data[at] and data[at : at + 3] != _LOCATION:
                at = skip(data, at + 3, data[at], depth + 1)
            self._before = data[start:at] if at - start < MEMO_LIMIT else _NO_RUN
        if data[at : at + 3] == _LOCATION:
            at = self.name("location", at + 3) if _LOCATION in plan.fields else skip(data, at + 3, STRING)
        if data.startswith(self._after, at):
            return at + len(self._after)
        start = at
        at = skip(data, at, STRUCT, depth)
        self._after = data[start:at] if at - start < MEMO_LIMIT else _NO_RUN
        return at
