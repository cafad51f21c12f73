"""What all languages of conditions have in common: AND and OR, the comparisons, and SQL's three truth values.

A language adds its own leaves to the tree, and its own rules for what a value is and how values compare.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

Part = TypeVar("Part", covariant=True)
Subject = TypeVar("Subject")

PartitionKeys = Sequence[tuple[str, str]]
"""Name and type of each partition key, in the table's order."""
PartitionPredicate = Callable[[Sequence[str]], bool]
"""A condition, bound to the keys of a table: a function of the values of one partition."""

OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operator with its operands the other way round."""
OPPOSITE: Final = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The operator that holds where this one is false."""


@dataclass(frozen=True, slots=True)
class And(Generic[Part]):
    """All of the parts hold. Without parts it holds always: that is the empty filter."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Or(Generic[Part]):
    """At least one of the parts holds."""

    parts: tuple[Part, ...]


# SQL's three truth values: True, False, and None for unknown.

Verdict = bool | None
Condition = Callable[[Subject], Verdict]


def all_of(conditions: Sequence[Condition[Subject]]) -> Condition[Subject]:
    """AND: false if any condition is false, else unknown if any is unknown."""

    def every(subject: Subject) -> Verdict:
        unknown = False
        for condition in conditions:
            verdict = condition(subject)
            if verdict is False:
                return False
            unknown = unknown or verdict is None
        return None if unknown else True

    return every


def any_of(conditions: Sequence[Condition[Subject]]) -> Condition[Subject]:
    """OR: true if any condition is true, else unknown if any is unknown."""

    def some(subject: Subject) -> Verdict:
        unknown = False
        for condition in conditions:
            verdict = condition(subject)
            if verdict is True:
                return True
            unknown = unknown or verdict is None
        return None if unknown else False

    return some


def opposite_of(condition: Condition[Subject]) -> Condition[Subject]:
    """NOT: unknown if the condition is unknown."""

    def opposite(subject: Subject) -> Verdict:
        verdict = condition(subject)
        return None if verdict is None else not verdict

    return opposite
