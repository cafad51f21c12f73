"""Replies to requests for the partitions of an ACID table that a client sees as a view, which has none. Pure."""

from __future__ import annotations

from typing import Any, Final

from metastored.wire.generated import STRUCTS
from metastored.wire.methods import Method
from metastored.wire.structs import fields

_NOTHING: Final[dict[str, Any]] = {"list": (), "i32": 0, "bool": False}
"""The values of results and of their fields, by type."""
_SINGLE: Final = frozenset({"Partition", "GetPartitionResponse"})


def asks_for_partitions(method: Method) -> bool:
    """Whether it returns partitions of a table, or something about them."""
    return method.object == "partition" and method.cost != "write" and method.route == "names"


def no_partitions(method: Method) -> Any:
    """The result of a method for a table without partitions; None for one that returns a single partition."""
    type = method.returns.name if method.returns is not None else ""
    if type in _SINGLE:
        return None
    if type in _NOTHING:
        return _NOTHING[type]
    known = {each.name: _NOTHING[each.type.name] for each in fields(STRUCTS[type]) if each.type.name in _NOTHING}
    return STRUCTS[type](**known)
