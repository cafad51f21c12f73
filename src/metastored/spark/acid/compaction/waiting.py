"""Which transactions keep the cleaner from removing what compactions have replaced. Nothing is ended here.

A transaction that was open when a compaction was committed may read the old files, so they stay until it has ended. One
that a client forgot, and still sends heartbeats for, keeps the old files of every later compaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from metastored.client._sync.client import Client
from metastored.hive.transactions.compaction import is_free
from metastored.model.counting import counted
from metastored.spark.acid.compaction.queue import READY, Entry, entries
from metastored.wire.generated.transactions import TxnInfo, TxnState


class Holder(NamedTuple):
    """The oldest open transaction, and the compactions that wait for its end."""

    transaction: int
    user: str
    host: str
    compactions: tuple[Entry, ...]

    @property
    def command(self) -> str:
        """How it is ended."""
        return f"metastored transactions --abort {self.transaction}"

    def __str__(self) -> str:
        files = counted(len(self.compactions), "compaction")
        return (
            f"the old files of {files} are kept for transaction {self.transaction} of {self.user or 'an unknown user'} "
            f"on {self.host or 'an unknown host'}; if its client has forgotten it, `{self.command}` ends it"
        )


def holder(queue: Sequence[Entry], transactions: Iterable[TxnInfo]) -> Holder | None:
    """Pure: the holder in a queue and a list of transactions; None if the cleaner waits for nobody."""
    opened = [each for each in transactions if each.state == TxnState.OPEN]
    oldest = min(opened, key=lambda each: each.id or 0, default=None)
    if oldest is None:
        return None
    number = oldest.id or 0
    waiting = tuple(each for each in queue if each.state == READY and not is_free(each.next_txn_id, number))
    if not waiting:
        return None
    return Holder(number, oldest.user or "", oldest.hostname or "", waiting)


def find_holder(client: Client, queue: Sequence[Entry] | None = None) -> Holder | None:
    """The transaction that holds the cleaner of a metastore back, if there is one. `queue` saves a call."""
    queue = entries(client) if queue is None else queue
    if not any(each.state == READY for each in queue):
        return None
    return holder(queue, client.api.get_open_txns_info().open_txns or ())
