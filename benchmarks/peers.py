"""The servers that are measured: metastored on SQLite and on PostgreSQL, and Apache's metastore."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.stores import Store
from metastored.testing import running_server
from tests.support.apache import apache_2_3, apache_3_1
from tests.support.postgres import running_postgres


@dataclass
class Peer:
    """A running server, and its start-up time."""

    name: str
    host: str
    port: int
    pids: tuple[int, ...]
    started_in: float
    database: Store | None = None
    """The database of a metastored; that of an Apache metastore is its own."""

    @property
    def store(self) -> Store:
        assert self.database is not None, f"{self.name} has no database to look into"
        return self.database

    @property
    def memory(self) -> int:
        """The private memory of the server's processes, in bytes."""
        return sum(_memory(pid) for pid in self.pids)


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return sum(kilobytes) * 1024


@contextlib.contextmanager
def metastored_on_sqlite(**settings: Any) -> Iterator[Peer]:
    start = time.perf_counter()
    with running_server(**settings) as server:
        took = time.perf_counter() - start
        assert server.data is not None
        with contextlib.closing(Store.of_folder(server.data)) as store:
            yield Peer("metastored", server.host, server.port, tuple({server.pid, *server.workers}), took, store)


@contextlib.contextmanager
def metastored_on_postgres(**settings: Any) -> Iterator[Peer]:
    with running_postgres() as postgres, postgres.database() as url:
        start = time.perf_counter()
        with running_server(database_url=url, **settings) as server:
            took = time.perf_counter() - start
            pids = tuple({server.pid, *server.workers})
            with contextlib.closing(Store.of_url(url)) as store:
                yield Peer("metastored on PostgreSQL", server.host, server.port, pids, took, store)


@contextlib.contextmanager
def apache(*, events: bool = False, heap: str | None = None) -> Iterator[Peer]:
    """With `events` it keeps a notification log; `heap` is the memory of its JVM, such as "2g", instead of 512 MB."""
    start = time.perf_counter()
    with apache_2_3(events=events, flags=() if heap is None else (f"-Xmx{heap}",)) as server:
        yield Peer("Apache 2.3.10", server.host, server.port, (server.pid,), time.perf_counter() - start)


@contextlib.contextmanager
def apache_3() -> Iterator[Peer]:
    start = time.perf_counter()
    with apache_3_1() as server:
        yield Peer("Apache 3.1.3", server.host, server.port, (server.pid,), time.perf_counter() - start)
