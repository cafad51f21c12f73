"""Partition filters: the tree of a filter, and its evaluation on the values of one partition.

The tree is public and small, so that the store can turn it into SQL; `predicate` evaluates it in Python and is the
reference for any translation. Texts become trees in `parser.py`. No partition is read here. The comparison depends on
the type of the key. Strings compare by code point, and the default partition is a string like any other. Integers and
dates compare as such, and a value that is none, as that of the default partition, satisfies no comparison, not even
`!=`. A date that is compared with other text, or by LIKE, is refused before Hive 4, and is a string since.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum
from typing import Final, NamedTuple, TypeAlias, TypeVar

from metastored.filters.hive.tokens import read_date
from metastored.filters.logic import OPERATORS, OPPOSITE, And, Or, PartitionKeys, PartitionPredicate
from metastored.filters.patterns import like_expression
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION


class FilterError(ValueError):
    """A filter that cannot be evaluated. The text is that of Hive's MetaException."""


class FilterSyntaxError(FilterError):
    """A text that is not a filter."""


class FilterKeyError(FilterError):
    """A filter on a key that the table does not have, or that cannot be compared with the literal."""


class NotComparable(FilterKeyError):
    """A filter that compares a key with a literal of another kind."""


# --- the tree ----------------------------------------------------------------------------------------------

FilterLiteral = str | int | date | datetime
"""A literal: quoted text, an integer of 64 bits, a date, or (Hive 4) a timestamp."""


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold, false or unknown (SQL's IS NOT TRUE). Only Hive 4.2 has this."""

    part: "Filter"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`key op literal`, with op one of = != < <= > >=.

    A literal on the left was turned around by the parser.
    """

    key: str
    op: str
    literal: FilterLiteral


@dataclass(frozen=True, slots=True)
class Like:
    """`key LIKE pattern`. The pattern is SQL's (`%`, `_`, escaped by a backslash) whatever the client wrote.

    Case matters; SQLite's own LIKE ignores it.
    """

    key: str
    pattern: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Between:
    """`key [NOT] BETWEEN low AND high`, both included."""

    key: str
    low: FilterLiteral
    high: FilterLiteral
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In:
    """`(key) [NOT] IN (literals)`."""

    key: str
    literals: tuple[FilterLiteral, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class MultiIn:
    """`(STRUCT(keys)) [NOT] IN (CONST STRUCT(row), …)`; negated, every row differs in at least one key."""

    keys: tuple[str, ...]
    rows: tuple[tuple[FilterLiteral, ...], ...]
    negated: bool = False


Leaf = Comparison | Like | In | MultiIn
Filter: TypeAlias = And["Filter"] | Or["Filter"] | Not | Between | Comparison | Like | In | MultiIn

EVERYTHING: Final[Filter] = And(())


def negate(node: Filter) -> Filter:
    """The filter that holds where this one is false; where a value cannot be compared, neither holds."""
    match node:
        case And(parts):
            return Or(tuple(map(negate, parts)))
        case Or(parts):
            return And(tuple(map(negate, parts)))
        case Not(part):
            return part
        case Comparison(key, op, literal):
            return Comparison(key, OPPOSITE[op], literal)
        case _:
            return replace(node, negated=not node.negated)


# --- keys and literals -------------------------------------------------------------------------------------


class KeyKind(Enum):
    """How the values of a partition key compare."""

    STRING = "string"
    INTEGRAL = "integral"
    DATE = "date"
    TIMESTAMP = "timestamp"


class BoundKey(NamedTuple):
    """A key of the table: its position among the partition values, and how they compare (None: not at all)."""

    position: int
    kind: KeyKind | None


_KINDS = {
    "string": KeyKind.STRING,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), KeyKind.INTEGRAL),
    "date": KeyKind.DATE,
}
_KINDS_OF_HIVE_4 = {
    **_KINDS,
    "char": KeyKind.STRING,
    "varchar": KeyKind.STRING,
    "timestamp": KeyKind.TIMESTAMP,
}

_DATES = (KeyKind.DATE, KeyKind.TIMESTAMP)
_NOT_COMPARABLE = "Filtering is supported only on partition keys of type string"


def bind_key(
    name: str, keys: PartitionKeys, generation: Generation, literals: Sequence[FilterLiteral] = ()
) -> BoundKey:
    """Looks up a key of a filter among those of the table, to be compared with literals; case does not matter."""
    kinds = _KINDS_OF_HIVE_4 if generation >= Generation.HIVE_4_0 else _KINDS
    for position, (key, type_text) in enumerate(keys):
        if key.lower() == name.lower():
            bound = BoundKey(position, kinds.get(type_text.partition("(")[0].strip()))
            as_text = generation >= Generation.HIVE_4_0 and _is_other_text(bound, literals)
            return bound._replace(kind=KeyKind.STRING) if as_text else bound
    raise FilterKeyError(f"Specified key <{name}> is not a partitioning key for the table")


def _is_other_text(key: BoundKey, literals: Sequence[FilterLiteral]) -> bool:
    """Whether dates or timestamps are compared with text that is neither."""
    if key.kind not in _DATES:
        return False
    read = read_date if key.kind is KeyKind.DATE else _read_timestamp
    return any(isinstance(literal, str) and read(literal) is None for literal in literals)


def bind_literal(literal: FilterLiteral, key: BoundKey) -> str | int:
    """A literal in the form that values of the key are compared in (`READERS` read these)."""
    bound: str | int | None = None
    match key.kind:
        case KeyKind.STRING if isinstance(literal, str):
            bound = literal
        case KeyKind.INTEGRAL if isinstance(literal, int):
            bound = literal
        case KeyKind.DATE if isinstance(literal, str):
            bound = literal if read_date(literal) is not None else None
        case KeyKind.DATE if isinstance(literal, date) and not isinstance(literal, datetime):
            bound = literal.isoformat()
        case KeyKind.TIMESTAMP if not isinstance(literal, int):
            bound = _read_timestamp(str(literal))
    if bound is None:
        raise NotComparable(_NOT_COMPARABLE)
    return bound


_INTEGER = re.compile("[+-]?[0-9]{1,19}")
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?: ([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?)?")


def _read_text(value: str) -> str:
    return value


def _read_integer(value: str) -> int | None:
    return int(value) if _INTEGER.fullmatch(value) else None


def _read_date(value: str) -> str | None:
    return value if _DATE.fullmatch(value) else None


def _read_timestamp(value: str) -> str | None:
    match = _TIMESTAMP.fullmatch(value)
    if match is None:
        return None
    day, time, fraction = match.groups()
    fraction = (fraction or "").rstrip("0")
    return f"{day} {time or '00:00:00'}" + (f".{fraction}" if fraction else "")


Reader = Callable[[str], str | int | None]
READERS: dict[KeyKind, Reader] = {
    KeyKind.STRING: _read_text,
    KeyKind.INTEGRAL: _read_integer,
    KeyKind.DATE: _read_date,
    KeyKind.TIMESTAMP: _read_timestamp,
}


# --- evaluation ----------------------------------------------------------------------------------------------

Subject = TypeVar("Subject")


def as_predicate(node: Filter, leaf: Callable[[Leaf], Callable[[Subject], bool]]) -> Callable[[Subject], bool]:
    """The filter as a predicate. `leaf` binds one condition: what a key means, and how its values compare."""
    match node:
        case And(parts):
            every = [as_predicate(part, leaf) for part in parts]
            return lambda subject: all(holds(subject) for holds in every)
        case Or(parts):
            some = [as_predicate(part, leaf) for part in parts]
            return lambda subject: any(holds(subject) for holds in some)
        case Not(part):
            held = as_predicate(part, leaf)
            return lambda subject: not held(subject)
        case Between(key, low, high, negated):
            return as_predicate(_between(key, low, high, negated), leaf)
        case _:
            return leaf(node)


def predicate(node: Filter, keys: PartitionKeys, generation: Generation) -> PartitionPredicate:
    """The filter as a predicate on a partition's values, bound once to the keys of the table.

    Raises FilterKeyError where Hive refuses the filter for these keys.
    """

    def leaf(node: Leaf) -> PartitionPredicate:
        match node:
            case Comparison(key, op, literal):
                return _comparison(key, op, literal, keys, generation)
            case Like(key, pattern, negated):
                return _like(bind_key(key, keys, generation), pattern, negated, generation)
            case In(key, literals, negated):
                return _in(bind_key(key, keys, generation, literals), literals, negated)
            case MultiIn(names, rows, negated):
                return as_predicate(row_comparisons(names, rows, negated), leaf)

    return as_predicate(node, leaf)


def check(node: Filter, keys: PartitionKeys, generation: Generation) -> None:
    """Raises FilterKeyError, with Hive's text, unless the filter can be evaluated on the table's keys."""
    predicate(node, keys, generation)


def takes_dates_for_text(node: Filter, keys: PartitionKeys, generation: Generation) -> bool:
    """Whether a checked filter compares dates with other text, which only Hive 4's filters do, as strings."""
    match node:
        case And(parts) | Or(parts):
            return any(takes_dates_for_text(part, keys, generation) for part in parts)
        case Not(part):
            return takes_dates_for_text(part, keys, generation)
        case Comparison(_, "=" | "!=", literal) if literal == DEFAULT_PARTITION:
            return False
        case Comparison(key, _, literal):
            return _is_other_text(bind_key(key, keys, generation), (literal,))
        case Between(key, low, high):
            return _is_other_text(bind_key(key, keys, generation), (low, high))
        case In(key, literals):
            return _is_other_text(bind_key(key, keys, generation), literals)
        case MultiIn(names, rows, negated):
            return takes_dates_for_text(row_comparisons(names, rows, negated), keys, generation)
        case Like(key):
            return bind_key(key, keys, generation).kind in _DATES


def evaluate(node: Filter, values: Sequence[str], keys: PartitionKeys, generation: Generation) -> bool:
    """Whether one partition satisfies the filter. For many, bind `predicate` once."""
    return predicate(node, keys, generation)(values)


def _comparison(
    name: str, op: str, literal: FilterLiteral, keys: PartitionKeys, generation: Generation
) -> PartitionPredicate:
    key = bind_key(name, keys, generation, (literal,))
    compare = OPERATORS[op]
    position = key.position
    if literal == DEFAULT_PARTITION and op in ("=", "!=") and generation >= Generation.HIVE_4_0:
        return lambda values: compare(values[position], DEFAULT_PARTITION)
    bound = bind_literal(literal, key)
    assert key.kind is not None  # bind_literal refuses keys that do not compare
    read = READERS[key.kind]
    if read is _read_text:
        return lambda values: compare(values[position], bound)

    def holds(values: Sequence[str]) -> bool:
        value = read(values[position])
        return value is not None and compare(value, bound)

    return holds


def _in(key: BoundKey, literals: tuple[FilterLiteral, ...], negated: bool) -> PartitionPredicate:
    bound = frozenset(bind_literal(literal, key) for literal in literals)
    assert key.kind is not None
    position, read = key.position, READERS[key.kind]

    def holds(values: Sequence[str]) -> bool:
        value = read(values[position])
        return value is not None and (value in bound) is not negated

    return holds


def _like(key: BoundKey, pattern: str, negated: bool, generation: Generation) -> PartitionPredicate:
    is_text = key.kind is KeyKind.STRING or (generation >= Generation.HIVE_4_0 and key.kind in _DATES)
    if not is_text:
        raise NotComparable(_NOT_COMPARABLE)
    position, matches = key.position, like_expression(pattern).fullmatch
    return lambda values: (matches(values[position]) is None) is negated


def _between(key: str, low: FilterLiteral, high: FilterLiteral, negated: bool) -> Filter:
    if negated:
        return Or((Comparison(key, "<", low), Comparison(key, ">", high)))
    return And((Comparison(key, ">=", low), Comparison(key, "<=", high)))


def row_comparisons(names: tuple[str, ...], rows: tuple[tuple[FilterLiteral, ...], ...], negated: bool) -> Filter:
    """Row by row, as Hive does: a row differs when one comparable key does, whatever the others are."""
    op = "!=" if negated else "="
    rows_of_comparisons = [
        tuple(Comparison(key, op, literal) for key, literal in zip(names, row, strict=True)) for row in rows
    ]
    if negated:
        return And(tuple(map(Or, rows_of_comparisons)))
    return Or(tuple(map(And, rows_of_comparisons)))
