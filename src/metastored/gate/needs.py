"""The privileges that a method requires: parses `privileges` of the method table. Pure."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from metastored.wire.message import Call
from metastored.wire.methods import Method

ADMIN: Final = "admin"
SERVICE: Final = "service"


class Need(NamedTuple):
    """One required privilege: the caller needs one of these actions on these objects."""

    actions: tuple[str, ...]
    object: str
    if_set: tuple[str, ...] = ()
    """The privilege is required only if the request has one of these fields; always if empty."""


@cache
def needs_of(method: Method) -> tuple[Need, ...]:
    """All required privileges. `admin` alone is an action without an object."""
    needs = []
    for words in filter(None, method.privileges.split(", ")):
        actions, _, what = words.partition(" ")
        if what.startswith("with "):
            needs.append(Need((actions,), "", tuple(what.removeprefix("with ").split("|"))))
        else:
            needs.append(Need(tuple(actions.split("|")), what))
    return tuple(needs)


@cache
def is_open(method: Method) -> bool:
    """Whether all users may call it, with any arguments."""
    return not method.privileges and method.hook not in ("grants", "lock", "filter")


@cache
def is_for_services(method: Method) -> bool:
    """Whether it is for admins and services only, even without `authorization`."""
    return any(need.actions == (SERVICE,) for need in needs_of(method))


def gives(call: Call, fields: tuple[str, ...]) -> bool:
    """Whether a request has one of these fields."""
    return any(getattr(argument, field, None) not in (None, ()) for argument in call.args for field in fields)
