"""Sends a reply that is relayed from another server, while it arrives and only as fast as the peer reads it.

It holds no snapshot and no thread, so it takes no slot of the streams: a remote that hangs delays no other reply. What
it holds is a connection to the remote. If the peer is slow, the rest is taken from the remote into a temporary file as
far as there is space for it, so that the connection is free for others. This module never closes the connection of the
peer: if the remote breaks off, the error is raised, and `begun` says whether it can still be sent as the reply.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import IO, Any, TypeVar

from metastored.server.state import ServerState
from metastored.server.streams import MAX_AGE, READ_SIZE, Outlet
from metastored.threads import Pool
from metastored.wire.message import Relayed

T = TypeVar("T")


class _Gone(Exception):
    """The peer has disconnected."""


class RelaySender:
    """Sends one relayed reply. If `run` raises before `begun`, the error can still be sent as the reply."""

    def __init__(
        self,
        relayed: Relayed,
        head: bytes,
        encode: Callable[[bytes], bytes],
        outlet: Outlet,
        pool: Pool,
        state: ServerState,
        directory: Path | None = None,
        max_age: float = MAX_AGE,
        wraps: bool = False,
    ) -> None:
        """`wraps`: to encode a piece is work, and is done in the pool. `max_age`: how long a peer may be slow."""
        self._relayed = relayed
        self._head = head
        self._encode = encode
        self._outlet = outlet
        self._pool = pool
        self._state = state
        self._directory = directory
        self._max_age = max_age
        self._wraps = wraps
        self._reserved = 0
        self.begun = False

    async def run(self) -> None:
        """Sends the complete reply, or as much as the peer reads before it disconnects."""
        gone: asyncio.Future[Any] = asyncio.ensure_future(self._outlet.gone.wait())
        try:
            await self._send(gone)
        except _Gone:
            pass
        finally:
            gone.cancel()
            self._relayed.close()
            self._state.spooled.change(-self._reserved)

    def probe(self) -> bool:
        """Sends one byte of the head: a peer that has closed its end responds with a reset."""
        if self._outlet.lost or not self._head:
            return False
        self.begun = True
        self._outlet.write(self._head[:1])
        self._head = self._head[1:]
        return True

    async def _send(self, gone: asyncio.Future[Any]) -> None:
        slow_at = monotonic() + self._max_age
        while True:
            if not self._outlet.writable.is_set():
                if not await self._writable(gone, slow_at - monotonic()):
                    with self._file() as file:
                        ended = await self._spooled(file, gone)
                        await self._send_file(file, gone)
                    if ended:
                        return
                    slow_at = monotonic() + self._max_age
                continue
            piece = await self._unless(gone, self._relayed.next())
            if piece is None:
                return
            await self._write(piece)

    async def _writable(self, gone: asyncio.Future[Any], seconds: float) -> bool:
        """Whether the peer takes more within this time."""
        with suppress(TimeoutError):
            await self._unless(gone, asyncio.wait_for(self._outlet.writable.wait(), max(seconds, 0.0)))
            return True
        return False

    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(prefix="metastored-relay-", dir=self._directory)

    async def _spooled(self, file: IO[bytes], gone: asyncio.Future[Any]) -> bool:
        """Takes the rest of the reply into a file; False when there is no more space for it."""
        while self._state.spooled.reserve(READ_SIZE):
            self._reserved += READ_SIZE
            kept = file.tell() + READ_SIZE
            while file.tell() < kept:
                piece = await self._unless(gone, self._relayed.next())
                if piece is None:
                    return True
                await self._pool.run(partial(file.write, piece))
        return False

    async def _send_file(self, file: IO[bytes], gone: asyncio.Future[Any]) -> None:
        file.seek(0)
        while True:
            if not self._outlet.writable.is_set():
                await self._unless(gone, self._outlet.writable.wait())
            data = await self._pool.run(partial(file.read, READ_SIZE))
            if not data:
                break
            await self._write(data)
        self._state.spooled.change(-self._reserved)
        self._reserved = 0

    async def _write(self, piece: bytes) -> None:
        data = await self._pool.run(partial(self._encode, piece)) if self._wraps else self._encode(piece)
        if self._outlet.lost:
            raise _Gone
        self.begun = True
        head, self._head = self._head, b""
        self._outlet.write(head + data if head else data)

    async def _unless(self, gone: asyncio.Future[Any], awaitable: Awaitable[T]) -> T:
        """The result, unless the peer disconnects before it is there."""
        task = asyncio.ensure_future(awaitable)
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
        if gone.done() or task.cancelled():
            if task.done() and not task.cancelled():
                task.exception()
            raise _Gone
        return task.result()
