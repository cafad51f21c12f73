"""A driver that kills itself and its JVM with SIGKILL at one step of an operation on an ACID table.

    python killed.py '{"uri": …, "table": …, "operation": "merge", "point": "before commit_txn", "log": …}'

Steps are the calls that change the metastore, before and after each, and the driver's operations on files, before each.
A step is named by its label or by its number; `job` is a moment in which Spark is writing files. Each step is written
to the log first. Without a step of this name the operation ends, and so does the program, with 0.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import metastored
from metastored.client._sync.caller import Caller
from metastored.hive.locations import local_path
from metastored.spark.files import LocalFiles

READS = ("get_", "show_", "check_", "find_columns", "heartbeat")
FILE_OPERATIONS = ("make", "write", "add_orc_metadata", "concatenate", "rename", "remove")


def kill() -> None:
    """Ends this process and its JVM: they are a process group of their own."""
    os.killpg(0, signal.SIGKILL)


class Steps:
    def __init__(self, point: str, log: str) -> None:
        self._point = point
        self._log = open(log, "a", encoding="utf-8")  # noqa: SIM115 - it is open until the process is killed.
        self._counts: Counter[str] = Counter()
        self._number = 0
        self._lock = threading.Lock()

    def reached(self, label: str) -> None:
        with self._lock:
            self._number += 1
            self._counts[label] += 1
            if self._counts[label] > 1:
                label = f"{label} {self._counts[label]}"
            self._log.write(f"{label}\n")
            self._log.flush()
            if self._point in (label, str(self._number)):
                kill()

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A call of the metastore; those that only read are no steps."""

        def wrapped(caller: Caller, name: str, *args: Any) -> Any:
            if name.startswith(READS):
                return call(caller, name, *args)
            self.reached(f"before {name}")
            result = call(caller, name, *args)
            self.reached(f"after {name}")
            return result

        return wrapped

    def before(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any) -> Any:
            self.reached(f"before {name}")
            return operation(*args)

        return wrapped


def kill_in_job(location: Path) -> None:
    """Kills when Spark has begun to write files."""
    while not any(location.rglob("_tmp_*/**/_temporary/**/part-*")):
        time.sleep(0.001)
    kill()


def session() -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.catalogImplementation": "in-memory",
    }
    builder = SparkSession.builder.appName("metastored-killed")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def operate(spark: Any, client: metastored.Client, table: str, operation: str) -> None:
    """The operations. The test runs them again after the kill."""
    from metastored.spark import acid
    from metastored.spark.acid.compaction.queue import worker_id
    from metastored.spark.acid.compaction.worker import work

    match operation:
        case "insert":
            new = spark.createDataFrame([(6, 60, 0), (7, 70, 2)], "id bigint, value bigint, ds bigint")
            acid.insert(spark, table, new, client=client)
        case "merge":
            changes = spark.createDataFrame([(1, 11, 1), (2, 0, 0), (8, 80, 2)], "id bigint, value bigint, ds bigint")
            acid.merge(
                spark, table, changes, "target.id = source.id", client=client,
                matched=[acid.When("source.value = 0", "delete"), {"value": "source.value"}], not_matched="*",
            )  # fmt: skip
        case "compaction":
            done = work(spark, client, worker_id())
            assert done is not None and done.outcome in ("compacted", "refused"), done


def main() -> None:
    task = json.loads(sys.argv[1])
    spark = session()
    spark.range(1).count()
    steps = Steps(task["point"], task["log"])
    with metastored.connect(task["uri"], user="ann", cache=False) as client:
        if task["point"] == "job":
            sd = client.table(task["table"]).sd
            assert sd is not None and sd.location is not None
            location = Path(local_path(sd.location))
            threading.Thread(target=kill_in_job, args=(location,), daemon=True).start()
        Caller.call = steps.around(Caller.call)  # type: ignore[method-assign]
        for name in FILE_OPERATIONS:
            setattr(LocalFiles, name, steps.before(name, getattr(LocalFiles, name)))
        operate(spark, client, task["table"], task["operation"])
    spark.stop()


if __name__ == "__main__":
    main()
