"""A limit on bytes that are held at a time, with a queue of waiters (backpressure). It never sees the bytes.

One budget bounds the replies that a worker has in memory, another the bytes in its temporary files.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Budget:
    """`held` bytes of at most `most`. Belongs to one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._queue: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def is_full(self) -> bool:
        return self.held >= self.most or bool(self._queue)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def change(self, difference: int) -> None:
        """Adds to the bytes that are held, even above the limit: these bytes exist already."""
        self.held += difference
        if difference < 0:
            self._admit()

    def reserve(self, size: int) -> bool:
        """Takes this many bytes if they are available now."""
        if self._queue or not self._fits(size):
            return False
        self.held += size
        return True

    async def room(self, size: int) -> None:
        """Waits until this many bytes are available and takes them, first come, first served.

        More than there ever is gets its turn when nothing else is held.
        """
        if self.reserve(size):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((size, turn))
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.change(-size)
            else:
                self._queue = deque(each for each in self._queue if each[1] is not turn)
                self._admit()
            raise

    def _fits(self, size: int) -> bool:
        return self.held <= 0 or self.held + max(size, 1) <= self.most

    def _admit(self) -> None:
        while self._queue:
            size, turn = self._queue[0]
            if turn.done():
                self._queue.popleft()
                continue
            if not self._fits(size):
                return
            self._queue.popleft()
            self.held += size
            turn.set_result(None)
