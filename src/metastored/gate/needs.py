"""What a method asks of its caller: the words of the method table, taken apart. Pure."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from metastored.wire.message import Call
from metastored.wire.methods import Method

ADMIN: Final = "admin"
SERVICE: Final = "service"


class Need(NamedTuple):
    """One thing that the caller must be allowed: one of these actions on these objects."""

    actions: tuple[str, ...]
    object: str
    given: tuple[str, ...] = ()
    """Fields of the request without which this is not needed; always needed when empty."""


@cache
def needs_of(method: Method) -> tuple[Need, ...]:
    """All that the caller needs. `admin` alone is an action on nothing."""
    found = []
    for words in filter(None, method.privileges.split(", ")):
        actions, _, what = words.partition(" ")
        if what.startswith("with "):
            found.append(Need((actions,), "", tuple(what.removeprefix("with ").split("|"))))
        else:
            found.append(Need(tuple(actions.split("|")), what))
    return tuple(found)


@cache
def is_open(method: Method) -> bool:
    """Whether anybody may call it, whatever its arguments are."""
    return not method.privileges and method.hook not in ("grants", "lock", "filter")


@cache
def is_for_services(method: Method) -> bool:
    """Whether it is only for admins and services, however little else is enforced."""
    return any(need.actions == (SERVICE,) for need in needs_of(method))


def gives(call: Call, fields: tuple[str, ...]) -> bool:
    """Whether a request has one of these fields."""
    return any(getattr(argument, field, None) not in (None, ()) for argument in call.args for field in fields)
