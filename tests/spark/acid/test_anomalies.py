"""Random transactions from several processes on one ACID table: their history shows no anomaly.

The short form uses three processes without Spark for two seconds, which make the calls of metastored's client and name
the same directories (`history_worker.py`). The long form, under the marker `soak`, also runs two processes with a Spark
each.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import metastored
from tests.spark.acid.anomalies import FAILED, OK, UNKNOWN, Transaction, anomalies
from tests.spark.acid.conftest import METASTORED, METASTORES, Warehouse, new_warehouse
from tests.spark.acid.history_worker import FileRows, SparkRows
from tests.support.soak import scaled

ROOT = Path(__file__).resolve().parents[3]
KEYS = 3
SLOW = "hive 4.0.1"
"""It needs a minute here for what takes others seconds, on Derby: only the long form runs on it."""
CHECKED = [each for each in METASTORES if SLOW not in str(each)]
EVERY = [*(f"metastored {version}" for version in METASTORED), "hive 3.1.3", "hive 4.0.1", "hive 4.1.0"]
SOAK_SECONDS = float(scaled(100))
PATIENCE = 120.0


# The checker


def seen(**lists: str) -> dict[int, tuple[int, ...]]:
    """Lists of keys: `k1="1 2"`."""
    return {int(key[1:]): tuple(map(int, numbers.split())) for key, numbers in lists.items()}


@pytest.mark.parametrize(
    ("history", "final", "expected"),
    [
        ([Transaction("a", OK, seen(k1="1"), {1: 2}), Transaction("b", OK, seen(k1="1 2"), {1: 3})], "1 2 3", None),
        ([Transaction("a", OK, None, {1: 2})], "1", "lost write: a was committed"),
        ([Transaction("a", FAILED, None, {1: 2})], "1 2", "dirty read: the end sees 2"),
        ([Transaction("a", FAILED, None, {1: 2}), Transaction("b", OK, seen(k1="1 2"))], "1", "dirty read: b sees 2"),
        ([Transaction("a", UNKNOWN, None, {1: 2})], "1 2", None),
        ([Transaction("a", UNKNOWN, None, {1: 2})], "1", None),
        ([Transaction("a", OK, seen(k1="1 3"))], "1 2 3", "fork: a read"),
        ([Transaction("a", OK, seen(k1="1"), {1: 2}), Transaction("b", OK, seen(k1="1"), {1: 3})], "1 2 3",
         "lost update: b appended 3"),
        ([Transaction("a", OK, None, {1: 2, 2: 9}), Transaction("b", OK, seen(k1="1 2", k2="7"))], "1 2",
         "fractured read: b sees a part of a"),
        ([Transaction("a", OK, seen(k1="1", k2="7"), {1: 2}), Transaction("b", OK, seen(k1="1", k2="7"), {2: 8})],
         "1 2", "write skew: neither of a and b"),
        ([Transaction("a", OK, None, {}, {5: 6})], "1", "lost write: a was committed, and key 5 has no 6"),
    ],
)  # fmt: skip
def test_the_checker_finds(history: Sequence[Transaction], final: str, expected: str | None) -> None:
    rows = [(1, tuple(map(int, final.split()))), (2, (7, 9, 8))]
    found = anomalies(history, rows)
    relevant = [each for each in found if "fork: a read [7]" not in each]
    assert (relevant == []) if expected is None else any(each.startswith(expected) for each in relevant), found


def test_the_checker_finds_doubled_rows() -> None:
    assert anomalies([], [(1, (1, 2)), (1, (1, 3)), (2, (4, 4))]) == [
        "doubled row: key 1 has 2 rows",
        "doubled write: key 2 has 4 2 times",
    ]


# Histories


def history(warehouse: Warehouse, folder: Path, engine: str, processes: int, seconds: float, rows: Any) -> str:
    """Runs processes on a new table and checks their history. Returns a summary; raises AssertionError."""
    name = warehouse.create("t", {"k": "bigint", "v": "string"})
    first = rows(name)
    with first.transaction() as transaction:
        transaction.insert({key: key + 1 for key in range(KEYS)})
    start = folder / "start"
    tasks = [
        {
            "uri": warehouse.client.uri, "table": name, "engine": engine, "seconds": seconds, "seed": 27, "keys": KEYS,
            "number": number, "log": str(folder / f"{number}.log"), "start": str(start),
        }
        for number in range(1, processes + 1)
    ]  # fmt: skip
    command = [sys.executable, "-m", "tests.spark.acid.history_worker"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")])}
    outputs = [open(f"{task['log']}.out", "wb") for task in tasks]  # noqa: SIM115 - closed below
    running = [
        subprocess.Popen([*command, json.dumps(task)], cwd=ROOT, env=environment, stdout=out, stderr=out,
                         start_new_session=True)
        for task, out in zip(tasks, outputs, strict=True)
    ]  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE
        while not all(Path(f"{task['log']}.ready").exists() for task in tasks):
            assert time.monotonic() < until and all(each.poll() is None for each in running), printed(tasks)
            time.sleep(0.05)
        start.touch()
        assert [each.wait(seconds + PATIENCE) for each in running] == [0] * processes, printed(tasks)
    finally:
        for each in running:
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGKILL)
                each.wait()
        for out in outputs:
            out.close()
    records = [json.loads(line) for task in tasks for line in Path(str(task["log"])).read_text().splitlines()]
    transactions = [Transaction.of(each) for each in records]
    with first.transaction() as transaction:
        final = transaction.read()
    found = anomalies(transactions, final)
    found += [
        f"doubled row: {each['name']}"
        for each in records
        if each.get("rows") not in (None, len(each.get("read") or ()))
    ]
    outcomes = Counter(each.outcome for each in transactions)
    kinds = Counter(each.name.rpartition(" ")[0] for each in transactions if each.outcome == OK)
    summary = f"{warehouse.server}, {engine}: {dict(outcomes)}, committed: {dict(kinds)}"
    assert not found, "\n".join([summary, *found[:20]])
    assert kinds["change"] and kinds["blind"] and kinds["insert"], summary
    return summary


def printed(tasks: Sequence[dict[str, Any]]) -> str:
    return "\n".join(Path(f"{task['log']}.out").read_text(errors="replace")[-3000:] for task in tasks)


@pytest.mark.slow
@pytest.mark.parametrize("each_warehouse", CHECKED, indirect=True)
def test_processes_that_write_one_table_lose_and_double_nothing(each_warehouse: Warehouse, tmp_path: Path) -> None:
    print(history(each_warehouse, tmp_path, "files", 3, 2.0, lambda name: FileRows(each_warehouse.client, name)))


@pytest.mark.soak
@pytest.mark.slow
def test_processes_write_one_table_for_minutes(
    metastores: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four processes without Spark on each metastore in turn."""
    for number, name in enumerate(EVERY):
        with metastored.connect(metastores(name), user="ann") as client, new_warehouse(client) as made:
            folder = tmp_path / str(number)
            folder.mkdir()
            seconds = SOAK_SECONDS / len(EVERY)
            done = history(
                made._replace(server=name), folder, "files", 4, seconds, lambda table, c=client: FileRows(c, table)
            )
            with capsys.disabled():
                print(f"\n{done}")


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.spark
def test_two_sparks_write_one_table_for_minutes(
    spark: Any, metastores: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two processes, each with a Spark of one core, on each mode of metastored in turn."""
    names = [f"metastored {version}" for version in METASTORED]
    for number, name in enumerate(names):
        with metastored.connect(metastores(name), user="ann") as client, new_warehouse(client) as made:
            folder = tmp_path / str(number)
            folder.mkdir()
            seconds = SOAK_SECONDS / len(names)
            done = history(
                made._replace(server=name), folder, "spark", 2, seconds,
                lambda table, c=client: SparkRows(c, table, spark),
            )  # fmt: skip
            with capsys.disabled():
                print(f"\n{done}")
