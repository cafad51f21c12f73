"""Executes statements on ACID tables with Spark: queries at a snapshot, changes in a transaction.

All ACID tables of a statement are read at one snapshot. The result of a query is lazy: its transaction stays open until
the DataFrame is no longer referenced, as with `acid.read`. The result of a change is one row with the numbers of rows.
Where Spark sees ACID tables as views (`shown.py`), it executes the queries that cannot be planned.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client
from metastored.errors import AcidStatementError, InvalidInputException, StatementError
from metastored.spark.acid.files.counts import Changed
from metastored.spark.acid.reading import Snapshot, connected, held_open
from metastored.spark.acid.single import repeated
from metastored.spark.acid.sql.changing import change, create_as
from metastored.spark.acid.sql.defining import define
from metastored.spark.acid.sql.frames import ViewMaker
from metastored.spark.acid.sql.parameters import Args, bound, unbound
from metastored.spark.acid.sql.plain import as_parsed, plain_sql
from metastored.spark.acid.sql.planning import plan
from metastored.spark.acid.sql.resolving import refuse_written, session_evaluation, session_lookup
from metastored.spark.acid.sql.shown import Recording, defines_view, written_by_reader
from metastored.spark.acid.sql.tables import Lookup
from metastored.spark.acid.sql.values import (
    CreateAs,
    Definitions,
    Delete,
    Insert,
    Inserts,
    Merge,
    Passed,
    Plan,
    Query,
    Update,
)
from metastored.spark.acid.sql.written import written_by
from metastored.spark.local_rows import local_rows
from metastored.spark.session_metastore import forget_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AFFECTED: Final = "num_affected_rows"
"""The first column of the result of a change. The columns are those of Delta Lake."""
_INSERTED, _UPDATED, _DELETED = "num_inserted_rows", "num_updated_rows", "num_deleted_rows"


def execute(
    spark: SparkSession, statement: str, client: Client | None, args: Args, timeout: float, retries: int
) -> DataFrame:
    """Executes a statement, with the metastore of the session or of `client`.

    Raises AcidStatementError for a statement on an ACID table that cannot be carried out, and InvalidOperationException
    for a write to a table of a read-only remote.
    """
    written = as_parsed(spark, statement)
    text = bound(written, args)
    lookup = Recording(session_lookup(spark, lambda: connected(spark, client), lance=True))
    prefix, evaluate = f"metastored_{uuid.uuid4().hex}", session_evaluation(spark)
    try:
        planned = plan(text, lookup, prefix, evaluate)
    except AcidStatementError:
        targets = written_by_reader(spark, text, lookup, evaluate)
        if targets is None:
            raise
        refuse_written(spark, lambda: connected(spark, client), targets)
        return plain_sql(spark, statement, args)
    if isinstance(planned, Passed):
        if defines_view(spark, text, lookup):
            with connected(spark, client) as used:
                used.sql(text, database=spark.catalog.currentDatabase())
            forget_tables(spark)
            return _rows(spark, {})
        refuse_written(spark, lambda: connected(spark, client), written_by(text, evaluate))
        return plain_sql(spark, statement, args)
    if args and isinstance(planned, Query) and (same := _with_parameters(planned, written, lookup, prefix)) is not None:
        planned = same
    elif args and (missing := unbound(text)):
        raise InvalidInputException(
            f"args has no value for {', '.join(missing)}, or one that is not a Python value: a statement on an ACID "
            "table takes numbers, texts, dates, times, bytes, lists and dicts"
        )
    if isinstance(planned, Query) and not planned.command:
        return held_open(spark, client, lambda shot, held: _queried(held, client, shot, planned, args), timeout)
    with connected(spark, client) as used:
        if isinstance(planned, Query):
            with Snapshot(spark, used, timeout) as shot:
                return _queried(spark, client, shot, planned, args)
        if isinstance(planned, Definitions):
            define(spark, used, planned, timeout)
            forget_tables(spark)
            return _rows(spark, {})
        done = repeated(lambda: _changed(spark, used, client, planned, timeout), retries)
    return _rows(spark, _numbers(planned, done))


def _changed(spark: SparkSession, client: Client, given: Client | None, planned: Plan, timeout: float) -> Changed:
    if isinstance(planned, CreateAs):
        return create_as(spark, client, given, planned, timeout)
    assert isinstance(planned, (Insert, Inserts, Update, Delete, Merge))
    return change(spark, client, given, planned, timeout)


def _numbers(planned: Plan, done: Changed) -> dict[str, int | None]:
    """The columns of the result of a change, as Delta Lake has them."""
    match planned:
        case Update() | Delete():
            return {AFFECTED: done.affected}
        case Merge():
            return {AFFECTED: done.affected, _UPDATED: done.updated, _DELETED: done.deleted, _INSERTED: done.inserted}
    return {AFFECTED: done.affected, _INSERTED: done.inserted}


def _with_parameters(query: Query, written: str, lookup: Lookup, prefix: str) -> Query | None:
    """The same plan with the parameters in its text, which Spark binds: the columns of the result have its names.

    None where the plan depends on the values of parameters.
    """
    try:
        same = plan(written, lookup, prefix)
    except StatementError:
        return None
    return same if isinstance(same, Query) and same.sql.views == query.sql.views else None


def _queried(spark: SparkSession, client: Client | None, shot: Snapshot, query: Query, args: Args) -> DataFrame:
    maker = ViewMaker(spark, client, lambda view: shot.read(view.table, version=view.version), shot.keep_view)
    maker.make(query.sql.views)
    frame = plain_sql(spark, query.sql.text, args if unbound(query.sql.text) else None)
    if hasattr(spark, "_jsparkSession"):
        # The plan of the DataFrame is complete; with Spark Connect it is made at each execution.
        for name in maker.names:
            spark.catalog.dropTempView(name)
    return frame


def _rows(spark: Any, numbers: dict[str, int | None]) -> DataFrame:
    """One row with these columns; no row without columns."""
    from pyspark.sql.types import LongType, StructField, StructType

    schema = StructType([StructField(name, LongType()) for name in numbers])
    return local_rows(spark, [tuple(numbers.values())] if numbers else [], schema)
