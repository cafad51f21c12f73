"""A long reply that a connection receives while its consumer passes it on: pieces in a short queue.

The connection stops reading from its socket while the queue is full (backpressure). Only the time that is spent waiting
for the other server counts for the timeout: a slow consumer is not the server's fault. Belongs to one event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from metastored.errors import ConnectionLost, Error, TimeoutExceeded
from metastored.wire.message import Relayed

QUEUED: Final = 1024 * 1024
"""Bytes in the queue from which on the connection does not read."""
PIECE: Final = 512 * 1024
"""Bytes of a piece, at least, where so much has arrived."""

Ended = Callable[[Error | None], None]


class Source(Protocol):
    """The connection of a relayed reply."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def abort(self) -> None: ...


class RelayedReply(Relayed):
    """The body of a reply, as it arrives. `seconds` bounds all waits for the other server together."""

    __slots__ = ("_done", "_ended", "_error", "_paused", "_queue", "_queued", "_source", "_waiter", "seconds")

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.seconds = float("inf")
        self._source = source
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._paused = False
        self._done = False
        """No more pieces are added."""
        self._error: Error | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._ended: list[Ended] | None = []
        """None after it has ended."""

    # For the connection

    def add(self, data: bytes) -> None:
        self._queue.append(data)
        self._queued += len(data)
        if self._queued >= QUEUED and not self._paused:
            self._paused = True
            self._source.pause_reading()
        self._wake()

    def finish(self, error: Error | None = None) -> None:
        """The reply is complete, or the rest of it will not come."""
        if not self._done:
            self._done, self._error = True, error
            self._wake()
            self._end(error)

    # For the consumer

    async def next(self) -> bytes | None:
        while not self._queue:
            if self._error is not None:
                raise self._error
            if self._done:
                return None
            await self._wait()
        pieces = [self._queue.popleft()]
        size = len(pieces[0])
        while self._queue and size < PIECE:
            pieces.append(self._queue.popleft())
            size += len(pieces[-1])
        self._queued -= size
        if self._paused and self._queued < QUEUED // 2 and not self._done:
            self._paused = False
            self._source.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def when_ended(self, callback: Ended) -> None:
        if self._ended is None:
            callback(self._error)
        else:
            self._ended.append(callback)

    def close(self) -> None:
        """Gives up the rest, and with it the connection."""
        self._queue.clear()
        if not self._done:
            self._done, self._error = True, ConnectionLost("the reply was given up by its reader")
            self._source.abort()
            self._wake()
            self._end(None)

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        waiter = self._waiter = loop.create_future()
        timer = None if self.seconds == float("inf") else loop.call_later(max(self.seconds, 0.0), self._expire)
        started = loop.time()
        try:
            await waiter
        finally:
            self._waiter = None
            self.seconds -= loop.time() - started
            if timer is not None:
                timer.cancel()

    def _expire(self) -> None:
        self.finish(TimeoutExceeded("the rest of the reply did not come in time"))
        self._source.abort()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _end(self, error: Error | None) -> None:
        callbacks, self._ended = self._ended or (), None
        for callback in callbacks:
            callback(error)
