"""Measures what docs/guide/sizing.md says: memory and disk of a server, by partitions and tables.

    python tools/sizing.py --partitions 100000 --tables 10000

A new server on a free port, one client. Directories are off: only metadata is measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import metastored
from metastored.testing import RunningServer, running_server

BATCH: Final = 1000
COLUMNS: Final = 50


def memory(server: RunningServer) -> tuple[float, float]:
    """The memory of all processes of the server now, and the sum of their peaks, in megabytes; Linux only."""
    now = peak = 0.0
    for pid in family(server.pid):
        text = Path(f"/proc/{pid}/status").read_text("utf-8")
        found = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        now += int(found["VmRSS"].split()[0]) / 1024
        peak += int(found["VmHWM"].split()[0]) / 1024
    return now, peak


def family(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    return [pid, *(each for child in children for each in family(int(child)))]


def disk(folder: Path) -> float:
    """The size of all files, in megabytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


@contextmanager
def step(name: str, server: RunningServer, report: Callable[[str], None]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    now, peak = memory(server)
    report(f"{name:40} {seconds:8.1f} s   memory {now:6.0f} MB, peak {peak:6.0f} MB")


def measure(partitions: int, tables: int, report: Callable[[str], None], **settings: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        if "database_url" not in settings:
            settings["data"] = data
        with running_server(directories="off", **settings) as server, metastored.connect(server.uri) as client:
            with step("started", server, report):
                client.create_database("big")
            columns = {f"c{number}": "string" for number in range(COLUMNS)}
            with step(f"{tables:,} tables of {COLUMNS} columns", server, report):
                for number in range(tables):
                    client.create_table(metastored.table(f"big.t{number}", columns))
            empty = disk(data)
            client.create_table(metastored.table("big.events", columns, partitioned_by={"ds": "string", "h": "int"}))
            with step(f"{partitions:,} partitions added, by {BATCH:,}", server, report):
                for first in range(0, partitions, BATCH):
                    numbers = range(first, min(first + BATCH, partitions))
                    client.add_partitions("big.events", [{"ds": f"day-{n // 24:06}", "h": n % 24} for n in numbers])
            with step("their names", server, report):
                assert len(client.partition_names("big.events")) == partitions
            with step("all of them, streamed", server, report):
                assert sum(1 for _ in client.partitions("big.events")) == partitions
        if "data" in settings:
            report(f"{'disk':40} tables {empty:.1f} MB, partitions {disk(data) - empty:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    measure(arguments.partitions, arguments.tables, print, workers=arguments.workers)


if __name__ == "__main__":
    main()
