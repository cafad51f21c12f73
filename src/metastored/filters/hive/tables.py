"""The filters of get_table_names_by_filter: partition filters whose keys are fields of a table.

The trees are those of `tree`; `field_of` returns the field of a table that a key means. A comparison with
a table parameter never holds for a table without that parameter. No table is read here.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import (
    Between,
    Comparison,
    Filter,
    FilterKeyError,
    FilterLiteral,
    In,
    Leaf,
    Like,
    MultiIn,
    Not,
    as_predicate,
    row_comparisons,
)
from metastored.filters.logic import OPERATORS, And, Or
from metastored.filters.patterns import like_expression
from metastored.hive.generation import Generation


class TableField(Enum):
    """A field of a table that a filter can use, by Hive's key."""

    OWNER = "hive_filter_field_owner__"
    LAST_ACCESS = "hive_filter_field_last_access__"
    PARAMETER = "hive_filter_field_params__"
    NAME = "hive_filter_field_tableName__"
    TYPE = "hive_filter_field_tableType__"


class BoundField(NamedTuple):
    """The field that a key means; `parameter` is the name of the table parameter, '' for other fields."""

    field: TableField
    parameter: str = ""


_FIELDS_OF_HIVE_4 = (TableField.NAME, TableField.TYPE)


def field_of(key: str, generation: Generation) -> BoundField:
    """The field that a key of a table filter means. Keys are case-sensitive."""
    if key.startswith(TableField.PARAMETER.value):
        return BoundField(TableField.PARAMETER, key.removeprefix(TableField.PARAMETER.value))
    for field in TableField:
        if key == field.value and (field not in _FIELDS_OF_HIVE_4 or generation >= Generation.HIVE_4_0):
            return BoundField(field)
    raise FilterKeyError("Invalid key name in filter.  Use constants from org.apache.hadoop.hive.metastore.api")


def parse_table_filter(text: str, generation: Generation) -> Filter:
    """The tree of a table filter, with the key, the operator and the literal of every leaf checked."""
    node = parse_filter(text, generation)
    for key, op, literal in _leaves(node):
        _check(field_of(key, generation), op, literal, generation)
    return node


def _leaves(node: Filter) -> Iterator[tuple[str, str, FilterLiteral]]:
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)
        case Not(part):
            yield from _leaves(part)
        case Comparison(key, op, literal):
            yield key, op, literal
        case Like(key, pattern):
            yield key, "LIKE", pattern
        case Between(key, low, high):
            yield key, ">=", low
            yield key, "<=", high
        case In(key, literals):
            for literal in literals:
                yield key, "=", literal
        case MultiIn(keys, rows):
            for row in rows:
                for key, literal in zip(keys, row, strict=True):
                    yield key, "=", literal


_PARAMETER_OPERATORS = frozenset({"=", "!=", "LIKE"})


def _check(bound: BoundField, op: str, literal: FilterLiteral, generation: Generation) -> None:
    if bound.field is TableField.PARAMETER:
        if op not in _PARAMETER_OPERATORS:
            # Java printed a hash set: the order differs by release.
            known = "!=, <>, =, LIKE" if generation < Generation.HIVE_3_1 else "!=, LIKE, =, <>"
            raise FilterKeyError(f"Only [{known}] are supported operators for HIVE_FILTER_FIELD_PARAMS")
    elif bound.field is TableField.LAST_ACCESS:
        if op == "LIKE":
            raise FilterKeyError("Like is not supported for HIVE_FILTER_FIELD_LAST_ACCESS")
        if not isinstance(literal, int):
            raise FilterKeyError(f"{bound.field.value} is compared with seconds, an integer, not {literal!r}")
    elif not isinstance(literal, str):
        raise FilterKeyError(f"{bound.field.value} is compared with quoted text, not {literal!r}")


# --- evaluating ----------------------------------------------------------------------------------------------

FieldValue = str | int | None
Lookup = Callable[[BoundField], FieldValue]
TablePredicate = Callable[[Lookup], bool]


def fields_of(node: Filter, generation: Generation) -> frozenset[BoundField]:
    """The fields that a filter uses."""
    return frozenset(field_of(key, generation) for key, _, _ in _leaves(node))


def only_parameter(node: Filter, generation: Generation) -> str | None:
    """The table parameter that decides alone, None if there is none: no table without it can satisfy the filter."""
    fields = fields_of(node, generation)
    if len(fields) != 1 or _can_hold_without(node):
        return None
    (bound,) = fields
    return bound.parameter if bound.field is TableField.PARAMETER else None


def _can_hold_without(node: Filter) -> bool:
    """Whether a filter can hold for a table that has none of its parameters."""
    match node:
        case And(parts) | Or(parts):
            return any(map(_can_hold_without, parts))
        case Not():
            return True
        case In(_, literals, negated):
            return negated and not literals
        case MultiIn(_, _, negated):
            return negated
    return False


def table_predicate(node: Filter, generation: Generation) -> TablePredicate:
    """The filter as a predicate on one table, which is passed as a lookup of its fields.

    Keys and patterns are resolved here, once, and not for each table.
    """

    def compared(key: str, op: str, literal: FilterLiteral) -> TablePredicate:
        field, kind, compare = field_of(key, generation), type(literal), OPERATORS[op]

        def holds(table: Lookup) -> bool:
            value = table(field)
            return value is not None and type(value) is kind and compare(value, literal)

        return holds

    def leaf(node: Leaf) -> TablePredicate:
        match node:
            case Comparison(key, op, literal):
                return compared(key, op, literal)
            case Like(key, pattern, negated):
                return _like(field_of(key, generation), pattern, negated)
            case In(key, literals, negated):
                each = tuple(Comparison(key, "!=" if negated else "=", literal) for literal in literals)
                return as_predicate(And(each) if negated else Or(each), leaf)
            case MultiIn(keys, rows, negated):
                equal = row_comparisons(keys, rows, negated=False)
                return as_predicate(Not(equal) if negated else equal, leaf)

    return as_predicate(node, leaf)


def _like(field: BoundField, pattern: str, negated: bool) -> TablePredicate:
    matches = like_expression(pattern).fullmatch

    def holds(table: Lookup) -> bool:
        value = table(field)
        return isinstance(value, str) and (matches(value) is None) is negated

    return holds
