"""Updates, deletes and merges as events: deletes of rows by their ids, and new rows. DataFrames in, DataFrames out.

An update is a delete and an insert. A merge evaluates its source once, and caches it: all clauses see the same rows,
and Spark knows their size when it chooses how to join. Target and source are joined once, and only the pairs are
cached: the rows of the source without a match are found by a second, small join with them. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from metastored.errors import InvalidInputException
from metastored.spark.acid.clauses import ALL, SOURCE, TARGET, Action, When
from metastored.spark.acid.lengths import stored
from metastored.spark.acid.staging import DELETE, INSERT, key_name, key_text
from metastored.spark.acid.tables import ROW_ID, AcidTable

Column = Any


def delete_events(table: AcidTable, rows: DataFrame) -> DataFrame:
    """Deletes of rows that have ROW__ID."""
    return _exploded(rows, F.array(_delete(table, _own)))


def update_events(table: AcidTable, rows: DataFrame, assignments: Mapping[str, Any]) -> DataFrame:
    """Updates of rows that have ROW__ID; the expressions see the old values."""
    rows = rows.alias(TARGET)
    values = _updated(table, assignments, _own)
    return _exploded(rows, F.array(_delete(table, _own), _insert(table, values, _salt_of(_own(ROW_ID)))))


@contextmanager
def evaluated_once(source: DataFrame) -> Iterator[DataFrame]:
    """A DataFrame that is cached and evaluated for the time of a block: its rows and its size do not change."""
    if source.storageLevel.useMemory or source.storageLevel.useDisk:
        yield source  # Its user has cached it.
        return
    cached = source.persist()
    try:
        cached.count()
        yield cached
    finally:
        cached.unpersist()


class Merge(NamedTuple):
    """The events of a merge, and the DataFrame that is cached until they are written."""

    events: DataFrame
    cached: DataFrame | None


def merge_events(
    table: AcidTable,
    target: DataFrame,
    source: DataFrame,
    on: str,
    matched: Sequence[When],
    not_matched: Sequence[When],
    not_matched_by_source: Sequence[When],
    salts: int,
) -> Merge:
    """The events of a merge. `target` has ROW__ID; new rows are distributed to `salts` tasks."""
    if not (matched or not_matched or not_matched_by_source):
        raise InvalidInputException(f"a merge into {table.name} needs matched, not_matched or not_matched_by_source")
    left, right = target.alias(TARGET), source.alias(SOURCE)
    parts: list[DataFrame] = []
    cached: DataFrame | None = None
    if matched or not_matched:
        pairs = left.join(right, F.expr(on), "inner")
        if matched and not_matched:
            targets = F.struct(*(F.col(f"{TARGET}.{_quoted(name)}") for name in target.columns)).alias(TARGET)
            sources = F.struct(*(F.col(f"{SOURCE}.{_quoted(name)}") for name in source.columns)).alias(SOURCE)
            pairs = cached = pairs.select(targets, sources).persist()
        if matched:
            events = [(each.condition, _matched(table, each.action, source)) for each in matched]
            parts.append(_exploded(pairs, _first(events)))
        if not_matched:
            others = left if cached is None else cached.select(F.col(f"{TARGET}.*")).alias(TARGET)
            alone = right.join(others, F.expr(on), "left_anti")
            salt = F.pmod(F.xxhash64(*(F.col(f"{SOURCE}.{_quoted(name)}") for name in _hashable(source))), F.lit(salts))
            events = [(each.condition, _inserted(table, each.action, source, salt)) for each in not_matched]
            parts.append(_exploded(alone, _first(events)))
    if not_matched_by_source:
        alone = left.join(right, F.expr(on), "left_anti")
        events = [(each.condition, _matched(table, each.action, None)) for each in not_matched_by_source]
        parts.append(_exploded(alone, _first(events)))
    result = parts[0]
    for part in parts[1:]:
        result = result.unionByName(part)
    return Merge(result, cached)


def _matched(table: AcidTable, action: Action, source: DataFrame | None) -> Column:
    if action == "delete":
        return F.array(_delete(table, _of_target))
    if action == ALL:
        if source is None:
            raise InvalidInputException('"*" needs a row of the source')
        action = _from_source(table, source, keys=False)
    if not isinstance(action, Mapping):
        raise InvalidInputException(f"{action!r} is no action of a merge: a dict of columns, 'delete' or '*'")
    values = _updated(table, action, _of_target)
    return F.array(_delete(table, _of_target), _insert(table, values, _salt_of(_of_target(ROW_ID))))


def _inserted(table: AcidTable, action: Action, source: DataFrame, salt: Column) -> Column:
    if action == ALL:
        action = _from_source(table, source, keys=True)
    if not isinstance(action, Mapping):
        raise InvalidInputException(f"{action!r} is no action for rows that are only in the source: a dict, or '*'")
    given = {name: _expression(value) for name, value in _by_column(table, action).items()}
    return F.array(_insert(table, {name: given.get(name, F.lit(None)) for name in table.field_names}, salt))


def _from_source(table: AcidTable, source: DataFrame, keys: bool) -> dict[str, str]:
    """Assignments of all columns of the table from the columns of the source with the same names."""
    known = {name.lower(): name for name in source.columns}
    wanted = table.field_names if keys else tuple(table.columns.fieldNames())
    missing = [name for name in wanted if name.lower() not in known]
    if missing:
        raise InvalidInputException(f"the source has no columns {', '.join(missing)} of {table.name}")
    return {name: f"{SOURCE}.{_quoted(known[name.lower()])}" for name in wanted}


def _updated(table: AcidTable, assignments: Mapping[str, Any], column: Any) -> dict[str, Column]:
    """The values of an updated row, by column."""
    given = _by_column(table, assignments)
    keys = [name for name in table.key_names if name in given]
    if keys:
        raise InvalidInputException(
            f"the partition keys {', '.join(keys)} of {table.name} cannot be updated: delete the rows and insert them"
        )
    return {name: _expression(given[name]) if name in given else column(name) for name in table.field_names}


def _by_column(table: AcidTable, assignments: Mapping[str, Any]) -> dict[str, Any]:
    """Assignments by the table's own names. Raises InvalidInputException for a column that it does not have."""
    known = {name.lower(): name for name in table.field_names}
    unknown = [name for name in assignments if name.lower() not in known]
    if unknown or not assignments:
        text = f"no columns {', '.join(unknown)}" if unknown else "no assignment"
        raise InvalidInputException(f"{text} in {table.name}, which has {', '.join(table.field_names)}")
    return {known[name.lower()]: value for name, value in assignments.items()}


# --- events ------------------------------------------------------------------------------------------------


def _delete(table: AcidTable, column: Any) -> Column:
    row_id = column(ROW_ID)
    keys = {field.name: column(field.name) for field in table.keys}
    return _event(
        table, DELETE, (row_id.getField("writeid"), row_id.getField("bucketid"), row_id.getField("rowid")),
        F.lit(None).cast(table.columns), keys, _salt_of(row_id),
    )  # fmt: skip


def _insert(table: AcidTable, values: Mapping[str, Column], salt: Column) -> Column:
    row = F.struct(*(stored(values[field.name], field).alias(field.name) for field in table.columns))
    nothing = F.lit(None)
    return _event(table, INSERT, (nothing, nothing, nothing), row, values, salt)


def _event(
    table: AcidTable, operation: int, row_id: Sequence[Column], row: Column, keys: Mapping[str, Column], salt: Column
) -> Column:
    texts = [
        key_text(keys[field.name].cast(field.dataType), field.dataType).alias(key_name(at))
        for at, field in enumerate(table.keys)
    ]
    return F.struct(
        F.lit(operation).alias("op"),
        row_id[0].cast("bigint").alias("o"),
        row_id[1].cast("int").alias("b"),
        row_id[2].cast("bigint").alias("r"),
        row.cast(table.columns).alias("row"),
        *texts,
        salt.cast("int").alias("salt"),
    )


def _exploded(rows: DataFrame, events: Column) -> DataFrame:
    return rows.select(F.explode(events).alias("event")).select("event.*")


def _first(events: Sequence[tuple[str | None, Column]]) -> Column:
    """The events of the first clause whose condition holds; null if none does."""
    result: Column = None
    for condition, event in events:
        holds = F.lit(True) if condition is None else F.expr(condition)
        result = F.when(holds, event) if result is None else result.when(holds, event)
    return result


def _salt_of(row_id: Column) -> Column:
    """Deletes and updated rows are distributed by the ids of the old rows: those of a million rows that follow."""
    return F.hash(row_id.getField("writeid"), row_id.getField("bucketid"), F.shiftright(row_id.getField("rowid"), 20))


def _own(name: str) -> Column:
    return F.col(_quoted(name))


def _of_target(name: str) -> Column:
    return F.col(f"{TARGET}.{_quoted(name)}")


def _expression(value: Any) -> Column:
    return F.expr(value) if isinstance(value, str) else value


def _hashable(source: DataFrame) -> list[str]:
    """The columns that can be hashed: not maps, and nothing with maps in it."""
    return [field.name for field in source.schema if "map<" not in field.dataType.simpleString()]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
