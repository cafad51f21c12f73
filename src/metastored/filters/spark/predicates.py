"""Predicates over the partition columns of a table: as texts in Spark's syntax, or as expressions of pyarrow. Pure.

They mean what they mean in Spark: a value that is NULL, or is none of its column's type, makes a comparison unknown,
and a partition is selected only if all predicates are true. The text is parsed and evaluated by `filters/where`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from metastored.errors import SparkCatalogError
from metastored.filters.where import Condition, FilterFault, bind, parse
from metastored.filters.where.tree import Key, Literal
from metastored.hive.names import DEFAULT_PARTITION
from metastored.hive.types.arrow import arrow
from metastored.model.spark.arrow import to_arrow
from metastored.model.spark.schemas import without_collations
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.types import TIMESTAMP_NTZ, AtomicType, CharType, StructType, VarcharType

if TYPE_CHECKING:
    import pyarrow.compute

Predicate = "str | pyarrow.compute.Expression"
Values = Sequence[str | None]
"""The values of a partition, in the order of the partition columns."""
_ROW: Final = "row"


def parse_predicate(text: str, schema: StructType, zone: str = "UTC") -> Condition:
    """A predicate over the columns of `schema`, the partition columns. Raises SparkCatalogError.

    A timestamp with an offset is read in the time zone `zone`, in which the values of partitions are.
    """
    try:
        tree = parse(text, sql_patterns=True)
    except FilterFault as error:
        raise SparkCatalogError("PARSE_SYNTAX_ERROR", f"the predicate {text!r}, {error}") from error
    names = {each.lower() for each in schema.names}
    others = sorted({each.name for each in _nodes(tree) if isinstance(each, Key)} - _matching(tree, names))
    if others:
        raise _not_about_partitions(text, others, schema)
    return _localised(tree, _zone(zone))  # type: ignore[no-any-return]


def selects(text: str, tree: Condition, schema: StructType) -> Callable[[Sequence[Values]], list[int]]:
    """The predicate as a function of the values of partitions; it returns the numbers of those that are selected.

    It is evaluated once for the same values: a column of partitions has few of them. Raises SparkCatalogError for types
    that do not fit.
    """
    keys = tuple((each.name, _hive_type(each.data_type)) for each in without_collations(schema))
    try:
        holds = bind(text, tree, keys)
    except FilterFault as error:
        raise SparkCatalogError("DATATYPE_MISMATCH", f"the predicate {text!r}, {error}") from error
    used = {each.name.lower() for each in _nodes(tree) if isinstance(each, Key)}
    places = [at for at, each in enumerate(schema) if each.name.lower() in used]
    used_values = itemgetter(*places) if places else len

    def selected(rows: Sequence[Values]) -> list[int]:
        keys = list(map(used_values, rows))
        one_of_each = dict(zip(keys, rows, strict=True))
        true = {key for key, values in one_of_each.items() if holds(_with_nulls(values))}
        return [at for at, key in enumerate(keys) if key in true]

    return selected


def _with_nulls(values: Values) -> Any:
    return [None if each == DEFAULT_PARTITION else each for each in values]


def is_expression(predicate: object) -> bool:
    """Whether a predicate is an expression of pyarrow; it need not be installed."""
    return type(predicate).__module__.startswith("pyarrow")


def matching_rows(expression: pyarrow.compute.Expression, schema: StructType, rows: Sequence[Values]) -> list[int]:
    """The numbers of the partitions that an expression of pyarrow selects. Raises SparkCatalogError."""
    pa = arrow()
    table = partition_table(schema, rows)
    numbers = _ROW
    while numbers in schema.names:
        numbers += "_"
    try:
        matching = table.append_column(numbers, pa.array(range(len(rows)), pa.int64())).filter(expression)
    except pa.ArrowInvalid as error:
        if "No match for FieldRef" in str(error):
            raise _not_about_partitions(str(expression), [], schema) from error
        raise SparkCatalogError("DATATYPE_MISMATCH", f"the predicate {expression}: {error}") from error
    except pa.ArrowNotImplementedError as error:
        raise SparkCatalogError("DATATYPE_MISMATCH", f"the predicate {expression}: {error}") from error
    return list(matching.column(numbers).to_pylist())


def partition_table(schema: StructType, rows: Sequence[Values]) -> pyarrow.Table:
    """The values of partitions as an Arrow table with the columns' types. A value that is none of its type is NULL."""
    pa = arrow()
    columns = []
    for place, field in enumerate(schema):
        texts = [None if row[place] in (None, DEFAULT_PARTITION) else row[place] for row in rows]
        if isinstance(field.data_type, CharType):  # Blanks at the end do not count, and Arrow compares them.
            texts = [None if text is None else text.rstrip(" ") for text in texts]
        columns.append(_typed(pa.array(texts, pa.string()), to_arrow(field.data_type)))
    return pa.table(columns, names=list(schema.names))


def _typed(texts: Any, type: Any) -> Any:
    pa = arrow()
    if type == pa.string():
        return texts
    target = pa.timestamp("us") if pa.types.is_timestamp(type) else type
    try:
        return texts.cast(target)
    except pa.ArrowInvalid:
        return pa.array([_value(text, target) for text in texts], target)


def _value(text: Any, type: Any) -> Any:
    pa = arrow()
    try:
        return text.cast(type).as_py()
    except pa.ArrowInvalid:
        return None


def _hive_type(type: Any) -> str:
    if type == TIMESTAMP_NTZ or (isinstance(type, AtomicType) and type.name.startswith("timestamp")):
        return "timestamp"
    return "string" if isinstance(type, VarcharType) else catalog_string(type)


def _matching(tree: Condition, names: set[str]) -> set[str]:
    return {each.name for each in _nodes(tree) if isinstance(each, Key) and each.name.lower() in names}


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in _children(node):
        yield from _nodes(child)


def _children(node: Any) -> Iterator[Any]:
    for field in fields(node):
        value = getattr(node, field.name)
        yield from (each for each in (value if isinstance(value, tuple) else (value,)) if is_dataclass(each))


def _localised(node: Any, zone: ZoneInfo) -> Any:
    """The tree with timestamps without offsets."""
    if isinstance(node, Literal):
        value = node.value
        if isinstance(value, datetime) and value.tzinfo is not None:
            return replace(node, value=value.astimezone(zone).replace(tzinfo=None))
        return node
    changes = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            changes[field.name] = tuple(_localised(each, zone) for each in value)
        elif is_dataclass(value):
            changes[field.name] = _localised(value, zone)
    return replace(node, **changes) if changes else node


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise SparkCatalogError("INVALID_TIMEZONE", f"{name!r} is not a time zone: {error}") from error


def _not_about_partitions(text: str, names: list[str], schema: StructType) -> SparkCatalogError:
    which = f": {', '.join(names)} is none" if names else ""
    return SparkCatalogError(
        "_LEGACY_ERROR_TEMP_1205",
        f"Expected only partition pruning predicates, and {text!r} has other columns than the partition columns "
        f"[{', '.join(schema.names)}]{which}",
    )
