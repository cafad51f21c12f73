"""Reads of transactional tables: one table, or many tables at one snapshot.

A read opens a transaction and locks its tables, so that nobody drops them and the cleaner leaves the files of the
snapshot alone. `snapshot` holds the transaction until it is left. A single `read` returns a lazy DataFrame whose end
nobody sees: its transaction stays open, with heartbeats, until the DataFrame is no longer referenced.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from metastored.client._sync.acid import Read
from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList
from metastored.model.names import Name, TableName, table_name
from metastored.spark.acid.clauses import TARGET
from metastored.spark.acid.files.history import capped, check_history
from metastored.spark.acid.session_objects import another_object
from metastored.spark.acid.tables import ROW_ID, acid_table
from metastored.spark.session_metastore import session_client

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("metastored.spark")

TIMEOUT: Final = 60.0
"""Seconds to wait for a lock."""


def read(
    spark: SparkSession,
    name: Name,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    client: Client | None = None,
    *,
    version: int | None = None,
    timeout: float = TIMEOUT,
) -> DataFrame:
    """The rows of a transactional table as they are now, as a DataFrame.

    `where` is a condition in SQL: partitions and groups of rows for which it cannot be true are not read. `columns` are
    those of the result; ROW__ID, the id of each row, is one of them only if it is named. Without `client`, the
    metastore of the session is used. The transaction of the read ends when the DataFrame and all that is made from it
    are no longer referenced by Python; use `snapshot` to choose the moment. `version` is a write id of the table: the
    rows as they were after it. `timeout` is the number of seconds to wait for a lock. Raises InvalidInputException if
    the table is not transactional, and for a version whose directories may have been removed.
    """
    return held_open(spark, client, lambda shot, held: shot.read_by(held, name, where, columns, version), timeout)


def held_open(
    spark: SparkSession,
    client: Client | None,
    use: Callable[[Snapshot, SparkSession], DataFrame],
    timeout: float = TIMEOUT,
) -> DataFrame:
    """A DataFrame that `use` makes from a snapshot, which stays open as long as the DataFrame is referenced.

    The session that `use` gets is the one to make it with: a copy of `spark`. The snapshot must not refer to it.
    """
    stack = ExitStack()
    # DataFrames refer to their session object, and not to those that they were made from: this copy is referenced by
    # the result and by everything that is made from it.
    held = another_object(spark)
    try:
        used = stack.enter_context(connected(spark, client))
        frame = use(stack.enter_context(Snapshot(spark, used, timeout)), held)
    except BaseException:
        stack.close()
        raise
    weakref.finalize(held, _close, stack)
    return frame


def _close(stack: ExitStack) -> None:
    """Ends a transaction on a thread: the garbage collector can run this anywhere, also inside of a call."""
    try:
        threading.Thread(target=_close_quietly, args=(stack,), name="metastored-acid-read", daemon=True).start()
    except RuntimeError:
        _close_quietly(stack)  # The interpreter ends, and there are no more threads.


def _close_quietly(stack: ExitStack) -> None:
    try:
        stack.close()
    except Exception as error:  # The server ends a transaction without heartbeats by itself; views end with Spark.
        log.debug("the end of a read failed: %s", error)


class Snapshot:
    """Transactional tables at one moment: that of the first read."""

    def __init__(self, spark: SparkSession, client: Client, timeout: float = TIMEOUT) -> None:
        self._spark = spark
        self._client = client
        self._timeout = timeout
        self._read: Read | None = None
        self._views: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        for name in self._views:
            self._spark.catalog.dropTempView(name)
        if self._read is not None:
            self._read.__exit__(*error)

    def read(
        self,
        name: Name,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        version: int | None = None,
    ) -> DataFrame:
        """The rows of a table at the snapshot, or as they were after the write id `version`.

        The DataFrame is valid until the snapshot is left.
        """
        return self.read_by(self._spark, name, where, columns, version)

    def read_by(
        self,
        spark: SparkSession,
        name: Name,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        version: int | None = None,
    ) -> DataFrame:
        """The same, by another session object."""
        wanted = table_name(name)
        if self._read is None:
            self._read = self._client.read(wanted, timeout=self._timeout).__enter__()
        else:
            self._read.add(wanted)
        write_ids = snapshot_of(self._read.snapshots, wanted)
        visible = write_ids.transactions or self._read.visible
        return rows(spark, self._client, wanted, write_ids, visible, where, columns, version=version)

    def view(self, name: Name, view: str | None = None, version: int | None = None) -> str:
        """Creates a temporary view of a table at the snapshot, and returns its name. Dropped with the snapshot."""
        wanted = table_name(name)
        return self.keep_view(self.read(wanted, version=version), view or wanted.table)

    def keep_view(self, frame: DataFrame, view: str) -> str:
        """Makes a DataFrame a temporary view, which is dropped with the snapshot."""
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        return view


@contextmanager
def snapshot(spark: SparkSession, client: Client | None = None, timeout: float = TIMEOUT) -> Iterator[Snapshot]:
    """One snapshot for many tables, for `with`: `s.read("db.t", where=…)` and `s.view("db.t")`.

    Its moment is that of the first read. The transaction is kept alive by heartbeats until the snapshot is left:
    DataFrames have to be evaluated before. `timeout` is the number of seconds to wait for a lock.
    """
    with connected(spark, client) as used, Snapshot(spark, used, timeout) as shot:
        yield shot


@contextmanager
def connected(spark: SparkSession, client: Client | None) -> Iterator[Client]:
    """The client that was passed, or one of the session's metastore that is closed at the end."""
    if client is not None:
        yield client
        return
    with session_client(spark) as own:
        yield own


def snapshot_of(snapshots: dict[str, ValidWriteIdList], name: TableName) -> ValidWriteIdList:
    """The write ids of a table, in the reply about several."""
    key = f"{name.database}.{name.table}".lower()
    if key not in snapshots:
        raise InvalidInputException(f"the metastore returned no write ids of {name}")
    return snapshots[key]


def rows(
    spark: SparkSession,
    client: Client,
    name: TableName,
    write_ids: ValidWriteIdList,
    transactions: ValidTxnList,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    row_ids: bool = False,
    version: int | None = None,
) -> DataFrame:
    """The rows of a table that these ids make visible. With `row_ids`, ROW__ID is the last column.

    With `version`, only ids up to it count. Raises InvalidInputException where its directories may have been removed.
    """
    from pyspark.sql import functions as F

    from metastored.spark.acid.files.state import table_state
    from metastored.spark.acid.rows.pruning import conjuncts, matching_partitions, search_options
    from metastored.spark.acid.rows.scan import scan

    table = acid_table(client, name)
    row_ids = row_ids or any(each.upper().partition(".")[0] == ROW_ID for each in columns or ())
    if row_ids and table.insert_only:
        raise InvalidInputException(f"the rows of {name} have no ids: the table is insert-only")
    parts = conjuncts(where) if where is not None else []
    names = None
    if table.key_names and parts:
        names = matching_partitions(spark, table, client.partition_names(name), parts)
    seen = capped(write_ids, name, version)
    if version is not None:
        check_history(spark, client, table, names, version, write_ids, transactions)
    state = table_state(spark, client, table, seen, transactions, names, row_ids)
    options = {} if table.insert_only else search_options(spark, table, parts)
    frame = scan(spark, state, row_ids=row_ids, search_options=options)
    if where is not None:
        frame = frame.alias(TARGET)  # Subqueries of the condition refer to the rows by this name.
        # Spark replaces the search argument by its own, useless one if it can push the condition down.
        frame = frame.where(F.coalesce(F.expr(where), F.lit(False)) if options else F.expr(where))
    return frame if columns is None else frame.select(*columns)
