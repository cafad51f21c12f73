"""Definitions from the store: one look serves the calls that arrive together, and no call sees an older state."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.provider import StoredDefinitions
from metastored.remotes.routing import Routed
from metastored.service.remotes.definitions import Remotes
from metastored.store.engine.database import Database
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.opening import open_database
from metastored.store.engine.pipeline import Pipeline
from metastored.store.objects import catalogs
from metastored.store.objects.remotes import changed
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.threads import Pool
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.postgres import PostgresServer
from tests.support.remotes import remote_database


class Counted(Remotes):
    """Counts how often the store is looked at."""

    looks = 0

    def current(self) -> Definitions:
        self.looks += 1
        return super().current()


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    with postgres.database() as url:
        database = open_database(url, None)
        ensure_schema(database)
        yield database
        database.close()


@pytest.fixture
def stored(database: Database) -> Iterator[tuple[StoredDefinitions, Counted]]:
    pool = Pool(2)
    remotes = Counted(database, RemoteSecrets())
    yield StoredDefinitions(remotes, database, pool), remotes
    pool.close()


@pytest.mark.postgres
def test_calls_that_arrive_together_share_a_look_at_the_store(
    stored: tuple[StoredDefinitions, Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, remotes = stored
    # The event loop has no connection yet: it may get one before the last of these calls.
    monkeypatch.setattr(Pipeline, "read", lambda *_: None)

    async def test() -> None:
        definitions = await asyncio.gather(*(provider() for _ in range(50)))
        assert len({id(known) for known in definitions}) == 1
        assert remotes.looks == 1

    asyncio.run(test())


@pytest.mark.postgres
def test_a_change_is_seen_by_the_next_call_and_other_changes_need_no_thread(
    stored: tuple[StoredDefinitions, Counted], database: Database
) -> None:
    provider, remotes = stored

    async def test() -> None:
        await provider()
        while await database.version_on_loop() is None:
            await asyncio.sleep(0.01)
        known, looks = await provider(), remotes.looks
        for name in ("a", "b"):
            await asyncio.to_thread(database.run, lambda tx, name=name: catalogs.insert(tx, name, b""))
            assert await provider() is known
        assert remotes.looks == looks
        await asyncio.to_thread(database.run, changed)
        assert await provider() is not known
        assert remotes.looks == looks + 1

    asyncio.run(asyncio.wait_for(test(), 60))


@pytest.mark.postgres
def test_a_caller_that_goes_away_does_not_end_the_look_of_the_others(
    stored: tuple[StoredDefinitions, Counted],
) -> None:
    provider, _ = stored

    async def test() -> None:
        first, second = asyncio.ensure_future(provider()), asyncio.ensure_future(provider())
        await asyncio.sleep(0)
        first.cancel()
        assert len(await second) == 0

    asyncio.run(test())


class Later:
    """A provider whose definitions change while they are looked at."""

    def __init__(self, before: Known, after: Known) -> None:
        self._before, self._after = before, after

    def peek(self) -> Known | None:
        return self._before

    async def __call__(self) -> Known:
        await asyncio.sleep(0.01)
        return self._after


def test_a_read_is_routed_by_the_present_definitions_even_if_it_was_local_before() -> None:
    local, far = MemoryMetastore({"sales": ("old",)}), MemoryMetastore({"raw": ("new",)})
    known = Known(Definitions([remote_database("sales", "raw", "thrift://h:1")]))
    method = METHODS["get_all_tables"]

    async def ask(provider: Later) -> tuple[str, ...]:
        handler = Routed(local, provider, Endpoints(lambda endpoint: far))
        found: tuple[str, ...] = (await handler.handle(Call(method, ("sales",)), Session())).value(method)
        return found

    none = Known(Definitions())
    assert asyncio.run(ask(Later(none, known))) == ("new",)
    assert asyncio.run(ask(Later(none, none))) == ("old",)
    assert asyncio.run(ask(Later(known, none))) == ("old",)
