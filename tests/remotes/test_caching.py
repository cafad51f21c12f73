"""The cache of what remotes replied: off unless a remote asks for it, and dropped when it may be stale."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.model.remotes.values import Access
from metastored.remotes.caching import ReplyCache
from metastored.wire.generated.notifications import CurrentNotificationEventId
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.metastore import Clock
from tests.support.remotes import endpoint, house, remote_database

HERE = endpoint("thrift://h:1")
METHOD = METHODS["get_table"]


class WithEvents(MemoryMetastore):
    """A metastore with an event log."""

    event = 1

    def get_current_notificationEventId(self) -> CurrentNotificationEventId:
        return CurrentNotificationEventId(eventId=self.event)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def read(cache: ReplyCache, inner: MemoryMetastore, user: str = "ann", table: str = "t") -> Any:
    call = Call(METHOD, ("d", table))
    return (await cache.handle(call, Session(user=user), inner, HERE, 10.0)).value(METHOD)


def reads(inner: MemoryMetastore) -> int:
    return inner.called.count("get_table")


def test_a_read_is_sent_once_until_it_expires_and_once_for_each_caller() -> None:
    async def test() -> None:
        clock, inner = Clock(), MemoryMetastore({"d": ("t",)})
        cache = ReplyCache(clock)
        assert await read(cache, inner) == await read(cache, inner)
        assert reads(inner) == 1
        await read(cache, inner, "bob")
        assert reads(inner) == 2
        clock.forward(10)
        await read(cache, inner)
        assert reads(inner) == 3

    run(test())


def test_a_read_that_is_on_its_way_during_a_write_is_not_cached() -> None:
    """Its reply may be older than the write."""

    class Slow(MemoryMetastore):
        async def handle(self, call: Call, session: Session) -> Reply:
            reply = await super().handle(call, session)
            if call.method is METHOD:
                sent.set()
                await written.wait()
            return reply

    sent, written = asyncio.Event(), asyncio.Event()

    async def test() -> None:
        inner = Slow({"d": ("t",)})
        cache = ReplyCache(Clock())
        early = asyncio.create_task(read(cache, inner))
        await sent.wait()
        cache.drop(HERE)  # As after a write through this server.
        written.set()
        await early
        before = reads(inner)
        await read(cache, inner)
        assert reads(inner) == before + 1
        await read(cache, inner)
        assert reads(inner) == before + 1

    run(test())


def test_an_error_is_not_cached() -> None:
    async def test() -> None:
        inner = MemoryMetastore({"d": ("t",)})
        cache = ReplyCache(Clock())
        for _ in range(2):
            with pytest.raises(NoSuchObjectException):
                await read(cache, inner, table="nothing")
        assert reads(inner) == 2

    run(test())


def test_a_new_event_of_the_remote_drops_what_was_cached() -> None:
    async def test() -> None:
        clock, inner = Clock(), WithEvents({"d": ("t",)})
        cache = ReplyCache(clock)
        for _ in range(3):
            clock.forward(2)
            await read(cache, inner)
        assert reads(inner) == 1
        inner.event = 2
        await read(cache, inner)
        assert reads(inner) == 1, "the event log is looked at once a second"
        clock.forward(2)
        await read(cache, inner)
        assert reads(inner) == 2

    run(test())


def test_the_least_recently_used_replies_are_evicted() -> None:
    async def test() -> None:
        inner = MemoryMetastore({"d": ("a", "b", "c")})
        size = len((await inner.handle(Call(METHOD, ("d", "a")), Session())).body)  # type: ignore[arg-type]
        cache = ReplyCache(Clock(), most=2 * size)
        inner.calls.clear()
        for table in ("a", "b", "a", "c", "a", "b"):
            await read(cache, inner, table=table)
        assert [args[1] for name, args in inner.calls if name == "get_table"] == ["a", "b", "c", "b"]

    run(test())


def test_a_remote_is_cached_only_if_its_definition_says_so_and_until_it_is_written() -> None:
    async def test() -> None:
        async with house() as here:
            for _ in range(2):
                await here.ask("get_table", "sales", "clicks")
            assert here.remote.called.count("get_table") == 2
            cached = remote_database("cached", "raw", here.living.uri, cache_seconds=60.0, access=Access.WRITE)
            here.define([cached])
            for _ in range(2):
                assert (await here.ask("get_table", "cached", "clicks")).dbName == "cached"
            assert here.remote.called.count("get_table") == 3
            with pytest.raises(ApplicationError):
                await here.ask("truncate_table", "cached", "clicks", ())
            await here.ask("get_table", "cached", "clicks")
            assert here.remote.called.count("get_table") == 4

    run(test())
