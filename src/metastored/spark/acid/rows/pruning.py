"""What a condition says about partitions and groups of rows, so that the others are not read.

A condition is split at its ANDs. Parts about partition keys alone are evaluated by Spark on the partition values, so
they mean exactly what they mean in the query. Parts that compare one column with literals become a search argument of
ORC. Nothing here filters rows: the caller applies the complete condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache, reduce
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from metastored.errors import MissingExtra
from metastored.hive.names import DEFAULT_PARTITION, partition_values
from metastored.model.spark.types import CharType
from metastored.spark.acid.lengths import declared_type
from metastored.spark.acid.rows.scan import key_value
from metastored.spark.acid.tables import AcidTable
from metastored.spark.local_rows import local_rows

_SARG, _SARG_COLUMNS = "orc.kryo.sarg", "orc.sarg.column.names"
_INTEGERS: Final = (ByteType, ShortType, IntegerType, LongType)
_FLIPPED: Final = {"EQ": "EQ", "LT": "GT", "LTE": "GTE", "GT": "LT", "GTE": "LTE"}
_METHODS: Final = {
    "EQ": "equals", "LT": "lessThan", "LTE": "lessThanEquals", "GT": "lessThanEquals", "GTE": "lessThan",
    "BETWEEN": "between", "IN": "in",
}  # fmt: skip
_NEGATED: Final = ("GT", "GTE")
_UNCERTAIN: Final = ("\\", '"')
"""Signs by which the literals of a condition may be others in Spark than in sqlglot: escapes, quoted names."""


class Condition(NamedTuple):
    """A part of a condition: sqlglot's tree of it, and the user's own text."""

    tree: Any
    text: str


def conjuncts(where: str) -> list[Condition]:
    """The parts of a condition between its ANDs; none if sqlglot cannot parse it.

    sqlglot says what a part is about. Its text is that of the user, cut at the ANDs: printed by sqlglot it may mean
    something else in Spark. A condition whose parts cannot be cut is one part.
    """
    try:
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise MissingExtra("a condition on an ACID table", "spark") from None

    from metastored.spark.source import parsed_again

    try:
        parsed = sqlglot.parse_one(where, dialect="spark")
    except SqlglotError:
        return []  # Spark itself may know it: then everything is read, and Spark filters.
    conditions: list[Condition] = []
    remaining = [Condition(parsed, where)]
    while remaining:
        each = remaining.pop()
        inner = _cut(each.text)
        if len(inner) == 1 and inner[0] == each.text:
            conditions.append(each)
            continue
        parts = [Condition(parsed_again(text), text) for text in inner]
        trees = [part.tree for part in parts]
        # The parts must be those that sqlglot sees: else the text was cut in the wrong place.
        if None in trees or _bare(reduce(lambda one, other: exp.And(this=one, expression=other), trees)) != _bare(
            each.tree
        ):
            conditions.append(each)
        else:
            remaining += reversed(parts)
    return conditions


def _bare(tree: Any) -> Any:
    """A tree without the parentheses around it."""
    from sqlglot import exp

    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _cut(text: str) -> list[str]:
    """The text without parentheses around it, cut at the ANDs on its top level; itself if there is nothing to cut."""
    from sqlglot import TokenType

    from metastored.spark.source import Source, tokens_of

    source = Source(text, tokens_of(text), None)
    last = len(source.tokens)
    if source.at(0, TokenType.L_PAREN) and source.closing(0) == last - 1:
        return [source.original(1, last - 1)] if last > 2 else [text]
    ands: list[int] = []
    between = 0
    for at in source.top_level(0):
        type = source.tokens[at].token_type
        if type in (TokenType.OR, TokenType.XOR):
            return [text]
        if type is TokenType.BETWEEN:
            between += 1
        elif type is TokenType.AND and between:
            between -= 1
        elif type is TokenType.AND:
            ands.append(at)
    if not ands:
        return [text]
    starts = [0, *(at + 1 for at in ands)]
    return [source.original(first, end) for first, end in zip(starts, [*ands, last], strict=True)]


def matching_partitions(
    spark: SparkSession, table: AcidTable, names: Sequence[str], conditions: Iterable[Condition]
) -> list[str]:
    """The names of the partitions for which the conditions about keys alone can be true."""
    texts = [each.text for each in conditions if _is_about(each.tree, table.key_names)]
    if not texts or not names:
        return list(names)
    keys = table.key_names
    rows = []
    for name in names:
        values = (None if value == DEFAULT_PARTITION else value for value in partition_values(name, keys))
        rows.append((name, *values))
    fields = [StructField(f"__k{at}", StringType()) for at in range(len(keys))]
    frame = local_rows(spark, rows, StructType([StructField("__name", StringType()), *fields]))
    typed = [key_value(F.col(f"__k{at}"), field.dataType).alias(field.name) for at, field in enumerate(table.keys)]
    frame = frame.select("__name", *typed)
    for text in texts:
        frame = frame.where(text)
    return sorted(row[0] for row in frame.select("__name").collect())


def _is_about(condition: Any, names: Iterable[str]) -> bool:
    """Whether a condition has only these columns, and always the same value for them."""
    from sqlglot import exp

    known = {name.lower() for name in names}
    columns = [each.name.lower() for each in condition.find_all(exp.Column)]
    if not columns or not set(columns) <= known:
        return False
    # Qualified names may be those of fields; functions that sqlglot does not know may be random.
    return not any(each.table for each in condition.find_all(exp.Column)) and not any(
        condition.find_all(exp.Subquery, exp.Select, exp.Anonymous, exp.Rand, exp.Randn, exp.Uuid)
    )


def search_options(spark: Any, table: AcidTable, conditions: Iterable[Condition]) -> dict[str, str]:
    """The options by which the ORC reader skips groups of rows; none if no part of the condition can be used.

    Spark itself sends `row.id` for the column `id`, which ORC does not find. The search argument is built by ORC's own
    classes in the driver's JVM; a session of Spark Connect has none and reads all groups.
    """
    if not hasattr(spark, "_jsparkSession"):
        return {}
    fields = {field.name.lower(): field for field in table.columns}
    certain = (each.tree for each in conditions if not any(sign in each.text for sign in _UNCERTAIN))
    leaves = [leaf for each in certain if (leaf := _leaf(each, fields)) is not None]
    if not leaves:
        return {}
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    builder = jvm.org.apache.hadoop.hive.ql.io.sarg.SearchArgumentFactory.newBuilder().startAnd()
    calls = _Calls(jvm, gateway, builder)
    for operator, name, kind, values in leaves:
        if operator in _NEGATED:
            builder.startNot()
        calls.call(_METHODS[operator], name, kind, values)
        if operator in _NEGATED:
            builder.end()
    conf = jvm.org.apache.hadoop.conf.Configuration(False)
    names = gateway.new_array(jvm.String, len(table.columns))
    for at, field in enumerate(table.columns):
        names[at] = field.name
    jvm.org.apache.orc.mapred.OrcInputFormat.setSearchArgument(conf, builder.end().build(), names)
    return {_SARG: conf.get(_SARG), _SARG_COLUMNS: conf.get(_SARG_COLUMNS)}


def _leaf(condition: Any, fields: dict[str, StructField]) -> tuple[str, str, str, list[Any]] | None:
    """A comparison of a column with literals of its own type, as (operator, column, ORC type, values)."""
    from sqlglot import exp

    operators = {exp.EQ: "EQ", exp.LT: "LT", exp.LTE: "LTE", exp.GT: "GT", exp.GTE: "GTE"}
    operator = operators.get(type(condition))
    if operator is not None:
        column, values = condition.left, [condition.right]
        if not isinstance(column, exp.Column):
            column, values, operator = condition.right, [condition.left], _FLIPPED[operator]
    elif isinstance(condition, exp.Between):
        column, values, operator = condition.this, [condition.args["low"], condition.args["high"]], "BETWEEN"
    elif isinstance(condition, exp.In) and condition.expressions:
        column, values, operator = condition.this, list(condition.expressions), "IN"
    else:
        return None
    if not isinstance(column, exp.Column) or column.table or column.name.lower() not in fields:
        return None
    field = fields[column.name.lower()]
    if isinstance(declared_type(field), CharType):
        return None  # Its spaces at the end may not be in the statistics of a file.
    kind, literals = _literals(field, values)
    return None if kind is None else (operator, field.name, kind, literals)


def _literals(field: StructField, values: Sequence[Any]) -> tuple[str | None, list[Any]]:
    from sqlglot import exp

    literals: list[Any] = []
    for value in values:
        sign = 1
        if isinstance(value, exp.Neg):
            sign, value = -1, value.this
        if isinstance(field.dataType, DateType) and isinstance(value, exp.Cast) and value.is_type("date"):
            value = value.this
        if not isinstance(value, exp.Literal):
            return None, []
        text = value.name
        if isinstance(field.dataType, _INTEGERS) and not value.is_string and text.isdigit() and len(text) < 19:
            literals.append(sign * int(text))
        elif isinstance(field.dataType, StringType) and value.is_string and field.dataType == StringType():
            literals.append(text)
        elif isinstance(field.dataType, DateType) and value.is_string:
            try:
                literals.append(date.fromisoformat(text))
            except ValueError:
                return None, []
        else:
            return None, []
    kinds = {int: "LONG", str: "STRING", date: "DATE"}
    return kinds[type(literals[0])], literals


@lru_cache(maxsize=1)
def _reflected(jvm: Any) -> tuple[Any, dict[tuple[str, int], Any]]:
    """ORC's types of literals, and the builder's methods for a column by name and number of parameters."""
    package = "org.apache.hadoop.hive.ql.io.sarg"
    types = jvm.java.lang.Class.forName(f"{package}.PredicateLeaf$Type")
    interface = jvm.java.lang.Class.forName(f"{package}.SearchArgument$Builder")
    methods = {
        (each.getName(), each.getParameterCount()): each
        for each in interface.getMethods()
        if each.getParameterCount() and each.getParameterTypes()[0].getName() == "java.lang.String"
    }
    return types, methods


class _Calls:
    """Calls of the builder of a search argument, by reflection.

    py4j passes a small number as an Integer, and the builder needs a Long. A Long stays one in an array.
    """

    def __init__(self, jvm: Any, gateway: Any, builder: Any) -> None:
        self._jvm = jvm
        self._gateway = gateway
        self._builder = builder
        self._types, self._methods = _reflected(jvm)

    def call(self, method: str, name: str, kind: str, values: Sequence[Any]) -> None:
        """Adds a comparison of a column with values."""
        jvm, new_array = self._jvm, self._gateway.new_array
        classes = {"LONG": jvm.java.lang.Long, "STRING": jvm.java.lang.String, "DATE": jvm.java.sql.Date}
        literals = new_array(classes[kind], len(values))
        for at, value in enumerate(values):
            literals[at] = jvm.java.sql.Date.valueOf(value.isoformat()) if kind == "DATE" else value
        listed = method == "in"
        arguments = new_array(jvm.java.lang.Object, 3 if listed else 2 + len(values))
        arguments[0] = name
        arguments[1] = jvm.java.lang.Enum.valueOf(self._types, kind)
        if listed:
            arguments[2] = literals
        else:
            jvm.java.lang.System.arraycopy(literals, 0, arguments, 2, len(values))
        self._methods[method, len(arguments)].invoke(self._builder, arguments)
