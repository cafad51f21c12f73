"""Statements about rows in `metastored sql --spark`: a local Spark executes them, by `metastored.spark.sql`.

Spark is started at the first of them, and once. It has the user of the command, and the current database of the shell.
Values are rendered by Spark: dates and intervals that Python cannot hold are texts, as structs are JSON.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from metastored.cli.options import Server
from metastored.cli.results import Rows
from metastored.cli.spark_options import Spark
from metastored.errors import ConfigError, Error, InvalidOperationException
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.names import DatabaseName

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

USER_VARIABLE: Final = "HADOOP_USER_NAME"
"""The user of Spark's Hive client, where there is no Kerberos."""
DEFAULTS: Final = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
"""Errors are printed as one line; Spark would log the text of the statement with them, and its plan."""
LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Those of PySpark, which print each error as JSON."""
_JSON: Final = ("struct<", "array<", "map<")
_AS_THEY_ARE: Final = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "string"})


class SparkRows:
    """A Spark that executes statements; `limit` is the number of rows that a result shows, 0 for all."""

    def __init__(self, server: Server, spark: Spark, client: Client, limit: int) -> None:
        if server.login.password is not None:
            raise ConfigError(
                "--spark cannot log in with a password: Spark's Hive client has Kerberos only (--kerberos)"
            )
        self._server = server
        self._options = spark
        self._client = client
        self._limit = limit
        self._session: Any = None
        self._statements = 0

    def run(self, statement: str, current: DatabaseName) -> tuple[Rows, bool]:
        """Executes a statement. Returns its result, and whether there are more rows than the limit.

        Raises what `metastored.spark.sql` raises, and Error with the first line of an error of Spark's.
        """
        if current.catalog not in ("", DEFAULT_CATALOG):
            raise InvalidOperationException(
                f"Spark has the catalog {DEFAULT_CATALOG} only, and the current database is {current}: USE another one"
            )
        session = self._session or self._started()
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from metastored.spark.messages import first_line_of
        from metastored.spark.statements import sql

        try:
            if session.catalog.currentDatabase() != current.database:
                session.catalog.setCurrentDatabase(current.database)
            self._statements += 1
            session.sparkContext.setJobGroup(self._group, statement, interruptOnCancel=True)
            return self._collected(sql(session, statement, client=self._client))
        except KeyboardInterrupt:
            self._cancel(session)
            raise
        except (PySparkException, Py4JError) as error:
            raise Error(f"Spark: {first_line_of(error)}") from None

    def forget_tables(self) -> None:
        """Has Spark read all tables again: they may have been changed by a statement of metastored's."""
        if self._session is not None:
            from metastored.spark.session_metastore import forget_tables

            forget_tables(self._session)

    def close(self) -> None:
        """Stops Spark, if it was started."""
        if self._session is not None:
            self._session.stop()
            self._session = None

    def _started(self) -> Any:
        login, shown = self._server.login, sys.stderr.isatty()
        if login.user is not None and login.kerberos_principal is None:
            os.environ[USER_VARIABLE] = login.user
        print("starting Spark …", file=sys.stderr, flush=True)
        progress = {"spark.ui.showConsoleProgress": str(shown).lower()}
        try:
            self._session = self._options.session(
                self._server.uri, {**DEFAULTS, **progress}, principal=login.kerberos_principal, client=self._client
            )
        except Error:
            raise
        except Exception as error:  # Of PySpark or of the JVM: no Java, a wrong master or setting.
            from metastored.spark.messages import first_line_of

            raise Error(f"Spark, which needs Java 17, could not be started: {first_line_of(error)}") from None
        for name in LOGGERS:
            logging.getLogger(name).disabled = True
        return self._session

    @property
    def _group(self) -> str:
        """The name of the jobs of a statement."""
        return f"metastored-sql-{self._statements}"

    def _cancel(self, session: Any) -> None:
        """Cancels the statement's jobs, and those that it has not begun yet: the JVM goes on planning."""
        from py4j.protocol import Py4JError

        session.sparkContext.cancelAllJobs()
        with suppress(Py4JError):  # Spark 3.5 cannot do this.
            session.sparkContext._jsc.sc().cancelJobGroupAndFutureJobs(self._group)

    def _collected(self, frame: Any) -> tuple[Rows, bool]:
        from pyspark.sql.functions import col, hex, to_json

        columns = tuple(frame.columns)
        # A result may have a column twice: numbers are names that are different.
        numbered = frame.toDF(*(f"_{at}" for at in range(len(columns))))
        rendered = []
        for name, kind in numbered.dtypes:
            if kind in _AS_THEY_ARE:
                rendered.append(col(name))
            elif kind.startswith(_JSON):
                rendered.append(to_json(col(name), {"ignoreNullFields": "false"}))
            else:
                rendered.append(hex(col(name)) if kind == "binary" else col(name).cast("string"))
        shown = numbered.select(*rendered)
        collected = shown.take(self._limit + 1) if self._limit else shown.collect()
        more = bool(self._limit) and len(collected) > self._limit
        rows = tuple(tuple(_value(each) for each in row) for row in (collected[: self._limit] if more else collected))
        return Rows(columns, rows), more


def _value(value: Any) -> Any:
    """JSON has no number that is not finite."""
    if isinstance(value, float) and value - value != 0.0:
        return str(value)
    return value
