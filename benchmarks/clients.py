"""metastored's client beside the others for Python, on the same server: a table, ten thousand partitions, many calls at
once.

The others are measured by `other_clients.py`, in processes of their own. All decode the same reply, byte for byte.
Complete calls are shown too; the server's share of their time is the same for all. metastored's client caches decoded
columns, so tables are requested in turn: once with few tables, and once with more tables than fit in the cache.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import metastored
from benchmarks.client import rate, request_for
from benchmarks.objects import table
from benchmarks.other_clients import CLIENTS, NEW, TABLES, in_turn, least_work, median, quiet_median
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, add_partitions, prepare
from metastored.client._backend.threads import Deadline
from metastored.client._sync.client import Client
from metastored.client.endpoints import Identity
from metastored.wire.codec import binary
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace

SCRIPT = Path(__file__).with_name("other_clients.py")
WITNESS = SCRIPT.parent.parent / ".venv-witness/bin/python"
LISTING = METHODS["get_partitions"]
GET_TABLE = {"pyiceberg": (5.0, 10.0), "hive-metastore-client": (2.0, 4.0), "pymetastore": (2.0, 4.0)}
"""How many times faster one table should be: at least, and as a goal."""


def python_of(client: str) -> str:
    """hive-metastore-client needs an old version of Thrift, and so an environment of its own."""
    return str(WITNESS) if client == "hive-metastore-client" else sys.executable


def add_tables(client: Client, names: Sequence[str]) -> None:
    """Tables with columns of the same number and length, but different names."""
    for number, name in enumerate(names):
        made = table(DB, name)
        assert made.sd is not None
        columns = tuple(replace(each, comment=f"comment {number} for {each.name}") for each in made.sd.cols or ())
        client.create_table(replace(made, sd=replace(made.sd, cols=columns)))


def encoded_reply(client: Client) -> bytes:
    """All partitions as the server sends them, not decoded."""
    pool, deadline = client.api.pool, Deadline(60.0)
    assert pool is not None
    connection = pool.acquire(Identity(None), deadline)
    reply = connection.call(LISTING, binary.encode_args(LISTING, (DB, "parts", -1)))
    body = deadline.wait(reply, "the partitions").body
    pool.release(connection)
    assert isinstance(body, bytes)
    return body


def acquisition(client: Client) -> None:
    """Takes an idle connection from the pool and returns it."""
    pool = client.api.pool
    assert pool is not None
    pool.release(pool.acquire(Identity(None), Deadline(60.0)))


def measured(client: str, peer: Peer, times: int, reply: Path) -> dict[str, float]:
    """The times of another client, in seconds."""
    # -P: this folder's modules must not shadow Python's own.
    command = [python_of(client), "-P", str(SCRIPT), client, str(peer.port), str(times), str(reply)]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    seconds: dict[str, float] = json.loads(run.stdout)
    return seconds


async def concurrent(uri: str, seconds: float, tasks: int = 64) -> float:
    """Calls a second of one process with this many calls in flight."""
    async with metastored.aconnect(uri, cache=False, pool=metastored.PoolSettings(max_size=tasks)) as client:
        done, end = 0, float("inf")

        async def work() -> None:
            nonlocal done
            while time.perf_counter() < end:
                await client.api.get_table(DB, "wide")
                done += 1

        await asyncio.gather(*(client.api.get_table(DB, "wide") for _ in range(tasks)))
        start = time.perf_counter()
        end = start + seconds
        await asyncio.gather(*(work() for _ in range(tasks)))
        return done / (time.perf_counter() - start)


def busy(results: Results, peer: Peer, seconds: float, least: float, aim: float) -> None:
    """The throughput of one process, relative to the server's maximum: bare requests whose replies are not decoded."""
    wide = request_for("get_table", DB, "wide")
    # Java is slow at first: the first client would be at a disadvantage.
    rate(peer.host, peer.port, wide, 64, seconds)
    many = asyncio.run(concurrent(f"thrift://{peer.host}:{peer.port}", seconds))
    most = rate(peer.host, peer.port, wide, 64, seconds)
    results.more(f"client: 64 calls at a time, over bare requests, {peer.name}", many, most, unit="call/s", least=least,
                 aim=aim)  # fmt: skip


def run(results: Results, quick: bool) -> None:
    parts, times, seconds = (2_000, 300, 2.0) if quick else (10_000, 2_000, 6.0)
    with metastored_on_sqlite() as peer, tempfile.TemporaryDirectory() as scratch:
        prepare(peer)
        add_partitions(peer, parts)
        uri = f"thrift://{peer.host}:{peer.port}"
        with metastored.connect(uri, cache=False) as client:
            add_tables(client, TABLES)
            add_tables(client, NEW)
            ours = quiet_median(in_turn(lambda name: client.api.get_table(DB, name)), times)
            new = quiet_median(in_turn(lambda name: client.api.get_table(DB, name), NEW), times)
            idle = median(lambda: acquisition(client), times)
            listing = median(lambda: client.api.get_partitions(DB, "parts", -1), 5)
            reply = encoded_reply(client)
        decode = least_work(lambda: binary.decode_result(LISTING, reply), 5)
        with metastored.connect(uri, cache=True) as caching:
            cached = quiet_median(in_turn(lambda name: caching.api.get_table(DB, name)), times)
        file = Path(scratch, "reply")
        file.write_bytes(reply)
        others = {name: measured(name, peer, times, file) for name in CLIENTS}
        for name, theirs in others.items():
            least, aim = GET_TABLE[name]
            results.faster(f"client: get_table, over {name}", ours, theirs["get_table"], least=least, aim=aim)
        results.faster("client: get_table, not seen before, over pyiceberg", new, others["pyiceberg"]["get_table, new"],
                       least=5, aim=10)  # fmt: skip
        for name, theirs in others.items():
            results.faster(f"client: decoding {parts:,} partitions, over {name}", decode, theirs["decode"], least=8,
                           aim=24)  # fmt: skip
        fastest = min(theirs["decode in C"] for theirs in others.values())
        results.faster(f"client: decoding {parts:,} partitions, over Thrift's C codec", decode, fastest, least=1, aim=4)
        for name, theirs in others.items():
            results.faster(f"client: {parts:,} partitions, the whole call, over {name}", listing,
                           theirs["get_partitions"], least=4, aim=8)  # fmt: skip
        results.add(Row("client: a cached get_table, over an uncached", cached * 1e3, ours * 1e3, "ms", cached / ours,
                        0.3, 0.2, higher_is_better=False))  # fmt: skip
        results.add(Row("client: a connection from the pool, over 10 ms", idle * 1e3, 10.0, "ms", idle / 0.01, 1.0,
                        0.1, higher_is_better=False))  # fmt: skip
        busy(results, peer, seconds, 0.1, 0.3)
    with apache() as peer:
        prepare(peer)
        # The client shares the machine with the server: decoding takes processor time from the server.
        busy(results, peer, seconds, 0.7, 0.9)
