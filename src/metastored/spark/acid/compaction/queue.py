"""The metastore's queue of compactions, by its API: listed, requested, and changed in the name of a worker."""

from __future__ import annotations

import os
import re
import socket
import uuid
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from metastored.client._sync.client import Client
from metastored.client._sync.leases import Lease
from metastored.errors import NoSuchTxnException
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import TableName
from metastored.wire.generated.common import CompactionInfoStruct
from metastored.wire.generated.compaction import CompactionRequest, ShowCompactRequest
from metastored.wire.generated.transactions import AbortTxnRequest, TxnState
from metastored.wire.structs import replace

READY: Final = "ready for cleaning"
WORKING: Final = "working"
INITIATED: Final = "initiated"
FAILED: Final = frozenset({"failed", "did not initiate", "attempted"})
KINDS: Final = {kind.value: kind for kind in CompactionKind}
_OURS: Final = re.compile(r"metastored-.*-\d+-[0-9a-f]{16}")
"""The names of our workers. Those of Hive are a host and a thread."""
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
    committed: int | None = None
    """When its transaction was committed, in milliseconds since 1970; None where the server does not say."""

    @property
    def kind(self) -> str:
        kind_of_compaction = KINDS.get(self.type)
        return str(self.type) if kind_of_compaction is None else kind_of_compaction.name.lower()

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
    queue = [
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
            committed=each.commitTime or None,
        )
        for each in client.api.show_compact(ShowCompactRequest()).compacts or ()
    ]
    return sorted(queue)


def request(client: Client, table: TableName, partition: str | None, kind: CompactionKind, by: str) -> int | None:
    """Puts a compaction into the queue. Returns its id; None if one of the same object waits or runs already."""
    rqst = CompactionRequest(
        dbname=table.database, tablename=table.table, partitionname=partition, type=kind.value, initiatorId=by
    )
    reply = client.api.compact2(rqst)
    return reply.id if reply.accepted else None


def worker_id() -> str:
    """A new name for a worker. Its lease has the same name, and the queue shows it."""
    # The server stores 128 characters.
    return f"metastored-{socket.gethostname()[:60]}-{os.getpid()}-{uuid.uuid4().hex[:16]}"


def worker_lease(client: Client, worker: str) -> Lease:
    """The lease of a worker that is at work."""
    return client.lease(f"worker {worker}", f"the work of {worker}")


def interrupted(queue: Sequence[Entry], is_free: Callable[[str], bool], aborted: Container[int] = ()) -> list[Entry]:
    """Compactions whose workers are gone: their leases are free.

    Workers of Hive have no lease. They are gone when the server has aborted their transactions for lack of heartbeats.
    """
    return [
        each
        for each in queue
        if each.state == WORKING
        and (
            (each.txn_id is not None and each.txn_id in aborted)
            or (each.worker is not None and _OURS.fullmatch(each.worker) and is_free(each.worker))
        )
    ]


def requeue_interrupted(client: Client) -> list[Entry]:
    """Fails compactions whose workers are gone, and requests them again. Returns them."""
    queue = entries(client)
    if not any(each.state == WORKING for each in queue):
        return []
    listed = client.api.get_open_txns_info().open_txns or ()
    aborted = {each.id or 0 for each in listed if each.state == TxnState.ABORTED}
    entries_interrupted = interrupted(queue, lambda worker: worker_lease(client, worker).is_free(), aborted)
    for each in entries_interrupted:
        if each.txn_id is not None and each.txn_id not in aborted:
            # A worker that was only slow must not commit beside the next one.
            with suppress(NoSuchTxnException):
                client.api.abort_txn(AbortTxnRequest(txnid=each.txn_id))
        client.api.mark_failed(replace(each.info, errorMessage="its worker is gone"))
        if each.type in KINDS:
            request(client, each.table, each.partition, KINDS[each.type], worker_id())
    return entries_interrupted
