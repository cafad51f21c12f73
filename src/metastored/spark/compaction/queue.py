"""The metastore's queue of compactions, by its API: listed, requested, and changed in the name of a worker."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Container, Sequence
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import TableName
from metastored.spark.processes import is_running
from metastored.wire.generated.common import CompactionInfoStruct
from metastored.wire.generated.compaction import CompactionRequest, ShowCompactRequest
from metastored.wire.generated.transactions import TxnState
from metastored.wire.structs import replace

READY: Final = "ready for cleaning"
WORKING: Final = "working"
INITIATED: Final = "initiated"
FAILED: Final = frozenset({"failed", "did not initiate", "attempted"})
KINDS: Final = {kind.value: kind for kind in CompactionKind}
_NO_POOL: Final = "default"


class Entry(NamedTuple):
    """A compaction of the queue or of its history."""

    id: int
    table: TableName
    partition: str | None
    type: int
    """Thrift's CompactionType."""
    state: str
    """Hive's word: initiated, working, ready for cleaning, succeeded, failed, refused, …"""
    worker: str | None = None
    highest_write_id: int | None = None
    next_txn_id: int | None = None
    """The highest transaction when the compaction was committed."""
    error: str | None = None
    enqueued: int | None = None
    """Milliseconds since 1970."""
    pool: str | None = None
    txn_id: int | None = None
    """The transaction of its worker."""

    @property
    def kind(self) -> str:
        found = KINDS.get(self.type)
        return str(self.type) if found is None else found.name.lower()

    @property
    def info(self) -> CompactionInfoStruct:
        """The struct by which the API refers to it."""
        return CompactionInfoStruct(
            id=self.id,
            dbname=self.table.database,
            tablename=self.table.table,
            partitionname=self.partition,
            type=self.type,
            highestWriteId=self.highest_write_id,
        )


def entries(client: Client) -> list[Entry]:
    """All compactions of the queue and the history, oldest first."""
    found = [
        Entry(
            id=each.id or 0,
            table=TableName("", each.dbname or "", each.tablename or ""),
            partition=each.partitionname or None,
            type=each.type or 0,
            state=each.state or "",
            worker=each.workerid or None,
            highest_write_id=each.hightestWriteId or each.hightestTxnId or None,
            next_txn_id=each.nextTxnId or None,
            error=each.errorMessage or None,
            enqueued=each.enqueueTime or None,
            pool=None if each.poolName == _NO_POOL else each.poolName or None,
            txn_id=each.txnId or None,
        )
        for each in client.api.show_compact(ShowCompactRequest()).compacts or ()
    ]
    return sorted(found)


def request(client: Client, table: TableName, partition: str | None, kind: CompactionKind, by: str) -> int | None:
    """Puts a compaction into the queue. Returns its id; None if one of the same object waits or runs already."""
    rqst = CompactionRequest(
        dbname=table.database, tablename=table.table, partitionname=partition, type=kind.value, initiatorId=by
    )
    reply = client.api.compact2(rqst)
    return reply.id if reply.accepted else None


def worker_id() -> str:
    """The name of this process as a worker: `host-pid`."""
    return f"{socket.gethostname()}-{os.getpid()}"


def interrupted(
    queue: Sequence[Entry], host: str, is_running: Callable[[int], bool], aborted: Container[int] = ()
) -> list[Entry]:
    """Compactions whose workers were killed: on this host their processes do not exist any more.

    On any host, the server has aborted their transactions for lack of heartbeats.
    """
    found = []
    for each in queue:
        name, _, pid = (each.worker or "").rpartition("-")
        gone = name == host and pid.isdigit() and not is_running(int(pid))
        if each.state == WORKING and (gone or (each.txn_id is not None and each.txn_id in aborted)):
            found.append(each)
    return found


def requeue_interrupted(client: Client) -> list[Entry]:
    """Fails compactions whose workers were killed, and requests them again. Returns them."""
    queue = entries(client)
    if not any(each.state == WORKING for each in queue):
        return []
    listed = client.api.get_open_txns_info().open_txns or ()
    aborted = {each.id or 0 for each in listed if each.state == TxnState.ABORTED}
    found = interrupted(queue, socket.gethostname(), is_running, aborted)
    for each in found:
        client.api.mark_failed(replace(each.info, errorMessage="the process of its worker ended"))
        if each.type in KINDS:
            request(client, each.table, each.partition, KINDS[each.type], worker_id())
    return found
