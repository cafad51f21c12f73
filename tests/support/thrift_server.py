"""Small Thrift servers for tests, in the test's own event loop: one that serves a Handler, one that never replies.

They listen on free ports of 127.0.0.1 and are closed, with all their connections, when their block ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from metastored.wire.connection import Request, ServerConnection
from metastored.wire.message import Handler, Session

HOST = "127.0.0.1"
PASSES = 10
"""Passes of the event loop, after which a connection that was accepted is known to its server: asyncio needs three."""


class ThriftServer:
    """Serves a handler. `cut`: of the next reply only this many bytes are sent before the connection is closed.

    `stall`: of the next reply only this many bytes are sent, and the connection stays open.
    """

    def __init__(self, handler: Handler | None) -> None:
        self.handler = handler
        """Without one, connections are accepted and nothing is ever sent."""
        self.cut: int | None = None
        self.stall: int | None = None
        self.port = 0
        self.accepted = 0
        self._server: asyncio.Server | None = None
        self._open: set[_Peer] = set()

    @property
    def uri(self) -> str:
        return f"thrift://{HOST}:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._open)

    @property
    def unsent(self) -> int:
        """Bytes of replies that its clients have not read yet."""
        return sum(peer.transport.get_write_buffer_size() for peer in self._open)

    async def start(self) -> None:
        """Listens, after a stop on the same port again."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Peer(self), HOST, self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Closes the port and every connection, as the end of a process does."""
        assert self._server is not None
        await close_port(self._server)
        for peer in list(self._open):
            peer.transport.abort()
        await until(lambda: not self._open)
        await self._server.wait_closed()

    def joined(self, peer: _Peer) -> None:
        self.accepted += 1
        self._open.add(peer)

    def left(self, peer: _Peer) -> None:
        self._open.discard(peer)


class _Peer(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, server: ThriftServer) -> None:
        self._server = server
        self._wire = ServerConnection()
        self._session = Session()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._server.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:
        for task in self._tasks:
            task.cancel()
        self._server.left(self)

    def data_received(self, data: bytes) -> None:
        if self._server.handler is None:
            return
        self._wire.receive_data(data)
        while isinstance(event := self._wire.next_event(), Request):
            task = asyncio.get_running_loop().create_task(self._answer(event, self._server.handler))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request, handler: Handler) -> None:
        assert request.call is not None, request.error
        message = self._wire.send(request, await handler.handle(request.call, self._session))
        cut, self._server.cut = self._server.cut, None
        stall, self._server.stall = self._server.stall, None
        self.transport.write(message[: stall if cut is None else cut])
        if cut is not None:
            self.transport.close()


@asynccontextmanager
async def serving(handler: Handler | None) -> AsyncIterator[ThriftServer]:
    """A server of this handler; with None, a server that accepts and never replies."""
    server = ThriftServer(handler)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def close_port(server: asyncio.Server) -> None:
    """Closes the port. All connections that were accepted before are known to the server then.

    asyncio forgets connections that it has accepted and not yet handed to a server that is closed: nobody closes them.
    """
    loop = asyncio.get_running_loop()
    for each in server.sockets:
        loop.remove_reader(each.fileno())
    for _ in range(PASSES):
        await asyncio.sleep(0)
    server.close()


async def until(condition: Callable[[], bool]) -> None:
    """Runs the event loop until the condition is true; pytest's timeout ends the wait otherwise."""
    while not condition():
        await asyncio.sleep(0.001)
