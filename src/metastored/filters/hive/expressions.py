"""The evaluation of a client's expression on partitions: as a filter for SQL, or else on the values of one partition.

The field `expr` of Hive's requests holds a tree in Kryo's form (`kryo` for Hive 2.3 and 3.1, `kryo_5` for Hive 4) or,
from Hive 4's repair of tables, the text of a filter. An expression that the grammar of filters can express becomes a
filter, as in Hive. The rest is evaluated here with SQL's three truth values, as Hive's partition pruning does. Nothing
here reads a partition.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from metastored.filters.hive.expression_values import (
    NoConversion,
    cast,
    category,
    common_type,
    constant,
    order,
    reader,
    to_compare,
)
from metastored.filters.hive.kryo import Apply, Column, Constant, Expression, MalformedExpression, UnreadableExpression
from metastored.filters.hive.kryo import read_expression as read_tree
from metastored.filters.hive.kryo_5 import NAMED_ROOT, read_expression_5
from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import (
    Between,
    Comparison,
    Filter,
    FilterKeyError,
    FilterLiteral,
    FilterSyntaxError,
    In,
    MultiIn,
    check,
    takes_dates_for_text,
)
from metastored.filters.logic import MIRRORED, OPERATORS, And, Or, PartitionKeys, Verdict, all_of, any_of, opposite_of
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION, unescape

Pruner = Callable[[Sequence[str]], Verdict]
"""Whether a partition is selected; None if that is unknown, and it is kept."""

_KRYO: Final = b"\x01"
"""Kryo's mark of a new object, with which every tree begins and no text does."""


def read_expression(data: bytes, generation: Generation) -> Expression | Filter:
    """The tree of an expression, or the filter of a text.

    Raises UnreadableExpression, and MalformedExpression if it is neither.
    """
    if data.startswith(NAMED_ROOT):
        return read_expression_5(data)
    if data.startswith(_KRYO):
        return read_tree(data)
    try:
        if data:
            return parse_filter(data.decode("utf-8"), generation)
    except (UnicodeDecodeError, FilterSyntaxError) as error:
        if generation >= Generation.HIVE_4_0:
            raise MalformedExpression(f"Error parsing the expression: {error}") from None
    return read_tree(data)


def repaired_names(data: bytes) -> frozenset[str]:
    """The names, unescaped, of the partitions that Hive 4's repair of tables drops by an expression.

    The expression is a text such as `(h='1' AND ds='a')`; none if the text has another form. Hive falls
    back to names where such a text compares a number's key with quoted text, as it always does.
    """
    names: list[str] = []
    for alternative in data.decode("utf-8", "replace").split(" OR "):
        pairs = [pair.partition("=") for pair in alternative[1:-1].split(" AND ")]
        if alternative[:1] != "(" or any(len(value) < 2 or value[0] + value[-1] != "''" for _, _, value in pairs):
            return frozenset()
        names.append("/".join(f"{unescape(key)}={unescape(value[1:-1])}" for key, _, value in pairs))
    return frozenset(names)


# --- as a filter ----------------------------------------------------------------------------------------------

_COMPARISONS: Final = {
    "GenericUDFOPEqual": "=",
    "GenericUDFOPEqualNS": "=",
    "GenericUDFOPNotEqual": "!=",
    "GenericUDFOPLessThan": "<",
    "GenericUDFOPEqualOrLessThan": "<=",
    "GenericUDFOPGreaterThan": ">",
    "GenericUDFOPEqualOrGreaterThan": ">=",
}
_LITERALS: Final = frozenset({"string", "varchar", "tinyint", "smallint", "int", "bigint", "date"})


class _NoFilter(Exception):
    """A part that the grammar of filters cannot express."""


def as_filter(tree: Expression, keys: PartitionKeys, generation: Generation) -> Filter | None:
    """The equivalent filter for these keys, if there is one. Expressions never read dates as text."""
    try:
        node = _filter(tree)
        check(node, keys, generation)
    except (_NoFilter, FilterKeyError):
        return None
    return None if takes_dates_for_text(node, keys, generation) else node


def _filter(tree: Expression) -> Filter:
    match tree:
        case Apply("GenericUDFOPAnd", operands) if operands:
            return And(tuple(map(_filter, operands)))
        case Apply("GenericUDFOPOr", operands) if operands:
            return Or(tuple(map(_filter, operands)))
        case Apply(function, (Column(key), Constant() as literal)) if function in _COMPARISONS:
            return Comparison(key, _COMPARISONS[function], _literal(literal))
        case Apply(function, (Constant() as literal, Column(key))) if function in _COMPARISONS:
            return Comparison(key, MIRRORED[_COMPARISONS[function]], _literal(literal))
        case Apply("GenericUDFBetween", (Constant(_, bool() as negated), Column(key), low, high)):
            return Between(key, _literal(low), _literal(high), negated)
        case Apply("GenericUDFIn", (Column(key), *literals)) if literals:
            return In(key, tuple(map(_literal, literals)))
        case Apply("GenericUDFIn", (Apply("GenericUDFStruct", columns), *rows)) if rows:
            names = tuple(column.name for column in columns if isinstance(column, Column))
            if len(names) == len(columns):
                return MultiIn(names, tuple(_row(row, len(names)) for row in rows))
    raise _NoFilter


def _literal(tree: Expression) -> FilterLiteral:
    match tree:
        case Constant(type, value) if category(type) in _LITERALS and value is not None:
            known: FilterLiteral = constant(type, value)
            return known
    raise _NoFilter


def _row(tree: Expression, size: int) -> tuple[FilterLiteral, ...]:
    match tree:
        case Constant("struct", tuple() as values) if len(values) == size:
            if all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
                return values
    raise _NoFilter


# --- as a predicate -------------------------------------------------------------------------------------------


class _Typed(NamedTuple):
    """A part of an expression: the type of its values, and its value for a partition (None is NULL)."""

    type: str
    evaluate: Callable[[Sequence[str]], Any]


def pruner(tree: Expression, keys: PartitionKeys, generation: Generation, default: str = DEFAULT_PARTITION) -> Pruner:
    """The expression as a predicate on a partition's values, bound once to the keys of the table.

    Raises UnreadableExpression for functions and types that are not supported. A column that is not a key has no value
    here. As in Hive, a partition that has no value for some key is not selected when the result is unknown.
    """
    compiler = _Compiler(keys, generation, default)
    condition = compiler.typed(tree)
    if category(condition.type) != "boolean":
        raise UnreadableExpression(f"an expression of the type {condition.type} is not a condition")
    evaluate, only_keys = condition.evaluate, compiler.only_keys

    def verdict(values: Sequence[str]) -> Verdict:
        outcome: Verdict = evaluate(values)
        return False if outcome is None and only_keys and default in values else outcome

    return verdict


class _Compiler:
    """Turns a tree into functions of a partition's values."""

    def __init__(self, keys: PartitionKeys, generation: Generation, default: str) -> None:
        self.keys = {name.lower(): (position, type) for position, (name, type) in enumerate(keys)}
        self.generation = generation
        self.default = default
        self.only_keys = True

    def typed(self, tree: Expression) -> _Typed:
        match tree:
            case Column(name, type):
                return self.column(name, type)
            case Constant(type, value):
                known = constant(type, value)
                return _Typed(type, lambda values: known)
            case Apply(function, operands, type):
                return self.apply(function, operands, type)

    def column(self, name: str, type: str) -> _Typed:
        if name.lower() not in self.keys:
            self.only_keys = False
            return _Typed(type, lambda values: None)
        position, own_type = self.keys[name.lower()]
        read, default = reader(own_type, self.generation), self.default
        return _Typed(own_type, lambda values: None if values[position] == default else read(values[position]))

    def apply(self, function: str, operands: tuple[Expression, ...], type: str) -> _Typed:
        match function, operands:
            case "GenericUDFOPAnd", _:
                return _Typed("boolean", all_of([self.condition(operand) for operand in operands]))
            case "GenericUDFOPOr", _:
                return _Typed("boolean", any_of([self.condition(operand) for operand in operands]))
            case "GenericUDFOPNot", (operand,):
                return _Typed("boolean", opposite_of(self.condition(operand)))
            case "GenericUDFOPNull" | "GenericUDFOPNotNull", (operand,):
                evaluate, if_null = self.typed(operand).evaluate, function == "GenericUDFOPNull"
                return _Typed("boolean", lambda values: (evaluate(values) is None) is if_null)
            case _, (one, other) if function in _COMPARISONS:
                return _Typed("boolean", self.comparison(function, self.typed(one), self.typed(other)))
            case "GenericUDFBetween", (Constant(_, bool() as negated), what, low, high):
                between = self.between(self.typed(what), self.typed(low), self.typed(high))
                return _Typed("boolean", opposite_of(between) if negated else between)
            case "GenericUDFIn", (what, *members) if members:
                return _Typed("boolean", self.membership(what, members))
            case _, (operand,):
                typed = self.typed(operand)
                convert = cast(function, category(typed.type), type, self.generation)
                return _Typed(type, _converted(typed.evaluate, convert))
        raise UnreadableExpression(f"the function {function} of {len(operands)} operands is not understood")

    def condition(self, tree: Expression) -> Pruner:
        typed = self.typed(tree)
        if category(typed.type) != "boolean":
            raise NoConversion(f"a value of the type {typed.type} is not a condition")
        return typed.evaluate

    def comparison(self, function: str, one: _Typed, other: _Typed) -> Pruner:
        left, right = _comparable(one, other)
        compare = OPERATORS[_COMPARISONS[function]]
        if function == "GenericUDFOPEqualNS":
            return lambda values: bool(left(values) == right(values))

        def holds(values: Sequence[str]) -> Verdict:
            this, that = left(values), right(values)
            return None if this is None or that is None else bool(compare(this, that))

        return holds

    def between(self, what: _Typed, low: _Typed, high: _Typed) -> Pruner:
        above = self.comparison("GenericUDFOPEqualOrGreaterThan", what, low)
        below = self.comparison("GenericUDFOPEqualOrLessThan", what, high)
        return all_of([above, below])

    def membership(self, what: Expression, members: Sequence[Expression]) -> Pruner:
        if isinstance(what, Apply) and what.function == "GenericUDFStruct":
            return any_of([self.row(what.operands, member) for member in members])
        typed = self.typed(what)
        equal = [self.comparison("GenericUDFOPEqual", typed, self.typed(member)) for member in members]
        return any_of(equal)

    def row(self, columns: Sequence[Expression], member: Expression) -> Pruner:
        """A struct equals another when all their fields do; those of a constant have the types of the columns."""
        match member:
            case Constant("struct", tuple() as values) if len(values) == len(columns):
                fields = [self.typed(column) for column in columns]
                pairs = zip(fields, values, strict=True)
                return all_of([self.field_equality(field, value) for field, value in pairs])
        raise UnreadableExpression("a struct is compared with something that is not a constant of its size")

    def field_equality(self, field: _Typed, value: Any) -> Pruner:
        literal = self.typed(Constant(field.type, value))
        return self.comparison("GenericUDFOPEqual", field, literal)


def _comparable(one: _Typed, other: _Typed) -> tuple[Pruner, Pruner]:
    """Both operands as sort keys, in the type in which Hive compares them."""
    kind = common_type(one.type, other.type)
    key = order(kind)
    left, right = (_converted(each.evaluate, to_compare(category(each.type), kind)) for each in (one, other))
    return _converted(left, key), _converted(right, key)


def _converted(
    evaluate: Callable[[Sequence[str]], Any], convert: Callable[[Any], Any]
) -> Callable[[Sequence[str]], Any]:
    def converted(values: Sequence[str]) -> Any:
        value = evaluate(values)
        return None if value is None else convert(value)

    return converted
