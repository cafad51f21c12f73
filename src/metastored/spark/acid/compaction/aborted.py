"""Removes what aborted writes left in partitioned tables, so that the metastore can forget their transactions.

A write that ends before its partitions are known is recorded for the table alone. A compaction of a partition never
clears that record: the aborted transaction would stay in every snapshot for ever. All directories of the table are
looked at, also those that are not partitions: a directory of a forgotten write id would be visible as soon as a
partition is added there. No Spark job is run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.client._sync.locks import snapshot
from metastored.errors import Error
from metastored.hive.locations import join
from metastored.hive.transactions.layout import Directory, Kind, is_hidden, parse_directory
from metastored.hive.transactions.snapshots import NO_OPEN_ID, RangeResponse, ValidTxnList, ValidWriteIdList
from metastored.model.names import TableName
from metastored.spark.acid.compaction.initiator import transactional_tables
from metastored.spark.acid.compaction.places import places
from metastored.spark.files import Files, in_threads
from metastored.wire.generated.common import CompactionInfoStruct, CompactionType, Table
from metastored.wire.generated.transactions import TxnState

log = logging.getLogger("metastored.compaction")

GRACE: Final = 3600.0
"""Seconds since the last heartbeat of a transaction until its files are removed: its writer may not know of the end."""


class Forgotten(NamedTuple):
    """What was done for one table."""

    table: TableName
    removed: tuple[str, ...]
    """The locations of the directories that were removed."""
    highest: int
    """The aborted write ids up to this one were forgotten."""
    error: str | None = None


def forget_aborted(client: Client, files_of: Callable[[str], Files], grace: float = GRACE) -> list[Forgotten]:
    """Cleans all partitioned tables that have aborted writes. A table that fails is logged, and the others go on."""
    seen = _ended_long_ago(client, grace)
    if not seen.aborted:
        return []
    done = []
    for name, table in transactional_tables(client):
        if not table.partitionKeys:
            continue  # Its record is cleared by a compaction of the table.
        try:
            forgotten = _forget(client, files_of, seen, name, table)
        except (Error, OSError, ValueError) as error:
            log.warning("the aborted writes of %s were not cleaned: %s", name, error)
            forgotten = Forgotten(name, (), 0, str(error))
        if forgotten is not None:
            done.append(forgotten)
    return done


def _ended_long_ago(client: Client, grace: float) -> ValidTxnList:
    """The transactions, without those that were aborted a short time ago: these count as open."""
    reply = client.api.get_open_txns_info()
    before = (time.time() - grace) * 1000
    opened: list[int] = []
    aborted: list[int] = []
    for each in reply.open_txns or ():
        ended = each.state == TxnState.ABORTED and (each.lastHeartbeatTime or 0) <= before
        (aborted if ended else opened).append(each.id or 0)
    opened.sort()
    return ValidTxnList(
        reply.txn_high_water_mark or 0, tuple(opened), tuple(sorted(aborted)), opened[0] if opened else NO_OPEN_ID
    )


def _forget(
    client: Client, files_of: Callable[[str], Files], seen: ValidTxnList, name: TableName, table: Table
) -> Forgotten | None:
    _, lists = snapshot(client.api, [f"{name.database}.{name.table}"], None, seen)
    (write_ids,) = lists.values()
    # All ids up to this one have ended: none of them can be aborted after the directories were listed.
    highest = min(write_ids.high_watermark, min(write_ids.open, default=NO_OPEN_ID) - 1)
    if not any(each <= highest for each in write_ids.aborted):
        return None
    directories = _directories(client, files_of, name, table)
    # Rows of a stream: some of its write ids were committed. They are forgotten when it is compacted.
    mixed = [
        directory.low
        for _, directory in directories
        if _is_written(directory) and write_ids.is_range_aborted(directory.low, directory.high) is RangeResponse.SOME
    ]
    highest = min([highest, *(low - 1 for low in mixed)])
    removed = [location for location, directory in directories if _is_left(directory, write_ids, highest)]
    for location in removed:
        files_of(location).remove(location)
    if highest > 0:
        client.api.mark_cleaned(
            CompactionInfoStruct(
                id=0,
                dbname=name.database,
                tablename=name.table,
                type=CompactionType.ABORT_TXN_CLEANUP,
                highestWriteId=highest,
            )
        )
    return Forgotten(name, tuple(removed), highest)


def _is_written(directory: Directory) -> bool:
    """Whether it is a delta of writers: a compaction leaves out the rows of aborted writes."""
    return directory.kind is not Kind.BASE and not directory.visibility


def _is_left(directory: Directory, write_ids: ValidWriteIdList, highest: int) -> bool:
    """Whether all rows of a directory are of aborted writes up to an id."""
    if directory.visibility or directory.high > highest:
        return False
    low = directory.high if directory.kind is Kind.BASE else directory.low
    return write_ids.is_range_aborted(low, directory.high) is RangeResponse.ALL


def _directories(
    client: Client, files_of: Callable[[str], Files], name: TableName, table: Table
) -> list[tuple[str, Directory]]:
    """The bases and deltas of a partitioned table, with their locations."""
    root = (table.sd.location if table.sd is not None else None) or ""
    above = {location.rstrip("/") for _, location in places(client, name, table)}
    above.update(_below(files_of(root), root, len(table.partitionKeys or ())))

    def listed(location: str) -> list[tuple[str, Directory]]:
        entries = files_of(location).entries(location)
        parsed = [(join(location, each.name), parse_directory(each.name)) for each in entries if each.is_directory]
        return [(each, directory) for each, directory in parsed if directory is not None]

    return [each for batch in in_threads(listed, sorted(above)) for each in batch]


def _below(files: Files, location: str, levels: int) -> Iterator[str]:
    """The directories so many levels below a location, without hidden ones."""
    if levels == 0:
        yield location.rstrip("/")
        return
    for each in files.entries(location):
        if each.is_directory and not is_hidden(each.name):
            yield from _below(files, join(location, each.name), levels - 1)
