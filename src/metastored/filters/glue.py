"""Partition filters in the words of Glue's GetPartitions, as far as both mean the same. Pure.

What is returned holds for at least all partitions for which the filter holds: parts that Glue would read in another way
are left out. Whoever calls Glue filters again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from metastored.filters.hive.tree import Between, Comparison, Filter, FilterLiteral, In, Like
from metastored.filters.logic import And, Or

LONGEST: Final = 2048
"""Characters that Glue takes."""
_TEXTS: Final = ("string", "varchar", "char")
_NUMBERS: Final = ("int", "bigint", "smallint", "tinyint")


def glue_expression(where: Filter, keys: Mapping[str, str]) -> str:
    """The expression; empty where nothing of the filter can be said. `keys`: the types of the partition keys."""
    types = {name.lower(): kind.lower().partition("(")[0] for name, kind in keys.items()}
    expression = _of(where, types) or ""
    return expression if len(expression) <= LONGEST else ""


def _of(node: Filter, types: Mapping[str, str]) -> str | None:
    """None for conditions that Glue's expressions cannot state."""
    match node:
        case And(parts):
            # One part less lets more partitions through.
            kept = [text for part in parts if (text := _of(part, types))]
            return " AND ".join(f"({text})" for text in kept) or None
        case Or(parts):
            each = [_of(part, types) for part in parts]
            return " OR ".join(f"({text})" for text in each) if each and all(each) else None
        case Comparison(key, op, literal):
            text = _literal(key, literal, types)
            return text and f"{key.lower()} {'<>' if op == '!=' else op} {text}"
        case Between(key, low, high, False):
            bounds = [_literal(key, low, types), _literal(key, high, types)]
            return f"{key.lower()} BETWEEN {bounds[0]} AND {bounds[1]}" if all(bounds) else None
        case In(key, literals, False) if literals:
            texts = [_literal(key, literal, types) for literal in literals]
            return f"{key.lower()} IN ({', '.join(str(each) for each in texts)})" if all(texts) else None
        case Like(key, pattern, False) if "\\" not in pattern:
            text = _literal(key, pattern, types)
            return text and f"{key.lower()} LIKE {text}"
    return None


def _literal(key: str, literal: FilterLiteral, types: Mapping[str, str]) -> str | None:
    """A literal of the key's own type."""
    kind = types.get(key.lower())
    if kind in _TEXTS and isinstance(literal, str):
        return "'" + literal.replace("'", "''") + "'"
    if kind in _NUMBERS and isinstance(literal, int):
        return str(literal)
    return None
