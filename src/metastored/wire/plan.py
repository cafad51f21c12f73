"""What a codec compiler needs to know about structs: which (id, wire type) goes into which slot of the tuple.

Used by the three protocols alike; it never produces code itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import Struct, fields, names
from metastored.wire.types import BASE_TYPES, I32, LIST, MAP, SET, STRUCT, VERSIONS, Field, Type, parse_field

_CONTAINERS = {"list": LIST, "set": SET, "map": MAP}

# Fields that repeat from one partition to the next in every real list: worth a comparison before decoding. What is
# remembered is shared by all who get it, so none of them holds a map.
MEMOS = frozenset(
    {
        ("StorageDescriptor", "cols"),
        ("StorageDescriptor", "inputFormat"),
        ("StorageDescriptor", "outputFormat"),
        ("Partition", "dbName"),
        ("Partition", "tableName"),
        ("Partition", "catName"),
    }
)


# The same for a protocol in which several fields in a row can be compared as one: the first of them, and those that may
# follow it.
RUNS: dict[tuple[str, str], tuple[str, ...]] = {
    ("StorageDescriptor", "cols"): (),
    ("StorageDescriptor", "inputFormat"): (
        "outputFormat",
        "compressed",
        "numBuckets",
        "serdeInfo",
        "bucketCols",
        "sortCols",
        "parameters",
        "skewedInfo",
        "storedAsSubDirectories",
    ),
    ("Partition", "dbName"): ("tableName", "catName"),
}

_PYTHON = {"string": "str", "binary": "bytes", "set": "frozenset", "list": "tuple", "map": "dict"}


class Slot(NamedTuple):
    """One way a field can be read; the last of a name is the way it is written."""

    index: int  # type: ignore[assignment]  # a slot is never searched
    field: Field
    written: bool


def wire_type(type: Type) -> int:
    """The type byte of the binary protocol."""
    if type.name in BASE_TYPES:
        return BASE_TYPES[type.name]
    if type.name in _CONTAINERS:
        return _CONTAINERS[type.name]
    return I32 if type.name in ENUMS else STRUCT


def is_struct(type: Type) -> bool:
    return type.name in STRUCTS or type.name in THRIFT_EXCEPTIONS


@cache
def holds_map(type: Type) -> bool:
    """Whether there is a map, which can be changed, anywhere in values of this type."""
    seen: set[str] = set()

    def visit(type: Type) -> bool:
        if type.name == "map":
            return True
        if type.name in STRUCTS and type.name not in seen:
            seen.add(type.name)
            return any(visit(field.type) for field in fields(STRUCTS[type.name]))
        return any(visit(arg) for arg in type.args)

    return visit(type)


def slots(cls: type) -> tuple[Slot, ...]:
    """All lines of the struct as slots."""
    order = names(cls)
    lines = fields(cls)
    last = {field.name: field for field in lines}
    return tuple(Slot(order.index(f.name), f, last[f.name] is f) for f in lines)


def instead(plan: tuple[Slot, ...], slot: Slot) -> list[tuple[Field, str]]:
    """Other types of a written field that its value may have come in, and the Python type that tells.

    What an old peer sent as a set or a string goes out as such: a value read from one peer can be written to another.
    """
    others = [o.field for o in plan if o.index == slot.index and not o.written and o.field.id == slot.field.id]
    return [(field, _PYTHON[field.type.name]) for field in others]


def result_fields(method: Method) -> tuple[Field, ...]:
    """The fields of a method's result struct: the success value, then the exceptions of all versions by id."""
    fields = [] if method.returns is None else [Field(0, method.returns, "success")]
    slots: dict[int, str] = {}
    for version in reversed(VERSIONS):
        for name, slot in method.throws_in(version).items():
            slots.setdefault(slot, name)
    fields += [Field(slot, Type(name), name) for slot, name in sorted(slots.items())]
    return tuple(fields)


@cache
def old_layout(name: str) -> tuple[Field, tuple[Field, ...]] | None:
    """The field that gives an older layout away, and that layout, for the few structs that have one."""
    cls = STRUCTS.get(name)
    if cls is None or not issubclass(cls, Struct) or not cls.WAS:
        return None
    return parse_field(cls.WAS_WHEN + " sign"), tuple(parse_field(line) for line in cls.WAS)


@cache
def answers() -> frozenset[str]:
    """The structs that can be part of an answer or of a stored object."""
    found: set[str] = set()

    def visit(type: Type) -> None:
        for arg in type.args:
            visit(arg)
        if type.name in STRUCTS and type.name not in found:
            found.add(type.name)
            for field in fields(STRUCTS[type.name]):
                visit(field.type)

    for method in METHODS.values():
        if method.returns is not None:
            visit(method.returns)
    for name in ("Partition", "Table", "PartitionSpec", "ColumnStatistics"):
        visit(Type(name))
    return frozenset(found)


def default_of(struct: str, field: Field) -> Any:
    """What an absent field is read as.

    Requests get the IDL's default, as a Java server's constructors give it. Objects that are stored or answered
    keep None: Java does not write a default that nobody set, and a round trip must not either.
    """
    if field.default is None or struct in answers():
        return None
    name = field.type.name
    if name == "bool":
        return field.default == "true"
    if name in ("string", "binary"):
        return field.default
    return int(field.default)
