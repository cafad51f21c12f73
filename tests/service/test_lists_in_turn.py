"""Long lists of partitions on SQLite: a worker reads them one after the other, and other calls do not wait for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from metastored.service.core.context import Context, NotItsTurn
from metastored.service.core.partition_lists import SHORT
from metastored.service.core.serving import served
from metastored.service.local import Local
from metastored.store.engine.statements import SQLITE
from metastored.threads import Pool
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import (
    GetPartitionsPsWithAuthRequest,
    GetPartitionsRequest,
    PartitionsByExprRequest,
    PartitionsRequest,
)
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.metastore import Metastore
from tests.support.objects import partition, table

LIST, SHORT_LIST, DROP = "get_partitions", "get_partitions_ps", "drop_partition_by_name"
ARGS: dict[str, tuple[Any, ...]] = {
    LIST: ("d", "t", -1),
    SHORT_LIST: ("d", "t", ("x",), -1),
    DROP: ("d", "t", "ds=x", False),
}
THREADS = 4
PATIENCE = 30.0


class Running:
    """A function that serves calls, and counts those that it serves at the same time."""

    def __init__(self, *, long: bool = False) -> None:
        """`long` functions read long lists."""
        self._long = long
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def __call__(self, context: Context, *args: Any) -> Any:
        if self._long:
            context.check_turn()
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self.serve()
        with self._lock:
            self._now -= 1
        return False if args == ARGS[DROP] else ()

    def serve(self) -> None:
        """What it does meanwhile."""


class Together(Running):
    """Each call waits until all threads serve one."""

    def __init__(self, *, long: bool = False) -> None:
        super().__init__(long=long)
        self._barrier = threading.Barrier(THREADS, timeout=PATIENCE)

    def serve(self) -> None:
        self._barrier.wait()


class Until(Running):
    """The calls wait for an event."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__(long=True)
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
                assert not reply.value(METHODS[name])

        try:
            for _ in range(2):  # On two event loops, one after the other.
                asyncio.run(asyncio.wait_for(all_calls(), PATIENCE))
        finally:
            pool.close()

    return run


@pytest.fixture
def on_sqlite(metastore: Metastore) -> bool:
    return metastore.service.database.dialect == SQLITE


def test_long_lists_of_sqlite_are_read_one_after_the_other(serve: Serve, on_sqlite: bool) -> None:
    if on_sqlite:
        lists = Running(long=True)
        serve({LIST: lists}, [LIST] * 2 * THREADS)
        assert lists.most == 1
    else:
        lists = Together(long=True)
        serve({LIST: lists}, [LIST] * 2 * THREADS)
        assert lists.most == THREADS


def test_short_lists_are_read_at_the_same_time(serve: Serve) -> None:
    lists = Together()
    serve({LIST: lists}, [LIST] * 2 * THREADS)
    assert lists.most == THREADS


def test_a_short_list_does_not_wait_for_long_ones(serve: Serve, on_sqlite: bool) -> None:
    """The first long list ends after the short one, which is the last call that comes.

    On PostgreSQL each list has a thread, and one is left.
    """
    served_short = threading.Event()

    def short_list(context: Context, *args: Any) -> tuple[()]:
        served_short.set()
        return ()

    serve(
        {LIST: Until(served_short), SHORT_LIST: short_list},
        [LIST] * (2 * THREADS if on_sqlite else THREADS - 1) + [SHORT_LIST],
    )


def test_changes_that_read_long_lists_do_not_wait(serve: Serve) -> None:
    changes = Together(long=True)
    serve({DROP: changes}, [DROP] * 2 * THREADS)
    assert changes.most == THREADS


class Refused:
    """A call of `get_partitions` for a real table that has read its first rows, and waits for its turn."""

    def __init__(self, metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pool = Pool(THREADS)
        self.local = Local(metastore.service, self._pool)
        self.times = 0
        self._read = threading.Event()
        function = served()[LIST]

        def read(context: Context, *args: Any) -> Any:
            self.times += 1
            try:
                return function(context, *args)
            finally:
                self._read.set()

        monkeypatch.setattr(self.local, "_functions", {**served(), LIST: read})

    def reply(self, session: Session, meanwhile: Callable[[Local], Awaitable[None]]) -> Reply:
        """Its reply. `meanwhile` runs when it has read its first rows; on PostgreSQL it has read all then."""

        async def run() -> Reply:
            loop = asyncio.get_running_loop()
            async with self.local._turn_on(loop):
                waiting = asyncio.ensure_future(self.local.handle(Call(METHODS[LIST], ARGS[LIST]), session))
                assert await loop.run_in_executor(None, self._read.wait, PATIENCE)
                await meanwhile(self.local)
            return await waiting

        try:
            return asyncio.run(asyncio.wait_for(run(), 2 * PATIENCE))
        finally:
            self._pool.close()


@pytest.mark.slow
def test_a_list_that_waited_has_what_others_wrote_meanwhile(
    filled: Metastore, on_sqlite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drop(local: Local) -> None:
        dropped = await local.handle(Call(METHODS[DROP], ("d", "t", "ds=0000", False)), Session())
        assert dropped.value(METHODS[DROP]) is True

    refused = Refused(filled, monkeypatch)
    found = refused.reply(Session(), drop).value(METHODS[LIST])
    assert (refused.times, len(found)) == ((2, SHORT) if on_sqlite else (1, SHORT + 1))


@pytest.mark.slow
def test_a_list_whose_client_left_while_it_waited_is_not_read(
    filled: Metastore, on_sqlite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()

    async def leave(local: Local) -> None:
        session.ended = session.gone = True

    refused = Refused(filled, monkeypatch)
    reply = refused.reply(session, leave)
    assert refused.times == 1
    if on_sqlite:
        assert str(reply.error) == "the client has disconnected"


# Which lists are long


def names(count: int) -> tuple[str, ...]:
    return tuple(map("ds={:04}".format, range(count)))


CHECKED: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "get_partitions": lambda count: ("d", "t", -1),
    "get_partitions_with_auth": lambda count: ("d", "t", -1, "ann", ()),
    "get_partitions_req": lambda count: (PartitionsRequest(dbName="d", tblName="t"),),
    "get_partitions_by_filter": lambda count: ("d", "t", "ds >= ''", -1),
    "get_partitions_by_names": lambda count: ("d", "t", names(count)),
    "get_partitions_ps": lambda count: ("d", "t", ("",), -1),
    "get_partitions_pspec": lambda count: ("d", "t", -1),
    "get_part_specs_by_filter": lambda count: ("d", "t", "ds >= ''", -1),
    "get_partitions_by_expr": lambda count: (PartitionsByExprRequest("d", "t", b"ds >= ''"),),
    "get_partitions_ps_with_auth_req": lambda count: (
        GetPartitionsPsWithAuthRequest(dbName="d", tblName="t", partNames=names(count)),
    ),
    "get_partitions_with_specs": lambda count: (GetPartitionsRequest(dbName="d", tblName="t"),),
}
"""Calls that list all partitions of a table with so many."""


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """A table with one partition more than a short list has."""
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", table("d", "t", keys="ds string"))
    metastore.call("add_partitions", tuple(partition("d", "t", (f"{at:04}",)) for at in range(SHORT + 1)))
    return metastore


@pytest.mark.slow
def test_a_list_of_more_than_a_few_hundred_partitions_waits_for_its_turn(filled: Metastore) -> None:
    context = Context(filled.service, Session("test", filled.compat, user="ann"), has_turn=False)
    for name, args in CHECKED.items():
        with pytest.raises(NotItsTurn):
            served()[name](context, *args(SHORT + 1))
    filled.call("drop_partition_by_name", "d", "t", "ds=0000", False)
    for name, args in CHECKED.items():
        served()[name](context, *args(SHORT))
