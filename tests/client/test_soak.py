"""A client in use for a long time: its memory does not grow, nor the number of its connections."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import metastored
from benchmarks.objects import table
from metastored.client._sync.client import Client
from metastored.client.cache import CacheSettings
from metastored.errors import TableNotFound
from tests.server.support import certificate
from tests.support.driven import HALVES, connected
from tests.support.forks import running_server
from tests.support.relay import relayed
from tests.support.waiting import pause

pytestmark = pytest.mark.slow

CALLS = 200_000
WARM = CALLS // 10
RESTARTS = 10


def resident() -> int:
    """The resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def work(client: Client, count: int, chance: random.Random) -> None:
    for _ in range(count):
        name = f"t{chance.randrange(200)}"
        match chance.randrange(20):
            case 0:
                client.set_parameters(f"soak.{name}", seen=str(chance.randrange(1000)))
            case 1:
                client.tables("soak", "t1*")
            case 2:
                with pytest.raises(TableNotFound):
                    client.table(f"soak.no_{name}")
            case _:
                client.table(f"soak.{name}")


@pytest.mark.soak
def test_memory_does_not_grow_over_many_calls_and_restarts(tmp_path: Path) -> None:
    chance = random.Random(1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"port": port, "data": tmp_path / "data", "warehouse": (tmp_path / "warehouse").as_uri()}
    client = metastored.connect(f"thrift://127.0.0.1:{port}", cache=CacheSettings(table_capacity=100, events_every=0.1))
    warm = 0
    try:
        for turn in range(RESTARTS):
            with running_server(**options):
                if turn == 0:
                    client.create_database("soak")
                    for at in range(200):
                        client.create_table(table("soak", f"t{at}"))
                work(client, CALLS // RESTARTS, chance)
            if turn == 0:
                warm = resident()
    finally:
        client.close()
    assert CALLS // RESTARTS == WARM
    assert resident() <= warm * 1.1
    stats = client.pool_stats()
    assert stats is not None
    # After each restart one connection for the calls and one for the polls of events beside them; a call that finds its
    # connection closed drops all idle ones, among them perhaps the new one of a poll.
    assert stats.opened <= 3 * RESTARTS
    assert (stats.busy, stats.waiting) == (0, 0)


@pytest.mark.parametrize("bursts", [5, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("half", HALVES)
def test_the_number_of_connections_does_not_grow_over_bursts_of_calls(half: str, bursts: int, tmp_path: Path) -> None:
    """With TLS 1.3, and as many idle connections as in the document: all connections are counted by a relay."""
    cert, key = certificate(tmp_path)
    context = ssl.create_default_context(cafile=str(cert))
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with running_server(tls_certificate=cert, tls_key=key, http_port=0, http_methods="all") as server:
        assert server.http_port is not None
        with relayed(server.http_port) as relay:
            uri = f"https://localhost:{relay.port}/metastore"
            pool = metastored.PoolSettings(max_size=20, min_idle=5, look_every=0.02, idle_timeout=2.0)
            with connected(half, uri, pool=pool, tls=context) as client:
                for _ in range(bursts):
                    burst(half, client)
                    pause(client, 0.02)
                most = client.pool_stats().opened
                # A connection is opened again only when it was idle for two seconds.
                assert relay.accepted <= 20 + bursts
                assert client.pool_stats().size <= 20
                while client.pool_stats().size > 5 or relay.opened > 5:
                    pause(client, 0.02)
                pause(client, 1.0)
                stats = client.pool_stats()
                assert (stats.idle, stats.busy, stats.opened) == (5, 0, most), "no connection is replaced"


def burst(half: str, client: Any) -> None:
    """A hundred calls of twenty threads or tasks."""
    if half == "async":

        async def calls() -> None:
            await asyncio.gather(*(client._inner.databases() for _ in range(100)))

        client._runner.run(calls())
        return
    with ThreadPoolExecutor(20) as threads:
        assert all("default" in names for names in threads.map(lambda _: client.databases(), range(100)))
