"""A server that is killed in the middle of its work: what it acknowledged is there, and nothing is half made."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import Error
from metastored.hive.locations import local_path
from metastored.testing import RunningServer
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

WRITERS = 4
LOAD_SECONDS = 4.0
JOBS_TIMEOUT = 60.0


def storage() -> StorageDescriptor:
    return StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "serde", {}))


class Writer(threading.Thread):
    """Creates, fills and renames tables of its own until the server dies; records acknowledged changes."""

    def __init__(self, server: RunningServer, number: int) -> None:
        super().__init__(daemon=True)
        self.client = Client(server.host, server.port)
        self.number = number
        self.tables: dict[str, set[str]] = {}
        """Acknowledged tables with their acknowledged partitions."""
        self.unknown: set[str] = set()
        """Tables whose last change got no reply: it may have taken effect or not."""

    def run(self) -> None:
        try:
            for step in range(100_000):
                self.step(f"w{self.number}_{step:05d}")
        except (OSError, Error):
            return
        finally:
            self.client.close()

    def step(self, name: str) -> None:
        self.unknown = {name}
        keys = (FieldSchema("k", "string"),)
        self.client.call("create_table", Table(name, "crash", sd=storage(), partitionKeys=keys))
        self.tables[name], self.unknown = set(), set()
        self.unknown = {name}
        for batch in range(3):
            values = [f"{batch}-{i}" for i in range(5)]
            self.client.call("add_partitions", tuple(Partition((v,), "crash", name, sd=storage()) for v in values))
            self.tables[name] |= {f"k={v}" for v in values}
        table = self.client.call("get_table", "crash", name)
        renamed = f"{name}_r"
        self.unknown = {name, renamed}
        self.client.call("alter_table", "crash", name, replace(table, tableName=renamed))
        self.tables[renamed] = self.tables.pop(name)
        self.unknown = set()


@pytest.mark.slow
def test_every_acknowledged_write_survives_the_death_of_all_workers(tmp_path: Path) -> None:
    where: dict[str, Any] = {"data": tmp_path / "data", "warehouse": (tmp_path / "warehouse").as_uri()}
    with running_server(workers=2, **where) as server:
        with Client(server.host, server.port) as client:
            client.call("create_database", Database(name="crash"))
        writers = [Writer(server, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        time.sleep(LOAD_SECONDS)
        for pid in (server.pid, *server.workers):
            os.kill(pid, signal.SIGKILL)
        for writer in writers:
            writer.join(30)
            assert not writer.is_alive()
    acknowledged = {name: parts for writer in writers for name, parts in writer.tables.items()}
    unknown = {name for writer in writers for name in writer.unknown}
    assert len(acknowledged) > WRITERS, "the load was too small"
    with running_server(**where) as server:
        client = Client(server.host, server.port)
        _until_jobs_are_done(server)
        found = set(client.call("get_all_tables", "crash"))
        assert found - set(acknowledged) <= unknown, "a table that no client created"
        assert set(acknowledged) - found <= unknown, "an acknowledged table is missing"
        for name in sorted(found):
            table = client.call("get_table", "crash", name)
            folder = Path(local_path(table.sd.location))
            assert folder.name == name and folder.is_dir(), f"{name} is at {table.sd.location}"
            names = set(client.call("get_partition_names", "crash", name, -1))
            if name in acknowledged:
                assert acknowledged[name] <= names
            partitions = client.call("get_partitions", "crash", name, -1)
            assert {Path(local_path(part.sd.location)).parent for part in partitions} <= {folder}
            assert len(names) % 5 == 0, "a call's partitions were added in part"
        client.close()


def _until_jobs_are_done(server: RunningServer) -> None:
    """Started moves of directories are finished by the server that comes next."""
    assert server.data is not None
    deadline = time.monotonic() + JOBS_TIMEOUT
    while True:
        with sqlite3.connect(server.data / "metastored.db") as database:
            left = database.execute("select count(*) from warehouse_jobs").fetchone()[0]
        database.close()
        if left == 0:
            return
        assert time.monotonic() < deadline, f"{left} directory moves were not finished"
        time.sleep(0.1)
