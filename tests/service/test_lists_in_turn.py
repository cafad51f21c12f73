"""Lists of all partitions on SQLite: a worker reads them one after the other, and other calls do not wait for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from metastored.service.core.serving import served, served_in_turn
from metastored.service.local import Local
from metastored.store.engine.statements import SQLITE
from metastored.threads import Pool
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.metastore import Metastore

LIST, FILTERED = "get_partitions", "get_partitions_by_filter"
ARGS = {LIST: ("d", "t", -1), FILTERED: ("d", "t", "ds = 'x'", -1)}
THREADS = 4
PATIENCE = 30.0


class Running:
    """A function that serves calls, and counts those that it serves at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def __call__(self, context: Any, *args: Any) -> tuple[()]:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self.serve()
        with self._lock:
            self._now -= 1
        return ()

    def serve(self) -> None:
        """What it does meanwhile."""


class Together(Running):
    """Each call waits until all threads serve one."""

    def __init__(self) -> None:
        super().__init__()
        self._barrier = threading.Barrier(THREADS, timeout=PATIENCE)

    def serve(self) -> None:
        self._barrier.wait()


class Until(Running):
    """The calls wait for an event."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self._event = event

    def serve(self) -> None:
        assert self._event.wait(PATIENCE)


Serve = Callable[[dict[str, Callable[..., Any]], list[str]], None]


@pytest.fixture
def serve(metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serves calls at the same time, by these functions instead of the service's own."""

    def run(functions: dict[str, Callable[..., Any]], names: list[str]) -> None:
        pool = Pool(THREADS)
        local = Local(metastore.service, pool)
        monkeypatch.setattr(local, "_functions", functions)

        async def all_calls() -> None:
            calls = [local.handle(Call(METHODS[name], ARGS[name]), Session()) for name in names]
            for name, reply in zip(names, await asyncio.gather(*calls), strict=True):
                assert reply.value(METHODS[name]) == ()

        try:
            for _ in range(2):  # On two event loops, one after the other.
                asyncio.run(asyncio.wait_for(all_calls(), PATIENCE))
        finally:
            pool.close()

    return run


@pytest.fixture
def on_sqlite(metastore: Metastore) -> bool:
    return metastore.service.database.dialect == SQLITE


def test_lists_of_sqlite_are_read_one_after_the_other(serve: Serve, on_sqlite: bool) -> None:
    if on_sqlite:
        lists = Running()
        serve({LIST: lists}, [LIST] * 2 * THREADS)
        assert lists.most == 1
    else:
        lists = Together()
        serve({LIST: lists}, [LIST] * 2 * THREADS)
        assert lists.most == THREADS


def test_other_calls_are_served_at_the_same_time(serve: Serve) -> None:
    others = Together()
    serve({FILTERED: others}, [FILTERED] * 2 * THREADS)
    assert others.most == THREADS


def test_other_calls_do_not_wait_for_lists(serve: Serve) -> None:
    """The first list ends after the other call, which is the last that comes."""
    served_other = threading.Event()

    def other(context: Any, *args: Any) -> tuple[()]:
        served_other.set()
        return ()

    serve({LIST: Until(served_other), FILTERED: other}, [LIST] * (THREADS - 1) + [FILTERED])


def test_the_methods_that_wait_are_served_by_functions_of_their_names() -> None:
    served_methods = served()
    assert served_in_turn() <= set(served_methods)
    assert {METHODS[name].cost for name in served_in_turn()} == {"scan"}
    assert LIST in served_in_turn() and FILTERED not in served_in_turn()
