"""Temporary views of transactional tables. Each stays at its snapshot, whose transaction is open until it is dropped.

Spark does not tell when a temporary view ends: the views of this process are listed here, by session and name. Their
transactions end with `drop_view`, when a view is created again, and with the process.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from metastored.client._sync.client import Client
from metastored.errors import Error
from metastored.model.names import Name, table_name
from metastored.spark.acid.reading import TIMEOUT, Snapshot, connected
from metastored.spark.session_metastore import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_open: dict[tuple[str, str], ExitStack] = {}
"""The snapshots of views, by the id of the session and the name."""


def view(
    spark: SparkSession,
    name: Name,
    view: str | None = None,
    client: Client | None = None,
    *,
    version: int | None = None,
    timeout: float = TIMEOUT,
) -> str:
    """Creates a temporary view of a table as it is now, named as the table or `view`. Returns its name.

    The view stays at its snapshot; create it again to see later changes. Its transaction stays open, with its locks,
    until `drop_view`, until the view is created again, or until the process ends. `version` is a write id of the table:
    the rows as they were after it. `timeout` is the number of seconds to wait for a lock.
    """
    wanted = table_name(name)
    view = view or wanted.table
    with ExitStack() as stack:
        used = stack.enter_context(connected(spark, client))
        shot = stack.enter_context(Snapshot(spark, used, timeout))
        shot.read(wanted, version=version).createOrReplaceTempView(view)
        before = _open.pop(_key(spark, view), None)
        _open[_key(spark, view)] = stack.pop_all()
    if before is not None:
        _close(before)
    return view


def drop_view(spark: SparkSession, view: str) -> bool:
    """Drops a temporary view that `view` has created, and ends its transaction. Returns whether there was one."""
    opened = _open.pop(_key(spark, view), None)
    if opened is None:
        return False
    spark.catalog.dropTempView(view)
    _close(opened)
    return True


def _key(spark: Any, view: str) -> tuple[str, str]:
    session = spark._jsparkSession.sessionUUID() if is_local(spark) else spark.session_id
    return str(session), view.lower()


def _close(stack: ExitStack) -> None:
    with suppress(Error):  # The server ends a transaction without heartbeats by itself.
        stack.close()


@atexit.register
def _close_all() -> None:
    while _open:
        _close(_open.popitem()[1])
