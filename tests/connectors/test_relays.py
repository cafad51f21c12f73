"""Long answers that a connector passes on while they arrive: in pieces, no faster than they are read, never by half."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from metastored.connectors.addresses import MAX_REPLY
from metastored.connectors.thrift import ThriftMetastore, endpoint_of
from metastored.errors import ConnectionLost, ReplyRefused, TimeoutExceeded
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import Call, Relayed, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import ThriftServer, serving, until

METHOD = METHODS["get_partitions"]
MEGABYTE = 1024 * 1024


class Many(MemoryMetastore):
    """A metastore whose table has many partitions; they are encoded once."""

    def __init__(self, megabytes: float) -> None:
        super().__init__({"raw": ("clicks",)})
        sd = self.get_table("raw", "clicks").sd
        one = Partition(values=("1",), dbName="raw", tableName="clicks", sd=sd, parameters={"k": "x" * 1000})
        size = len(bytes(Reply.of(METHOD, (one,)).body))  # type: ignore[arg-type]
        self.reply = Reply.of(METHOD, (one,) * int(megabytes * MEGABYTE / size))

    async def handle(self, call: Call, session: Session) -> Reply:
        return self.reply if call.method is METHOD else await super().handle(call, session)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


@asynccontextmanager
async def metastore(server: ThriftServer, deadline: float = 60.0) -> AsyncIterator[ThriftMetastore]:
    found = ThriftMetastore(server.uri, endpoint_of(server.uri), deadline)
    try:
        yield found
    finally:
        await found.close()


async def ask(here: ThriftMetastore, *, relays: bool = True) -> Reply:
    call = Call(METHOD, ("raw", "clicks", -1))
    call.relays = relays
    return await here.handle(call, Session())


async def relayed(here: ThriftMetastore) -> Relayed:
    body = (await ask(here)).body
    assert isinstance(body, Relayed)
    return body


async def pieces(body: Relayed) -> list[bytes]:
    found = []
    while (piece := await body.next()) is not None:
        found.append(piece)
    return found


def test_a_long_answer_comes_in_pieces_and_its_connection_is_used_again() -> None:
    async def test() -> None:
        there = Many(6)
        async with serving(there) as server, metastore(server) as here:
            for _ in range(2):
                found = await pieces(await relayed(here))
                assert len(found) > 3
                assert b"".join(found) == there.reply.body
            assert server.accepted == 1

    run(test())


def test_a_caller_that_does_not_ask_for_it_and_a_short_answer_get_it_at_once() -> None:
    async def test() -> None:
        long, short = Many(3), Many(0.5)
        async with serving(long) as server, metastore(server) as here:
            assert (await ask(here, relays=False)).body == long.reply.body
        async with serving(short) as server, metastore(server) as here:
            assert (await ask(here)).body == short.reply.body

    run(test())


@pytest.mark.slow
def test_an_answer_that_is_relayed_may_be_longer_than_one_that_is_held() -> None:
    async def test() -> None:
        there = Many(MAX_REPLY / MEGABYTE + 5)
        async with serving(there) as server, metastore(server) as here:
            body, size = await relayed(here), 0
            while (piece := await body.next()) is not None:
                size += len(piece)
            assert size > MAX_REPLY
            held = await ask(here, relays=False)
            assert held.error is not None and str(MAX_REPLY) in str(held.error)

    run(test())


def test_a_metastore_that_dies_in_the_middle_is_an_error_and_never_the_end() -> None:
    async def test() -> None:
        async with serving(Many(6)) as server, metastore(server) as here:
            server.cut = 4 * MEGABYTE
            ended: list[object] = []
            body = await relayed(here)
            body.when_ended(ended.append)
            with pytest.raises(ConnectionLost):
                await pieces(body)
            assert [type(each) for each in ended] == [ConnectionLost]
            assert await pieces(await relayed(here))
            assert server.accepted == 2

    run(test())


def test_a_metastore_that_hangs_in_the_middle_is_an_error_at_the_deadline() -> None:
    async def test() -> None:
        async with serving(Many(6)) as server, metastore(server, deadline=0.3) as here:
            server.stall = 4 * MEGABYTE
            with pytest.raises(TimeoutExceeded):
                await pieces(await relayed(here))
            await until(lambda: server.connections == 0)
            assert await pieces(await relayed(here))

    run(test())


@pytest.mark.slow
def test_time_in_which_the_reader_does_not_read_does_not_count() -> None:
    async def test() -> None:
        there = Many(40)
        async with serving(there) as server, metastore(server, deadline=5.0) as here:
            body = await relayed(here)
            await asyncio.sleep(6.0)
            assert sum(map(len, await pieces(body))) == len(there.reply.body)  # type: ignore[arg-type]

    run(test())


@pytest.mark.slow
def test_no_more_is_read_from_the_metastore_than_its_reader_takes() -> None:
    async def test() -> None:
        async with serving(Many(60)) as server, metastore(server) as here:
            body = await relayed(here)
            waiting = -1
            while waiting != server.unsent:  # Until nothing moves any more.
                waiting = server.unsent
                await asyncio.sleep(0.1)
            assert waiting > 20 * MEGABYTE
            assert await pieces(body)
            assert server.unsent == 0

    run(test())


def test_an_answer_that_its_reader_gives_up_closes_its_connection_only() -> None:
    async def test() -> None:
        async with serving(Many(20)) as server, metastore(server) as here:
            first, second = await relayed(here), await relayed(here)
            first.close()
            await until(lambda: server.connections == 1)
            assert await pieces(second)
            with pytest.raises(ConnectionLost):
                await first.next()

    run(test())


def test_an_answer_cannot_be_read_at_once() -> None:
    async def test() -> None:
        async with serving(Many(3)) as server, metastore(server) as here:
            reply = await ask(here)
            with pytest.raises(Exception, match="cannot be read at once"):
                reply.value(METHOD)
            assert isinstance(reply.body, Relayed)
            reply.body.close()

    run(test())


def test_closing_the_connector_ends_what_is_under_way() -> None:
    async def test() -> None:
        async with serving(Many(20)) as server, metastore(server) as here:
            body = await relayed(here)
            await here.close()
            with pytest.raises((ConnectionLost, ReplyRefused)):
                await pieces(body)

    run(test())
