"""The part of a filter that every metastore's filter language can express.

The common language of all versions has AND, OR and comparisons of a key with a text or a 64-bit integer. IN is written
as OR, and the fixed beginning of a LIKE pattern as a range. A part that cannot be expressed is left out of an AND, so
that the server returns more partitions than the filter selects, never fewer; `exact` says whether it returns the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from metastored.filters.logic import And, Or
from metastored.filters.where.tree import Compare, Condition, In, Key, Like, Literal, LiteralValue, Operand
from metastored.hive.types.type_strings import TypeSyntaxError, read_type

MAX_PARTS: Final = 200
"""How many comparisons are sent: databases limit the depth of a condition."""


class Pushed(NamedTuple):
    """A filter for a server."""

    text: str
    exact: bool
    """Whether it selects the same partitions as the complete filter."""


Types = Mapping[str, str]
"""The types of the partition keys by name in lower case."""


def pushed(node: Condition, keys: Sequence[tuple[str, str]] | None = None) -> Pushed | None:
    """What a server can evaluate; None where that is nothing.

    Without the types of `keys` a key is assumed to have the type of its literal: that shows whether the types matter.
    """
    types = None if keys is None else {name.lower(): type for name, type in keys}
    part = _pushed(node, types)
    if part is None or part[2] > MAX_PARTS:
        return None
    return Pushed(part[0], part[1])


_Part = tuple[str, bool, int]
"""Text, exact, number of comparisons."""


def _pushed(node: Condition, types: Types | None) -> _Part | None:
    match node:
        case And(parts):
            known = [pushed_part for part in parts if (pushed_part := _pushed(part, types)) is not None]
            if not known:
                return None
            exact = len(known) == len(parts) and all(each[1] for each in known)
            return " and ".join(each[0] for each in known), exact, sum(each[2] for each in known)
        case Or(parts):
            return _either([_pushed(part, types) for part in parts])
        case Compare(Key(name), op, Literal(value)):
            return _compared(name, op, value, types)
        case In(Key(name) as key, items, negated):
            return _in(key, items, negated, types)
        case Like(Key(name), pattern, False):
            return _prefixed(name, pattern, types)
    return None


def _either(parts: list[_Part | None]) -> _Part | None:
    known = [each for each in parts if each is not None]
    if len(known) != len(parts) or not known:
        return None
    text = " or ".join(each[0] for each in known)
    return f"({text})" if len(known) > 1 else text, all(each[1] for each in known), sum(each[2] for each in known)


def _in(key: Key, items: tuple[Operand, ...], negated: bool, types: Types | None) -> _Part | None:
    compared = tuple(Compare(key, "!=" if negated else "=", item) for item in items)
    return _pushed(And(compared) if negated else Or(compared), types)


def _compared(name: str, op: str, value: LiteralValue, types: Types | None) -> _Part | None:
    if not is_plain_name(name):
        return None
    kind = None if types is None else _kind(types.get(name.lower(), ""))
    literal = _literal(value, kind) if types is None or kind is not None else None
    return None if literal is None else (f"{name} {op} {literal}", True, 1)


def is_plain_name(name: str) -> bool:
    """Whether every server's filter can name a key: the older grammars have no quotes."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None and name.upper() not in _WORDS


_WORDS: Final = frozenset({
    "AND", "OR", "NOT", "LIKE", "CONST", "STRUCT", "BETWEEN", "IN", "DATE", "TIMESTAMP", "IS", "TRUE", "FALSE",
})  # fmt: skip


def _kind(type: str) -> str | None:
    """text, integer or date; None for types that not every server can filter by."""
    try:
        name = str(read_type(type))
    except TypeSyntaxError:
        return None
    return {"string": "text", "date": "date", **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer")}.get(
        name
    )


def _literal(value: LiteralValue, kind: str | None) -> str | None:
    """A literal as every grammar reads it; None where it has another kind than the key."""
    if isinstance(value, bool | datetime):
        return None
    if isinstance(value, int):
        return str(value) if kind in (None, "integer") and -(2**63) <= value < 2**63 else None
    if isinstance(value, date):
        return f"'{value.isoformat()}'" if kind in (None, "date", "text") else None
    if not isinstance(value, str):
        return None
    if kind == "integer":
        return value if re.fullmatch(r"-?\d{1,18}", value) else None
    if kind == "date" and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return None
    return _quoted(value)


def _quoted(value: str) -> str | None:
    if "\\" in value or not value.isprintable():
        return None  # Versions differ in what a backslash means.
    if "'" not in value:
        return f"'{value}'"
    return f'"{value}"' if '"' not in value else None


def _prefixed(name: str, pattern: str, types: Types | None) -> _Part | None:
    """A LIKE pattern with a fixed beginning, as a range; letters and digits only, which sort alike everywhere."""
    prefix = re.split(r"[%_\\]", pattern, maxsplit=1)[0]
    if not prefix or not prefix.isascii():
        return None
    first = _compared(name, ">=", prefix, types)
    if first is None or (types is not None and _kind(types.get(name.lower(), "")) != "text"):
        return None
    following = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    last = _compared(name, "<", following, types) if prefix[-1].isalnum() and following[-1].isalnum() else None
    return (first[0], False, 1) if last is None else (f"{first[0]} and {last[0]}", False, 2)
