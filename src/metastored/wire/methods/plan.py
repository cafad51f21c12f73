"""The layout of structs for the codec compilers: which (id, wire type) is read into which slot of the tuple.

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

# Fields that repeat from one partition to the next in every real list: worth a comparison before decoding. A cached
# value is shared by all its readers, so none of these fields holds a map.
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


# The same for a protocol in which several consecutive fields can be compared at once: the first field, and the fields
# that may follow it.
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
    # Partitions that were added together have the same time, and no statistics yet.
    ("Partition", "parameters"): (),
    ("PartitionWithoutSD", "createTime"): ("lastAccessTime",),
    ("PartitionWithoutSD", "parameters"): (),
}

LONG_LISTS = {
    "PartitionSpec": (("sharedSDPartitionSpec", "partitions"), ("partitionList", "partitions")),
}
"""Structs with long lists in a field of a field, which are decoded while they arrive. Each list is the first field."""

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
    """Other wire types that the value of a field may have been read from, with the Python type that identifies each.

    A value that an old peer sent as a set or a string is written with the same type, to any peer.
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
    """The field that identifies an older layout, and that layout; None for structs without an older layout."""
    cls = STRUCTS.get(name)
    if cls is None or not issubclass(cls, Struct) or not cls.WAS:
        return None
    return parse_field(cls.WAS_WHEN + " sign"), tuple(parse_field(line) for line in cls.WAS)


@cache
def reply_structs() -> frozenset[str]:
    """The structs that can be part of a reply or of a stored object."""
    structs: set[str] = set()

    def visit(type: Type) -> None:
        for arg in type.args:
            visit(arg)
        if type.name in STRUCTS and type.name not in structs:
            structs.add(type.name)
            for field in fields(STRUCTS[type.name]):
                visit(field.type)

    for method in METHODS.values():
        if method.returns is not None:
            visit(method.returns)
    for name in ("Partition", "Table", "PartitionSpec", "ColumnStatistics"):
        visit(Type(name))
    return frozenset(structs)


def default_of(struct: str, field: Field) -> Any:
    """The value of an absent field.

    Requests get the IDL's default, as from a Java server's constructors. Objects that are stored or returned
    keep None: Java does not write a default that was not set, and a round trip must not either.
    """
    if field.default is None or struct in reply_structs():
        return None
    name = field.type.name
    if name == "bool":
        return field.default == "true"
    if name in ("string", "binary"):
        return field.default
    return int(field.default)
