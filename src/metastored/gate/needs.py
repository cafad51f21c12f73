"""What a method asks of its caller: the words of the method table, taken apart. Pure."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from metastored.wire.methods import Method

ADMIN: Final = "admin"


class Need(NamedTuple):
    """One thing that the caller must be allowed: one of these actions on these objects."""

    actions: tuple[str, ...]
    object: str


@cache
def needs_of(method: Method) -> tuple[Need, ...]:
    """All that the caller needs. `admin` alone is an action on nothing."""
    found = []
    for words in filter(None, method.privileges.split(", ")):
        actions, _, what = words.partition(" ")
        found.append(Need(tuple(actions.split("|")), what))
    return tuple(found)


@cache
def is_open(method: Method) -> bool:
    """Whether anybody may call it, whatever its arguments are."""
    return not method.privileges and method.hook not in ("grants", "lock")
