"""Workers, servers and databases are killed again and again under load: every acknowledged write survives.

Writers go on after each failure, as clients do. What was acknowledged must be there at the end; what was not may be
there or not, but never in part.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from metastored.errors import Error, MetaException
from metastored.hive.locations import local_path
from metastored.testing import RunningServer
from metastored.wire.generated.databases import Database
from tests.server.test_crash import Writer
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.postgres import PostgresServer, running_postgres
from tests.support.soak import scaled
from tests.support.waiting import eventually

WRITERS = 4
BETWEEN = 1.5
"""Seconds of load between two kills."""
PATIENCE = 120.0
ROUNDS, SOAK_ROUNDS = 3, scaled(10)
SERVE = (
    "import metastored.server.assemble as assemble\n"
    "assemble.JOBS_EVERY = 0.5\n"
    "from metastored.__main__ import main\n"
    "main()"
)
"""A server that looks each half second, and not each minute, for directories that a crash has left unmoved."""


class Persistent(Writer):
    """A writer that continues after a failure, with other names."""

    def __init__(self, server: RunningServer, number: int) -> None:
        super().__init__(server, number)
        self.stopping = threading.Event()
        self.failures = 0
        self.doubtful: set[str] = set()
        """Tables with a change that got no reply."""

    def run(self) -> None:
        for step in range(1_000_000):
            if self.stopping.is_set():
                break
            try:
                self.step(f"w{self.number}_{step:05d}")
            except (OSError, Error):
                self.failures += 1
                self.doubtful |= self.unknown
                self.stopping.wait(0.05)
        self.client.close()


def can_listen(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class Cluster:
    """A server that can be killed and comes back at the same address, on the same data."""

    def __init__(self, folder: Path, postgres: PostgresServer | None, url: str | None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.postgres = postgres
        self.url = url
        self.settings: dict[str, Any] = {"port": port, "warehouse": (folder / "warehouse").as_uri(), "workers": 2}
        self.settings |= {"data": folder / "data"} if url is None else {"database_url": url}
        self.data = folder / "data"
        self._stack = ExitStack()
        self.start()

    def start(self) -> None:
        command = (sys.executable, "-c", SERVE, "serve")
        self.server = self._stack.enter_context(running_server(command, **self.settings))

    def kill_a_worker(self, chance: random.Random) -> None:
        os.kill(chance.choice(self.server.workers), signal.SIGKILL)

    def kill_the_server(self, chance: random.Random) -> None:
        for pid in (self.server.pid, *self.server.workers):
            os.kill(pid, signal.SIGKILL)
        self.close()
        self._stack = ExitStack()
        # A process that was killed closes its sockets a moment later.
        eventually(lambda: can_listen(self.settings["port"]))
        self.start()

    def kill_the_database(self, chance: random.Random) -> None:
        if self.postgres is None:
            # SQLite runs inside the servers: killing all of them interrupts its writes.
            self.kill_the_server(chance)
            return
        self.postgres.crash()
        time.sleep(chance.random())
        self.postgres.start()

    def jobs(self) -> int:
        """Directory moves that are not finished."""
        query = "select count(*) from warehouse_jobs"
        if self.url is None:
            with closing(sqlite3.connect(self.data / "metastored.db")) as database:
                return int(database.execute(query).fetchone()[0])
        with psycopg.connect(self.url) as connection:
            found = connection.execute(query).fetchone()
            assert found is not None
            return int(found[0])

    def close(self) -> None:
        self._stack.close()


@contextmanager
def cluster(folder: Path, dialect: str) -> Iterator[Cluster]:
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres()) if dialect == "postgresql" else None
        url = stack.enter_context(postgres.database()) if postgres is not None else None
        made = Cluster(folder, postgres, url)
        stack.callback(made.close)
        yield made


def chaos(folder: Path, dialect: str, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    with cluster(folder, dialect) as made:
        with Client(made.server.host, made.server.port) as client:
            client.call("create_database", Database(name="crash"))
        writers = [Persistent(made.server, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        kills = [made.kill_a_worker, made.kill_the_server, made.kill_the_database]
        try:
            for number in range(rounds):
                time.sleep(BETWEEN)
                kills[number % len(kills)](chance)
            time.sleep(BETWEEN)
        finally:
            for writer in writers:
                writer.stopping.set()
            for writer in writers:
                writer.join(PATIENCE)
        assert not any(writer.is_alive() for writer in writers)
        verify(made, writers)


def result_of(client: Client, method: str, *args: Any) -> Any:
    """The result of a call, with retries: each thread of a worker detects a restarted database by a failed call."""
    for _ in range(100):
        try:
            return client.call(method, *args)
        except MetaException as error:
            assert "PostgreSQL" in str(error)
    raise TimeoutError(method)


def verify(made: Cluster, writers: list[Persistent]) -> None:
    acknowledged = {name: parts for writer in writers for name, parts in writer.tables.items()}
    doubtful = {name for writer in writers for name in writer.doubtful}
    failures = sum(writer.failures for writer in writers)
    writes = len(acknowledged) + sum(len(parts) // 5 for parts in acknowledged.values())
    print(f"{writes} acknowledged writes in {len(acknowledged)} tables, {failures} calls failed")
    assert len(acknowledged) > WRITERS, "the load was too small"
    assert failures, "no call failed although processes were killed"
    until = time.monotonic() + PATIENCE
    while made.jobs():
        assert time.monotonic() < until, "directory moves were not finished"
        time.sleep(0.2)
    with Client(made.server.host, made.server.port) as client:
        found = set(result_of(client, "get_all_tables", "crash"))
        assert found - set(acknowledged) <= doubtful, "a table that no client created"
        assert set(acknowledged) - found <= doubtful, "an acknowledged table is missing"
        for name in sorted(found):
            location = result_of(client, "get_table", "crash", name).sd.location
            assert Path(local_path(location)).name == name
            assert Path(local_path(location)).is_dir(), f"{name} has no directory"
            names = result_of(client, "get_partition_names", "crash", name, -1)
            assert len(names) == len(set(names))
            assert acknowledged.get(name, set()) <= set(names), f"{name} lost acknowledged partitions"
            assert len(names) % 5 == 0, "a call's partitions were added in part"
    assert "Traceback" not in made.server.log


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_acknowledged_writes_survive_the_death_of_a_worker_a_server_and_a_database(
    dialect: str, tmp_path: Path
) -> None:
    chaos(tmp_path, dialect, ROUNDS, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("dialect", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def test_acknowledged_writes_survive_many_deaths(dialect: str, tmp_path: Path) -> None:
    chaos(tmp_path, dialect, SOAK_ROUNDS, seed=2)
