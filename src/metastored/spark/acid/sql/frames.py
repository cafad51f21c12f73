"""The temporary views of a statement, as DataFrames: ACID tables at a snapshot, Lance tables, and stored views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.quoting import backquoted
from metastored.spark.acid.sql.plain import plain_sql
from metastored.spark.acid.sql.values import Stored, View

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ViewMaker:
    """Makes temporary views. `read` returns the rows of an ACID table, and `made` is called with each new view.

    `client` is that of the caller, if there is one.
    """

    def __init__(
        self,
        spark: SparkSession,
        client: Client | None,
        read: Callable[[View], DataFrame],
        made: Callable[[DataFrame, str], object],
    ) -> None:
        self._spark = spark
        self._client = client
        self._read = read
        self._made = made
        self.names: list[str] = []

    def make(self, views: Sequence[View]) -> None:
        """Makes views, and before each stored one those of its query."""
        for view in views:
            if view.name in self.names:
                continue
            if view.lance:
                frame = self._lance(view)
            elif view.stored is not None:
                self.make(view.stored.query.views)
                frame = shaped(plain_sql(self._spark, view.stored.query.text), view.stored, str(view.table))
            else:
                frame = self._read(view)
            self.names.append(view.name)
            self._made(frame, view.name)

    def _lance(self, view: View) -> DataFrame:
        """The rows of a Lance table, at its newest version."""
        from metastored.spark import lance

        if self._client is None:
            return lance.read(self._spark, view.table)
        from metastored.lance import Hive2Namespace

        namespace = Hive2Namespace(uri=self._client.uri, ugi=self._client.user or "")
        try:
            return lance.read(self._spark, view.table, namespace=namespace)
        finally:
            namespace.close()


def shaped(frame: DataFrame, stored: Stored, name: str) -> DataFrame:
    """The rows of a query with the columns of the view: by the names that Spark has stored, or else by position."""
    lower = [column.lower() for column in frame.columns]
    outputs = [column.lower() for column in stored.outputs]
    if len(outputs) == len(stored.columns) and all(lower.count(column) == 1 for column in outputs):
        frame = frame.select(*map(backquoted, stored.outputs))
    if len(frame.columns) != len(stored.columns):
        raise InvalidInputException(
            f"the query of the view {name} has {len(frame.columns)} columns, and the view {len(stored.columns)}: "
            "create the view again"
        )
    return frame.toDF(*stored.columns)
