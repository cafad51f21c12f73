"""`kill -9` of the driver in an insert, a merge and a compaction: readers see nothing wrong, the next run finishes.

The driver is a process with a Spark of its own (killed.py). After the kill, rows are those from before, or those from
after if the transaction was committed. When its transactions have timed out, the same operation is run again, and what
the killed one left is removed. The suite kills at four steps: while Spark writes, while files are moved, before and
after the commit. `make soak` kills at each twelfth step, and with `SOAK=12` at all of them.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.cleaner import all_transactions, clean
from metastored.spark.acid.compaction.queue import entries, request, requeue_interrupted
from metastored.spark.files import files_of
from metastored.testing import RunningServer, running_server
from metastored.wire.generated.locks import ShowLocksRequest
from tests.spark.acid.conftest import Warehouse, WrittenOnce, new_warehouse, rows_of
from tests.spark.acid.killed import operate
from tests.support.soak import SEED, scaled

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = Path(__file__).with_name("killed.py")
PATIENCE = 240.0
STRIDE = max(1, 12 // scaled(1))
"""The steps of a driver from one kill to the next; each run begins at another one."""
FIVE_MINUTES = 310_000
"""Milliseconds after which the server aborts a transaction without heartbeats."""
SERVE = (
    "import metastored.server.assemble as assemble\n"
    "assemble.REAP_EVERY = 0.2\n"
    "from metastored.__main__ import main\n"
    "main()"
)
"""A server that looks for expired transactions more often."""

Rows = list[tuple[Any, ...]]
BEFORE: Rows = [(1, 10, 1), (2, 20, 0), (3, 30, 1), (5, 50, 1)]
AFTER: dict[str, Rows] = {
    "insert": sorted([*BEFORE, (6, 60, 0), (7, 70, 2)]),
    "merge": [(1, 11, 1), (3, 30, 1), (5, 50, 1), (8, 80, 2)],
    "compaction": BEFORE,
}


@pytest.fixture(scope="module")
def own_server() -> Iterator[RunningServer]:
    with running_server((sys.executable, "-c", SERVE, "serve")) as running:
        yield running


@pytest.fixture
def own_warehouse(own_server: RunningServer) -> Iterator[Warehouse]:
    with metastored.connect(own_server.uri, user="ann", cache=False) as client, new_warehouse(client) as made:
        yield made


def time_out(server: RunningServer, client: metastored.Client) -> None:
    """Lets five minutes pass for all open transactions and locks, and waits until the server has ended them.

    They pass again every few seconds: the server may still serve a call that the killed driver has sent.
    """
    assert server.data is not None
    (file,) = server.data.glob("*.db")
    # Locks without a transaction, such as the lease of a worker, are ended by the housekeeping once a minute.
    deadline, again = time.monotonic() + 150, 0.0
    while left := [*all_transactions(client).open, *(client.api.show_locks(ShowLocksRequest()).locks or ())]:
        now = time.monotonic()
        assert now < deadline, f"the server has not ended the transactions and locks of the killed driver: {left}"
        if now > again:
            _let_five_minutes_pass(file)
            again = now + 5
        time.sleep(0.05)


def _let_five_minutes_pass(file: Path) -> None:
    with sqlite3.connect(file, timeout=30) as database:
        for table in ("txns", "locks"):
            database.execute(f"UPDATE {table} SET heartbeat = heartbeat - {FIVE_MINUTES}")
    database.close()


class Scene:
    """A partitioned table with an insert and a delete, and a driver that is killed."""

    def __init__(
        self, spark: Any, server: RunningServer, warehouse: Warehouse, operation: str, written_once: WrittenOnce
    ) -> None:
        self.spark = spark
        self.server = server
        self.warehouse = warehouse
        self.client = warehouse.client
        self.operation = operation
        self.name = warehouse.create("t", {"id": "bigint", "value": "bigint"}, keys={"ds": "bigint"})
        schema = "id bigint, value bigint, ds bigint"
        rows = [(1, 10, 1), (2, 20, 0), (3, 30, 1), (4, 40, 1), (5, 50, 1)]
        with written_once.statements("killed"):
            acid.insert(spark, self.name, spark.createDataFrame(rows, schema), client=self.client)
            acid.delete(spark, self.name, "id = 4", client=self.client)
        if operation == "compaction":
            assert request(self.client, table_name(self.name), "ds=1", CompactionKind.MAJOR, "test") is not None

    @property
    def rows(self) -> Rows:
        with acid.snapshot(self.spark, self.client) as snapshot:
            return rows_of(snapshot.read(self.name))

    @property
    def staging(self) -> list[str]:
        return [path.name for path in self.warehouse.path(self.name).rglob("_tmp_*")]

    def killed_at(self, point: str, folder: Path) -> list[str] | None:
        """Runs the operation in a driver that is killed. Returns the steps it reached; None if it came to its end."""
        log = folder / f"{point.replace(' ', '_')}.log"
        task = {
            "uri": self.server.uri, "table": self.name, "operation": self.operation, "point": point, "log": str(log),
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(task)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
            start_new_session=True,
        )
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, -signal.SIGKILL), output.decode(errors="replace")
        return log.read_text("utf-8").splitlines() if process.returncode else None

    def time_out(self) -> None:
        time_out(self.server, self.client)

    def finish(self) -> None:
        """The next run of the same operation."""
        if self.operation == "compaction":
            again = requeue_interrupted(self.client)
            assert len(again) <= 1
            if not any(each.state == "initiated" for each in entries(self.client)):
                return
        operate(self.spark, self.client, self.name, self.operation)

    def check(self, steps: list[str]) -> None:
        """What readers see after a kill, and what is there after the next run."""
        committed = "after commit_txn" in steps
        before, after = BEFORE, AFTER[self.operation]
        found = self.rows
        assert found == (after if committed else before), steps
        self.time_out()
        assert self.rows == found, "the timeout changes nothing"
        assert not self.client.api.show_locks(ShowLocksRequest()).locks, "no lock of the killed driver is left"
        if not committed or self.operation == "compaction":
            self.finish()
        assert self.rows == after
        if self.operation == "compaction":
            self.clean()
            files = [path for path in self.warehouse.files(self.name) if path.startswith("ds=1/")]
            assert len(files) >= 1 and all(path.startswith("ds=1/base_") for path in files), files
            assert self.rows == after
        elif not committed:
            assert self.staging == []
        else:
            acid.delete(self.spark, self.name, "id = 3", client=self.client)
            assert self.staging == [], "the next write removes what was left"

    def clean(self) -> None:
        done = clean(self.client, lambda location: files_of(self.spark, location))
        assert [each.error for each in done if each.error is not None] == []
        assert self.staging == []


POINTS = [
    ("compaction", "after commit_txn"),
    ("merge", "before commit_txn"),
    ("insert", "job"),
    ("insert", "before rename 2"),
    pytest.param("merge", "after commit_txn", marks=pytest.mark.soak),
    pytest.param("compaction", "job", marks=pytest.mark.soak),
]
"""Each operation and each moment is in `make test`; the other pairs are in `make soak`."""


@pytest.mark.parametrize(("operation", "point"), POINTS)
def test_a_driver_that_is_killed_leaves_nothing_wrong_and_the_next_run_finishes(
    spark: Any,
    own_server: RunningServer,
    own_warehouse: Warehouse,
    written_once: WrittenOnce,
    tmp_path: Path,
    operation: str,
    point: str,
) -> None:
    scene = Scene(spark, own_server, own_warehouse, operation, written_once)
    steps = scene.killed_at(point, tmp_path)
    assert steps is not None, f"{operation} has no step {point!r}"
    scene.check(steps)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operation", ["insert", "merge", "compaction"])
def test_a_driver_can_be_killed_at_any_step(
    spark: Any, own_server: RunningServer, written_once: WrittenOnce, tmp_path: Path, operation: str
) -> None:
    for number in range(1 + SEED % STRIDE, 200, STRIDE):
        with metastored.connect(own_server.uri, user="ann", cache=False) as client, new_warehouse(client) as warehouse:
            scene = Scene(spark, own_server, warehouse, operation, written_once)
            steps = scene.killed_at(str(number), tmp_path)
            if steps is None:
                break
            scene.check(steps)
    assert number > 20
