"""Sends one long reply: chunks are pulled through the pool, and only while the peer reads them (backpressure).

Between two chunks no thread is held. A stream holds a database snapshot, so few are open at a time. If a reader is
slow, the rest of its stream is written to a temporary file and sent from there, so that the snapshot can be closed.
The size of these files is bounded; a slow reader whose reply does not fit is dropped when others wait for its
snapshot. A peer that disconnects releases its slot at once, also while it waits for one. This module never closes
the connection.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import IO, Final, Protocol

from metastored.errors import LocalProtocolError, StoreError
from metastored.server.state import ServerState
from metastored.threads import Pool
from metastored.wire.message import Stream

MAX_AGE: Final = 5.0
"""Seconds that a snapshot may be held; the rest of its stream is then written to a file."""
STALL: Final = 0.25
"""Seconds for which a reader may read nothing when all snapshots are taken and others may wait for one."""
READ_SIZE: Final = 512 * 1024


class Outlet(Protocol):
    """The connection, as a stream sees it."""

    lost: bool
    gone: asyncio.Event
    """Set when the connection is lost."""
    writable: asyncio.Event
    """Set while the transport takes more, and when the connection is lost."""

    def write(self, data: bytes) -> None: ...


class TooSlow(StoreError):
    """The peer does not read its reply, and there is no space to store it."""


class StreamSender:
    """Sends one stream. If `run` raises before `begun`, the error can still be sent as the reply."""

    def __init__(
        self,
        stream: Stream,
        head: bytes,
        encode: Callable[[bytes], bytes],
        outlet: Outlet,
        pool: Pool,
        state: ServerState,
        directory: Path | None = None,
        max_age: float = MAX_AGE,
        wraps: bool = False,
    ) -> None:
        """`wraps`: to encode a chunk is work."""
        self._stream = stream
        self._at_once = stream.at_hand and not wraps
        self._head = head
        self._encode = encode
        self._outlet = outlet
        self._pool = pool
        self._state = state
        self._directory = directory
        self._old_at = monotonic() + max_age
        self._taken = 0
        self._reserved = 0
        self.begun = False

    async def run(self) -> None:
        """Sends the complete stream, or as much as the peer reads before it disconnects."""
        file: IO[bytes] | None = None
        try:
            try:
                # The slot is released with the snapshot: a slow reader of a file blocks no other stream.
                if not await self._slot():
                    return
                self._state.open_streams += 1
                try:
                    file = await self._send_young()
                finally:
                    self._state.open_streams -= 1
                    self._state.streams.release()
            finally:
                await self._close()
            if not self._outlet.lost and self._taken != self._stream.length:
                raise LocalProtocolError(f"a stream of {self._stream.length} bytes gave {self._taken}")
            if file is not None:
                await self._send_file(file)
        finally:
            if file is not None:
                file.close()
            self._state.spooled.change(-self._reserved)

    def probe(self) -> bool:
        """Sends one byte of the stream's head: a peer that has closed its end responds with a reset.

        False when there is none to be sent any more.
        """
        if self._outlet.lost or self._taken or not self._head:
            return False
        self.begun = True
        self._outlet.write(self._head[:1])
        self._head = self._head[1:]
        return True

    async def _slot(self) -> bool:
        """Waits for a free slot; False if the peer disconnects first."""
        if not self._state.streams.locked():
            await self._state.streams.acquire()
            return True
        slot = asyncio.ensure_future(self._state.streams.acquire())
        gone = asyncio.ensure_future(self._outlet.gone.wait())
        try:
            await asyncio.wait((slot, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not slot.done():
                slot.cancel()
            elif self._outlet.lost:
                self._state.streams.release()
        return slot.done() and not self._outlet.lost

    async def _send_young(self) -> IO[bytes] | None:
        """Sends from the snapshot; the file with the rest of it when the snapshot grew too old."""
        while not self._outlet.lost:
            if not await self._writable_in_time():
                if self._reserve():
                    return await self._drained()
                if self._state.streams.locked():
                    raise TooSlow("it does not read its reply, and the temporary files are full (spool_megabytes)")
                await self._ready_again()
                continue
            if self._at_once:
                chunk = self._next()
                await asyncio.sleep(0)  # Others have their turn.
            else:
                chunk = await self._pool.run(self._next)
            if chunk is None:
                return None
            self._write(chunk)
        return None

    def _reserve(self) -> bool:
        """Reserves space in the temporary files for the rest."""
        rest = self._stream.length - self._taken
        if rest > self._state.spooled.most or not self._state.spooled.reserve(rest):
            return False
        self._reserved = rest
        return True

    async def _ready_again(self) -> None:
        """Waits until the peer reads more, or others need its snapshot."""
        self._old_at = monotonic() + STALL
        with suppress(TimeoutError):
            async with asyncio.timeout(STALL):
                await self._outlet.writable.wait()

    async def _drained(self) -> IO[bytes]:
        file = await self._pool.run(self._file)
        try:
            # One chunk at a time, so that other work gets its turn on the pool's threads.
            while not self._outlet.lost and await self._pool.run(partial(self._keep_next, file)):
                pass
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    async def _send_file(self, file: IO[bytes]) -> None:
        while not self._outlet.lost:
            await self._outlet.writable.wait()
            chunk = await self._pool.run(partial(self._read, file))
            if not chunk:
                return
            self._write(chunk)

    async def _writable_in_time(self) -> bool:
        """Whether the peer takes more before its snapshot is too old, or too dear."""
        while (remaining := self._old_at - monotonic()) > 0:
            if self._outlet.writable.is_set():
                return True
            try:
                async with asyncio.timeout(min(remaining, STALL)):
                    await self._outlet.writable.wait()
            except TimeoutError:
                if self._state.streams.locked():
                    return False
        return False

    def _write(self, chunk: bytes) -> None:
        if self._outlet.lost:
            return
        self.begun = True
        head, self._head = self._head, b""
        self._outlet.write(head + chunk if head else chunk)

    async def _close(self) -> None:
        try:
            await self._pool.run(self._stream.close)
        except StoreError:
            # The pool is closed or full; a snapshot is let go all the same.
            self._stream.close()

    # On the pool's threads, unless chunks are made at once. Encoding is there too: wrapping for SASL is work.

    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(prefix="metastored-stream-", dir=self._directory)

    def _next(self) -> bytes | None:
        chunk = next(self._stream.chunks, None)
        if chunk is None:
            return None
        self._taken += len(chunk)
        return self._encode(chunk)

    def _keep_next(self, file: IO[bytes]) -> bool:
        chunk = next(self._stream.chunks, None)
        if chunk is None:
            return False
        self._taken += len(chunk)
        file.write(chunk)
        return True

    def _read(self, file: IO[bytes]) -> bytes:
        chunk = file.read(READ_SIZE)
        return self._encode(chunk) if chunk else b""
