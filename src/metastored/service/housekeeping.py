"""Background work without a client's call: timeouts, and the removal of records that no reader needs any more.

Old directories in the trash are removed too. Every step is a transaction of its own, looks up its own work, and skips
rows that another server has locked. Servers may run it at the same time, and a crash in between leaves nothing
incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from metastored.service.core.context import Context, Service
from metastored.service.transactions.state import TIMEOUT, abort_stale, millis, record_end
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions import compactions, components, locks, transactions, write_ids
from metastored.store.transactions.compactions import CompactionRow
from metastored.store.warehouse.trash import expire
from metastored.wire.generated.common import CompactionType
from metastored.wire.message import Session

REMEMBERED: Final = 3_600_000
"""Milliseconds for which the outcome of an ended transaction is stored, for clients that request it twice."""

WORKER_TIMEOUT: Final = 86_400_000
"""Milliseconds after which another worker may take a compaction (hive.compactor.worker.timeout)."""

HISTORY_TIMEOUT: Final = 7 * 86_400_000
"""Milliseconds for which failures are stored that a later success has made unimportant."""

KEPT: Final = {
    compactions.SUCCEEDED: 3,
    compactions.FAILED: 3,
    compactions.REFUSED: 3,
    compactions.DID_NOT_INITIATE: 2,
}
"""How many ended compactions of each state are stored per table or partition (hive.compactor.history.retention.*)."""


def reap(service: Service) -> None:
    """Runs all steps once."""
    ctx = Context(service, Session())
    database, now = service.database, millis(service)
    database.run(lambda tx: locks.delete_stale(tx, now - TIMEOUT))
    database.run(lambda tx: record_end(ctx, tx, "ABORT_TXN", abort_stale(ctx, tx)))
    database.run(lambda tx: locks.delete_stale_rebuilds(tx, now - TIMEOUT))
    database.run(lambda tx: _forget_transactions(tx, now))
    database.run(lambda tx: compactions.revoke(tx, now - WORKER_TIMEOUT))
    expire(database, service.warehouse, service.clock())
    database.run(lambda tx: compactions.delete(tx, list(outdated(compactions.history(tx), now - HISTORY_TIMEOUT))))


def _forget_transactions(tx: Transaction, now: int) -> None:
    opened = transactions.min_open(tx)
    components.purge_sets(tx, transactions.high_water_mark(tx) + 1 if opened is None else opened)
    write_ids.purge(tx, transactions.min_uncommitted(tx))
    transactions.purge(tx, now - REMEMBERED)


def outdated(history: Iterable[CompactionRow], before: int) -> Iterator[int]:
    """The ids of ended compactions to delete. The rows are grouped by table or partition, the latest first."""
    for _, rows in groupby(history, key=lambda row: (row.table, row.part)):
        remaining = dict(KEPT)
        major = minor = False
        for row in rows:
            if row.state not in remaining:
                continue
            remaining[row.state] -= 1
            if row.state == compactions.SUCCEEDED:
                major = major or row.type == CompactionType.MAJOR
                minor = minor or row.type != CompactionType.MAJOR
                superseded = False
            else:
                superseded = major or (minor and row.type == CompactionType.MINOR)
            if remaining[row.state] < 0 or (superseded and (row.start or 0) < before):
                yield row.id
