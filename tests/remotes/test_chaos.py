"""Of 20 remotes one hangs, one is dead, one sends garbage, one is slow and one restarts: the others do not notice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

import metastored
from metastored.client._sync.client import Client
from metastored.errors import Error
from metastored.structs import Database
from metastored.wire.message import Call, Reply, Session
from tests.support.forks import running_server
from tests.support.memory_metastore import MemoryMetastore
from tests.support.thrift_server import HOST, ThriftServer, close_port, serving

pytestmark = pytest.mark.slow

REMOTES = 20
HANGING, DEAD, GARBAGE, SLOW, RESTARTING = range(5)
ROUNDS = 8
DELAY = 2.0


class Slow(MemoryMetastore):
    """Answers after a while."""

    async def handle(self, call: Call, session: Session) -> Reply:
        await asyncio.sleep(DELAY)
        return await super().handle(call, session)


@asynccontextmanager
async def garbage() -> AsyncIterator[str]:
    """A server that answers everything with bytes that are no Thrift."""
    accepted: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        with contextlib.suppress(OSError):
            while await reader.read(4096):
                writer.write(b"\x80\x01\x00\x02\xff\xff\xff\xfeHTTP/1.1 400 Bad Request\r\n\r\n" * 20)
        writer.close()

    server = await asyncio.start_server(answer, HOST, 0)
    try:
        yield f"thrift://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        await close_port(server)
        for each in accepted:
            each.transport.abort()
        await asyncio.sleep(0)


async def restarting(server: ThriftServer) -> None:
    while True:
        await asyncio.sleep(1)
        await server.stop()
        await server.start()


def define(here: Client, uris: list[str]) -> None:
    for number, uri in enumerate(uris):
        parameters = {"hive.metastore.uris": uri, "metastored.remote": "raw", "metastored.remote.timeout": "4"}
        here.create_database(Database(name=f"r{number}", parameters=parameters))
    here.create_database("near")


def keep_calling(uri: str, number: int, stop: asyncio.Event) -> list[str]:
    """Calls a bad remote until the test ends; returns what it said."""
    said = []
    with metastored.connect(uri, cache=False) as client:
        while not stop.is_set():
            try:
                client.api.get_table(f"r{number}", "clicks")
                said.append("")
            except Error as error:
                said.append(str(error))
    return said


def read_others(uri: str) -> int:
    """Calls for every healthy remote and for a local database; raises what any of them raises."""
    calls = 0
    with metastored.connect(uri, cache=False) as client:
        for _ in range(ROUNDS):
            for number in range(RESTARTING + 1, REMOTES):
                assert client.api.get_table(f"r{number}", "clicks").dbName == f"r{number}"
                assert client.api.get_all_tables(f"r{number}") == ("clicks",)
                calls += 2
            assert client.api.get_database("near").name == "near"
            assert len(client.api.get_all_databases()) == REMOTES + 2
    return calls


def test_all_calls_for_healthy_remotes_succeed_while_five_others_are_broken() -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            hanging = await stack.enter_async_context(serving(None))
            bytes_only = await stack.enter_async_context(garbage())
            slow = await stack.enter_async_context(serving(Slow({"raw": ("clicks",)})))
            healthy = [
                await stack.enter_async_context(serving(MemoryMetastore({"raw": ("clicks",)})))
                for _ in range(RESTARTING, REMOTES)
            ]
            uris = [hanging.uri, "thrift://127.0.0.1:1", bytes_only, slow.uri, *(each.uri for each in healthy)]
            with running_server() as server:
                with metastored.connect(server.uri, cache=False) as here:
                    await asyncio.to_thread(define, here, uris)
                restarts = asyncio.create_task(restarting(healthy[0]))
                stop = asyncio.Event()
                bad = [
                    asyncio.create_task(asyncio.to_thread(keep_calling, server.uri, number, stop))
                    for number in range(RESTARTING + 1)
                ]
                try:
                    calls = await asyncio.to_thread(read_others, server.uri)
                finally:
                    stop.set()
                    said = await asyncio.gather(*bad)
                    restarts.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await restarts
            assert calls == 2 * ROUNDS * (REMOTES - RESTARTING - 1)
            for number in (HANGING, DEAD, GARBAGE):
                assert said[number] and all(f"remote database 'r{number}'" in text for text in said[number])
            assert any(text == "" for text in said[SLOW])
            assert all(text == "" or "'r4'" in text for text in said[RESTARTING])

    asyncio.run(test())
