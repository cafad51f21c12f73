"""Bytes that may be held at a time, and a queue of those who need more. It never knows what the bytes are.

One budget bounds the answers that a worker has in memory, another what it has in temporary files.
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
        """More or less is held, whether there is room or not: these bytes exist already."""
        self.held += difference
        if difference < 0:
            self._admit()

    def reserve(self, size: int) -> bool:
        """Takes so many bytes if there is room for them now."""
        if self._queue or not self._fits(size):
            return False
        self.held += size
        return True

    async def room(self, size: int) -> None:
        """Takes so many bytes when there is room for them, in the order of asking.

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
