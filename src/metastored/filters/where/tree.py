"""A parsed filter. The parser rewrites BETWEEN, STRUCT lists and NOT; operands have their position in the text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Final, TypeAlias

from metastored.filters.logic import OPPOSITE, And, Or

LiteralValue = str | int | Decimal | bool | date | datetime | None
"""The value of a literal; None is NULL."""


@dataclass(frozen=True, slots=True)
class Key:
    """A partition key."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in the text of the filter."""

    value: LiteralValue
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, or an operator of arithmetic as `*`; `type` is the target of a CAST."""

    name: str
    args: tuple[Operand, ...]
    type: str | None = None
    at: int = field(default=0, compare=False)


Operand = Key | Literal | Call


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`, with op one of = != < <= > >=."""

    left: Operand
    op: str
    right: Operand
    mirrored: bool = field(default=False, compare=False)
    """Whether the text has the operands the other way round: `1 < h` is read as `h > 1`."""


@dataclass(frozen=True, slots=True)
class Same:
    """`left <=> right`: equal, or both NULL; never unknown."""

    left: Operand
    right: Operand
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In:
    """`operand [NOT] IN (items)`."""

    operand: Operand
    items: tuple[Operand, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    """`operand [NOT] LIKE pattern`: `%` is any text, `_` any character, a backslash escapes."""

    operand: Operand
    pattern: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS [NOT] NULL`."""

    operand: Operand
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """`condition IS [NOT] TRUE` or FALSE: never unknown."""

    condition: Condition
    value: bool
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Holds:
    """An operand of type boolean as a condition."""

    operand: Operand
    negated: bool = False


Condition: TypeAlias = And["Condition"] | Or["Condition"] | Compare | Same | In | Like | IsNull | Truth | Holds

EVERYTHING: Final[Condition] = And(())


def negate(node: Condition) -> Condition:
    """The condition that holds where this one is false; where a value is unknown, neither holds."""
    match node:
        case And(parts):
            return Or(tuple(map(negate, parts)))
        case Or(parts):
            return And(tuple(map(negate, parts)))
        case Compare(op=op):
            return replace(node, op=OPPOSITE[op])
        case _:
            return replace(node, negated=not node.negated)
