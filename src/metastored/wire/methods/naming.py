"""The positions of names in a method's arguments and result: derived from the types, never listed by hand.

The API files say of a field that it is a database, a table, a location …; this module walks the types from a
method's arguments and its result down to these fields. Its results have three forms:

    argument_layout, result_layout, struct_layout    what is inside each field, for walks through the bytes of a message
    argument_names, result_names                     each position as a path, for code that lists or counts them
    names_in, names_of                               the names themselves, in decoded arguments and structs
    groups_in, groups_of                             the same, grouped by struct

All of it is pure and computed once. It never parses a name, and never changes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from metastored.wire.generated import STRUCTS
from metastored.wire.methods import Method
from metastored.wire.methods.plan import old_layout, wire_type
from metastored.wire.structs import fields, names
from metastored.wire.types import Field, Type


class Leaf(NamedTuple):
    """A name, or an id: the value itself has this role."""

    role: str


class Nested(NamedTuple):
    """A struct with names inside: see `struct_layout`. Referenced by name, since structs may contain themselves."""

    struct: str


class Each(NamedTuple):
    """A list or set with names in each element."""

    element: Inside


class Pairs(NamedTuple):
    """A map with names in its keys, its values, or both."""

    key: Inside | None
    value: Inside | None


Inside: TypeAlias = "Leaf | Nested | Each | Pairs"
Layout: TypeAlias = Mapping[tuple[int, int], Inside]
"""By field id and wire type. Both, because old versions have other types under the same id (Table has two fields 16).
A field that is not in it has no names inside."""


class Step(NamedTuple):
    """One step of a path: into a `field`, into `each` element of a list or set, into a map's `keys` or `values`."""

    into: str
    id: int = 0
    wire_type: int = 0
    name: str = ""

    def __str__(self) -> str:
        return f".{self.name}" if self.into == "field" else f"[{self.into}]"


class NamePosition(NamedTuple):
    """A position of names of one role."""

    path: tuple[Step, ...]
    role: str

    def __str__(self) -> str:
        return "".join(map(str, self.path)).removeprefix(".") + f" @{self.role}"


class Group(NamedTuple):
    """The names directly in one struct, with their roles: a database and a table in one struct belong together."""

    struct: str | None
    """None for the arguments themselves."""
    names: tuple[tuple[str, Any], ...]
    within: Group | None
    """The struct around it."""
    value: Any
    """The decoded struct, or the arguments."""


@cache
def struct_layout(struct: str) -> Layout:
    """The layout of a struct: the names inside its fields."""
    return _layout(fields(STRUCTS[struct]))


@cache
def old_struct_layout(struct: str) -> Layout | None:
    """As `struct_layout`, for the older layout of a struct; `plan.old_layout` has the field that identifies it."""
    old = old_layout(struct)
    return None if old is None else _layout(old[1])


@cache
def argument_layout(method: Method) -> Layout:
    """The layout of a method's arguments, which on the wire are the fields of a struct."""
    return _layout(method.args)


@cache
def result_layout(method: Method) -> Layout:
    """The layout of a method's result: field 0 of a struct. Exceptions are text and have no names."""
    return _layout(_result_fields(method))


@cache
def argument_names(method: Method) -> tuple[NamePosition, ...]:
    """All positions of names in a method's arguments, in the order of their fields.

    A path does not enter a struct that it is already in: of a materialized view's source tables, themselves tables,
    the positions are not repeated. Older layouts are left out. `struct_layout` and `old_struct_layout` have all.
    """
    return tuple(_name_positions(method.args, (), frozenset()))


@cache
def result_names(method: Method) -> tuple[NamePosition, ...]:
    """All positions of names in a method's result; see `argument_names`."""
    return tuple(_name_positions(_result_fields(method), (), frozenset()))


def names_in(method: Method, args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Each name in decoded arguments, with its role, in the order of the fields. Absent ones are left out."""
    for at, inside in _argument_positions(method):
        if args[at] is not None:
            yield from _values(inside, args[at])


def first_longer(method: Method, args: tuple[Any, ...], longest: Mapping[str, int]) -> tuple[str, str] | None:
    """The first of `names_in` with more characters than its role may have, with the role.

    Calls with a thousand partitions have six names each: this takes a third of the time of `names_in`.
    """
    return _longer_in(_argument_positions(method), args, longest)


def _longer_in(
    positions: tuple[tuple[int, Inside], ...], values: tuple[Any, ...], longest: Mapping[str, int]
) -> tuple[str, str] | None:
    for at, inside in positions:
        value = values[at]
        if value is None:
            continue
        if type(inside) is Leaf:
            if type(value) is str and len(value) > longest.get(inside.role, len(value)):
                return inside.role, value
        elif (found := _longer(inside, value, longest)) is not None:
            return found
    return None


def _longer(inside: Inside, value: Any, longest: Mapping[str, int]) -> tuple[str, str] | None:
    if type(inside) is Nested:
        return _longer_in(_struct_positions(inside.struct), value, longest)
    if type(inside) is Each and type(inside.element) is Leaf:
        role = inside.element.role
        most = longest.get(role)
        return None if most is None else next(((role, each) for each in value if len(each) > most), None)
    if type(inside) is Each and type(inside.element) is Nested:
        positions = _struct_positions(inside.element.struct)
        for item in value:
            if (found := _longer_in(positions, item, longest)) is not None:
                return found
        return None
    for role, name in _values(inside, value):
        if isinstance(name, str) and len(name) > longest.get(role, len(name)):
            return role, name
    return None


def names_of(struct: Any) -> Iterator[tuple[str, Any]]:
    """Each name in a decoded struct, with its role; see `names_in`."""
    return _values(Nested(type(struct).__name__), struct)


def groups_in(method: Method, args: tuple[Any, ...]) -> Iterator[Group]:
    """The names in decoded arguments, struct by struct; an outer struct comes before its inner structs."""
    return _groups(_argument_positions(method), Group(None, (), None, args))


def groups_of(struct: Any) -> Iterator[Group]:
    """The names in a decoded struct; see `groups_in`."""
    name = type(struct).__name__
    return _groups(_struct_positions(name), Group(name, (), None, struct))


def _groups(positions: tuple[tuple[int, Inside], ...], bare: Group) -> Iterator[Group]:
    own: list[tuple[str, Any]] = []
    deeper: list[tuple[str, Any]] = []
    for at, inside in positions:
        if bare.value[at] is not None:
            _sort(inside, bare.value[at], own, deeper)
    group = bare._replace(names=tuple(own))
    yield group
    for struct, value in deeper:
        yield from _groups(_struct_positions(struct), Group(struct, (), group, value))


def _sort(inside: Inside, value: Any, own: list[tuple[str, Any]], deeper: list[tuple[str, Any]]) -> None:
    """Adds the content of a field to the names of its struct, or to the nested structs."""
    match inside:
        case Leaf(role):
            own.append((role, value))
        case Nested(struct):
            deeper.append((struct, value))
        case Each(element):
            for item in value:
                _sort(element, item, own, deeper)
        case Pairs(key, deeper_value):
            for k, v in value.items():
                if key is not None:
                    _sort(key, k, own, deeper)
                if deeper_value is not None:
                    _sort(deeper_value, v, own, deeper)


def _layout(lines: tuple[Field, ...]) -> Layout:
    layout = {(line.id, wire_type(line.type)): _inside(line.type, line.role) for line in lines}
    return {key: inside for key, inside in layout.items() if inside is not None}


def _inside(type: Type, role: str | None) -> Inside | None:
    """The names inside a value of this type, in a field with this role; None if there are none."""
    if type.name in ("list", "set"):
        element = _inside(type.args[0], role)
        return None if element is None else Each(element)
    if type.name == "map":
        key, value = _inside(type.args[0], role), _inside(type.args[1], None)
        return None if key is None and value is None else Pairs(key, value)
    if role is not None:
        return Leaf(role)
    return Nested(type.name) if type.name in STRUCTS and _holds_names(type.name) else None


@cache
def _holds_names(struct: str) -> bool:
    """Whether a role is reached from the struct through any number of others."""
    seen, waiting = {struct}, [struct]
    while waiting:
        for line in fields(STRUCTS[waiting.pop()]):
            if line.role is not None:
                return True
            for name in _structs_of(line.type):
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return False


def _structs_of(type: Type) -> Iterator[str]:
    if type.name in STRUCTS:
        yield type.name
    for argument in type.args:
        yield from _structs_of(argument)


def _result_fields(method: Method) -> tuple[Field, ...]:
    if method.returns is None:
        return ()
    return (Field(0, method.returns, "success", role=method.returns_role),)


def _name_positions(lines: tuple[Field, ...], path: tuple[Step, ...], within: frozenset[str]) -> Iterator[NamePosition]:
    for line in lines:
        inside = _inside(line.type, line.role)
        if inside is not None:
            step = Step("field", line.id, wire_type(line.type), line.name)
            yield from _name_positions_inside(inside, (*path, step), within)


def _name_positions_inside(inside: Inside, path: tuple[Step, ...], within: frozenset[str]) -> Iterator[NamePosition]:
    match inside:
        case Leaf(role):
            yield NamePosition(path, role)
        case Nested(struct):
            if struct not in within:
                yield from _name_positions(fields(STRUCTS[struct]), path, within | {struct})
        case Each(element):
            yield from _name_positions_inside(element, (*path, Step("each")), within)
        case Pairs(key, value):
            if key is not None:
                yield from _name_positions_inside(key, (*path, Step("keys")), within)
            if value is not None:
                yield from _name_positions_inside(value, (*path, Step("values")), within)


def _values(inside: Inside, value: Any) -> Iterator[tuple[str, Any]]:
    match inside:
        case Leaf(role):
            yield role, value
        case Nested(struct):
            for at, deeper in _struct_positions(struct):
                if value[at] is not None:
                    yield from _values(deeper, value[at])
        case Each(Leaf(role)):
            # Not through a generator of its own for each of a thousand names.
            for item in value:
                yield role, item
        case Each(element):
            for item in value:
                yield from _values(element, item)
        case Pairs(key, deeper_value):
            for k, v in value.items():
                if key is not None:
                    yield from _values(key, k)
                if deeper_value is not None:
                    yield from _values(deeper_value, v)


@cache
def _argument_positions(method: Method) -> tuple[tuple[int, Inside], ...]:
    return _positions(method.args, tuple(argument.name for argument in method.args))


@cache
def _struct_positions(struct: str) -> tuple[tuple[int, Inside], ...]:
    return _positions(fields(STRUCTS[struct]), names(STRUCTS[struct]))


def _positions(lines: tuple[Field, ...], order: tuple[str, ...]) -> tuple[tuple[int, Inside], ...]:
    """The names inside each position of a decoded tuple. Decoding maps old layouts to the same names."""
    positions: dict[int, Inside] = {}
    for line in lines:
        inside = _inside(line.type, line.role)
        if inside is not None:
            positions.setdefault(order.index(line.name), inside)
    return tuple(sorted(positions.items()))
