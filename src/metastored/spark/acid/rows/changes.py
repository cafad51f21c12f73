"""Updates, deletes and merges as events: deletes of rows by their ids, and new rows. DataFrames in, DataFrames out.

An update is a delete and an insert. The new values of a row are computed first, in a column of their own: there Spark
allows subqueries of all kinds, and casts them as it does in an INSERT. A merge evaluates its source once, and caches
it: all clauses see the same rows, and Spark knows their size when it chooses how to join. Target and source are joined
once, and only the pairs are cached: the rows of the source without a match are found by a second, small join with them.
Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from metastored.errors import InvalidInputException
from metastored.hive.quoting import backquoted
from metastored.spark.acid.clauses import ALL, SOURCE, TARGET, Action, When
from metastored.spark.acid.files.staging import DELETE, INSERT, key_name, key_text
from metastored.spark.acid.lengths import stored
from metastored.spark.acid.rows.assignment import assigned
from metastored.spark.acid.rows.defaults import NULL
from metastored.spark.acid.tables import ROW_ID, AcidTable
from metastored.spark.session_metastore import is_local

WHICH: Final = "__acid_which"
"""The column with the number of the clause that holds for a row; null if none does."""
_IDS: Final = (("o", "writeid", LongType()), ("b", "bucketid", IntegerType()), ("r", "rowid", LongType()))
_SALT: Final = "salt"
_NUMBER, _FOUND = "__acid_number", "__acid_found"
Column = Any
Values = Mapping[str, Any] | None
"""The values of a new row, by column; None where the row is only deleted."""


class Part(NamedTuple):
    """Rows and what becomes of them: the clauses in their order, each with a condition and the values of a new row."""

    rows: DataFrame
    clauses: Sequence[tuple[str | None, Values]]
    old: Callable[[str], Column] | None
    """The columns of the old row, by name; None where there is no old row."""
    salt: Column
    """What distributes the events to tasks."""


def delete_events(table: AcidTable, rows: DataFrame) -> DataFrame:
    """Deletes of rows that have ROW__ID."""
    return events(table, Part(rows, [(None, None)], _own, _salt_of(_own(ROW_ID))))


def update_events(table: AcidTable, rows: DataFrame, assignments: Mapping[str, Any]) -> DataFrame:
    """Updates of rows that have ROW__ID; the expressions see the old values."""
    values = _updated(table, assignments, _own)
    return events(table, Part(rows.alias(TARGET), [(None, values)], _own, _salt_of(_own(ROW_ID))))


@contextmanager
def evaluated_once(source: DataFrame) -> Iterator[DataFrame]:
    """A DataFrame that is cached and evaluated for the time of a block: its rows and its size do not change."""
    source = _recognized_twice(source)
    if source.storageLevel.useMemory or source.storageLevel.useDisk:
        yield source  # Its user has cached it.
        return
    cached = source.persist()
    try:
        cached.count()
        yield cached
    finally:
        cached.unpersist()


def _recognized_twice(source: DataFrame) -> DataFrame:
    """The DataFrame in a form that Spark finds in its cache also where one query has it twice.

    Spark does not recognize sorted rows of a checkpoint there, and would read the target of a merge a second time.
    """
    session: Any = source.sparkSession
    if not is_local(session):
        return source
    execution = source._jdf.queryExecution()
    leaves = execution.analyzed().collectLeaves()
    of_rdds = [leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.nodeName() == "LogicalRDD"]
    if all(leaf.outputOrdering().isEmpty() for leaf in of_rdds):
        return source
    frame = session._jsparkSession.internalCreateDataFrame(execution.toRdd(), source._jdf.schema(), False)
    return DataFrame(frame, session)


class Merge(NamedTuple):
    """The parts of a merge, and the DataFrames that are cached until their events are written."""

    parts: list[Part]
    cached: list[DataFrame]


def merge_parts(
    table: AcidTable,
    target: DataFrame,
    source: DataFrame,
    on: str,
    matched: Sequence[When],
    not_matched: Sequence[When],
    not_matched_by_source: Sequence[When],
    salts: int,
    defaults: Mapping[str, str],
) -> Merge:
    """The parts of a merge. `target` has ROW__ID; new rows are distributed to `salts` tasks.

    `defaults` are the expressions of columns for which a new row has no value, in lower case; others are null.
    """
    if not (matched or not_matched or not_matched_by_source):
        raise InvalidInputException(f"a merge into {table.name} needs matched, not_matched or not_matched_by_source")
    left, right = target.alias(TARGET), source.alias(SOURCE)
    of_target = _salt_of(_of_target(ROW_ID))
    parts: list[Part] = []
    cached: DataFrame | None = None
    if "select" in on.lower():
        return _merge_by_pairs(table, target, source, on, matched, not_matched, not_matched_by_source, salts, defaults)
    if matched or not_matched:
        pairs = left.join(right, F.expr(on), "inner")
        if matched and not_matched:
            targets = F.struct(*(F.col(f"{TARGET}.{backquoted(name)}") for name in target.columns)).alias(TARGET)
            sources = F.struct(*(F.col(f"{SOURCE}.{backquoted(name)}") for name in source.columns)).alias(SOURCE)
            pairs = cached = pairs.select(targets, sources).persist()
        if matched:
            changes = [(each.condition, _matched(table, each.action, source)) for each in matched]
            parts.append(Part(pairs, changes, _of_target, of_target))
        if not_matched:
            others = left if cached is None else cached.select(F.col(f"{TARGET}.*")).alias(TARGET)
            alone = right.join(others, F.expr(on), "left_anti")
            new = [(each.condition, _inserted(table, each.action, source, defaults)) for each in not_matched]
            parts.append(Part(alone, new, None, _salt_of_source(source, salts)))
    if not_matched_by_source:
        alone = left.join(right, F.expr(on), "left_anti")
        changes = [(each.condition, _matched(table, each.action, None)) for each in not_matched_by_source]
        parts.append(Part(alone, changes, _of_target, of_target))
    return Merge(parts, [] if cached is None else [cached])


def _merge_by_pairs(
    table: AcidTable,
    target: DataFrame,
    source: DataFrame,
    on: str,
    matched: Sequence[When],
    not_matched: Sequence[When],
    not_matched_by_source: Sequence[When],
    salts: int,
    defaults: Mapping[str, str],
) -> Merge:
    """A merge whose condition has a subquery: Spark cannot join by one that names both sides.

    The pairs are filtered by the condition and cached. The rows without a match are those whose ids are in no pair.
    """
    right = source.select("*", F.monotonically_increasing_id().alias(_NUMBER)).alias(SOURCE).persist()
    left = target.alias(TARGET)
    pairs = left.crossJoin(right).where(F.expr(on))
    targets = F.struct(*(F.col(f"{TARGET}.{backquoted(name)}") for name in target.columns)).alias(TARGET)
    sources = F.struct(*(F.col(f"{SOURCE}.{backquoted(name)}") for name in (*source.columns, _NUMBER))).alias(SOURCE)
    cached = pairs.select(targets, sources).persist()
    of_target = _salt_of(_of_target(ROW_ID))
    parts: list[Part] = []
    if matched:
        changes = [(each.condition, _matched(table, each.action, source)) for each in matched]
        parts.append(Part(cached, changes, _of_target, of_target))
    if not_matched:
        in_pairs = cached.select(F.col(f"{SOURCE}.{_NUMBER}").alias(_FOUND))
        alone = right.join(in_pairs, F.col(f"{SOURCE}.{_NUMBER}") == F.col(_FOUND), "left_anti")
        new = [(each.condition, _inserted(table, each.action, source, defaults)) for each in not_matched]
        parts.append(Part(alone, new, None, _salt_of_source(source, salts)))
    if not_matched_by_source:
        in_pairs = cached.select(_of_target(ROW_ID).alias(_FOUND))
        alone = left.join(in_pairs, _of_target(ROW_ID) == F.col(_FOUND), "left_anti")
        changes = [(each.condition, _matched(table, each.action, None)) for each in not_matched_by_source]
        parts.append(Part(alone, changes, _of_target, of_target))
    return Merge(parts, [cached, right])


def _matched(table: AcidTable, action: Action, source: DataFrame | None) -> Values:
    if action == "delete":
        return None
    if action == ALL:
        if source is None:
            raise InvalidInputException('"*" needs a row of the source')
        action = _from_source(table, source, keys=False)
    if not isinstance(action, Mapping):
        raise InvalidInputException(f"{action!r} is not an action of a merge: a dict of columns, 'delete' or '*'")
    return _updated(table, action, _of_target)


def _inserted(table: AcidTable, action: Action, source: DataFrame, defaults: Mapping[str, str]) -> Values:
    if action == ALL:
        action = _from_source(table, source, keys=True)
    if not isinstance(action, Mapping):
        raise InvalidInputException(f"{action!r} is not an action for rows that are only in the source: a dict, or '*'")
    given = {name: _expression(value) for name, value in _by_column(table, action).items()}
    missing = {name: F.expr(defaults.get(name.lower(), NULL)) for name in table.field_names if name not in given}
    return {**missing, **given}


def _from_source(table: AcidTable, source: DataFrame, keys: bool) -> dict[str, str]:
    """Assignments of all columns of the table from the columns of the source with the same names."""
    known = {name.lower(): name for name in source.columns}
    wanted = table.field_names if keys else tuple(table.columns.fieldNames())
    missing = [name for name in wanted if name.lower() not in known]
    if missing:
        raise InvalidInputException(f"the source has no columns {', '.join(missing)} of {table.name}")
    return {name: f"{SOURCE}.{backquoted(known[name.lower()])}" for name in wanted}


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


def events(table: AcidTable, part: Part, observe: Callable[[DataFrame], DataFrame] | None = None) -> DataFrame:
    """The events of a part. `observe` gets the rows with the column WHICH, one for each row that is changed."""
    fields = [StructField(name, type) for name, _, type in _IDS] if part.old is not None else []
    columns = [part.old(ROW_ID).getField(name).alias(id) for id, name, _ in _IDS] if part.old is not None else []
    columns += [part.old(each.name).alias(key_name(at)) for at, each in enumerate(table.keys) if part.old is not None]
    fields += [StructField(key_name(at), each.dataType) for at, each in enumerate(table.keys) if part.old is not None]
    new = StructType([*table.columns.fields, *table.keys.fields])
    rows, which = part.rows, F.lit(0)
    chosen = len(part.clauses) > 1 or part.clauses[0][0] is not None
    if chosen:
        rows, which = rows.select("*", _which(part.clauses).alias(WHICH)).where(F.col(WHICH).isNotNull()), F.col(WHICH)
    for number, (_, values) in enumerate(part.clauses):
        if values is not None:
            row = F.struct(*(values[each.name].alias(each.name) for each in new))
            columns.append((F.when(which == number, row) if chosen else row).alias(_new(number)))
            fields.append(StructField(_new(number), new))
    columns += [which.alias(WHICH), part.salt.cast("int").alias(_SALT)]
    fields += [StructField(WHICH, IntegerType()), StructField(_SALT, IntegerType())]
    rows = rows.select(*columns)
    if any(values is not None for _, values in part.clauses):
        rows = assigned(rows, StructType(fields), table.name)
    if observe is not None:
        rows = observe(rows)
    result: Column = None
    for number, (_, values) in enumerate(part.clauses):
        made = [_delete(table)] if part.old is not None else []
        made += [] if values is None else [_insert(table, F.col(_new(number)))]
        holds, array = F.col(WHICH) == number, F.array(*made)
        if chosen:
            array = F.when(holds, array) if result is None else result.when(holds, array)
        result = array
    return rows.select(F.inline(result))


def _which(clauses: Sequence[tuple[str | None, Values]]) -> Column:
    """The number of the first clause whose condition holds."""
    result: Column = None
    for number, (condition, _) in enumerate(clauses):
        holds = F.lit(True) if condition is None else F.expr(condition)
        value = F.lit(number)
        result = F.when(holds, value) if result is None else result.when(holds, value)
    return result


def _new(number: int) -> str:
    return f"__acid_new_{number}"


def _delete(table: AcidTable) -> Column:
    keys = [F.col(key_name(at)) for at in range(len(table.keys))]
    return _event(table, DELETE, [F.col(id) for id, _, _ in _IDS], F.lit(None).cast(table.columns), keys)


def _insert(table: AcidTable, new: Column) -> Column:
    row = F.struct(*(stored(new.getField(field.name), field).alias(field.name) for field in table.columns))
    nothing = F.lit(None)
    return _event(table, INSERT, (nothing, nothing, nothing), row, [new.getField(each.name) for each in table.keys])


def _event(table: AcidTable, operation: int, row_id: Sequence[Column], row: Column, keys: Sequence[Column]) -> Column:
    texts = [
        key_text(value, field.dataType).alias(key_name(at))
        for at, (field, value) in enumerate(zip(table.keys, keys, strict=True))
    ]
    return F.struct(
        F.lit(operation).alias("op"),
        *(value.cast(type).alias(id) for value, (id, _, type) in zip(row_id, _IDS, strict=True)),
        row.cast(table.columns).alias("row"),
        *texts,
        F.col(_SALT).alias(_SALT),
    )


def _salt_of(row_id: Column) -> Column:
    """Deletes and updated rows are distributed by the ids of the old rows: those of a million rows that follow."""
    return F.hash(row_id.getField("writeid"), row_id.getField("bucketid"), F.shiftright(row_id.getField("rowid"), 20))


def _salt_of_source(source: DataFrame, salts: int) -> Column:
    columns = [F.col(f"{SOURCE}.{backquoted(name)}") for name in _hashable(source)]
    return F.pmod(F.xxhash64(*columns), F.lit(salts))


def _own(name: str) -> Column:
    return F.col(backquoted(name))


def _of_target(name: str) -> Column:
    return F.col(f"{TARGET}.{backquoted(name)}")


def _expression(value: Any) -> Column:
    return F.expr(value) if isinstance(value, str) else value


def _hashable(source: DataFrame) -> list[str]:
    """The columns that can be hashed: not maps, and nothing with maps in it."""
    return [field.name for field in source.schema if "map<" not in field.dataType.simpleString()]
