"""A worker: takes a compaction from the metastore's queue and runs it on Spark, in Hive's order of calls.

    lease, find_next_compact2, open a transaction, lock, snapshot, update_compactor_state … job … commit, mark_compacted

The transaction is committed before the compaction is marked, so that a worker that is killed in between leaves nothing
wrong: readers use the new directories, and the compaction runs again. On an error the transaction is aborted and the
compaction is marked as failed, with the reason.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metastored import __version__
from metastored.client._sync.client import Client
from metastored.client.acid import read_components
from metastored.errors import Error, NoSuchObjectException
from metastored.hive.transactions.compaction import CompactorWriteIds, compaction
from metastored.model.names import TableName
from metastored.spark.acid.compaction.jobs import run
from metastored.spark.acid.compaction.queue import KINDS, worker_lease
from metastored.spark.acid.files.state import table_state
from metastored.spark.acid.tables import acid_table
from metastored.spark.files import files_of
from metastored.wire.generated.common import CompactionInfoStruct
from metastored.wire.generated.compaction import FindNextCompactRequest
from metastored.wire.generated.transactions import TxnType
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("metastored.compaction")

LOCK_TIMEOUT = 300.0
"""Seconds to wait for the lock, while others drop or overwrite the table."""


class Done(NamedTuple):
    """What became of a compaction."""

    id: int
    table: TableName
    partition: str | None
    outcome: str
    """`compacted`, `refused` or `failed`."""
    directories: tuple[str, ...] = ()
    """The locations of the new directories."""
    reason: str | None = None


class _Refused(Exception):
    """There is nothing to compact."""


def work(spark: SparkSession, client: Client, worker: str, pool: str | None = None) -> Done | None:
    """Takes the next compaction of the queue and runs it. Returns None if none waits.

    `worker` is a new `worker_id()`, whose lease is held until the end. An error of the compaction is stored in the
    queue, logged and returned; only those of the metastore are raised.
    """
    with worker_lease(client, worker):
        return _work(spark, client, worker, pool)


def _work(spark: SparkSession, client: Client, worker: str, pool: str | None) -> Done | None:
    request = FindNextCompactRequest(workerId=worker, workerVersion=__version__, poolName=pool)
    info = client.api.find_next_compact2(request).ci
    if info is None or info.id is None:
        return None
    table = TableName("", info.dbname or "", info.tablename or "")
    done = Done(info.id, table, info.partitionname or None, "compacted")
    try:
        return done._replace(directories=tuple(_compact(spark, client, info, done)))
    except _Refused as reason:
        client.api.mark_refused(replace(info, errorMessage=str(reason)))
        return done._replace(outcome="refused", reason=str(reason))
    except Exception as error:
        log.warning("compaction %d of %s failed", info.id, table, exc_info=True)
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        with suppress(Error):
            client.api.mark_failed(replace(info, errorMessage=text))
        return done._replace(outcome="failed", reason=text)


def _compact(spark: SparkSession, client: Client, info: CompactionInfoStruct, done: Done) -> list[str]:
    kind = KINDS.get(info.type or 0)
    if kind is None:
        raise _Refused(f"compactions of type {info.type} are not supported: minor and major are")
    try:
        table = acid_table(client, done.table)
        if done.partition is not None:
            client.partition(done.table, done.partition)
    except NoSuchObjectException:
        raise _Refused("the table or partition does not exist any more") from None
    if table.key_names and done.partition is None:
        raise _Refused(f"{done.table} is partitioned: its partitions are compacted one by one")
    with client.transaction(type=TxnType.COMPACTION) as transaction:
        transaction.locked(read_components((done.table,)), LOCK_TIMEOUT).take()
        (snapshot,) = transaction.snapshot(done.table).values()
        write_ids = CompactorWriteIds.of(snapshot)
        info = replace(info, highestWriteId=write_ids.high_watermark)
        client.api.update_compactor_state(info, transaction.id)
        assert transaction.visible is not None
        names = None if done.partition is None else (done.partition,)
        state = table_state(spark, client, table, write_ids, transaction.visible, names, row_ids=not table.insert_only)
        (partition,) = state.partitions
        planned = compaction(kind, partition.resolved, write_ids, transaction.id)
        made = []
        if planned is not None:
            made = run(spark, files_of(spark, partition.location), state, planned, transaction.id)
    resolved = partition.resolved
    if planned is None and not (resolved.obsolete or resolved.aborted or resolved.obsolete_originals):
        raise _Refused("there is nothing to compact: too few directories")
    # Without new directories there may be old ones to clean: a worker that was killed had made the new ones.
    client.api.mark_compacted(info)
    return made
