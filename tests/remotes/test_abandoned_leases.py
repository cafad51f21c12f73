"""What is held at a remote for a lock or a transaction that has ended here without a call: the sweep ends it there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from metastored.connectors.registry import Connectors
from metastored.hive.generation import Generation
from metastored.hive.transactions.snapshots import ValidTxnList
from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.leases import Leases
from metastored.remotes.routing import Routed
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core.context import Service
from metastored.service.housekeeping import reap
from metastored.service.local import Local
from metastored.store.engine.database import Database as Store
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.transactions import leases as lease_rows
from metastored.store.transactions.leases import Lease
from metastored.store.warehouse.directories import Warehouse
from metastored.structs import (
    Database,
    GetValidWriteIdsRequest,
    LockComponent,
    LockLevel,
    LockRequest,
    LockType,
    OpenTxnRequest,
    ShowLocksRequest,
)
from metastored.threads import Pool
from metastored.wire.message import Call, Handler, Session
from metastored.wire.methods import METHODS
from tests.remotes.test_server import table
from tests.support.metastore import Clock
from tests.support.remotes import remote_database
from tests.support.thrift_server import ThriftServer, serving

TIMEOUT = 3600.0
"""Seconds after which locks and transactions without a heartbeat have ended, at the latest."""


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def ask(handler: Handler, name: str, *args: Any) -> Any:
    method = METHODS[name]
    session = Session("test", Generation.HIVE_3_1, user="ann")
    return (await handler.handle(Call(method, args), session)).value(method)


class Both:
    """A metastore with the local database `mine` and the remote database `sales`, which is `raw` at another one."""

    def __init__(self, stores: tuple[Store, Store], clocks: tuple[Clock, Clock], far: ThriftServer) -> None:
        self.clock, self.far, self.pool = clocks[0], far, Pool(2)
        self.service, self.there_service = (
            Service(store, Warehouse("file:/nowhere", "off"), clock=clock)
            for store, clock in zip(stores, clocks, strict=True)
        )
        for service in (self.service, self.there_service):
            ensure_defaults(service)
        self.there = Local(self.there_service, self.pool)
        far.handler = self.there
        self.known = Known(Definitions([remote_database("sales", "raw", far.uri, 5.0)]))
        self.endpoints = Endpoints(Connectors().connect)
        local = Local(self.service, self.pool)
        self.leases = Leases(local, self.endpoints, self.service.database, self.pool)
        self.here = Routed(local, self._definitions, self.endpoints, transactions=self.leases)

    async def _definitions(self) -> Known:
        return self.known

    async def lock(self) -> None:
        component = LockComponent(LockType.SHARED_READ, LockLevel.TABLE, "sales", "t")
        await ask(self.here, "lock", LockRequest(component=(component,), user="ann", hostname="h"))

    async def held(self) -> list[str]:
        """The tables that are locked at the remote."""
        shown = await ask(self.there, "show_locks", ShowLocksRequest())
        return [each.tablename for each in shown.locks]

    def rows(self) -> list[Lease]:
        return lease_rows.of(self.service.database.reader(), list(range(1, 9)), list(range(1, 9)))

    def time_passes(self) -> None:
        """Here only, until everything without a heartbeat has ended."""
        self.clock.forward(TIMEOUT)
        reap(self.service)


@asynccontextmanager
async def both(folder: Path) -> AsyncIterator[Both]:
    stores = []
    for name in ("here", "there"):
        (folder / name).mkdir()
        stores.append(open_database(None, folder / name, threads=4))
        ensure_schema(stores[-1])
    async with serving(None) as far:
        found = Both((stores[0], stores[1]), (Clock(), Clock()), far)
        await ask(found.there, "create_database", Database(name="raw", locationUri="file:/nowhere/raw"))
        acid = table("raw", "t", parameters={"transactional": "true", "transactional_properties": "insert_only"})
        await ask(found.there, "create_table", acid)
        try:
            yield found
        finally:
            await found.endpoints.close()
            found.pool.close()
            for store in stores:
                store.close()


Test = Callable[[Both], Coroutine[Any, Any, None]]


@pytest.fixture
def with_both(tmp_path: Path) -> Callable[[Test], None]:
    def given(test: Test) -> None:
        async def body() -> None:
            async with both(tmp_path) as found:
                await test(found)

        run(body())

    return given


def test_a_lock_that_timed_out_here_is_given_back_there(with_both: Callable[[Test], None]) -> None:
    async def test(found: Both) -> None:
        await found.lock()
        assert await found.held() == ["t"]
        found.time_passes()
        assert await found.held() == ["t"], "nobody has told the remote"
        await found.leases.sweep(found.known)
        assert (await found.held(), found.rows()) == ([], [])

    with_both(test)


def test_a_transaction_that_timed_out_here_is_ended_there(with_both: Callable[[Test], None]) -> None:
    async def test(found: Both) -> None:
        (txn,) = (await ask(found.here, "open_txns", OpenTxnRequest(num_txns=1, user="ann", hostname="h"))).txn_ids
        seen = str(ValidTxnList.of_reply(txn, [txn], b"", txn))
        await ask(found.here, "get_valid_write_ids", GetValidWriteIdsRequest(("sales.t",), seen))
        assert len((await ask(found.there, "get_open_txns_info")).open_txns) == 1
        found.time_passes()
        await found.leases.sweep(found.known)
        assert (await ask(found.there, "get_open_txns_info")).open_txns == ()
        assert found.rows() == []

    with_both(test)


def test_what_is_still_held_here_is_left_alone(with_both: Callable[[Test], None]) -> None:
    async def test(found: Both) -> None:
        await found.lock()
        await found.leases.sweep(found.known)
        assert (await found.held(), len(found.rows())) == (["t"], 1)

    with_both(test)


def test_a_remote_that_does_not_answer_is_called_again_by_the_next_sweep(with_both: Callable[[Test], None]) -> None:
    async def test(found: Both) -> None:
        await found.lock()
        found.time_passes()
        await found.far.stop()
        await found.leases.sweep(found.known)
        assert len(found.rows()) == 1
        await found.far.start()
        await found.leases.sweep(found.known)
        assert (await found.held(), found.rows()) == ([], [])

    with_both(test)


def test_a_lease_at_an_endpoint_that_no_remote_has_any_more_is_forgotten(with_both: Callable[[Test], None]) -> None:
    async def test(found: Both) -> None:
        await found.lock()
        found.time_passes()
        await found.leases.sweep(Known(Definitions([])))
        assert found.rows() == []

    with_both(test)
