"""Eight writers in four processes append to one table, and some processes are killed.

Every row whose append was acknowledged is there once, no row is there twice, and the version in the metastore is the
newest manifest. `make test` has eight appends of each writer and two kills; `make soak` 50, and four.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import lance
import lance_namespace as ns
import pyarrow
import pytest

from tests.support.forks import running_server
from tests.support.lance import Space, new_space
from tests.support.postgres import shared_postgres
from tests.support.processes import start_python

PROCESSES = 4
THREADS = 2
TIMEOUT = 150.0


class Load(NamedTuple):
    """The appends of each writer, and how many times a process is killed."""

    appends: int
    kills: int


FULL = Load(appends=50, kills=4)
SHORT = Load(appends=8, kills=2)
SCHEMA = pyarrow.schema([("writer", pyarrow.int64()), ("number", pyarrow.int64())])

# Each attempt and each acknowledgement is a line of the log, written at once. A process that replaces a killed one
# goes on after the last attempt, whose outcome is not known.
WRITER = """
import os, sys, threading
import lance, pyarrow, lance_namespace, metastored.lance

uri, root, database, log, *writers = sys.argv[1:]
log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
space = lance_namespace.connect("metastored-hive2", {"uri": uri, "root": root, "managed_by": "impl"})
failures = []

def append(writer, number):
    row = pyarrow.table({"writer": pyarrow.array([writer]), "number": pyarrow.array([number])})
    for _ in range(100):
        try:
            return lance.write_dataset(row, namespace_client=space, table_id=[database, "t"], mode="append")
        except OSError as error:
            # A commit that lost against too many others is known to have failed.
            if "onflict" not in str(error) and "Too many concurrent writers" not in str(error):
                raise
    raise RuntimeError("too many conflicts")

def write(writer, start, end):
    try:
        for number in range(start, end):
            os.write(log, f"try {writer} {number}\\n".encode())
            append(writer, number)
            os.write(log, f"ack {writer} {number}\\n".encode())
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=write, args=tuple(map(int, each.split(":")))) for each in writers]
for thread in threads: thread.start()
for thread in threads: thread.join()
if failures:
    raise failures[0]
"""


@pytest.fixture
def managed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Space]:
    """A namespace that keeps versions in metastored on SQLite or PostgreSQL, or in Apache Hive 2.3.10."""
    with ExitStack() as stack:
        if request.param == "hive_2_3":
            uri: str = request.getfixturevalue("hive_2_3").uri
        elif request.param == "postgresql":
            url = stack.enter_context(shared_postgres().database())
            uri = stack.enter_context(running_server(database_url=url)).uri
        else:
            uri = stack.enter_context(running_server()).uri
        yield stack.enter_context(new_space(uri, "hive2", tmp_path / "root", "impl"))


class Writers:
    """The processes of the writers, and their log."""

    def __init__(self, space: Space, log: Path, appends: int) -> None:
        self._space = space
        self._log = log
        self._appends = appends
        self.log.touch()
        self._running: dict[int, subprocess.Popen[str]] = {}

    @property
    def log(self) -> Path:
        return self._log

    def lines(self, word: str) -> set[tuple[int, int]]:
        """The rows that were attempted (try) or acknowledged (ack)."""
        found = (line.split() for line in self._log.read_text().splitlines())
        return {(int(writer), int(number)) for kind, writer, number in found if kind == word}

    def start(self, process: int) -> None:
        """Starts the writers of a process behind what they have attempted."""
        tried = self.lines("try")
        tasks = []
        for writer in range(process * THREADS, (process + 1) * THREADS):
            start = max((number for each, number in tried if each == writer), default=-1) + 1
            tasks.append(f"{writer}:{start}:{self._appends}")
        space = self._space
        arguments = (space.uri, str(space.root), space.name, str(self._log), *tasks)
        self._running[process] = start_python(WRITER, *arguments)

    def kill(self, process: int) -> None:
        """Kills a process without a warning, and starts its writers again."""
        self._running[process].kill()
        self._running[process].communicate()
        self.start(process)

    def is_running(self, process: int) -> bool:
        return self._running[process].poll() is None

    def finish(self, seconds: float) -> None:
        """Waits until all have finished; their failures are those of the test."""
        deadline = time.monotonic() + seconds
        for process in self._running.values():
            _, errors = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
            assert process.returncode == 0, errors

    def stop(self) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("managed", "load"),
    [
        pytest.param("sqlite", SHORT, id="sqlite"),
        pytest.param("postgresql", SHORT, marks=pytest.mark.postgres, id="postgresql"),
        pytest.param("hive_2_3", SHORT, marks=pytest.mark.apache, id="hive_2_3"),
        pytest.param("sqlite", FULL, marks=pytest.mark.soak, id="sqlite for longer"),
        pytest.param("postgresql", FULL, marks=(pytest.mark.postgres, pytest.mark.soak), id="postgresql for longer"),
        pytest.param("hive_2_3", FULL, marks=(pytest.mark.apache, pytest.mark.soak), id="hive_2_3 for longer"),
    ],
    indirect=["managed"],
)
def test_no_acknowledged_row_is_lost_and_none_is_doubled(managed: Space, load: Load, tmp_path: Path) -> None:
    managed.create("t", SCHEMA.empty_table())
    chance = random.Random(17)
    writers = Writers(managed, tmp_path / "log", load.appends)
    try:
        for process in range(PROCESSES):
            writers.start(process)
        for _ in range(load.kills):
            # So that each kill hits a process that writes.
            goal = len(writers.lines("ack")) + chance.randrange(5, 30)
            deadline = time.monotonic() + TIMEOUT / load.kills
            while len(writers.lines("ack")) < goal and time.monotonic() < deadline:
                time.sleep(chance.uniform(0.001, 0.02))
            victims = [process for process in range(PROCESSES) if writers.is_running(process)]
            if victims:
                writers.kill(chance.choice(victims))
        writers.finish(TIMEOUT)
    finally:
        writers.stop()

    dataset = lance.dataset(namespace_client=managed.namespace, table_id=managed.id("t"))
    rows = Counter((row["writer"], row["number"]) for row in dataset.to_table().to_pylist())
    assert [row for row, count in rows.items() if count > 1] == []
    assert writers.lines("ack") - set(rows) == set()
    assert set(rows) - writers.lines("try") == set()
    assert len(writers.lines("ack")) >= PROCESSES * THREADS * load.appends - load.kills * THREADS

    version = managed.namespace.client.table((managed.name, "t")).parameters["version"]
    newest = lance.dataset(managed.root / f"{managed.name}.db" / "t")
    assert int(version) == dataset.version == newest.version == len(rows) + 1
    versions = managed.namespace.list_table_versions(ns.ListTableVersionsRequest(id=managed.id("t"))).versions
    assert [each.version for each in versions] == list(range(1, len(rows) + 2))
