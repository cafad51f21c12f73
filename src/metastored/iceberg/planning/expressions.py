"""Filters of scans, from JSON to pyiceberg's expressions. Imports pyiceberg: import it late.

The result lets through at least the rows of the filter: a predicate that pyiceberg cannot evaluate (of a transform, of
a function, of bytes) becomes true, however it is negated. Clients get their own filter back and apply it to the rows.
Sizes are bounded. Raises BadRequest with the part of the filter that is wrong.
"""

from __future__ import annotations

from typing import Any, Final

from pyiceberg import expressions as e
from pyiceberg import types as t
from pyiceberg.schema import Schema

from metastored.iceberg.errors import BadRequest

__all__ = ["MAX_LITERALS", "MAX_PREDICATES", "read_filter"]

MAX_PREDICATES: Final = 1_000
"""Each is evaluated for each file."""
MAX_LITERALS: Final = 20_000
"""Of all `in` and `not-in` of a filter."""
_UNARY: Final = {"is-null": e.IsNull, "not-null": e.NotNull, "is-nan": e.IsNaN, "not-nan": e.NotNaN}
_COMPARISONS: Final = {
    "lt": e.LessThan, "lt-eq": e.LessThanOrEqual, "gt": e.GreaterThan, "gt-eq": e.GreaterThanOrEqual,
    "eq": e.EqualTo, "not-eq": e.NotEqualTo, "starts-with": e.StartsWith, "not-starts-with": e.NotStartsWith,
}  # fmt: skip
_PREFIXES: Final = ("starts-with", "not-starts-with")
_SETS: Final = {"in": e.In, "not-in": e.NotIn}
_COMPARED: Final = (
    t.BooleanType, t.IntegerType, t.LongType, t.FloatType, t.DoubleType, t.DecimalType, t.DateType, t.TimeType,
    t.TimestampType, t.TimestamptzType, t.StringType, t.UUIDType,
)  # fmt: skip
"""Types whose literals pyiceberg reads from JSON as the specification writes them."""


def read_filter(json: Any, schema: Schema, case_sensitive: bool) -> e.BooleanExpression:
    """The expression of a filter on the columns of a schema. Raises BadRequest."""
    return _Reader(schema, case_sensitive).expression(json, negated=False)


class _Reader:
    """Reads one filter. Negations are moved to the predicates."""

    def __init__(self, schema: Schema, case_sensitive: bool) -> None:
        self._schema = schema
        self._case_sensitive = case_sensitive
        self._predicates = self._literals = 0

    def expression(self, json: Any, *, negated: bool) -> e.BooleanExpression:
        self._predicates += 1
        if self._predicates > MAX_PREDICATES:
            raise BadRequest(f"the filter has more than {MAX_PREDICATES:,} predicates")
        if isinstance(json, bool):
            return _constant(json != negated)
        if not isinstance(json, dict):
            raise BadRequest(f"the filter has {_short(json)} where an expression was expected")
        kind = json.get("type")
        if kind in ("true", "false"):
            return _constant((kind == "true") != negated)
        if kind == "literal" and isinstance(json.get("value"), bool):
            return _constant(json["value"] != negated)
        if kind == "not":
            return self.expression(_part(json, "child"), negated=not negated)
        if kind in ("and", "or"):
            left = self.expression(_part(json, "left"), negated=negated)
            right = self.expression(_part(json, "right"), negated=negated)
            return e.And(left, right) if (kind == "and") != negated else e.Or(left, right)
        if not isinstance(kind, str) or kind not in {**_UNARY, **_COMPARISONS, **_SETS}:
            raise BadRequest(f"the filter has an expression of the type {_short(kind)}, which is unknown")
        return self._predicate(kind, json, negated)

    def _predicate(self, kind: str, json: dict[str, Any], negated: bool) -> e.BooleanExpression:
        if kind in _COMPARISONS and "term" not in json:
            column, values = self._column(_part(json, "left"), kind), [_part(json, "right")]
        else:
            column = self._column(json["term"] if "term" in json else _part(json, "child"), kind, "term" in json)
            values = [] if kind in _UNARY else [_part(json, "value")] if kind in _COMPARISONS else self._set(json)
        literals = [_literal(each) for each in values]
        if column is None or None in literals:
            return e.AlwaysTrue()
        predicate: Any
        if kind in _UNARY:
            predicate = _UNARY[kind](column)
        elif kind in _PREFIXES and not isinstance(self._type(column), t.StringType):
            raise BadRequest(f"{kind} of the filter does not fit the column {column!r}, which has no texts"[:500])
        elif not isinstance(self._type(column), _COMPARED):
            return e.AlwaysTrue()
        else:
            made: Any = _COMPARISONS.get(kind) or _SETS[kind]
            predicate = made(column, literals[0] if kind in _COMPARISONS else literals)
        try:
            if isinstance(predicate, e.UnboundPredicate):
                predicate.bind(self._schema, self._case_sensitive)
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            raise BadRequest(f"{kind} of the filter does not fit the column {column!r}: {error}"[:500]) from None
        result: e.BooleanExpression = ~predicate if negated else predicate
        return result

    def _set(self, json: dict[str, Any]) -> list[Any]:
        values = _part(json, "values")
        if isinstance(values, dict) and values.get("type") == "literals":
            values = values.get("values")
        if not isinstance(values, list):
            raise BadRequest(f"values of {json['type']} in the filter is {_short(values)}: a list was expected")
        self._literals += len(values)
        if self._literals > MAX_LITERALS:
            raise BadRequest(f"the filter has more than {MAX_LITERALS:,} literals")
        return values

    def _column(self, term: Any, kind: str, is_term: bool = False) -> str | None:
        """The full name of a column; None for a term that is none."""
        if isinstance(term, str) and is_term:
            return self._name(term)
        if isinstance(term, dict) and term.get("type") == "reference":
            name = term.get("name", term.get("term"))
            if isinstance(name, str):
                return self._name(name)
            id = term.get("id")
            if type(id) is int and (column := self._schema.find_column_name(id)) is not None:
                return column
            raise BadRequest(f"{kind} of the filter refers to {_short(term)}, which is not a column of the schema")
        if isinstance(term, dict) and term.get("type") not in ("transform", "apply", "literal"):
            raise BadRequest(f"{kind} of the filter has the term {_short(term)}, which is of an unknown type")
        if not isinstance(term, (dict, str, int, float, bool)):
            raise BadRequest(f"{kind} of the filter has {_short(term)} where a term was expected")
        return None

    def _name(self, name: str) -> str:
        try:
            field = self._schema.find_field(name, self._case_sensitive)
            self._schema.accessor_for_field(field.field_id)
        except ValueError:
            raise BadRequest(f"the filter names the column {_short(name)}, which the schema has not") from None
        return name

    def _type(self, column: str) -> t.IcebergType:
        return self._schema.find_field(column, self._case_sensitive).field_type


def _constant(value: bool) -> e.BooleanExpression:
    return e.AlwaysTrue() if value else e.AlwaysFalse()


def _part(json: dict[str, Any], name: str) -> Any:
    if name not in json:
        raise BadRequest(f"{json['type']} in the filter has no {name}")
    return json[name]


def _literal(value: Any) -> Any:
    """A plain value; None for an expression that is not a literal."""
    if isinstance(value, dict) and value.get("type") == "literal":
        value = value.get("value")
    if isinstance(value, dict) and value.get("type") in ("reference", "apply"):
        return None
    if not isinstance(value, (str, int, float, bool)):
        raise BadRequest(f"the filter has {_short(value)} where a literal was expected")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:100] + "…"
