"""skep's client beside others, on the same server: one table, ten thousand partitions, many calls at a time.

hive-metastore-client lives in an environment of its own (it pins an old Thrift), so it is measured in a process of its
own. Apache Thrift's C extension is the fastest other codec there is for Python.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import skep
from benchmarks.client import rate, request_for
from benchmarks.peers import Peer, skep_on_sqlite
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, add_partitions, prepare
from tests.support.apache_thrift import ApacheClient

WITNESS = Path(__file__).resolve().parent.parent / ".venv-witness/bin/python"
THEIRS = """
import json, statistics, sys, time
from hive_metastore_client import HiveMetastoreClient

def median(function, times):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[times // 5:])

with HiveMetastoreClient("127.0.0.1", int(sys.argv[1])) as client:
    print(json.dumps([
        median(lambda: client.get_table("bench", "wide"), int(sys.argv[2])),
        median(lambda: client.get_partitions("bench", "parts", -1), 2),
    ]))
"""


def median(function: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[times // 5 :])


def hive_metastore_client(peer: Peer, times: int) -> tuple[float, float]:
    """Seconds for one table, and for all partitions."""
    run = subprocess.run(
        [WITNESS, "-c", THEIRS, str(peer.port), str(times)], check=True, capture_output=True, text=True, timeout=600
    )
    table, partitions = json.loads(run.stdout)
    return table, partitions


async def concurrent(uri: str, seconds: float, tasks: int = 64) -> float:
    """Calls a second of one process that keeps so many on their way."""
    async with skep.aconnect(uri, cache=False, max_size=tasks) as client:
        end = time.perf_counter() + seconds
        done = 0

        async def work() -> None:
            nonlocal done
            while time.perf_counter() < end:
                await client.api.get_table(DB, "wide")
                done += 1

        start = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(tasks)))
        return done / (time.perf_counter() - start)


def run(results: Results, quick: bool) -> None:
    parts, times, seconds = (2_000, 300, 2.0) if quick else (10_000, 2_000, 6.0)
    with skep_on_sqlite() as peer:
        prepare(peer)
        add_partitions(peer, parts)
        uri = f"thrift://{peer.host}:{peer.port}"
        table, listing = hive_metastore_client(peer, times)
        apache = ApacheClient(peer.host, peer.port, "binary-accelerated", False, "3.1", 600)
        apache_table = median(lambda: apache.call("get_table", DB, "wide"), times)
        apache_listing = median(lambda: apache.call("get_partitions", DB, "parts", -1), 3)
        apache.close()
        with skep.connect(uri, cache=False) as client:
            ours = median(lambda: client.api.get_table(DB, "wide"), times)
            our_listing = median(lambda: client.api.get_partitions(DB, "parts", -1), 3)
        with skep.connect(uri) as remembering:
            cached = median(lambda: remembering.api.get_table(DB, "wide"), times)
        many = asyncio.run(concurrent(uri, seconds))
        busy = rate(peer.host, peer.port, request_for("get_table", DB, "wide"), 64, seconds)
    results.faster("client: get_table, over hive-metastore-client", ours, table, least=2, aim=4)
    results.faster("client: get_table, over Apache Thrift's C codec", ours, apache_table, least=1, aim=1.5)
    results.add(Row("client: a cached get_table, over an uncached", cached * 1e3, ours * 1e3, "ms", cached / ours, 0.3,
                    0.2, higher_is_better=False))  # fmt: skip
    results.faster(f"client: {parts:,} partitions, over hive-metastore-client", our_listing, listing, least=8, aim=16)
    results.faster(f"client: {parts:,} partitions, over Apache's C codec", our_listing, apache_listing, least=1, aim=2)
    results.more("client: 64 calls at a time, over requests that are not decoded", many, busy, unit="call/s", least=0.1,
                 aim=0.3)  # fmt: skip
