"""A Thrift metastore as a handler, against real sockets: pooling, identity, deadlines, restarts, broken answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from metastored.client.endpoints import Endpoint
from metastored.client.pooling import PoolSettings
from metastored.connectors.addresses import MAX_REPLY
from metastored.connectors.thrift import ThriftMetastore, endpoint_of
from metastored.errors import ConfigError, MetaException, NoSuchObjectException
from metastored.wire.message import EXCEPTION, Call, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import ThriftServer, serving, until

SOON = 0.2
LATE = 60.0
"""A deadline that is not meant to pass."""
WORDS_THAT_MAKE_JAVA_RETRY = ("IOException", "TTransportException", "TProtocolException", "JDO")


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def call(name: str, *args: Any) -> Call:
    return Call(METHODS[name], args)


@asynccontextmanager
async def metastore(
    server: ThriftServer, deadline: float = LATE, max_reply: int = MAX_REPLY, **pool: Any
) -> AsyncIterator[ThriftMetastore]:
    endpoint = endpoint_of(server.uri)._replace(max_reply=max_reply)
    found = ThriftMetastore(server.uri, endpoint, deadline, PoolSettings(**pool))
    try:
        yield found
    finally:
        await found.close()


async def table_of(metastore: ThriftMetastore, user: str | None = None) -> Any:
    asked = call("get_table", "raw", "clicks")
    return (await metastore.handle(asked, Session(user=user))).value(asked.method)


async def failure_of(metastore: ThriftMetastore, name: str = "get_table", *args: Any) -> str:
    asked = call(name, *(args or ("raw", "clicks")))
    with pytest.raises(MetaException) as raised:
        (await metastore.handle(asked, Session())).value(asked.method)
    text = str(raised.value)
    assert metastore.uri in text
    assert not any(word in text for word in WORDS_THAT_MAKE_JAVA_RETRY)
    return text


def memory() -> MemoryMetastore:
    return MemoryMetastore({"raw": ("clicks",)})


def test_an_answer_comes_through_as_the_metastore_gave_it() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server, metastore(server) as here:
            asked = call("get_table", "raw", "clicks")
            assert (await here.handle(asked, Session())).body == (await there.handle(asked, Session())).body

    run(test())


def test_an_error_of_the_metastore_comes_through_as_it_is() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server) as here:
            asked = call("get_table", "raw", "nothing")
            with pytest.raises(NoSuchObjectException, match=r"^raw\.nothing table not found$"):
                (await here.handle(asked, Session())).value(asked.method)
            unknown = await here.handle(call("get_index_names", "raw", "clicks", 1), Session())
            assert unknown.kind == EXCEPTION

    run(test())


def test_calls_one_after_the_other_use_one_connection() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server) as here:
            for _ in range(5):
                await table_of(here)
            assert server.accepted == 1

    run(test())


def test_an_answer_longer_than_a_read_is_put_together() -> None:
    async def test() -> None:
        there = MemoryMetastore({"raw": tuple(f"table_{i:06}" for i in range(60_000))})
        async with serving(there) as server, metastore(server) as here:
            asked = call("get_all_tables", "raw")
            assert (await here.handle(asked, Session())).value(asked.method) == there.databases["raw"]

    run(test())


def test_the_metastore_learns_who_asks_and_a_connection_is_never_shared_by_two_users() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server, metastore(server) as here:
            for user in ("ann", "bob", "ann", None, "bob"):
                await table_of(here, user)
            assert there.users == ["ann", "bob", "ann", None, "bob"]
            assert server.accepted == 3

    run(test())


def test_unused_connections_of_other_users_make_room() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server, max_size=2) as here:
            for number in range(6):
                await table_of(here, f"user{number}")
                await until(lambda: server.connections <= 2)
            assert server.accepted == 6

    run(test())


class Gate:
    """A metastore whose answers wait until it is opened."""

    def __init__(self) -> None:
        self.inner = memory()
        self.open = asyncio.Event()
        self.inside = 0
        self.most = 0

    async def handle(self, call: Call, session: Session) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.open.wait()
        self.inside -= 1
        return await self.inner.handle(call, session)


def test_no_more_calls_are_on_their_way_than_allowed_and_the_others_get_their_turn() -> None:
    async def test() -> None:
        gate = Gate()
        async with serving(gate) as server, metastore(server, max_size=3) as here:
            calls = [asyncio.ensure_future(table_of(here)) for _ in range(10)]
            await until(lambda: gate.inside == 3)
            gate.open.set()
            assert [table.tableName for table in await asyncio.gather(*calls)] == ["clicks"] * 10
            assert (gate.most, server.accepted) == (3, 3)

    run(test())


def test_a_call_that_is_cancelled_gives_its_turn_and_not_its_connection_to_the_next() -> None:
    async def test() -> None:
        gate = Gate()
        async with serving(gate) as server, metastore(server, max_size=1) as here:
            first = asyncio.ensure_future(table_of(here))
            await until(lambda: gate.inside == 1)
            waiting = [asyncio.ensure_future(table_of(here)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            first.cancel()
            gate.open.set()
            assert (await waiting[1]).tableName == (await waiting[2]).tableName == "clicks"
            assert server.accepted == 2

    run(test())


def test_a_metastore_that_does_not_answer_is_an_error_after_the_deadline() -> None:
    async def test() -> None:
        async with serving(None) as server, metastore(server, SOON, max_size=1) as here:
            answers = await asyncio.gather(failure_of(here), failure_of(here))
            assert "the answer to get_table took longer than 0.2 s" in answers[0]
            # The first may have let its place go a moment before the second gave up.
            waiting = "while 1 calls use them all took longer than 0.2 s"
            assert waiting in answers[1] or "connecting took longer than 0.2 s" in answers[1]
            await until(lambda: server.connections == 0)

    run(test())


def test_a_metastore_that_does_not_answer_to_the_users_name_is_an_error_after_the_deadline() -> None:
    async def test() -> None:
        async with serving(None) as server, metastore(server, SOON) as here:
            asked = call("get_table", "raw", "clicks")
            reply = await here.handle(asked, Session(user="ann"))
            assert "connecting took longer than 0.2 s" in str(reply.error)
            await until(lambda: server.connections == 0)

    run(test())


def test_a_failure_of_a_method_that_declares_no_exception_keeps_its_text() -> None:
    async def test() -> None:
        async with serving(None) as server, metastore(server, SOON) as here:
            reply = await here.handle(call("show_compact", None), Session())
            assert reply.kind == EXCEPTION
            assert server.uri in str(reply.error)

    run(test())


def test_nobody_listening_is_an_error_that_says_so() -> None:
    async def test() -> None:
        async with serving(memory()) as server:
            pass
        async with metastore(server) as here:
            assert "cannot be reached: connection refused" in await failure_of(here)

    run(test())


def test_a_connection_that_ends_within_an_answer_is_an_error_and_the_next_call_works() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server) as here:
            await table_of(here)
            server.cut = 100
            assert "did not finish its answer to get_table" in await failure_of(here)
            assert server.accepted == 1, "it had begun to answer: not asked again"
            assert (await table_of(here)).tableName == "clicks"

    run(test())


def test_a_read_is_asked_again_when_the_metastore_was_restarted() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server, metastore(server) as here:
            await table_of(here)
            server.cut = 0  # The connection is closed when it is used next, as by a restart that was not noticed.
            assert (await table_of(here)).tableName == "clicks"
            assert len(there.calls) == 3
            await server.stop()
            await server.start()
            assert (await table_of(here)).tableName == "clicks"

    run(test())


def test_what_is_no_read_is_never_asked_again() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server, metastore(server) as here:
            await table_of(here)
            server.cut = 0
            await failure_of(here, "drop_table", "raw", "clicks", True)
            assert there.called == ["get_table", "drop_table"]

    run(test())


def test_a_connection_that_was_never_good_is_not_tried_again() -> None:
    async def test() -> None:
        there = memory()
        async with serving(there) as server, metastore(server) as here:
            server.cut = 0
            text = await failure_of(here)
            assert "demands TLS or SASL" in text
            assert there.called == ["get_table"]

    run(test())


def test_connections_that_were_unused_for_long_are_replaced() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server, idle_timeout=0.0) as here:
            await table_of(here)
            await asyncio.sleep(0.01)
            await table_of(here)
            assert server.accepted == 2

    run(test())


def test_an_answer_above_the_limit_is_refused() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server, max_reply=50) as here:
            assert "more than 50 bytes; request fewer objects" in await failure_of(here)

    run(test())


class Babbler(asyncio.Protocol):
    """Answers everything with a line of another protocol."""

    def __init__(self, lost: asyncio.Event) -> None:
        self._lost = lost

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()


def test_an_answer_that_is_not_thrift_is_an_error_that_says_so() -> None:
    async def test() -> None:
        lost = asyncio.Event()
        server = await asyncio.get_running_loop().create_server(lambda: Babbler(lost), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        here = ThriftMetastore(f"thrift://127.0.0.1:{port}")
        assert "gave no usable answer to get_table" in await failure_of(here)
        await here.close()
        await lost.wait()
        server.close()
        await server.wait_closed()

    run(test())


def test_a_call_may_begin_outside_of_a_task() -> None:
    """The server takes the first step of a handler by itself and makes a task of the rest."""

    async def test() -> None:
        async with serving(memory()) as server, metastore(server) as here:
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[Reply] = loop.create_future()
            asked = call("get_table", "raw", "clicks")

            def drive(running: Coroutine[Any, Any, Reply]) -> None:
                assert asyncio.current_task() is None
                try:
                    awaited = running.send(None)
                except StopIteration as done:
                    answer.set_result(done.value)
                else:
                    awaited._asyncio_future_blocking = False
                    awaited.add_done_callback(lambda _: drive(running))

            loop.call_soon(drive, here.handle(asked, Session(user="ann")))
            assert (await answer).value(asked.method).tableName == "clicks"

    run(test())


def test_closing_ends_the_calls_that_are_under_way_and_leaves_no_connection() -> None:
    async def test() -> None:
        gate = Gate()
        async with serving(gate) as server, metastore(server) as here:
            under_way = asyncio.ensure_future(failure_of(here))
            await until(lambda: gate.inside == 1)
            await here.close()
            assert "did not finish its answer" in await under_way
            await until(lambda: server.connections == 0)
            assert "metastored is stopping" in await failure_of(here)

    run(test())


def test_closing_ends_what_is_being_connected() -> None:
    async def test() -> None:
        async with serving(None) as server, metastore(server) as here:
            asked = call("get_table", "raw", "clicks")
            under_way = asyncio.ensure_future(here.handle(asked, Session(user="ann")))
            await until(lambda: server.connections == 1)
            await here.close()
            assert "metastored is stopping" in str((await under_way).error)

    run(test())


def test_shutdown_is_not_passed_on() -> None:
    async def test() -> None:
        async with serving(memory()) as server, metastore(server) as here:
            await here.handle(call("shutdown"), Session())
            assert server.accepted == 0

    run(test())


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("thrift://hms:9084", Endpoint("hms", 9084, max_reply=MAX_REPLY)),
        ("thrift://hms", Endpoint("hms", 9083, max_reply=MAX_REPLY)),
        ("thrift://[::1]:9083", Endpoint("::1", 9083, max_reply=MAX_REPLY)),
    ],
)
def test_addresses(uri: str, expected: Endpoint) -> None:
    assert endpoint_of(uri) == expected


@pytest.mark.parametrize(
    "uri", ["hms:9083", "http://hms:9083", "thrift://", "thrift://a:1,thrift://b:2", "thrift://a:port", "thrift://a/db"]
)
def test_an_address_that_cannot_be_used_is_refused_with_one_that_could(uri: str) -> None:
    with pytest.raises(ConfigError, match="thrift://host:9083"):
        ThriftMetastore(uri)
