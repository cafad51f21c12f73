"""A Spark session that refuses plain statements on ACID tables: Spark would read and write their directories.

Where the metastore shows ACID tables to Spark as views (`shown.py`), plain statements read them, and only writes are
refused. Writes to tables of read-only remotes are refused too: Spark would change their files before the metastore is
asked.

Spark has no hook for this that needs no jar: `guarded` changes the class of the Python session, so that `spark.sql`,
`spark.table`, `spark.read.table`, `spark.readStream.table` and `spark.catalog.cacheTable` look up the tables in the
metastore first, and so do the writers of its DataFrames (`writers.py`). What does not pass through these methods is not
noticed: other Python objects of the same session, and DataFrames that they have made.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client
from metastored.errors import AcidStatementError, AcidTableError, StatementError
from metastored.spark.acid.sql.collecting import explain_dates
from metastored.spark.acid.sql.plain import UNGUARDED, as_parsed
from metastored.spark.acid.sql.writers import guard_writers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from metastored.spark.acid.sql.parameters import Args
    from metastored.spark.acid.sql.tables import Parts

CLIENT: Final = "_metastored_client"
"""The attribute of a guarded session with the function that returns a client of its metastore."""


def guarded(spark: SparkSession, client: Callable[[], Client]) -> SparkSession:
    """The same session, which refuses plain statements on ACID tables. `client` connects to its metastore."""
    if not hasattr(spark, CLIENT):
        setattr(spark, CLIENT, client)
        plain: Any = type(spark)
        spark.__class__ = _guarded_session(plain)
        guard_writers(spark, check_write)
        explain_dates(spark, lambda session: hasattr(session, CLIENT))
    return spark


def check_statement(spark: Any, statement: str, args: Args = None) -> None:
    """Raises AcidTableError if a statement reads or writes rows of an ACID table; reads are Spark's if it sees views.

    Raises InvalidOperationException if it writes a table of a read-only remote.
    """
    from metastored.spark.acid.sql.parameters import bound
    from metastored.spark.acid.sql.planning import plan
    from metastored.spark.acid.sql.resolving import refuse_written, session_evaluation, session_lookup
    from metastored.spark.acid.sql.shown import Recording, written_by_reader
    from metastored.spark.acid.sql.values import Passed
    from metastored.spark.acid.sql.written import written_by

    lookup, evaluate = Recording(session_lookup(spark, getattr(spark, CLIENT))), session_evaluation(spark)
    refusal = (
        "this statement reads or writes an ACID table, of which Spark sees only the directory: "
        "use metastored.spark.sql(spark, …)"
    )
    text, written = statement, None
    try:
        text = bound(as_parsed(spark, statement), args)
        if isinstance(plan(text, lookup, evaluate=evaluate), Passed):
            written = written_by(text, evaluate)
    except AcidStatementError as error:
        refusal = f"{error}; statements on ACID tables are executed by metastored.spark.sql"
    except StatementError:
        return  # Spark reports what is wrong with it.
    if written is None:
        written = written_by_reader(spark, text, lookup, evaluate)
    if written is None:
        raise AcidTableError(refusal)
    refuse_written(spark, getattr(spark, CLIENT), written)


def check_write(spark: Any, name: str) -> None:
    """Raises AcidTableError if a DataFrame of a guarded session would be written to an ACID table.

    Raises InvalidOperationException if it would be written to a table of a read-only remote.
    """
    if not hasattr(spark, CLIENT):
        return
    from metastored.spark.acid.sql.resolving import refuse_written

    named = _check(spark, name, "metastored.spark.sql(spark, …) or metastored.spark.acid.insert(spark, …)", reads=False)
    refuse_written(spark, getattr(spark, CLIENT), named)


def check_table(spark: Any, name: str) -> None:
    """Raises AcidTableError if a name is that of an ACID table, or of a view that reads one, and Spark sees no view."""
    _check(spark, name, "metastored.spark.sql(spark, …) or metastored.spark.acid.read(spark, …)", reads=True)


def _check(spark: Any, name: str, use: str, *, reads: bool) -> frozenset[Parts]:
    """Returns the name in its parts. The error says what to use."""
    from metastored.spark.acid.sql.resolving import session_lookup
    from metastored.spark.acid.sql.shown import sees_views
    from metastored.spark.acid.sql.tables import references
    from metastored.spark.source import parsed

    try:
        source = parsed(f"SELECT * FROM {name}")
    except StatementError:
        return frozenset()
    if source.tree is None:
        return frozenset()
    named = frozenset(each.parts for each in references(source))
    tables = session_lookup(spark, getattr(spark, CLIENT))(named)
    for each in tables.values():
        if reads and sees_views(spark, [each.table]):
            continue
        raise AcidTableError(
            f"{name} is an ACID table, or a view on one ({each.table}), of which Spark sees only the directory: "
            f"use {use}"
        )
    return named


@cache
def _guarded_session(plain: type[Any]) -> type[Any]:
    """A subclass of the session's class, of Spark or of Spark Connect."""

    class GuardedSession(plain):  # type: ignore[misc]
        def sql(self, sqlQuery: str, args: Args = None, **kwargs: Any) -> DataFrame:
            check_statement(self, sqlQuery, args)
            frame: DataFrame = super().sql(sqlQuery, args, **kwargs)
            return frame

        def table(self, tableName: str) -> DataFrame:
            check_table(self, tableName)
            frame: DataFrame = super().table(tableName)
            return frame

        def newSession(self) -> SparkSession:
            made: SparkSession = super().newSession()
            setattr(made, CLIENT, getattr(self, CLIENT))
            return made

        @property
        def read(self) -> Any:
            return _guarded_reader(super().read, self)

        @property
        def readStream(self) -> Any:
            return _guarded_reader(super().readStream, self)

        @property
        def catalog(self) -> Any:
            # A copy: Spark's own object is kept by the session, and must not refer to objects that reads are held by.
            return _guarded_reader(copy(super().catalog), self, "cacheTable")

    setattr(GuardedSession, UNGUARDED, plain)
    return _named(GuardedSession, plain)


def _guarded_reader(reader: Any, spark: Any, method: str = "table") -> Any:
    """A part of the session, one of whose methods reads the table of its first argument."""
    reader._metastored_session = spark
    plain: Any = type(reader)
    reader.__class__ = _guarded_reader_class(plain, method)
    return reader


@cache
def _guarded_reader_class(plain: type[Any], method: str) -> type[Any]:
    def guarded(self: Any, tableName: str, *args: Any, **kwargs: Any) -> Any:
        check_table(self._metastored_session, tableName)
        return getattr(plain, method)(self, tableName, *args, **kwargs)

    return _named(type(plain.__name__, (plain,), {method: guarded}), plain)


def _named(guarded: type[Any], plain: type[Any]) -> type[Any]:
    guarded.__name__, guarded.__qualname__, guarded.__doc__ = plain.__name__, plain.__qualname__, plain.__doc__
    return guarded
