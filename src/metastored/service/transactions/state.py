"""Shared by the calls for transactions, locks and compactions: clock, timeouts, errors, and aborting.

It serves no call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from metastored.errors import MetastoreError, NoSuchTxnException, TxnAbortedException
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model.names import TableName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.context import Context, Service
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases
from metastored.store.transactions import ended, transactions, write_ids
from metastored.store.transactions.transactions import TxnState, Unfinished
from metastored.wire.generated.transactions import TxnType
from metastored.wire.structs import replace

TIMEOUT: Final = 300_000
"""Milliseconds without a heartbeat after which a transaction or a lock times out (hive.txn.timeout)."""

REPLICATION_TIMEOUT: Final = 11 * 86_400_000
"""As TIMEOUT, for a transaction that is replicated from another metastore (hive.repl.txn.timeout)."""

MAX_SEED: Final = 2**62
"""The highest id that transactions or write ids may be set to begin at: more ids follow it."""

REPLICATION_BROKEN: Final = "repl.incompatible"

REASONS: Final = {
    50001: "abort by query command",
    50002: "concurrent committed transaction",
    50003: "write conflicts",
    50004: "heartbeat time-out",
    50005: "rollback",
    50006: "compaction transaction abort",
    50007: "msck transaction abort",
    50008: "managed migration transaction abort",
    51000: "Replication:default replication transaction abort",
    51001: "Replication:replayed replication transaction abort",
    51002: "Replication:abort of allocated txns for referring mapped write ids as aborted ones",
    51003: "Replication:abort of txns while trying to fetch failover metadata",
    51004: "Replication:abort of write txns for the db under replication",
    51005: "Replication:abort of ongoing txns(opened prior to failover) for the target database",
}
"""The reasons of an abort, by the codes of Hive's clients."""
WRITE_CONFLICT, TIMED_OUT, REPLAYED, REPLICATED_WRITE_ID = (REASONS[code] for code in (50003, 50004, 51001, 51002))
NO_REASON: Final = "none"


def millis(service: Service) -> int:
    """Milliseconds since the epoch, as Hive measures transactions."""
    return int(service.clock() * 1000)


def requested_table(ctx: Context, database: str | None, table: str | None) -> TableName:
    """A table as a request names it; it need not exist."""
    where = ctx.name(database)
    return where.table(normalize(table or ""))


def not_open(txn: Unfinished | None, txn_id: int) -> MetastoreError:
    """The error for a transaction that is not open."""
    if txn is None:
        return NoSuchTxnException(f"No such transaction txnid:{txn_id}")
    if txn.state == TxnState.ABORTED:
        return TxnAbortedException(f"Transaction txnid:{txn_id} already aborted")
    return NoSuchTxnException(f"Transaction txnid:{txn_id} is already committed.")


def require_open(tx: Transaction, txn_id: int) -> Unfinished:
    """Returns and locks the open transaction of this id; raises an error if it is not open."""
    txn = transactions.lock(tx, txn_id)
    if txn is None or txn.state != TxnState.OPEN:
        raise not_open(txn, txn_id)
    return txn


def keep_alive(tx: Transaction, txn_id: int, now: int) -> None:
    """Records a heartbeat of a transaction, which must be open."""
    if not transactions.heartbeat(tx, txn_id, now):
        raise not_open(transactions.find(tx, txn_id), txn_id)


def abort(service: Service, tx: Transaction, ids: Sequence[int], reason: str) -> None:
    """Aborts open transactions, whose rows are locked already: releases their locks and records what they wrote to."""
    transactions.finish(tx, ids, TxnState.ABORTED, millis(service), reason)
    ended.forget(tx, ids)
    for policy in transactions.forget_replicated(tx, ids):
        if reason != REPLAYED:
            _replication_broken(tx, policy.partition(".")[0])


def _replication_broken(tx: Transaction, name: str) -> None:
    """A replica that lost a transaction of its source can no longer follow it; this is recorded in its database."""
    row = databases.find(tx, DEFAULT_CATALOG, normalize(name))
    if row is None:
        return
    database = rows.database_of(row, DEFAULT_CATALOG)
    marked = replace(database, parameters={**(database.parameters or {}), REPLICATION_BROKEN: "true"})
    databases.update(tx, row.id, rows.database_body(marked))


def record_end(ctx: Context, tx: Transaction, event: str, ended: Iterable[Unfinished]) -> None:
    """Records the events of transactions that were committed or aborted; call it last. Readers have no event."""
    for txn in ended:
        if txn.type == TxnType.READ_ONLY:
            continue
        written = [
            ("write", "\0".join((item.cat, item.db, item.tbl, str(item.write_id))).encode())
            for item in write_ids.of_txn(tx, txn.id)
        ]
        record(ctx, tx, event, parts=[("txn", b"%d" % txn.id), ("type", b"%d" % txn.type), *written])


def abort_stale(ctx: Context, tx: Transaction, ids: Sequence[int] | None = None) -> list[Unfinished]:
    """Aborts transactions without a heartbeat for too long: all, or those of `ids`. Records no event."""
    now = millis(ctx.service)
    stale = transactions.stale(tx, now - TIMEOUT, now - REPLICATION_TIMEOUT, TxnType.REPL_CREATED, ids)
    if stale:
        abort(ctx.service, tx, [txn.id for txn in stale], TIMED_OUT)
    return stale
