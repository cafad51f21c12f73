"""Executes changes of the rows of ACID tables, each in its transaction: INSERT, UPDATE, DELETE, MERGE, CREATE TABLE AS.

All ACID tables that a statement reads are those of its transaction's snapshot, before its own rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import AlreadyExistsException, CommitUnknown, InvalidInputException
from metastored.model.counting import counted
from metastored.model.makers import table as new_table
from metastored.model.names import TableName
from metastored.spark.acid.clauses import DELETE, SOURCE, TARGET, When
from metastored.spark.acid.files.counts import Changed
from metastored.spark.acid.rows.defaults import NULL, default_values
from metastored.spark.acid.sql.frames import ViewMaker
from metastored.spark.acid.sql.plain import plain_sql
from metastored.spark.acid.sql.values import (
    Assignment,
    Clause,
    CreateAs,
    Delete,
    Insert,
    Inserts,
    Merge,
    Sql,
    Update,
)
from metastored.spark.acid.tables import AcidTable, acid_table
from metastored.spark.acid.writing import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Change = Insert | Inserts | Update | Delete | Merge


def change(spark: SparkSession, client: Client, given: Client | None, found: Change, timeout: float) -> Changed:
    """Executes a change in a transaction. `given` is the client of the caller, if there is one."""
    with Transaction(spark, client, timeout) as transaction:
        return _Change(spark, client, given, transaction).execute(found)


def create_as(spark: SparkSession, client: Client, given: Client | None, found: CreateAs, timeout: float) -> Changed:
    """Creates a table and inserts the rows of a query. The table is dropped again if that fails.

    After CommitUnknown it is not dropped: its rows may be committed.
    """
    name = _new_name(spark, found)
    if found.if_not_exists and client.table_exists(name):
        return Changed()
    created = False
    try:
        with Transaction(spark, client, timeout) as transaction:
            running = _Change(spark, client, given, transaction)
            with running.views([found.query]):
                frame = plain_sql(spark, found.query.text)
                try:
                    client.create_table(_definition(client, name, frame, found))
                except AlreadyExistsException:
                    if found.if_not_exists:
                        return Changed()
                    raise
                created = True
                return transaction.insert(name, frame)
    except CommitUnknown:
        raise
    except BaseException:
        if created:
            client.drop_table(name, if_exists=True)
        raise


def _new_name(spark: SparkSession, found: CreateAs) -> TableName:
    if len(found.name) == 3 and found.name[0] != "spark_catalog":
        raise InvalidInputException(f"{'.'.join(found.name)} is not in the catalog of the metastore, spark_catalog")
    database = found.name[-2] if len(found.name) > 1 else spark.catalog.currentDatabase().lower()
    return TableName("", database, found.name[-1])


def _definition(client: Client, name: TableName, frame: DataFrame, found: CreateAs) -> Any:
    types = {field.name.lower(): field.dataType.simpleString() for field in frame.schema}
    unknown = [key for key in found.keys if key not in types]
    if unknown or len(types) != len(frame.columns):
        problem = f"no columns {', '.join(unknown)}" if unknown else "two columns of one name"
        raise InvalidInputException(f"the query of CREATE TABLE {name} has {problem}")
    return new_table(
        name,
        {column: type for column, type in types.items() if column not in found.keys},
        partitioned_by={key: types[key] for key in found.keys},
        format=found.format,
        properties=dict(found.properties),
        bucketed_by=found.buckets,
        comment=found.comment,
        owner=client.user,
    )


class _Change:
    """A statement that changes ACID tables, in its transaction."""

    def __init__(self, spark: SparkSession, client: Client, given: Client | None, transaction: Transaction) -> None:
        self._spark = spark
        self._client = client
        self._given = given
        self._transaction = transaction
        self._defaults: dict[TableName, dict[str, str]] = {}

    @contextmanager
    def views(self, parts: Iterable[Sql | None]) -> Iterator[None]:
        """The views of these parts, at the snapshot of the transaction."""
        maker = ViewMaker(
            self._spark,
            self._given,
            lambda view: self._transaction.read(view.table, version=view.version),
            lambda frame, name: frame.createOrReplaceTempView(name),
        )
        try:
            for part in parts:
                maker.make(part.views if part is not None else ())
            yield
        finally:
            for name in maker.names:
                self._spark.catalog.dropTempView(name)

    def execute(self, found: Change) -> Changed:
        match found:
            case Insert():
                with self.views([found.query]):
                    return self._insert(found)
            case Inserts():
                # All queries see the tables as they were before the first INSERT.
                with self.views([each.query for each in found.inserts]):
                    done = [self._insert(each) for each in found.inserts]
                known = [each.inserted for each in done if each.inserted is not None]
                return Changed(sum(known) if len(known) == len(done) else None)
            case Update():
                with self.views([found.condition, *(each.expression for each in found.assignments)]):
                    values = {each.column: self._text(found.table, each) for each in found.assignments}
                    return self._transaction.update(found.table, values, _text(found.condition))
            case Delete():
                with self.views([found.condition]):
                    return self._transaction.delete(found.table, _text(found.condition))
            case Merge():
                with self.views(_parts(found)):
                    return self._merge(found)

    def _table(self, name: TableName) -> AcidTable:
        return acid_table(self._client, name)

    def _default(self, table: TableName, column: str) -> str:
        """The expression of DEFAULT for a column."""
        if table not in self._defaults:
            self._defaults[table] = default_values(self._client, table)
        return f"({self._defaults[table].get(column.lower(), NULL)})"

    def _text(self, table: TableName, assignment: Assignment) -> str:
        value = assignment.expression
        return self._default(table, assignment.column) if value is None else value.text

    # INSERT

    def _insert(self, found: Insert) -> Changed:
        table = self._table(found.table)
        keys = {name.lower() for name in table.key_names}
        unknown = [name for name, _ in found.partition if name not in keys]
        if unknown:
            raise InvalidInputException(f"{found.table} has no partition keys {', '.join(unknown)}")
        constants = {name: _value(self._spark, text) for name, text in found.partition if text is not None}
        names = _columns(table, found, constants)
        text = found.query.text
        for offset, number in reversed(found.defaults):
            value = self._default(found.table, names[number]) if number < len(names) else NULL
            text = text[:offset] + value + text[offset + len("DEFAULT") :]
        frame = plain_sql(self._spark, text)
        if not found.by_name:
            from pyspark.sql.types import StructType

            from metastored.spark.acid.rows.assignment import positional

            frame = positional(_renamed(frame, names, found), StructType([*table.columns, *table.keys]))
        write = self._transaction.insert_overwrite if found.overwrite else self._transaction.insert
        return write(found.table, frame, constants)

    # MERGE

    def _merge(self, found: Merge) -> Changed:
        table = self._table(found.table)
        source = plain_sql(self._spark, found.source.text)
        target_columns = frozenset(name.lower() for name in table.field_names)
        source_columns = frozenset(name.lower() for name in source.columns)
        both = {TARGET: target_columns, SOURCE: source_columns}
        return self._transaction.merge(
            found.table,
            source,
            qualified(found.condition, both),
            [self._when(found.table, each, both) for each in found.matched],
            [
                self._when(found.table, _with_columns(each, table), {SOURCE: source_columns})
                for each in found.not_matched
            ],
            [self._when(found.table, each, {TARGET: target_columns}) for each in found.not_matched_by_source],
        )

    def _when(self, table: TableName, clause: Clause, sides: dict[str, frozenset[str]]) -> When:
        condition = None if clause.condition is None else qualified(clause.condition, sides)
        if clause.action == "delete":
            return When(condition, DELETE)
        if clause.assignments is None:
            return When(condition, "*")
        values = {
            each.column: self._default(table, each.column)
            if each.expression is None
            else qualified(each.expression, sides)
            for each in clause.assignments
        }
        return When(condition, values)


def _text(sql: Sql | None) -> str | None:
    return None if sql is None else sql.text


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
    row = plain_sql(spark, f"SELECT ({text}\n)").first()
    return None if row is None else row[0]


def _parts(found: Merge) -> Iterable[Sql | None]:
    yield found.source
    yield found.condition
    for clause in (*found.matched, *found.not_matched, *found.not_matched_by_source):
        yield clause.condition
        yield from (each.expression for each in clause.assignments or ())
        yield from clause.values or ()


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
