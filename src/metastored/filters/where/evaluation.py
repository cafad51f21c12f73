"""What a filter means for the values of one partition, by the types of the table's partition keys.

A value that is not of its key's type, as that of the default partition, is unknown: a comparison with it is neither
true nor false, and NOT of it neither. Strings compare by code point, and the default partition of a string key is a
string, as in Hive; only IS NULL recognises it. Values of the type char compare as if they ended with blanks up to the
same length, as in Hive and Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from metastored.filters.logic import OPERATORS, And, Or, PartitionKeys, PartitionPredicate, all_of, any_of, opposite_of
from metastored.filters.patterns import like_expression
from metastored.filters.where.functions import FUNCTIONS, Kind
from metastored.filters.where.parser import FilterFault, fault
from metastored.filters.where.tree import (
    Call,
    Compare,
    Condition,
    Holds,
    In,
    IsNull,
    Key,
    Like,
    Literal,
    Operand,
    Same,
    Truth,
)
from metastored.hive.names import DEFAULT_PARTITION
from metastored.hive.types import type_strings

_Evaluated = Callable[[Sequence[str]], Any]


def bind(text: str, node: Condition, keys: PartitionKeys) -> PartitionPredicate:
    """The filter as a function of a partition's values. Raises FilterFault for keys and types that do not fit."""
    evaluate = _Binder(text, keys).condition(node)
    return lambda values: evaluate(values) is True


def kind_of(type: str) -> Kind:
    """How the values of a type compare; a type that Hive does not have compares as text."""
    try:
        parsed = type_strings.read_type(type)
    except type_strings.TypeSyntaxError:
        return Kind.TEXT
    if isinstance(parsed, type_strings.Decimal):
        return Kind.NUMBER
    return _KINDS.get(str(parsed), Kind.TEXT)


_KINDS: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double"), Kind.NUMBER),
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "datetime", "timestamp with local time zone"), Kind.TIMESTAMP),
}


# Values of partitions are texts.


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    try:
        number = Decimal(value.strip())
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def _timestamp(value: Any) -> Any:
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    else:
        try:
            moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None  # type: ignore[assignment]
        except ValueError:
            return None
    if moment is not None and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def _date(value: Any) -> Any:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    moment = _timestamp(value)
    return None if moment is None else moment.date()


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None else str(value)


_READERS: Final[dict[Kind, Callable[[Any], Any]]] = {
    Kind.TEXT: _text,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.DATE: _date,
    Kind.TIMESTAMP: _timestamp,
    Kind.NULL: lambda value: None,
}
_EXAMPLES: Final = {
    Kind.NUMBER: "a number such as 7 or 1.5",
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.DATE: "a date such as '2024-01-31'",
    Kind.TIMESTAMP: "a timestamp such as '2024-01-31 12:00:00'",
    Kind.TEXT: "a text such as 'a'",
}


def _same_length(one: str, other: str) -> tuple[str, str]:
    length = max(len(one), len(other))
    return one.ljust(length), other.ljust(length)


class _Bound(NamedTuple):
    """An operand with the kind of its values."""

    kind: Kind
    value: _Evaluated
    described: str
    """What it is, for messages: `h (int)`, `7`."""
    at: int
    constant: bool = False
    padded: bool = False
    """Whether blanks at the end do not count: the values of a char."""


class _Binder:
    """Binds the nodes of one filter to the keys of one table."""

    def __init__(self, text: str, keys: PartitionKeys) -> None:
        self.text = text
        self.keys = keys

    def wrong(self, at: int, expected: str) -> FilterFault:
        return fault(self.text, at, expected)

    def condition(self, node: Condition) -> _Evaluated:
        match node:
            case And(parts):
                return all_of([self.condition(part) for part in parts])
            case Or(parts):
                return any_of([self.condition(part) for part in parts])
            case Compare(left, op, right):
                return self.comparison(left, op, right)
            case Same(left, right, negated):
                return self.sameness(left, right, negated)
            case In(operand, items, negated):
                equal = any_of([self.comparison(operand, "=", item) for item in items])
                return opposite_of(equal) if negated else equal
            case Like(operand, pattern, negated):
                bound, matches = self.converted(self.operand(operand), Kind.TEXT), like_expression(pattern).fullmatch
                return _known(bound, lambda value: (matches(value) is None) is negated)
            case IsNull(operand, negated):
                inner = self.operand(operand)
                return lambda values: (inner.value(values) in (None, DEFAULT_PARTITION)) is not negated
            case Truth(condition, expected, negated):
                held = self.condition(condition)
                return lambda values: (held(values) is expected) is not negated
            case Holds(operand, negated):
                evaluated = self.operand(operand)
                if evaluated.kind is not Kind.BOOLEAN:
                    raise self.wrong(
                        evaluated.at, f"a condition was expected, and {evaluated.described} is not a boolean"
                    )
                return _known(evaluated.value, lambda value: value is not negated)

    def comparison(self, left: Operand, op: str, right: Operand) -> _Evaluated:
        one, other = self.operand(left), self.operand(right)
        kind = self.common(one, other)
        first, second, compare = self.converted(one, kind), self.converted(other, kind), OPERATORS[op]
        padded = kind is Kind.TEXT and (one.padded or other.padded)

        def compared(values: Sequence[str]) -> bool | None:
            a, b = first(values), second(values)
            if a is None or b is None:
                return None
            return compare(*_same_length(a, b)) if padded else compare(a, b)

        return compared

    def sameness(self, left: Operand, right: Operand, negated: bool) -> _Evaluated:
        one, other = self.operand(left), self.operand(right)
        kind = self.common(one, other)
        first, second = self.converted(one, kind), self.converted(other, kind)
        padded = kind is Kind.TEXT and (one.padded or other.padded)

        def compared(values: Sequence[str]) -> bool:
            a, b = _or_none(first(values)), _or_none(second(values))
            if padded and a is not None and b is not None:
                a, b = _same_length(a, b)
            return (a == b) is not negated

        return compared

    def common(self, one: _Bound, other: _Bound) -> Kind:
        """The kind that two operands are compared in: a text is read as the other's kind."""
        kinds = {one.kind, other.kind} - {Kind.NULL}
        if len(kinds) < 2:
            return kinds.pop() if kinds else Kind.NULL
        if kinds == {Kind.DATE, Kind.TIMESTAMP}:
            return Kind.TIMESTAMP
        if Kind.TEXT in kinds:
            (kind,) = kinds - {Kind.TEXT}
            text = one if one.kind is Kind.TEXT else other
            # A text key is compared with a date as text, so that an index of the server gives the same result.
            return Kind.TEXT if kind in (Kind.DATE, Kind.TIMESTAMP) and not text.constant else kind
        raise self.wrong(
            other.at, f"{_EXAMPLES[one.kind]} was expected: {one.described} is not compared with {other.described}"
        )

    def converted(self, operand: _Bound, kind: Kind) -> _Evaluated:
        """The values of an operand in a kind. A constant that is none is an error, a partition's value is unknown."""
        if operand.kind is kind:
            return operand.value
        read, value = _READERS[kind], operand.value
        if operand.constant:
            converted_value = read(value(()))
            if converted_value is None and value(()) is not None:
                raise self.wrong(operand.at, f"{_EXAMPLES[kind]} was expected")
            return lambda values: converted_value
        return lambda values: read(value(values))

    def operand(self, node: Operand) -> _Bound:
        match node:
            case Literal(value, at):
                return _Bound(_kind_of_literal(value), lambda values: value, self.shown(value), at, constant=True)
            case Key(name, at):
                return self.key(name, at)
            case Call(name="cast"):
                return self.cast(node)
            case Call(name="coalesce" | "nvl"):
                return self.coalesce(node)
            case Call():
                return self.call(node)

    @staticmethod
    def shown(value: Any) -> str:
        return "NULL" if value is None else repr(value) if isinstance(value, str) else str(value)

    def key(self, name: str, at: int) -> _Bound:
        for place, (key, type) in enumerate(self.keys):
            if key.lower() == name.lower():
                kind = kind_of(type)
                read = _READERS[kind]
                value = _reader(place, None if kind is Kind.TEXT else read)
                return _Bound(kind, value, f"{key} ({type})", at, padded=type.strip().lower().startswith("char"))
        known = ", ".join(f"{key} ({type})" for key, type in self.keys) or "none: the table has no partitions"
        raise self.wrong(at, f"{name} is not a partitioning key of the table; the partition keys are {known}")

    def cast(self, node: Call) -> _Bound:
        if len(node.args) != 1 or node.type is None:
            raise self.wrong(node.at, "CAST(… AS …) of one value was expected")
        inner = self.operand(node.args[0])
        try:
            type = type_strings.read_type(node.type)
        except type_strings.TypeSyntaxError as error:
            raise self.wrong(node.at, f"a type was expected in CAST: {error}") from None
        kind = kind_of(node.type)
        read, value = _READERS[kind], inner.value
        whole = str(type) in ("tinyint", "smallint", "int", "bigint")

        def converted(values: Sequence[str]) -> Any:
            result = read(value(values))
            return int(result) if whole and result is not None else result

        return _Bound(kind, converted, f"CAST(… AS {node.type})", node.at)

    def coalesce(self, node: Call) -> _Bound:
        if len(node.args) < 2:
            raise self.wrong(node.at, f"{node.name} of two values was expected")
        bound = [self.operand(each) for each in node.args]
        kind = next((each.kind for each in bound if each.kind is not Kind.NULL), Kind.NULL)
        read = [self.converted(each, kind) for each in bound]

        def first(values: Sequence[str]) -> Any:
            candidates = (each(values) for each in read)
            return next((each for each in candidates if each is not None and each != DEFAULT_PARTITION), None)

        return _Bound(kind, first, f"{node.name}(…)", node.at)

    def call(self, node: Call) -> _Bound:
        function = FUNCTIONS.get(node.name)
        if function is None:
            known = ", ".join(sorted(each for each in {*FUNCTIONS, "cast", "coalesce", "nvl"} if each.isidentifier()))
            raise self.wrong(node.at, f"there is no function {node.name} in filters; known are {known}")
        count, most = len(node.args), len(function.arguments)
        if count < function.required or (count > most and not function.repeated):
            numbers = f"{function.required}" if function.required == most else f"{function.required} to {most}"
            raise self.wrong(node.at, f"{numbers} arguments were expected by {node.name}, and {count} are there")
        kinds = [function.arguments[min(at, most - 1)] for at in range(count)]
        read = [self.argument(each, kind) for each, kind in zip(node.args, kinds, strict=True)]

        def called(values: Sequence[str]) -> Any:
            args = [each(values) for each in read]
            if any(each is None for each in args):
                return None
            try:
                return function.call(*args)
            except (ValueError, OverflowError, ArithmeticError):
                return None

        return _Bound(function.result, called, f"{node.name}(…)", node.at)

    def argument(self, node: Operand, kind: Kind) -> _Evaluated:
        bound = self.operand(node)
        compatible = {bound.kind, kind} <= {Kind.DATE, Kind.TIMESTAMP} or Kind.TEXT in (bound.kind, kind)
        if bound.kind not in (kind, Kind.NULL) and not compatible:
            raise self.wrong(bound.at, f"{_EXAMPLES[kind]} was expected, and {bound.described} is none")
        return self.converted(bound, kind)


def _or_none(value: Any) -> Any:
    return None if value == DEFAULT_PARTITION else value


def _kind_of_literal(value: Any) -> Kind:
    if value is None:
        return Kind.NULL
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, int | Decimal):
        return Kind.NUMBER
    if isinstance(value, str):
        return Kind.TEXT
    return Kind.TIMESTAMP if isinstance(value, datetime) else Kind.DATE


def _reader(place: int, read: Callable[[Any], Any] | None) -> _Evaluated:
    if read is None:
        return lambda values: values[place]
    return lambda values: read(values[place])


def _known(value: _Evaluated, test: Callable[[Any], bool]) -> _Evaluated:
    def tested(values: Sequence[str]) -> bool | None:
        result = value(values)
        return None if result is None else test(result)

    return tested
