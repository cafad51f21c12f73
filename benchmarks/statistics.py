"""Column statistics of a partitioned table in one reply: requested for the first time, and again, as planners do.

Both servers cache the aggregated statistics. The first time is a single call, since an Apache metastore also uses its
cache for similar requests. The last row has two other clients beside it, which alter other tables and write statistics
of their partitions, at the same rate for both servers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.client import Client, median_time, request_for
from benchmarks.objects import COLUMNS, batches, table
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results
from metastored.hive.names import make_part_name
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    StringColumnStatsData,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.statistics import PartitionsStatsRequest, SetPartitionsStatsRequest
from metastored.wire.structs import replace

DB = "bench_statistics"
BATCH = 50
WRITERS = 2
PAUSE = 0.02
"""Seconds between two writes of one writer."""


def _statistics(part: str, number: int, name: str = "parts") -> ColumnStatistics:
    desc = ColumnStatisticsDesc(isTblLevel=False, dbName=DB, tableName=name, partName=part)
    objects = tuple(
        ColumnStatisticsObj(
            column.name,
            column.type,
            ColumnStatisticsData(stringStats=StringColumnStatsData(number % 90 + at, 4.5, number % 7, number % 97 + 1)),
        )
        for at, column in enumerate(COLUMNS)
    )
    return ColumnStatistics(statsDesc=desc, statsObj=objects)


def prepare(peer: Peer, parts: int) -> list[str]:
    """The names of partitions that all have statistics of all columns."""
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    client.call("create_table", table(DB, "parts", partitioned=True))
    names: list[str] = []
    for batch in batches(DB, "parts", parts):
        client.call("add_partitions", batch)
        names += [make_part_name(("ds", "h"), partition.values or ()) for partition in batch]
    for start in range(0, parts, BATCH):
        chosen = list(enumerate(names))[start : start + BATCH]
        statistics = tuple(_statistics(name, number) for number, name in chosen)
        client.call("set_aggr_stats_for", SetPartitionsStatsRequest(colStats=statistics))
    client.close()
    return names


@contextmanager
def writing(peer: Peer) -> Iterator[None]:
    """Clients that write to other tables until the block ends. Raises an error if one of them failed."""
    stop = threading.Event()
    errors: list[BaseException] = []

    def write(name: str) -> None:
        client = Client(peer.host, peer.port)
        try:
            client.call("create_table", table(DB, name, partitioned=True))
            (batch,) = batches(DB, name, 1)
            client.call("add_partitions", batch)
            part = make_part_name(("ds", "h"), batch[0].values or ())
            stored, number = client.call("get_table", DB, name), 0
            while not stop.wait(PAUSE):
                number += 1
                client.call("update_partition_column_statistics", _statistics(part, number, name))
                parameters = {**(stored.parameters or {}), "written": str(number)}
                client.call("alter_table", DB, name, replace(stored, parameters=parameters))
        except Exception as error:
            errors.append(error)
        finally:
            client.close()

    threads = [threading.Thread(target=write, args=(f"other_{number}",)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def run(results: Results, quick: bool) -> None:
    parts = 200 if quick else 1_000

    def measure(peer: Peer) -> tuple[float, float, float]:
        names = tuple(prepare(peer, parts))
        columns = tuple(column.name or "" for column in COLUMNS)
        question = PartitionsStatsRequest(dbName=DB, tblName="parts", colNames=columns, partNames=names)
        request = request_for("get_aggr_stats_for", question)
        client = Client(peer.host, peer.port)
        start = time.perf_counter()
        client.call("get_aggr_stats_for", question)
        first = time.perf_counter() - start
        client.close()
        again = median_time(peer.host, peer.port, request, 50)
        with writing(peer):
            return first, again, median_time(peer.host, peer.port, request, 50)

    with apache() as peer:
        their_first, theirs, theirs_beside = measure(peer)
    with metastored_on_sqlite() as peer:
        first, ours, ours_beside = measure(peer)
    what = f"get_aggr_stats_for, {parts:,} partitions, {len(COLUMNS)} columns"
    results.faster(f"{what}, first", first, their_first, least=10, aim=20)
    results.faster(f"{what}, again", ours, theirs, least=10, aim=20)
    beside = f"{what}, again, with writers on other tables beside it"
    results.faster(beside, ours_beside, theirs_beside, least=10, aim=20)
