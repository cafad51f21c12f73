"""A process that runs random transactions on an ACID table and writes what it has seen as lines of JSON.

    python history_worker.py '{"uri": …, "table": …, "engine": "files", "seconds": 5, "seed": 1, "number": 0, "log": …}'

The engine `spark` uses metastored.spark.acid, with a Spark of its own. The engine `files` makes the same calls of the
client and resolves the same directories, but its rows are JSON: it needs no JVM, so that several processes make
hundreds of transactions in seconds.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import metastored
from metastored.client.acid import read_components
from metastored.errors import ApplicationError, CommitUnknown, LockFailed, TransactionFailed
from metastored.hive.locations import local_path
from metastored.hive.transactions import layout
from metastored.hive.transactions.resolution import resolve
from metastored.model.names import table_name
from metastored.spark.files import files_of, list_location

LOCK_TIMEOUT = 10.0
Rows = dict[int, list[int]]


class RolledBack(Exception):
    """Ends a transaction on purpose."""


class Statements(Protocol):
    """A transaction of an engine."""

    def read(self) -> list[tuple[int, list[int]]]: ...
    def append(self, numbers: Mapping[int, int]) -> None: ...
    def insert(self, rows: Mapping[int, int]) -> None: ...
    def overwrite(self, rows: Rows) -> None: ...


# --- rows in JSON ------------------------------------------------------------------------------------------


class FileRows:
    """Rows are files `bucket_00000` of JSON: `[id, key, numbers]`, or the ids of deleted rows."""

    def __init__(self, client: metastored.Client, name: str) -> None:
        self.client, self.name = client, name
        sd = client.table(name).sd
        self.root = Path(local_path((sd.location if sd is not None else None) or ""))

    @contextmanager
    def transaction(self) -> Iterator[FileTransaction]:
        with self.client.transaction() as opened:
            yield FileTransaction(self, opened)

    def live(self, write_ids: Any, transactions: Any) -> list[tuple[str, int, list[int]]]:
        location = self.root.as_uri()
        resolved = resolve(list_location(files_of(None, location), location), write_ids, transactions)
        rows = [tuple(row) for each in resolved.data for row in self._file(each.name)]
        deleted = {id for each in resolved.delete_deltas for id in self._file(each.name)}
        return [(id, key, numbers) for id, key, numbers in rows if id not in deleted]

    def _file(self, directory: str) -> list[Any]:
        content: list[Any] = json.loads((self.root / directory / "bucket_00000").read_text())
        return content


class FileTransaction:
    def __init__(self, rows: FileRows, transaction: Any) -> None:
        self._rows, self._transaction, self._statement = rows, transaction, 0

    def read(self) -> list[tuple[int, list[int]]]:
        name = self._rows.name
        self._transaction.hold(read_components((table_name(name),)), LOCK_TIMEOUT)
        (write_ids,) = self._transaction.snapshot(name, keep=True).values()
        return [(key, numbers) for _, key, numbers in self._rows.live(write_ids, self._transaction.visible)]

    def append(self, numbers: Mapping[int, int]) -> None:
        with self._write("update") as write:
            old = [row for row in self._rows.live(write.snapshot, write.visible) if row[1] in numbers]
            new = [(key, [*before, numbers[key]]) for _, key, before in old]
            self._publish(layout.delete_delta, write.write_id, [id for id, _, _ in old])
            self._publish(layout.delta, write.write_id, self._identified(write.write_id, new))

    def insert(self, rows: Mapping[int, int]) -> None:
        with self._write("insert") as write:
            new = [(key, [number]) for key, number in rows.items()]
            self._publish(layout.delta, write.write_id, self._identified(write.write_id, new))

    def overwrite(self, rows: Rows) -> None:
        with self._write("overwrite") as write:
            content = self._identified(write.write_id, list(rows.items()))
            self._publish(lambda low, high, statement: layout.base(high), write.write_id, content)

    @contextmanager
    def _write(self, operation: str) -> Iterator[Any]:
        client = self._rows.client
        with client.write(self._rows.name, operation, timeout=LOCK_TIMEOUT, transaction=self._transaction) as write:
            yield write
        self._statement += 1

    def _identified(self, write_id: int, rows: list[tuple[int, list[int]]]) -> list[tuple[str, int, list[int]]]:
        return [(f"{write_id}.{self._statement}.{at}", key, numbers) for at, (key, numbers) in enumerate(rows)]

    def _publish(self, directory: Callable[[int, int, int], layout.Directory], write_id: int, content: Any) -> None:
        name = directory(write_id, write_id, self._statement).name
        staged = self._rows.root / f"_tmp_{os.getpid()}_{name}"
        staged.mkdir()
        (staged / "bucket_00000").write_text(json.dumps(content))
        staged.rename(self._rows.root / name)


# --- rows of Spark -----------------------------------------------------------------------------------------


class SparkRows:
    def __init__(self, client: metastored.Client, name: str, spark: Any) -> None:
        self.client, self.name, self.spark = client, name, spark

    @contextmanager
    def transaction(self) -> Iterator[SparkTransaction]:
        from metastored.spark import acid

        with acid.transaction(self.spark, self.client, LOCK_TIMEOUT) as opened:
            yield SparkTransaction(self, opened)


class SparkTransaction:
    def __init__(self, rows: SparkRows, transaction: Any) -> None:
        self._rows, self._transaction = rows, transaction

    def read(self) -> list[tuple[int, list[int]]]:
        found = self._transaction.read(self._rows.name).collect()
        return [(row.k, [int(each) for each in row.v.split(",")]) for row in found]

    def append(self, numbers: Mapping[int, int]) -> None:
        cases = " ".join(f"when {key} then ',{number}'" for key, number in numbers.items())
        keys = ", ".join(map(str, numbers))
        self._transaction.update(self._rows.name, {"v": f"concat(v, case k {cases} end)"}, f"k in ({keys})")

    def insert(self, rows: Mapping[int, int]) -> None:
        self._transaction.insert(self._rows.name, self._frame({key: [number] for key, number in rows.items()}))

    def overwrite(self, rows: Rows) -> None:
        self._transaction.insert_overwrite(self._rows.name, self._frame(rows))

    def _frame(self, rows: Rows) -> Any:
        texts = [(key, ",".join(map(str, numbers))) for key, numbers in rows.items()]
        return self._rows.spark.createDataFrame(texts, "k bigint, v string").coalesce(1)


def spark_session() -> Any:
    from pyspark.sql import SparkSession

    from tests.support.spark import CONF

    builder = SparkSession.builder.appName("metastored-histories")
    for name, value in {**CONF, "spark.sql.catalogImplementation": "in-memory"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


# --- random transactions -----------------------------------------------------------------------------------

KINDS = {"change": 8, "blind": 6, "insert": 4, "overwrite": 3, "read": 4, "roll back": 2}
NEEDED = ("change", "blind", "insert")
"""Each process commits at least one of these."""


class Worker:
    def __init__(self, rows: FileRows | SparkRows, number: int, seed: int, keys: int) -> None:
        self._rows, self._number, self._keys = rows, number, keys
        self._chance = random.Random(f"{seed} {number}")
        self._count = 0

    def new(self) -> int:
        """A number that no other process uses."""
        self._count += 1
        return self._number * 1_000_000 + self._count

    def run(self) -> dict[str, Any]:
        """One transaction; what is recorded of it."""
        (kind,) = self._chance.choices(list(KINDS), list(KINDS.values()))
        record: dict[str, Any] = {"name": f"{kind} {self.new()}", "outcome": "failed"}
        try:
            with self._rows.transaction() as transaction:
                self._statements(kind, transaction, record)
            record["outcome"] = "ok"
        except (TransactionFailed, LockFailed, RolledBack, ApplicationError) as error:
            # A Hive on a busy Derby reports internal errors; one of a commit would be a CommitUnknown.
            record["error"] = str(error)
        except CommitUnknown as error:
            record |= {"outcome": "unknown", "error": str(error)}
        return record

    def _statements(self, kind: str, transaction: Statements, record: dict[str, Any]) -> None:
        keys = self._chance.sample(range(self._keys), self._chance.choice((1, 1, 2)))
        numbers = {key: self.new() for key in keys}
        if kind in ("change", "overwrite", "read"):
            found = transaction.read()
            record["read"] = dict(found)
            record["rows"] = len(found)
            time.sleep(self._chance.random() * 0.02)
        if kind == "insert":
            record["inserted"] = {self.new(): self.new()}
            transaction.insert(record["inserted"])
        elif kind == "overwrite":
            record["appended"] = numbers
            transaction.overwrite(
                {key: [*old, *([numbers[key]] if key in numbers else [])] for key, old in dict(found).items()}
            )
        elif kind != "read":
            record["appended"] = numbers
            transaction.append(numbers)
        if kind == "roll back":
            raise RolledBack


def main(task: dict[str, Any]) -> None:
    with metastored.connect(task["uri"], user="ann") as client:
        spark = spark_session() if task["engine"] == "spark" else None
        rows = FileRows(client, task["table"]) if spark is None else SparkRows(client, task["table"], spark)
        worker = Worker(rows, task["number"], task["seed"], task["keys"])
        # All processes begin when the last of them is ready.
        Path(f"{task['log']}.ready").touch()
        while not Path(task["start"]).exists():
            time.sleep(0.02)
        until = time.monotonic() + task["seconds"]
        missing = set(NEEDED)
        with open(task["log"], "a", encoding="utf-8") as log:
            # On a busy machine all transactions of a kind may lose their conflicts in this time; alone they do not.
            while time.monotonic() < until or missing:
                record = worker.run()
                log.write(json.dumps(record) + "\n")
                log.flush()
                if record["outcome"] == "ok":
                    missing.discard(record["name"].rpartition(" ")[0])
        if spark is not None:
            spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
