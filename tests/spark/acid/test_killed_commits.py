"""`kill -9` of the writer and of the server, again and again, while statements commit.

Each acknowledged statement is visible, a refused one is not, and one without an answer is visible as a whole or not at
all. `make test` kills each of the two twice, after two statements at least; `make soak` five times, after four.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.spark import acid
from metastored.testing import RunningServer, running_server
from tests.spark.acid.committing import ROWS
from tests.spark.acid.conftest import Warehouse
from tests.spark.acid.test_kills import SERVE, time_out

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 120.0
COMMAND = (sys.executable, "-c", SERVE, "serve")


class Server:
    """A server that keeps its port and its data when it is killed."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._where: dict[str, Any] = {"data": folder / "data", "warehouse": (folder / "warehouse").as_uri()}
        self._stack = stack
        self.running: RunningServer = stack.enter_context(running_server(COMMAND, **self._where))
        self._where["port"] = self.running.port

    def kill(self) -> None:
        os.kill(self.running.pid, signal.SIGKILL)
        self.running = self._stack.enter_context(running_server(COMMAND, **self._where))


class Writer:
    """The process of `committing.py`, with a Spark of its own."""

    def __init__(self, uri: str, table: str, folder: Path) -> None:
        self._task = {"uri": uri, "table": table, "log": str(folder / "log")}
        self._output = folder / "output"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def lines(self) -> list[list[str]]:
        path = Path(self._task["log"])
        return [line.split() for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    @property
    def committed(self) -> int:
        return sum(line[0] == "done" for line in self.lines)

    def start(self) -> None:
        first = max((int(line[1]) for line in self.lines), default=0) + 1
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.spark.acid.committing",
                    json.dumps({**self._task, "first": first + (first + 1) % 2}),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")]),
                    "PYSPARK_PYTHON": sys.executable,
                    "SPARK_LOCAL_IP": "127.0.0.1",
                },
                start_new_session=True,
            )

    def wait_for(self, committed: int) -> None:
        """Until so many more statements are committed."""
        goal, deadline = self.committed + committed, time.monotonic() + PATIENCE
        while self.committed < goal:
            assert self._process is not None and self._process.poll() is None, self._output.read_text("utf-8")
            assert time.monotonic() < deadline, self.lines[-5:]
            time.sleep(0.02)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(60)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[tuple[Server, Writer, Warehouse]]:
    with ExitStack() as stack:
        server = Server(tmp_path, stack)
        client = stack.enter_context(metastored.connect(server.running.uri, user="ann", cache=False))
        client.create_database("kills")
        warehouse = Warehouse(client, "kills")
        name = warehouse.create("t", {"batch": "bigint", "value": "bigint"})
        writer = Writer(server.running.uri, name, tmp_path)
        stack.callback(writer.kill)
        yield server, writer, warehouse


@pytest.mark.parametrize(
    ("kills", "statements"), [(2, 2), pytest.param(5, 4, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]
)
def test_what_was_committed_survives_kills_of_the_writer_and_of_the_server(
    spark: Any, parts: tuple[Server, Writer, Warehouse], kills: int, statements: int
) -> None:
    """`statements` are committed between two kills, at least."""
    server, writer, warehouse = parts
    chance = random.Random(kills)
    for _ in range(kills):
        writer.start()
        writer.wait_for(statements)
        time.sleep(chance.uniform(0, 0.5))  # Any moment of a statement.
        server.kill()
        writer.wait_for(statements)
        time.sleep(chance.uniform(0, 0.5))
        writer.kill()
        time_out(server.running, warehouse.client)  # Else the next writer would wait for the locks of this one.
        check(spark, writer, warehouse)
    print(f"{writer.committed} statements were committed, {kills} times the server and the writer were killed")
    assert writer.committed >= 2 * statements * kills


def check(spark: Any, writer: Writer, warehouse: Warehouse) -> None:
    outcome = {int(line[1]): line[0] for line in writer.lines}  # The last word about a statement.
    name = f"{warehouse.database}.t"
    with acid.snapshot(spark, warehouse.client) as snapshot:
        rows = Counter(tuple(row) for row in snapshot.read(name).collect())
    found = dict(rows.keys())
    assert len(found) == len(rows), "all rows of a statement have the same value"
    assert set(rows.values()) <= {ROWS}, "all rows of a statement are there, once"
    for number in range(1, max(outcome) + 1, 2):
        inserted, updated = outcome.get(number), outcome.get(number + 1)
        allowed: set[int | None] = {None} if inserted != "done" else set()
        if inserted not in ("failed", None):
            allowed |= {1} if updated == "done" else {0} if updated in ("failed", None) else {0, 1}
        assert found.get(number) in allowed, (number, inserted, updated)
