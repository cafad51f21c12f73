"""A sink for streams: each batch is inserted exactly once, also when a query is restarted.

Spark repeats the last batch of a query that was stopped before Spark had recorded the batch as done. The number of each
batch is therefore inserted into a second transactional table, in the transaction of its rows: both are committed, or
none. A batch whose number is there already is skipped. Nothing is read from the stream's checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.model.acid import TRANSACTIONAL
from metastored.model.makers import table as new_table
from metastored.model.names import Name, TableName, table_name
from metastored.spark.acid.reading import TIMEOUT, connected
from metastored.spark.acid.single import repeated
from metastored.spark.acid.writing import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PROGRESS: Final = "_stream_progress"
"""The suffix of the name of the table with the numbers of batches."""
_QUERY_ID: Final = "sql.streaming.queryId"


def sink(
    name: Name,
    *,
    query: str | None = None,
    progress: Name | None = None,
    client: Client | None = None,
    timeout: float = TIMEOUT,
    retries: int = 0,
) -> Callable[[DataFrame, int], None]:
    """A function for `df.writeStream.foreachBatch(…)` that inserts each batch into a table, exactly once.

    The numbers of batches are stored in the table `progress` (by default the table's name with `_stream_progress`),
    which is created if it does not exist, by `query`: by default the id of the query, which its checkpoint keeps.
    `timeout` is the number of seconds to wait for a lock. A batch with a conflict is inserted again up to `retries`
    times.
    """
    wanted = table_name(name)
    stored = wanted._replace(table=wanted.table + PROGRESS) if progress is None else table_name(progress)
    done: dict[str, int] = {}

    def insert_batch(frame: DataFrame, batch: int) -> None:
        spark = frame.sparkSession
        identity = query or _query_id(spark)
        with connected(spark, client) as used:
            _create(used, stored)
            if identity not in done:
                done[identity] = _last_batch(spark, used, stored, identity)
            if batch <= done[identity]:
                return

            def run() -> None:
                with Transaction(spark, used, timeout) as transaction:
                    transaction.insert(wanted, frame)
                    row = spark.createDataFrame([(identity, batch)], "query string, batch bigint")
                    transaction.insert(stored, row.coalesce(1))

            repeated(run, retries)
            done[identity] = batch

    return insert_batch


def _query_id(spark: Any) -> str:
    context = getattr(spark, "sparkContext", None) if hasattr(spark, "_jsparkSession") else None
    query = None if context is None else context.getLocalProperty(_QUERY_ID)
    if not query:
        raise InvalidInputException(
            "the id of the query is not known in this session: give one that stays the same, sink(…, query='orders')"
        )
    return str(query)


def _create(client: Client, name: TableName) -> None:
    if not client.table_exists(name):
        columns = {"query": "string", "batch": "bigint"}
        client.create_table(
            new_table(name, columns, format="orc", properties={TRANSACTIONAL: "true"}), if_not_exists=True
        )


def _last_batch(spark: Any, client: Client, name: TableName, query: str) -> int:
    from pyspark.sql import functions as F

    from metastored.spark.acid.reading import Snapshot

    with Snapshot(spark, client) as shot:
        rows = shot.read(name).where(F.col("query") == query).agg(F.max("batch")).collect()
    return -1 if rows[0][0] is None else int(rows[0][0])
