"""How a run with several processes (`pytest -n 3`) is divided: by files, longest first, and by what they start.

`tests/durations.toml` has the measured seconds of the files that take long, by what they start: a session of Spark in
the process of the tests, a JVM for Spark programs, Hive servers. A process that has started one of these takes the
other files that use it; then those whose servers nobody has started; then files that share nothing. At the end it
helps another process, so that all end at about the same time. A file is never torn apart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from xdist.scheduler import LoadScopeScheduling

FILE: Final = Path(__file__).parent.parent / "durations.toml"
NOTHING: Final = "nothing"
"""The section of files that share no servers with other files."""
Durations = Mapping[str, Mapping[str, float]]


def durations(file: Path = FILE) -> Durations:
    """The seconds of files, by what they start."""
    return tomllib.loads(file.read_text("utf-8"))


def scope_of(nodeid: str) -> str:
    """The tests that run in one process: those of a file."""
    return PurePosixPath(nodeid.partition("::")[0]).as_posix()


class Order:
    """Which file a process gets next."""

    def __init__(self, measured: Durations) -> None:
        self._seconds = {file: seconds for files in measured.values() for file, seconds in files.items()}
        self._starts = {file: started for started, files in measured.items() if started != NOTHING for file in files}
        self._started: dict[object, set[str]] = {}

    def next_file(self, process: object, files: Iterable[str]) -> str:
        """The file for a process, of those that are left."""
        own = self._started.setdefault(process, set())
        everywhere = set().union(*self._started.values())

        def rank(file: str) -> tuple[int, float]:
            started = self._starts.get(file)
            if started in own:
                kind = 0
            elif started is not None and started not in everywhere:
                kind = 1
            elif started is None:
                kind = 2
            else:
                kind = 3
            return kind, -self._seconds.get(file, 0.0)

        chosen = min(files, key=rank)
        if chosen in self._starts:
            own.add(self._starts[chosen])
        return chosen


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process the file of `Order` when it has done one.

    xdist keeps the tests that are done, counts them again after every test, and looks for each test of a file in the
    list of all: half a minute of a slow processor for 20,000 tests. Here only what is left is kept.
    """

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        self.order = Order(durations())
        self._numbers: dict[object, dict[str, int]] = {}

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._numbers[node] = {nodeid: number for number, nodeid in enumerate(collection)}

    def _assign_work_unit(self, node: Any) -> None:
        file = self.order.next_file(node, self.workqueue)
        tests = self.workqueue.pop(file)
        self.assigned_work.setdefault(node, {})[file] = tests
        numbers = self._numbers[node]
        node.send_runtest_some([numbers[nodeid] for nodeid in tests])

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        nodeid = self.registered_collections[node][item_index]
        files = self.assigned_work[node]
        file = scope_of(nodeid)
        del files[file][nodeid]
        if not files[file]:
            del files[file]
        self._reschedule(node)

    def _pending_of(self, workload: Mapping[str, Mapping[str, bool]]) -> int:
        return sum(map(len, workload.values()))
