"""The initiator: requests compactions for tables and partitions that have reached Hive's thresholds.

It looks at all transactional tables of the metastore, lists their directories, and leaves those alone that have a
compaction in the queue, whose last compactions failed, or whose owner has turned it off. No Spark job is run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.client._sync.locks import snapshot
from metastored.errors import Error
from metastored.hive.transactions.compaction import (
    CompactionKind,
    CompactorWriteIds,
    Thresholds,
    is_left_alone,
    needed,
    thresholds_of,
)
from metastored.hive.transactions.resolution import resolve
from metastored.model.acid import is_transactional
from metastored.model.names import TableName
from metastored.spark.acid.compaction.places import places
from metastored.spark.acid.compaction.queue import FAILED, INITIATED, WORKING, Entry, entries, request, worker_id
from metastored.spark.files import Files, list_location
from metastored.wire.generated.common import Table

log = logging.getLogger("metastored.compaction")

FAILURES: Final = 2
"""After so many failures in a row nothing is requested (hive.compactor.initiator.failed.compacts.threshold)."""


class Requested(NamedTuple):
    """A compaction that was put into the queue."""

    id: int
    table: TableName
    partition: str | None
    kind: CompactionKind


def is_blocked(queue: Sequence[Entry], table: TableName, partition: str | None) -> bool:
    """Whether a compaction of a table or partition waits or runs, or the last ones failed. Pure."""
    own = [each for each in queue if (each.table, each.partition) == (table, partition)]
    if any(each.state in (INITIATED, WORKING) for each in own):
        return True
    last = own[-FAILURES:]
    return len(last) == FAILURES and all(each.state in FAILED for each in last)


def initiate(client: Client, files_of: Callable[[str], Files], defaults: Thresholds) -> list[Requested]:
    """Requests the compactions that are needed now. A table that fails is logged, and the others go on."""
    queue = entries(client)
    done: list[Requested] = []
    for name, table in transactional_tables(client):
        try:
            if not is_left_alone(table.parameters or {}):
                done += _initiate(client, files_of, defaults, queue, name, table)
        except (Error, OSError, ValueError) as error:
            log.warning("no compaction of %s is requested: %s", name, error)
    return done


def transactional_tables(client: Client) -> Iterator[tuple[TableName, Table]]:
    """All transactional tables of the metastore. Databases that cannot be read, such as remotes, are logged."""
    for database in client.databases():
        try:
            tables = client.tables_by_name(database, client.tables(database))
        except Error as error:
            log.warning("the tables of %s were not read: %s", database, error)
            continue
        for table in tables:
            if is_transactional(table.parameters):
                yield TableName("", database, table.tableName or ""), table


def _initiate(
    client: Client,
    files_of: Callable[[str], Files],
    defaults: Thresholds,
    queue: Sequence[Entry],
    name: TableName,
    table: Table,
) -> Iterator[Requested]:
    thresholds = thresholds_of(table.parameters or {}, defaults)
    transactions, lists = snapshot(client.api, [f"{name.database}.{name.table}"])
    for seen in lists.values():
        write_ids = CompactorWriteIds.of(seen)
        for partition, location in places(client, name, table):
            if is_blocked(queue, name, partition):
                continue
            listing = list_location(files_of(location), location)
            kind = needed(resolve(listing, write_ids, transactions), listing, thresholds)
            if kind is not None and (id := request(client, name, partition, kind, worker_id())) is not None:
                yield Requested(id, name, partition, kind)
