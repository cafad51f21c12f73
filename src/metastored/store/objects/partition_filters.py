"""Partition filters as SQL conditions on v1 … v8. Conditions that SQL cannot express exactly are not translated.

The reference is `metastored.filters.hive.tree.predicate`: a condition matches the same partitions, on either database.
Values are bound, never written into the text, so filters that differ only in their literals share one
statement.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from metastored.filters.hive.tree import (
    Between,
    BoundKey,
    Comparison,
    Filter,
    FilterLiteral,
    In,
    KeyKind,
    Like,
    MultiIn,
    Not,
    bind_key,
    bind_literal,
    check,
)
from metastored.filters.logic import And, Or, PartitionKeys
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION
from metastored.store.engine.statements import SQLITE
from metastored.store.engine.stored import VALUE_COLUMNS
from metastored.store.engine.transaction import Transaction
from metastored.store.objects.partitions import Where

PARAMETER_LIMIT = 5000
"""Filters with more literals are evaluated in Python; SQLite takes 32,766 parameters and PostgreSQL 65,535."""

PATTERN_LIMIT = 10_000
"""Bytes of a LIKE pattern; SQLite takes 50,000, in which every character may have become three."""

_EXTREMES = (-(2**63), 2**63 - 1)

TRUE, FALSE = "1 = 1", "1 = 0"


class _NotTranslatable(Exception):
    """Part of a filter that only Python can evaluate."""


def translate(node: Filter, keys: PartitionKeys, generation: Generation, tx: Transaction) -> Where | None:
    """The condition of a filter for the database of a transaction; None if it is to be evaluated in Python.

    Raises FilterKeyError where Hive refuses the filter for these keys.
    """
    check(node, keys, generation)
    builder = _Builder(keys, generation, tx)
    try:
        sql = builder.condition(node)
    except _NotTranslatable:
        return None
    return Where(sql, builder.params)


class _Builder:
    """Writes the text of a condition and collects its parameters, named f0, f1, … in their order."""

    def __init__(self, keys: PartitionKeys, generation: Generation, tx: Transaction) -> None:
        self._keys = keys
        self._generation = generation
        self._tx = tx
        self._dialect = _Sqlite() if tx.dialect == SQLITE else _Postgres()
        self.params: dict[str, Any] = {}

    def condition(self, node: Filter) -> str:
        match node:
            case And(parts):
                return _joined("AND", map(self.condition, parts)) or TRUE
            case Or(parts):
                return _joined("OR", self._alternatives(parts)) or FALSE
            case Not(part):
                return f"({self.condition(part)}) IS NOT TRUE"
            case Comparison(key, op, literal):
                return self._comparison(key, op, literal)
            case Between(key, low, high, negated):
                if negated:
                    return f"({self._comparison(key, '<', low)} OR {self._comparison(key, '>', high)})"
                return f"({self._comparison(key, '>=', low)} AND {self._comparison(key, '<=', high)})"
            case In(key, literals, negated):
                return self._in(key, literals, negated)
            case Like(key, pattern, negated):
                return self._like(key, pattern, negated)
            case MultiIn(names, rows, negated):
                return self._multi_in(names, rows, negated)

    def _alternatives(self, parts: Iterable[Filter]) -> Iterator[str]:
        """The conditions of an OR. Several equalities of one key are one condition: many clients cannot write IN."""
        equalities: dict[BoundKey, list[Comparison]] = {}
        for part in parts:
            if isinstance(part, Comparison) and part.op == "=" and part.literal != DEFAULT_PARTITION:
                key, _ = self._column(part.key, (part.literal,))
                equalities.setdefault(key, []).append(part)
            else:
                yield self.condition(part)
        for key, alike in equalities.items():
            if len(alike) == 1:
                yield self.condition(alike[0])
            else:
                yield self._among(key, [each.literal for each in alike])

    def _bind(self, value: object) -> str:
        if len(self.params) == PARAMETER_LIMIT:
            raise _NotTranslatable
        name = f"f{len(self.params)}"
        self.params[name] = value
        return f":{name}"

    def _column(self, name: str, literals: Sequence[FilterLiteral] = ()) -> tuple[BoundKey, str]:
        key = bind_key(name, self._keys, self._generation, literals)
        if key.position >= len(VALUE_COLUMNS):
            raise _NotTranslatable
        return key, VALUE_COLUMNS[key.position]

    def _comparison(self, name: str, op: str, literal: FilterLiteral) -> str:
        key, column = self._column(name, (literal,))
        if literal == DEFAULT_PARTITION and op in ("=", "!=") and self._generation >= Generation.HIVE_4_0:
            return f"{column} {op} {self._bind(literal)}"
        bound = bind_literal(literal, key)
        match key.kind:
            case KeyKind.STRING:
                return f"{column} {op} {self._bind(bound)}"
            case KeyKind.DATE if op == "=":
                return f"{column} = {self._bind(bound)}"
            case KeyKind.DATE:
                return f"({column} {op} {self._bind(bound)} AND {self._dialect.is_date(column)})"
            case KeyKind.INTEGRAL if bound in _EXTREMES:
                # SQLite reads larger numbers as the largest, so only there would the result differ.
                raise _NotTranslatable
            case KeyKind.INTEGRAL if op == "=":
                text, number = self._bind(str(bound)), self._bind(bound)
                return f"({column} = {text} OR {self._unusual(column, lambda value: f'{value} = {number}')})"
            case KeyKind.INTEGRAL:
                return f"{self._dialect.integer(column)} {op} {self._bind(bound)}"
            case _:
                raise _NotTranslatable

    def _in(self, name: str, literals: Sequence[FilterLiteral], negated: bool) -> str:
        key, column = self._column(name, literals)
        if not negated:
            return self._among(key, literals)
        bound = _bound(literals, key)
        match key.kind:
            case KeyKind.STRING:
                return self._listed(column, bound, True)
            case KeyKind.DATE:
                return f"({self._listed(column, bound, True)} AND {self._dialect.is_date(column)})"
            case KeyKind.INTEGRAL if not any(extreme in bound for extreme in _EXTREMES):
                integer = self._dialect.integer(column)
                return f"({self._listed(integer, bound, True)} AND {integer} IS NOT NULL)"
            case _:
                raise _NotTranslatable

    def _among(self, key: BoundKey, literals: Sequence[FilterLiteral]) -> str:
        """Whether the value of a key is one of several."""
        column, bound = VALUE_COLUMNS[key.position], _bound(literals, key)
        match key.kind:
            case KeyKind.STRING | KeyKind.DATE:
                return self._listed(column, bound, False)
            case KeyKind.INTEGRAL if not any(extreme in bound for extreme in _EXTREMES):
                usual = self._listed(column, list(map(str, bound)), False)
                return f"({usual} OR {self._unusual(column, lambda value: self._listed(value, bound, False))})"
            case _:
                raise _NotTranslatable

    def _listed(self, value: str, items: Sequence[str | int], negated: bool) -> str:
        return f"{value} {'NOT ' if negated else ''}IN {self._bind(self._tx.list(items))}"

    def _unusual(self, column: str, test: Callable[[str], str]) -> str:
        """The test, for integers not written as usual: 007, +7, -07.

        All of them are in three ranges of texts, so that the index can find them together with the usual text. One
        range around the three excludes most texts by one comparison.
        """
        ranges = (("0", "1"), ("+", ","), ("-0", "-1"))
        condition = test(self._dialect.integer(column))
        texts = " OR ".join(f"({column} >= '{low}' AND {column} < '{high}')" for low, high in ranges)
        return f"({column} < '1' AND {column} >= '+' AND ({texts}) AND {condition})"

    def _like(self, name: str, pattern: str, negated: bool) -> str:
        _, column = self._column(name)
        if len(pattern.encode()) > PATTERN_LIMIT:
            raise _NotTranslatable
        condition = self._dialect.like(column, self._bind(self._dialect.pattern(pattern)))
        return f"NOT ({condition})" if negated else condition

    def _multi_in(self, names: tuple[str, ...], rows: tuple[tuple[FilterLiteral, ...], ...], negated: bool) -> str:
        op, inner, outer = ("!=", "OR", "AND") if negated else ("=", "AND", "OR")
        conditions = (
            _joined(inner, (self._comparison(name, op, literal) for name, literal in zip(names, row, strict=True)))
            for row in rows
        )
        return _joined(outer, conditions) or (TRUE if negated else FALSE)


def _bound(literals: Sequence[FilterLiteral], key: BoundKey) -> list[str | int]:
    return list(dict.fromkeys(bind_literal(literal, key) for literal in literals))


def _joined(operator: str, conditions: Iterable[str]) -> str:
    """Conditions joined in a balanced tree: a chain of a thousand is too deep for SQLite."""
    level = list(conditions)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        odd = level[-1:] if len(level) % 2 else []
        level = [f"({left} {operator} {right})" for left, right in pairs] + odd
    return level[0] if level else ""


_LIKE_PART = re.compile(r"\\(.)|(.)", re.DOTALL)


class _Sqlite:
    """The SQL of SQLite where the two differ. Its LIKE ignores case; its GLOB does not."""

    def integer(self, column: str) -> str:
        plain = f"{column} GLOB '[0-9]*' AND length({column}) <= 19"
        signed = f"{column} GLOB '[-+][0-9]*' AND length({column}) <= 20"
        digits = f"substr({column}, 2) NOT GLOB '*[^0-9]*'"
        return f"CASE WHEN ({plain} OR {signed}) AND {digits} THEN CAST({column} AS INTEGER) END"

    def is_date(self, column: str) -> str:
        return f"{column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'"

    def like(self, column: str, parameter: str) -> str:
        return f"{column} GLOB {parameter}"

    def pattern(self, pattern: str) -> str:
        wildcards = {"%": "*", "_": "?"}
        return "".join(
            wildcards.get(plain) or _glob_literal(escaped or plain) for escaped, plain in _LIKE_PART.findall(pattern)
        )


def _glob_literal(character: str) -> str:
    return f"[{character}]" if character in "*?[" else character


class _Postgres:
    """The SQL of PostgreSQL where the two differ."""

    def integer(self, column: str) -> str:
        return f"CASE WHEN {column} ~ '^[+-]?[0-9]{{1,19}}$' THEN CAST({column} AS numeric) END"

    def is_date(self, column: str) -> str:
        return f"{column} ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$'"

    def like(self, column: str, parameter: str) -> str:
        return f"{column} LIKE {parameter} ESCAPE '\\'"

    def pattern(self, pattern: str) -> str:
        # Rewritten: here a backslash at the end, which is a literal backslash, would be an error.
        return "".join(
            plain if plain in ("%", "_") else f"\\{escaped or plain}" for escaped, plain in _LIKE_PART.findall(pattern)
        )
