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


def change(spark: SparkSession, client: Client, given: Client | None, statement: Change, timeout: float) -> Changed:
    """Executes a change in a transaction. `given` is the client of the caller, if there is one."""
    with Transaction(spark, client, timeout) as transaction:
        return _Change(spark, client, given, transaction).execute(statement)


def create_as(
    spark: SparkSession, client: Client, given: Client | None, statement: CreateAs, timeout: float
) -> Changed:
    """Creates a table and inserts the rows of a query. The table is dropped again if that fails.

    After CommitUnknown it is not dropped: its rows may be committed.
    """
    name = _new_name(spark, statement)
    if statement.if_not_exists and client.table_exists(name):
        return Changed()
    created = False
    try:
        with Transaction(spark, client, timeout) as transaction:
            running = _Change(spark, client, given, transaction)
            with running.views([statement.query]):
                frame = plain_sql(spark, statement.query.text)
                try:
                    client.create_table(_definition(client, name, frame, statement))
                except AlreadyExistsException:
                    if statement.if_not_exists:
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


def _new_name(spark: SparkSession, statement: CreateAs) -> TableName:
    if len(statement.name) == 3 and statement.name[0] != "spark_catalog":
        raise InvalidInputException(f"{'.'.join(statement.name)} is not in the catalog of the metastore, spark_catalog")
    database = statement.name[-2] if len(statement.name) > 1 else spark.catalog.currentDatabase().lower()
    return TableName("", database, statement.name[-1])


def _definition(client: Client, name: TableName, frame: DataFrame, statement: CreateAs) -> Any:
    types = {field.name.lower(): field.dataType.simpleString() for field in frame.schema}
    unknown = [key for key in statement.keys if key not in types]
    if unknown or len(types) != len(frame.columns):
        problem = f"no columns {', '.join(unknown)}" if unknown else "two columns of one name"
        raise InvalidInputException(f"the query of CREATE TABLE {name} has {problem}")
    return new_table(
        name,
        {column: type for column, type in types.items() if column not in statement.keys},
        partitioned_by={key: types[key] for key in statement.keys},
        format=statement.format,
        properties=dict(statement.properties),
        bucketed_by=statement.buckets,
        comment=statement.comment,
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

    def execute(self, statement: Change) -> Changed:
        match statement:
            case Insert():
                with self.views([statement.query]):
                    return self._insert(statement)
            case Inserts():
                # All queries see the tables as they were before the first INSERT.
                with self.views([each.query for each in statement.inserts]):
                    done = [self._insert(each) for each in statement.inserts]
                known = [each.inserted for each in done if each.inserted is not None]
                return Changed(sum(known) if len(known) == len(done) else None)
            case Update():
                with self.views([statement.condition, *(each.expression for each in statement.assignments)]):
                    values = {each.column: self._text(statement.table, each) for each in statement.assignments}
                    return self._transaction.update(statement.table, values, _text(statement.condition))
            case Delete():
                with self.views([statement.condition]):
                    return self._transaction.delete(statement.table, _text(statement.condition))
            case Merge():
                with self.views(_parts(statement)):
                    return self._merge(statement)

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

    def _insert(self, statement: Insert) -> Changed:
        table = self._table(statement.table)
        keys = {name.lower() for name in table.key_names}
        unknown = [name for name, _ in statement.partition if name not in keys]
        if unknown:
            raise InvalidInputException(f"{statement.table} has no partition keys {', '.join(unknown)}")
        constants = {name: _value(self._spark, text) for name, text in statement.partition if text is not None}
        names = _columns(table, statement, constants)
        text = statement.query.text
        for offset, number in reversed(statement.defaults):
            value = self._default(statement.table, names[number]) if number < len(names) else NULL
            text = text[:offset] + value + text[offset + len("DEFAULT") :]
        frame = plain_sql(self._spark, text)
        if not statement.by_name:
            from pyspark.sql.types import StructType

            from metastored.spark.acid.rows.assignment import positional

            frame = positional(_renamed(frame, names, statement), StructType([*table.columns, *table.keys]))
        write = self._transaction.insert_overwrite if statement.overwrite else self._transaction.insert
        return write(statement.table, frame, constants)

    # MERGE

    def _merge(self, statement: Merge) -> Changed:
        table = self._table(statement.table)
        source = plain_sql(self._spark, statement.source.text)
        target_columns = frozenset(name.lower() for name in table.field_names)
        source_columns = frozenset(name.lower() for name in source.columns)
        both = {TARGET: target_columns, SOURCE: source_columns}
        return self._transaction.merge(
            statement.table,
            source,
            qualified(statement.condition, both),
            [self._when(statement.table, each, both) for each in statement.matched],
            [
                self._when(statement.table, _with_columns(each, table), {SOURCE: source_columns})
                for each in statement.not_matched
            ],
            [self._when(statement.table, each, {TARGET: target_columns}) for each in statement.not_matched_by_source],
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


def _columns(table: AcidTable, statement: Insert, constants: dict[str, Any]) -> list[str]:
    """The columns that the columns of a query stand for, by their position."""
    fields = [name.lower() for name in table.field_names if name.lower() not in constants]
    if statement.columns is None:
        return fields
    return [
        *statement.columns,
        *(name for name, text in statement.partition if text is None and name not in statement.columns),
    ]


def _renamed(frame: DataFrame, names: Sequence[str], statement: Insert) -> DataFrame:
    if len(frame.columns) != len(names):
        raise InvalidInputException(
            f"the query has {counted(len(frame.columns), 'column')}; INSERT INTO {statement.table} expects "
            f"{len(names)}: {', '.join(names)}"
        )
    return frame.toDF(*names)


def _value(spark: SparkSession, text: str) -> Any:
    """The value of a constant in a PARTITION clause."""
    row = plain_sql(spark, f"SELECT ({text}\n)").first()
    return None if row is None else row[0]


def _parts(statement: Merge) -> Iterable[Sql | None]:
    yield statement.source
    yield statement.condition
    for clause in (*statement.matched, *statement.not_matched, *statement.not_matched_by_source):
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
        owners = [side for side, columns in sides.items() if name in columns]
        if len(owners) > 1:
            raise InvalidInputException(f"{name} is a column of the target and of the source: qualify it")
        if owners:
            text = f"{text[:offset]}{owners[0]}.{text[offset:]}"
    return text
