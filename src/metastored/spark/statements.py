"""Statements from PySpark: metastored's own, those on ACID tables, and all others, which Spark executes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.client.statements.values import Result
from metastored.errors import InvalidInputException
from metastored.spark.acid.reading import TIMEOUT
from metastored.spark.acid.sql.plain import plain_sql
from metastored.spark.local_rows import local_rows
from metastored.spark.session_metastore import forget_tables, metastore_of, session_client
from metastored.statements.words import is_own

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from metastored.spark.acid.sql.parameters import Args


def sql(
    spark: SparkSession,
    statement: str,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    client: Client | None = None,
    timeout: float = TIMEOUT,
    retries: int = 0,
) -> DataFrame:
    """Executes a statement of metastored's, a statement on ACID tables, or any other one of Spark's.

    Returns its result as a DataFrame; that of INSERT, UPDATE, DELETE and MERGE on ACID tables is one row with the
    numbers of rows (`num_affected_rows`, …). `args` are the values of parameters, as `spark.sql` has them: a dict for
    `:name`, a list for `?`. `timeout` is the number of seconds to wait for the locks of ACID tables. After a conflict
    with another writer (TransactionFailed), a change is executed again up to `retries` times.

    Metastored's own statements, such as CREATE REMOTE TABLE, have Spark's current database, and go to the metastore of
    the session under Spark's user, or to `client`. Queries read all ACID tables at one snapshot; changes of them are
    transactions. All others are Spark's. Raises StatementError where metastored's own statement cannot be parsed, and
    AcidStatementError for one on an ACID table that cannot be carried out.

    A session of Spark Connect needs `client` for metastored's statements and for ACID tables: its metastore and its
    user are those of another process. Raises ConfigError without it.
    """
    if not is_own(statement):
        return _of_spark(spark, statement, client, args, timeout, retries)
    if args:
        raise InvalidInputException("statements of metastored have no parameters: write the values")
    database = spark.catalog.currentDatabase()
    if client is not None:
        result = client.sql(statement, database=database)
    else:
        with session_client(spark) as own:
            result = own.sql(statement, database=database)
    forget_tables(spark)
    return _frame(spark, result)


def _of_spark(
    spark: SparkSession, statement: str, client: Client | None, args: Args, timeout: float, retries: int
) -> DataFrame:
    from metastored.spark.acid.sql.execution import execute

    if client is None and metastore_of(spark) is None:
        return plain_sql(spark, statement, args)  # The session has no metastore, and therefore no ACID tables.
    return execute(spark, statement, client, args, timeout, retries)


def _frame(spark: Any, result: Result) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(name, StringType()) for name in result.columns])
    return local_rows(spark, result.rows, schema)
