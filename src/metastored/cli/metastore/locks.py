"""`metastored locks` and `metastored transactions`: who holds what, who waits for whom, and how a transaction ends."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from metastored.cli.errors import complain, explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import moment_of_milliseconds, print_rows
from metastored.errors import ConfigError, Error

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

Name = Annotated[
    str | None, typer.Argument(metavar="DB[.TABLE]", help="Only locks on this database, or on this table.")
]
Abort = Annotated[
    list[int] | None,
    typer.Option("--abort", metavar="ID", min=1, help="End an open transaction: nothing of it is kept."),
]
OpenOnly = Annotated[bool, typer.Option("--open", help="Only open transactions, not aborted ones.")]

LOCKS = ("lock", "state", "type", "object", "transaction", "user", "host", "acquired", "heartbeat", "blocked_by")
TRANSACTIONS = ("transaction", "state", "user", "host", "started", "heartbeat", "agent")


@explained
@options(server=Server.read)
def locks(server: Server, name: Name = None, output: Output = "text") -> None:
    """List the locks that are held or waited for."""
    from metastored.wire.generated.locks import LockState, LockType, ShowLocksRequest

    database, dot, table = (name or "").partition(".")
    if (dot and not table) or "." in table:
        # The request has no field for the catalog before Hive 4.1.
        raise ConfigError(f"{name!r} names no database and no table: write db or db.table")
    request = ShowLocksRequest(dbname=database or None, tablename=table or None)
    with server.connect() as client:
        shown_locks = client.api.show_locks(request).locks or ()
        held = _holder(client)
    rows = [
        (
            each.lockid,
            LockState.NAMES.get(each.state or 0, str(each.state)).lower(),
            LockType.NAMES.get(each.type or 0, str(each.type)).lower(),
            ".".join(part for part in (each.dbname, each.tablename) if part)
            + (f"/{each.partname}" if each.partname else ""),
            each.txnid or None,
            each.user,
            each.hostname,
            moment_of_milliseconds(each.acquiredat),
            moment_of_milliseconds(each.lastheartbeat),
            each.blockedByExtId or None,
        )
        for each in sorted(shown_locks, key=lambda lock: (lock.lockid or 0, lock.lockIdInternal or 0))
    ]
    print_rows(LOCKS, rows, output)
    if held is not None:
        complain(held)


def _holder(client: Client) -> object | None:
    """The transaction that the cleaner of compactions waits for: a hint, for those who may read the queue."""
    from metastored.spark.acid.compaction.waiting import find_holder

    with suppress(Error):
        return find_holder(client)
    return None


@explained
@options(server=Server.read)
def transactions(server: Server, open_only: OpenOnly = False, abort: Abort = None, output: Output = "text") -> None:
    """List open transactions, and aborted ones not yet cleaned up. With --abort, end some of them first."""
    from metastored.wire.generated.transactions import AbortTxnRequest, TxnState

    with server.connect() as client:
        for each in abort or ():
            client.api.abort_txn(AbortTxnRequest(txnid=each))
        opened = client.api.get_open_txns_info().open_txns or ()
        held = _holder(client)
    rows = [
        (
            each.id,
            TxnState.NAMES.get(each.state or 0, str(each.state)).lower(),
            each.user,
            each.hostname,
            moment_of_milliseconds(each.startedTime),
            moment_of_milliseconds(each.lastHeartbeatTime),
            each.agentInfo,
        )
        for each in sorted(opened, key=lambda txn: txn.id or 0)
        if not open_only or each.state == TxnState.OPEN
    ]
    print_rows(TRANSACTIONS, rows, output)
    if held is not None:
        complain(held)
