"""Checks every call before its function runs: required request structs are set, and names have a bounded length.

Both are derived from the method table, only here. Names are neither interpreted nor changed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from metastored.hive import limits
from metastored.wire.message import Call
from metastored.wire.methods import Method
from metastored.wire.methods.naming import first_longer
from metastored.wire.methods.plan import is_struct

LONGEST: Final = {
    **dict.fromkeys(("cat", "table", "function", "user"), limits.MAX_NAME),
    **dict.fromkeys(("db", "full_name"), limits.MAX_FULL_NAME),
    "pattern": limits.MAX_PATTERN,
    "part_name": limits.MAX_PARTITION_NAME,
    "part_values": limits.MAX_PARTITION_VALUE,
    "location": limits.MAX_LOCATION,
}
"""Characters of a name, by its role."""
_SHORTEST: Final = min(LONGEST.values())


@cache
def needed_arguments(method: Method) -> tuple[tuple[int, str], ...]:
    """The arguments without which a method cannot be run: the position of each, and how an error names it."""
    return tuple(
        (at, f"{field.name} ({field.type.name})")
        for at, field in enumerate(method.args)
        if is_struct(field.type) and not field.optional
    )


def fault(call: Call) -> str | None:
    """The problem of a call, as a sentence for its sender; None for a valid call."""
    method, args = call.method, call.args
    for at, name in needed_arguments(method):
        if args[at] is None:
            return f"{method.name} was called without its argument {name}"
    # No name is longer than the message, so the usual call is not walked.
    if call.size <= _SHORTEST:
        return None
    too_long = first_longer(method, args, LONGEST)
    if too_long is None:
        return None
    role, value = too_long
    shown, most = limits.shortened(value), LONGEST[role]
    return f"{method.name} was given a {role} of {len(value)} characters ({shown}); at most {most} are accepted"
