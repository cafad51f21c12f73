"""Lance tables: commits by the metastore against Apache's, and lists against Lance's own client."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import lance
import lance_namespace as ns
import pyarrow

import metastored
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results
from metastored.lance import Hive2Namespace
from metastored.lance.definition import ManagedBy, lance_table
from metastored.model.names import TableName
from tests.support.foreign import run_foreign

ROW = pyarrow.table({"id": [1], "vector": pyarrow.array([[0.0] * 16], pyarrow.list_(pyarrow.float32(), 16))})
COMMITS = {1: (5.0, 8.0), 8: (4.0, 8.0)}
"""The limit and the aim by the number of writers."""
LIST_LEAST, LIST_AIM = 50.0, 100.0
DB = "lance_bench"

# Lance's client connects for each operation and reads each table by a call of its own.
LIST = """
import time
import lance_namespace_impls
from lance_namespace import ListTablesRequest, connect

space = connect("hive2", {"uri": uri, "root": root})
start = time.perf_counter()
tables = space.list_tables(ListTablesRequest(id=[db], include_declared=True)).tables
result = [time.perf_counter() - start, len(tables)]
"""


@contextlib.contextmanager
def namespaces(peer: Peer, root: Path, count: int) -> Iterator[list[Hive2Namespace]]:
    """One namespace for each writer, with a table that all of them write to."""
    uri = f"thrift://{peer.host}:{peer.port}"
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(Hive2Namespace(uri=uri, root=str(root), managed_by="impl")) for _ in range(count)]
        made[0].create_namespace(ns.CreateNamespaceRequest(id=[DB], mode="exist_ok"))
        lance.write_dataset(ROW, namespace_client=made[0], table_id=[DB, f"t{count}"], mode="create")
        yield made


def commits_per_second(peer: Peer, root: Path, writers: int, commits: int) -> float:
    """How many rows the writers appended per second, each by a commit of its own, until there were so many.

    All servers get the same number of commits: each version makes the next commit of Lance slower, whoever decides it.
    """
    times: list[float] = []
    """When each commit was acknowledged."""
    failures: list[BaseException] = []
    with namespaces(peer, root, writers) as spaces:
        table = [DB, f"t{writers}"]
        start = time.perf_counter()

        def write(number: int) -> None:
            try:
                while len(times) < commits:
                    with contextlib.suppress(OSError):  # Too many conflicts: this commit does not count.
                        lance.write_dataset(ROW, namespace_client=spaces[number], table_id=table, mode="append")
                        times.append(time.perf_counter() - start)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        rows = lance.dataset(namespace_client=spaces[0], table_id=table).count_rows()
    # Each acknowledged row is there once, and the first one from the creation.
    assert rows == len(times) + 1, (rows, len(times))
    return commits / sorted(times)[commits - 1]


def fill(client: metastored.Client, of_lance: int, others: int) -> None:
    """Creates tables, a third of them Lance's."""
    client.create_database(DB, if_not_exists=True)

    def create(numbers: range) -> None:
        for number in numbers:
            name = TableName("", DB, f"t{number:06}")
            location = f"file:/nowhere/{DB}.db/{name.table}"
            if number % (1 + others // of_lance) == 0:
                client.create_table(lance_table(name, location, ManagedBy.STORAGE, {}))
            else:
                columns = {"id": "bigint", "name": "string"}
                client.create_table(metastored.table(name, columns, external=True, location=location))

    total = of_lance + others
    threads = [threading.Thread(target=create, args=(range(at, total, 4),)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_lists(results: Results, quick: bool) -> None:
    of_lance, others = (500, 1_000) if quick else (10_000, 20_000)
    with metastored_on_sqlite(directories="off") as peer, tempfile.TemporaryDirectory() as root:
        uri = f"thrift://{peer.host}:{peer.port}"
        with metastored.connect(uri, cache=False, timeout=120) as client:
            fill(client, of_lance, others)
        with Hive2Namespace(uri=uri, root=root) as space:
            request = ns.ListTablesRequest(id=[DB], include_declared=True)
            found: list[str] = space.list_tables(request).tables
            times = []
            for _ in range(5):
                start = time.perf_counter()
                found = space.list_tables(request).tables
                times.append(time.perf_counter() - start)
        theirs: Any = run_foreign(LIST, uri=uri, root=root, db=DB)
        assert len(found) == theirs[1] == of_lance, (len(found), theirs)
        results.faster(
            f"list {of_lance:,} Lance tables among {others:,} others, lance-namespace-impls",
            sorted(times)[2],
            theirs[0],
            least=LIST_LEAST,
            aim=LIST_AIM,
        )


def run_commits(results: Results, quick: bool) -> None:
    """Several rounds, each with new servers, which take turns: so other load on the machine meets both of them.

    A round has few commits, so that Apache's JVM is still compiling its code. One that has run for longer is faster,
    and the ratio is smaller than here.
    """
    rounds, commits = (1, 40) if quick else (3, 200)
    rates: dict[str, dict[int, list[float]]] = {}
    for number in range(rounds):
        starts = (metastored_on_sqlite, apache)
        for start in starts if number % 2 == 0 else reversed(starts):
            with start() as peer, tempfile.TemporaryDirectory() as root:
                commits_per_second(peer, Path(root), 2, 10)
                for writers in COMMITS:
                    rate = commits_per_second(peer, Path(root), writers, commits)
                    rates.setdefault(peer.name, {}).setdefault(writers, []).append(rate)
    ours, theirs = rates.values()
    for writers, (least, aim) in COMMITS.items():
        results.more(
            f"Lance commits by the metastore, {writers} writer{'s' if writers > 1 else ''}",
            median(ours[writers]),
            median(theirs[writers]),
            unit="/s",
            least=least,
            aim=aim,
        )


def run(results: Results, quick: bool) -> None:
    run_commits(results, quick)
    run_lists(results, quick)
