"""The rows of the first slice: reads and changes of partitions, one connection and many, starting and memory."""

from __future__ import annotations

import time

from benchmarks.client import Client, median_time, rate, reply_length, request_for
from benchmarks.objects import batches, drops, table
from benchmarks.peers import Peer, apache, metastored_on_postgres, metastored_on_sqlite
from benchmarks.rows import Results, Row
from metastored.wire.structs import replace

DB = "bench"
ALTERED = 1_000
CONNECTIONS = 64
MEGABYTE = 1024 * 1024


def prepare(peer: Peer) -> None:
    from metastored.wire.generated.databases import Database

    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "wide"))
    client.call("create_table", table(DB, "parts", partitioned=True))
    client.close()


def add_partitions(peer: Peer, count: int) -> float:
    """Seconds to add this many partitions, a thousand per call. Encoding is not counted: it is the client's work."""
    client = Client(peer.host, peer.port)
    requests = [request_for("add_partitions", batch) for batch in batches(DB, "parts", count)]
    # The reply has the same header as a request, then one number and a STOP: a byte less than an empty list.
    length = len(request_for("add_partitions", ())) - 1
    taken = 0.0
    for request in requests:
        start = time.perf_counter()
        client.exchange(request, length)
        taken += time.perf_counter() - start
    client.close()
    return taken


def alter_partitions(peer: Peer, turns: int) -> float:
    """The best time of one call that changes a parameter of many partitions. Encoding is not counted here either."""
    client = Client(peer.host, peer.port)
    parts = client.call("get_partitions", DB, "parts", ALTERED)
    requests = [
        request_for(
            "alter_partitions",
            DB,
            "parts",
            tuple(replace(part, parameters={**part.parameters, "turn": str(turn)}) for part in parts),
        )
        for turn in range(turns)
    ]
    # The reply has the header of a request and a STOP, as a call without arguments.
    length = len(request_for("shutdown")) - len("shutdown") + len("alter_partitions")
    best = float("inf")
    for request in requests:
        start = time.perf_counter()
        client.exchange(request, length)
        best = min(best, time.perf_counter() - start)
    altered = client.call("get_partitions", DB, "parts", 1)[0].parameters["turn"]
    if altered != str(turns - 1):
        raise RuntimeError(f"{peer.name} did not alter the partitions: turn {altered}")
    client.close()
    return best


def drop_partitions(peer: Peer, count: int) -> float:
    """Seconds to drop all partitions, which are this many, by names."""
    client = Client(peer.host, peer.port)
    requests = list(drops(DB, "parts", count))
    start = time.perf_counter()
    for request in requests:
        client.call("drop_partitions_req", request)
    taken = time.perf_counter() - start
    if remaining := client.call("get_partition_names", DB, "parts", -1):
        raise RuntimeError(f"{peer.name} left {len(remaining)} partitions")
    client.close()
    return taken


def bulk_time(peer: Peer, request: bytes, times: int) -> float:
    """The best of a few long replies, to their last byte."""
    length = reply_length(peer.host, peer.port, request)
    client = Client(peer.host, peer.port)
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        client.exchange(request, length)
        best = min(best, time.perf_counter() - start)
    client.close()
    return best


def run(results: Results, quick: bool) -> None:
    parts = 2_000 if quick else 10_000
    times = 500 if quick else 3_000
    seconds = 2.0 if quick else 6.0
    get_table = request_for("get_table", DB, "wide")
    get_partitions = request_for("get_partitions", DB, "parts", -1)
    by_filter = request_for("get_partitions_by_filter", DB, "parts", 'ds = "day-000003"', -1)

    def measure(peer: Peer) -> dict[str, float]:
        figures = {"start": peer.started_in, "memory after start": peer.memory}
        prepare(peer)
        figures["add"] = add_partitions(peer, parts)
        figures["get_table"] = median_time(peer.host, peer.port, get_table, times)
        figures["rate"] = rate(peer.host, peer.port, get_table, CONNECTIONS, seconds)
        figures["list"] = bulk_time(peer, get_partitions, 3)
        figures["filter"] = median_time(peer.host, peer.port, by_filter, max(50, times // 10))
        figures["memory after the run"] = peer.memory
        figures["alter"] = alter_partitions(peer, 3)
        figures["drop"] = drop_partitions(peer, parts)
        return figures

    with apache() as peer:
        theirs = measure(peer)
    with metastored_on_sqlite() as peer:
        ours = measure(peer)
    with metastored_on_sqlite(workers=2) as peer:
        prepare(peer)
        two_workers = rate(peer.host, peer.port, get_table, CONNECTIONS, seconds)
    with metastored_on_postgres() as peer:
        prepare(peer)
        postgres = median_time(peer.host, peer.port, get_table, times)
    faster, more = results.faster, results.more
    faster("get_table, 50 columns, one connection", ours["get_table"], theirs["get_table"], least=30, aim=40)
    faster("the same on PostgreSQL", postgres, theirs["get_table"], least=14, aim=20)
    many = f"get_table, {CONNECTIONS} connections"
    more(many, ours["rate"], theirs["rate"], unit="call/s", least=20, aim=60)
    more(f"{many}, two workers", two_workers, theirs["rate"], unit="call/s", least=40, aim=60)
    faster(f"get_partitions of {parts:,}, bytes received", ours["list"], theirs["list"], least=15, aim=20)
    faster(f"get_partitions_by_filter, 24 of {parts:,}", ours["filter"], theirs["filter"], least=15, aim=30)
    faster(f"add_partitions, {parts:,} in calls of 1,000", ours["add"], theirs["add"], least=60, aim=100)
    faster(f"alter_partitions of {ALTERED:,}", ours["alter"], theirs["alter"], least=60, aim=100)
    faster(f"drop of {parts:,} partitions by names", ours["drop"], theirs["drop"], least=60, aim=100)
    faster("start to first reply", ours["start"], theirs["start"], least=12, aim=20)
    for name, least, aim in (("memory after start", 10, 12), ("memory after the run", 5, 8)):
        mine, other = ours[name] / MEGABYTE, theirs[name] / MEGABYTE
        results.add(Row(name, mine, other, "MB", other / mine, least, aim))
