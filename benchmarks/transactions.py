"""Transactions, write ids and locks, side by side: 2.3.10 where it has the call, else 3.1.3."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice

from benchmarks.client import Client, median_after, median_time, request_for
from benchmarks.objects import table
from benchmarks.peers import Peer, apache, apache_3, metastored_on_postgres, metastored_on_sqlite
from benchmarks.rows import Results
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.databases import Database
from metastored.wire.generated.locks import LockComponent, LockRequest, UnlockRequest
from metastored.wire.generated.transactions import (
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    GetValidWriteIdsRequest,
    OpenTxnRequest,
)

DB = "txns"
OPEN = 10_000
CYCLE = "open, write id, lock and commit of a transaction"


def each(times: int, action: Callable[[], object]) -> float:
    """Seconds of one, over many."""
    start = time.perf_counter()
    for _ in range(times):
        action()
    return (time.perf_counter() - start) / times


def locks_and_transactions(peer: Peer, times: int) -> dict[str, float]:
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "t"))
    lock = LockRequest((LockComponent(1, 2, DB, "t"),), user="u", hostname="h")

    def pair() -> None:
        client.call("unlock", UnlockRequest(client.call("lock", lock).lockid))

    def transaction() -> None:
        (txn,) = client.call("open_txns", OpenTxnRequest(1, "u", "h")).txn_ids
        client.call("commit_txn", CommitTxnRequest(txn))

    seconds = {"lock and unlock": each(times, pair), "open_txns and commit_txn": each(times, transaction)}
    client.close()
    return seconds


def cycle(peer: Peer, times: int) -> float:
    """Seconds of a whole transaction that inserts into a table, over many."""
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB + "3"))
    client.call("create_table", table(DB + "3", "t"))

    def transaction() -> None:
        (txn,) = client.call("open_txns", OpenTxnRequest(1, "u", "h")).txn_ids
        client.call("allocate_table_write_ids", AllocateTableWriteIdsRequest(DB + "3", "t", txnIds=(txn,)))
        component = LockComponent(1, 2, DB + "3", "t", operationType=DataOperationType.INSERT)
        client.call("lock", LockRequest((component,), txnid=txn, user="u", hostname="h"))
        client.call("commit_txn", CommitTxnRequest(txn))

    each(times // 5, transaction)
    seconds = each(times, transaction)
    client.close()
    return seconds


def valid_at(opened: Sequence[int]) -> bytes:
    """Requests the snapshot of a reader that begins while these are open."""
    snapshot = f"{opened[-1]}:{opened[0]}:{','.join(map(str, opened))}:"
    return request_for("get_valid_write_ids", GetValidWriteIdsRequest((f"{DB}2.t",), snapshot))


def write_ids(peer: Peer, times: int, unfinished: int) -> dict[str, float]:
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB + "2"))
    client.call("create_table", table(DB + "2", "t"))
    opened: list[int] = []
    while len(opened) < unfinished:
        opened += client.call("open_txns", OpenTxnRequest(min(1000, unfinished - len(opened)), "u", "h")).txn_ids
    transactions = iter(opened)

    def allocate() -> None:
        request = AllocateTableWriteIdsRequest(DB + "2", "t", txnIds=(next(transactions),))
        client.call("allocate_table_write_ids", request)

    seconds = {"allocate_table_write_ids": each(times, allocate)}
    valid = valid_at(opened)
    count = max(10, times // 10)
    seconds[f"get_valid_write_ids, {unfinished:,} open"] = median_time(peer.host, peer.port, valid, count)

    def transaction() -> int:
        (txn,) = client.call("open_txns", OpenTxnRequest(1, "u", "h")).txn_ids
        return int(txn)

    def ended() -> bytes:
        client.call("commit_txn", CommitTxnRequest(transaction()))
        return valid

    def begun() -> bytes:
        opened.append(transaction())
        return valid_at(opened)

    name = f"get_valid_write_ids, {unfinished:,} open"
    seconds[f"{name}, after others' writes"] = median_after(peer.host, peer.port, ended, count)
    seconds[f"{name}, a snapshot of its own"] = median_after(peer.host, peer.port, begun, count)
    while writers := tuple(islice(transactions, 1000)):
        client.call("allocate_table_write_ids", AllocateTableWriteIdsRequest(DB + "2", "t", txnIds=writers))
    client.close()
    seconds[f"get_valid_write_ids, {unfinished:,} open and writing"] = median_time(peer.host, peer.port, valid, count)
    return seconds


def run(results: Results, quick: bool) -> None:
    times, unfinished = (50, 1000) if quick else (300, OPEN)
    with apache() as peer:
        theirs = locks_and_transactions(peer, times)
    with apache_3() as peer:
        theirs[CYCLE] = cycle(peer, times)
        theirs |= write_ids(peer, times, unfinished)
    with metastored_on_sqlite() as peer:
        ours = locks_and_transactions(peer, times)
        on_sqlite = cycle(peer, times)
        ours |= write_ids(peer, times, unfinished)
    with metastored_on_postgres() as peer:
        on_postgres = cycle(peer, times)
    results.faster(CYCLE, on_sqlite, theirs[CYCLE], least=15, aim=25)
    results.faster("the same on PostgreSQL", on_postgres, theirs[CYCLE], least=8, aim=14)
    for name, seconds in ours.items():
        # If all of them write to the table, the reply lists them all, and reading them is most of the work. If each
        # reader has its own snapshot, sending and reading 50 KB is most of the work.
        shown = name.endswith(("writing", "of its own"))
        results.faster(name, seconds, theirs[name], least=1 if shown else 10, aim=10)
