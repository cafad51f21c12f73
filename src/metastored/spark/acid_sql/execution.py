"""Executes plans of statements on ACID tables with Spark: queries at a snapshot, changes in a transaction.

All ACID tables of a statement are read at one snapshot. The result of a query is lazy: its transaction stays open until
the DataFrame is no longer referenced, as with `acid.read`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.names import make_part_name
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.counting import counted
from metastored.model.partitions import values_of
from metastored.spark.acid.clauses import SOURCE, TARGET, When
from metastored.spark.acid.reading import Snapshot, connected, held_open
from metastored.spark.acid.tables import AcidTable, acid_table
from metastored.spark.acid.writing import Transaction
from metastored.spark.acid_sql.plain import plain_sql
from metastored.spark.acid_sql.planning import plan
from metastored.spark.acid_sql.resolving import session_lookup
from metastored.spark.acid_sql.values import (
    Assignment,
    Clause,
    Compact,
    Delete,
    Insert,
    Merge,
    Passed,
    Plan,
    Query,
    Sql,
    Update,
    View,
)
from metastored.spark.compaction.queue import request, worker_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


def execute(spark: SparkSession, statement: str, client: Client | None) -> DataFrame:
    """Executes a statement, with the metastore of the session or of `client`. A change returns no rows.

    Raises AcidStatementError for a statement on an ACID table that cannot be carried out.
    """
    lookup = session_lookup(spark, lambda: connected(spark, client), lance=True)
    found = plan(statement, lookup, f"metastored_{uuid.uuid4().hex}")
    if isinstance(found, Passed):
        return plain_sql(spark, statement)
    if isinstance(found, Query) and not found.command:
        return held_open(spark, client, lambda shot, held: _queried(held, client, shot, found))
    with connected(spark, client) as used:
        if isinstance(found, Compact):
            _compact(used, found)
            return _nothing(spark)
        if isinstance(found, Query):
            with Snapshot(spark, used) as shot:
                return _queried(spark, client, shot, found)
        with Transaction(spark, used) as transaction:
            _change(_Change(spark, used, transaction, client), found)
    return _nothing(spark)


def _queried(spark: SparkSession, client: Client | None, shot: Snapshot, query: Query) -> DataFrame:
    for view in query.sql.views:
        if view.lance:
            _lance(spark, client, view).createOrReplaceTempView(view.name)
        else:
            shot.view(view.table, view.name)
    frame = plain_sql(spark, query.sql.text)
    if hasattr(spark, "_jsparkSession"):
        # The plan of the DataFrame is complete; with Spark Connect it is made at each execution.
        for view in query.sql.views:
            spark.catalog.dropTempView(view.name)
    return frame


def _lance(spark: SparkSession, client: Client | None, view: View) -> DataFrame:
    """The rows of a Lance table, at its newest version. `client` is that of the caller."""
    from metastored.spark import lance

    if client is None:
        return lance.read(spark, view.table)
    from metastored.lance import Hive2Namespace

    namespace = Hive2Namespace(uri=client.uri, ugi=client.user or "")
    try:
        return lance.read(spark, view.table, namespace=namespace)
    finally:
        namespace.close()


def _nothing(spark: Any) -> DataFrame:
    from pyspark.sql.types import StructType

    frame: DataFrame = spark.createDataFrame([], StructType([]))
    return frame


def _compact(client: Client, found: Compact) -> None:
    """Puts a compaction into the metastore's queue. One that waits or runs already is enough."""
    table = client.table(found.table)
    keys = tuple(key.name or "" for key in table.partitionKeys or ())
    partition = None
    if found.partition:
        partition = make_part_name(keys, values_of(str(found.table), keys, dict(found.partition)))
    request(client, found.table, partition, CompactionKind[found.kind.upper()], worker_id())


# --- changes -----------------------------------------------------------------------------------------------


class _Change:
    """A statement that changes an ACID table, in its transaction."""

    def __init__(self, spark: SparkSession, client: Client, transaction: Transaction, given: Client | None) -> None:
        self.spark = spark
        self.transaction = transaction
        self._client = client
        self._given = given

    def table(self, name: Any) -> AcidTable:
        return acid_table(self._client, name)

    @contextmanager
    def views(self, parts: Iterable[Sql | None]) -> Iterator[None]:
        """The views of these parts, at the snapshot of the transaction."""
        made: dict[str, View] = {view.name: view for part in parts if part is not None for view in part.views}
        try:
            for view in made.values():
                rows = _lance(self.spark, self._given, view) if view.lance else self.transaction.read(view.table)
                rows.createOrReplaceTempView(view.name)
            yield
        finally:
            for name in made:
                self.spark.catalog.dropTempView(name)


def _change(change: _Change, found: Plan) -> None:
    match found:
        case Insert():
            with change.views([found.query]):
                _insert(change, found)
        case Update():
            with change.views([found.condition, *(each.expression for each in found.assignments)]):
                assignments = {each.column: each.expression.text for each in found.assignments}
                change.transaction.update(found.table, assignments, _text(found.condition))
        case Delete():
            with change.views([found.condition]):
                change.transaction.delete(found.table, _text(found.condition))
        case Merge():
            with change.views(_parts(found)):
                _merge(change, found)


def _text(sql: Sql | None) -> str | None:
    return None if sql is None else sql.text


def _insert(change: _Change, found: Insert) -> None:
    table = change.table(found.table)
    frame = plain_sql(change.spark, found.query.text)
    keys = {name.lower() for name in table.key_names}
    unknown = [name for name, _ in found.partition if name not in keys]
    if unknown:
        raise InvalidInputException(f"{found.table} has no partition keys {', '.join(unknown)}")
    constants = {name: _value(change.spark, text) for name, text in found.partition if text is not None}
    if not found.by_name:
        frame = _renamed(frame, _columns(table, found, constants), found)
    write = change.transaction.insert_overwrite if found.overwrite else change.transaction.insert
    write(found.table, frame, constants)


def _columns(table: AcidTable, found: Insert, constants: dict[str, Any]) -> list[str]:
    """The columns that the columns of a query stand for, by their position."""
    fields = [name.lower() for name in table.field_names if name.lower() not in constants]
    if found.columns is None:
        return fields
    return [*found.columns, *(name for name, text in found.partition if text is None and name not in found.columns)]


def _renamed(frame: DataFrame, names: Sequence[str], found: Insert) -> DataFrame:
    if len(frame.columns) != len(names):
        raise InvalidInputException(
            f"the query has {counted(len(frame.columns), 'column')}; INSERT INTO {found.table} expects {len(names)}: "
            f"{', '.join(names)}"
        )
    return frame.toDF(*names)


def _value(spark: SparkSession, text: str) -> Any:
    """The value of a constant in a PARTITION clause."""
    row = plain_sql(spark, f"SELECT {text}").first()
    return None if row is None else row[0]


# --- MERGE -------------------------------------------------------------------------------------------------


def _parts(found: Merge) -> Iterable[Sql | None]:
    yield found.source
    yield found.condition
    for clause in (*found.matched, *found.not_matched, *found.not_matched_by_source):
        yield clause.condition
        yield from (each.expression for each in clause.assignments or ())


def _merge(change: _Change, found: Merge) -> None:
    table = change.table(found.table)
    source = plain_sql(change.spark, found.source.text)
    target_columns = frozenset(name.lower() for name in table.field_names)
    source_columns = frozenset(name.lower() for name in source.columns)
    both = {TARGET: target_columns, SOURCE: source_columns}
    change.transaction.merge(
        found.table,
        source,
        qualified(found.condition, both),
        [_when(each, both) for each in found.matched],
        [_when(_with_columns(each, table), {SOURCE: source_columns}) for each in found.not_matched],
        [_when(each, {TARGET: target_columns}) for each in found.not_matched_by_source],
    )


def _with_columns(clause: Clause, table: AcidTable) -> Clause:
    """The clause with a column for each value, if it has none: all columns of the table, in their order."""
    if clause.values is None:
        return clause
    names = table.field_names
    if len(names) != len(clause.values):
        raise InvalidInputException(
            f"INSERT has {counted(len(clause.values), 'value')}, and {table.name} {counted(len(names), 'column')}: "
            f"{', '.join(names)}"
        )
    return replace(clause, assignments=tuple(map(Assignment, names, clause.values)), values=None)


def _when(clause: Clause, sides: dict[str, frozenset[str]]) -> When:
    condition = None if clause.condition is None else qualified(clause.condition, sides)
    if clause.action == "delete":
        return When(condition, "delete")
    if clause.assignments is None:
        return When(condition, "*")
    return When(condition, _assigned(clause.assignments, sides))


def _assigned(assignments: Sequence[Assignment], sides: dict[str, frozenset[str]]) -> dict[str, str]:
    return {each.column: qualified(each.expression, sides) for each in assignments}


def qualified(sql: Sql, sides: dict[str, frozenset[str]]) -> str:
    """The text with qualifiers for all columns. Raises InvalidInputException for a column that both sides have."""
    text = sql.text
    for offset, name in reversed(sql.columns):
        found = [side for side, columns in sides.items() if name in columns]
        if len(found) > 1:
            raise InvalidInputException(f"{name} is a column of the target and of the source: qualify it")
        if found:
            text = f"{text[:offset]}{found[0]}.{text[offset:]}"
    return text
