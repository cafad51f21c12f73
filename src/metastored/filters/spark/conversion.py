"""Spark's predicates as a filter of the metastore, by the rules of Spark's HiveShim. Pure.

A predicate that the metastore's language cannot express is left out, so that the metastore returns more partitions than
the predicates select, never fewer; the predicates are applied again to what it returns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from metastored.errors import SparkCatalogError
from metastored.filters.logic import MIRRORED, And, Or
from metastored.filters.where.pushdown import is_plain_name
from metastored.filters.where.tree import (
    Call,
    Compare,
    Condition,
    Holds,
    In,
    Key,
    Like,
    Literal,
    LiteralValue,
    Operand,
)
from metastored.model.spark.type_strings import parse_data_type
from metastored.model.spark.types import BYTE, DATE, INTEGER, LONG, SHORT, STRING, DataType

OLD_WILDCARD: Final = ".*"
"""Any text behind LIKE, before Hive 4."""
SQL_WILDCARD: Final = "%"
_INTEGRAL: Final = (BYTE, SHORT, INTEGER, LONG)
"""From the narrowest to the widest."""
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9 :@,=_-]+")
"""Texts that mean themselves in the patterns of all versions of Hive."""


@dataclass(frozen=True, slots=True)
class FilterRules:
    """What Spark's configuration and the version of the metastore change."""

    advanced: bool = True
    """`spark.sql.hive.advancedPartitionPredicatePushdown.enabled`: IN, AND, OR and NOT are converted."""
    in_set_threshold: int = 1000
    """`spark.sql.hive.metastorePartitionPruningInSetThreshold`: a longer list becomes a range."""
    wildcard: str = OLD_WILDCARD


DEFAULTS: Final = FilterRules()


def convert_filters(
    predicates: Sequence[Condition], columns: Mapping[str, DataType], rules: FilterRules = DEFAULTS
) -> str:
    """Spark's convertFilters: `a and b`, or the empty text. `columns` are the partition columns with their types.

    Raises SparkCatalogError for a text with both kinds of quotes, as Spark does.
    """
    converter = _Converter({name.lower(): (name, type) for name, type in columns.items()}, rules)
    parts = [each for predicate in predicates for each in _conjuncts(predicate)]
    return " and ".join(text for part in parts if (text := converter.convert(part)) is not None)


def _conjuncts(node: Condition) -> list[Condition]:
    """The parts of an AND, which Spark's optimiser makes predicates of their own."""
    if not isinstance(node, And):
        return [node]
    return [each for part in node.parts for each in _conjuncts(part)]


class _Converter:
    def __init__(self, columns: Mapping[str, tuple[str, DataType]], rules: FilterRules) -> None:
        self.columns = columns
        self.rules = rules

    def convert(self, node: Condition) -> str | None:
        match node:
            case Compare(left, op, Literal(value), mirrored) if op != "!=" or self.rules.advanced:
                return self.compared(left, op, value, mirrored)
            case In(operand, items, negated) if self.rules.advanced:
                return self.listed(operand, items, negated)
            case And(parts) if self.rules.advanced:
                known = [text for part in parts if (text := self.convert(part)) is not None]
                return _chain("and", known) if known else None
            case Or(parts) if self.rules.advanced:
                each = [self.convert(part) for part in parts]
                return _chain("or", [part for part in each if part is not None]) if None not in each else None
            case Holds(Call("contains" | "startswith" | "endswith" as name, (operand, Literal(str() as value))), False):
                before, after = name != "startswith", name != "endswith"
                return self.like(operand, value, before, after)
            case Like(operand, pattern, False):
                return self.pattern(operand, pattern)
        return None

    def column(self, operand: Operand) -> tuple[str, DataType] | None:
        """The column of an operand; casts to wider integers do not matter."""
        match operand:
            case Key(name):
                known = self.columns.get(name.lower())
                usable = known is not None and (known[1] in (*_INTEGRAL, STRING, DATE)) and is_plain_name(known[0])
                return known if usable else None
            case Call("cast", (inner,), str() as target):
                known = self.column(inner)
                type = parse_data_type(target.lower())
                if known is None or known[1] not in _INTEGRAL or type not in _INTEGRAL:
                    return None
                return known if _INTEGRAL.index(known[1]) <= _INTEGRAL.index(type) else None
        return None

    def compared(self, left: Operand, op: str, value: LiteralValue, mirrored: bool) -> str | None:
        column = self.column(left)
        literal = None if column is None else _literal(value, column[1])
        if column is None or literal is None:
            return None
        return f"{_shown(literal)} {MIRRORED[op]} {column[0]}" if mirrored else f"{column[0]} {op} {_shown(literal)}"

    def listed(self, operand: Operand, items: tuple[Operand, ...], negated: bool) -> str | None:
        column = self.column(operand)
        if column is None or not all(isinstance(each, Literal) for each in items):
            return None
        name, type = column
        values = list(dict.fromkeys(each.value for each in items if isinstance(each, Literal)))
        if negated and None in values:
            return None  # It holds for no partition.
        literals = [_literal(each, type) for each in values if each is not None]
        known = [each for each in literals if each is not None]
        if len(known) != len(literals) or not known:
            return None
        if len(values) > self.rules.in_set_threshold:
            if negated:
                return None
            ordered = sorted(known, key=lambda each: each if isinstance(each, int) else each.encode())
            return f"({name} >= {_shown(ordered[0])} and {name} <= {_shown(ordered[-1])})"
        return f"({name}) {'not in' if negated else 'in'} ({', '.join(map(_shown, known))})"

    def like(self, operand: Operand, value: str, before: bool, after: bool) -> str | None:
        column = self.column(operand)
        if column is None or column[1] != STRING or _PLAIN_TEXT.fullmatch(value) is None:
            return None
        wildcard = self.rules.wildcard
        return f"{column[0]} like {_shown((wildcard if before else '') + value + (wildcard if after else ''))}"

    def pattern(self, operand: Operand, pattern: str) -> str | None:
        """LIKE as Spark's optimiser rewrites it: an equality, a beginning, an end or a part."""
        if "_" in pattern or "\\" in pattern:
            return None
        parts = pattern.split("%")
        match parts:
            case [text]:
                return self.compared(operand, "=", text, False)
            case [first, ""] if first:
                return self.like(operand, first, before=False, after=True)
            case ["", last] if last:
                return self.like(operand, last, before=True, after=False)
            case ["", part, ""] if part:
                return self.like(operand, part, before=True, after=True)
            case [first, last] if first and last:
                both = (self.like(operand, first, False, True), self.like(operand, last, True, False))
                known = [each for each in both if each is not None]
                return _chain("and", known) if known and self.rules.advanced else None
        return None


def _chain(word: str, parts: list[str]) -> str:
    """Spark's AND and OR have two sides."""
    text = parts[0]
    for part in parts[1:]:
        text = f"({text} {word} {part})"
    return text


def _literal(value: LiteralValue, type: DataType) -> int | str | None:
    """A literal in the type of its column, as Spark casts it; None if Spark would cast the column."""
    if value is None or isinstance(value, bool | datetime):
        return None
    if type in _INTEGRAL:
        if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,18}\s*", value, re.ASCII):
            return int(value)
        return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None
    if type == DATE:
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
            return value
        return value.isoformat() if isinstance(value, date) else None
    # Versions of Hive differ in what a backslash means.
    return value if isinstance(value, str) and "\\" not in value and value.isprintable() else None


def _shown(literal: int | str) -> str:
    if isinstance(literal, int):
        return str(literal)
    if '"' not in literal:
        return f'"{literal}"'
    if "'" not in literal:
        return f"'{literal}'"
    raise SparkCatalogError(
        "INTERNAL_ERROR_INVALID_PARTITION_FILTER_VALUE",
        f"Partition filter cannot have both `\"` and `'` characters: {literal}",
    )
