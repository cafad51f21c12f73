"""A client that lives long: many calls of many kinds, over servers that are restarted, in memory that does not grow."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest

import metastored
from benchmarks.objects import table
from metastored.client._sync.client import Client
from metastored.client.cache import CacheSettings
from metastored.errors import TableNotFound
from metastored.testing import running_server

CALLS = 200_000
WARM = CALLS // 10
RESTARTS = 10


def resident() -> int:
    """Bytes of memory that this process has."""
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
    client = metastored.connect(f"thrift://127.0.0.1:{port}", cache=CacheSettings(capacity=100, events_every=0.1))
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
