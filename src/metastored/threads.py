"""A bounded pool of threads for calls that may wait, such as those to the database.

Work goes in through a `SimpleQueue` and comes back to the event loop as a future: a third of the cost of
`run_in_executor`. The number of threads is bounded, and so is what waits for them. It never starts a thread
before the first piece of work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from metastored.errors import ServerBusy

__all__ = ["MAX_WAITING", "Pool"]

_T = TypeVar("_T")
MAX_WAITING: Final = 10_000
"""Pieces of work that may wait; a server that is so far behind refuses more."""

_Work = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Pool:
    """`await pool.run(fn)` calls `fn()` on one of the pool's threads."""

    def __init__(self, threads: int, name: str = "metastored-store") -> None:
        self._size = threads
        self._name = name
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy = 0
        self._closed = False
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        return self._size

    @property
    def waiting(self) -> int:
        """How many pieces of work no thread has taken yet."""
        return self._queue.qsize()

    def run(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """A future for `work()`. Call it from the event loop's thread."""
        if self._closed:
            raise ServerBusy("the server is stopping")
        if self._queue.qsize() > MAX_WAITING:
            raise ServerBusy(f"the server is overloaded: {MAX_WAITING} calls are waiting")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        self._queue.put((work, loop, future))
        if len(self._threads) < self._size and self._busy + self._queue.qsize() > len(self._threads):
            self._grow()
        return future

    def _grow(self) -> None:
        with self._lock:
            if len(self._threads) >= self._size:
                return
            thread = threading.Thread(target=self._serve, name=f"{self._name}-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            work, loop, future = item
            self._busy += 1
            try:
                value, error = work(), None
            except BaseException as raised:
                value, error = None, raised
            self._busy -= 1
            try:
                loop.call_soon_threadsafe(_finish, future, value, error)
            except RuntimeError:
                return  # The loop is closed: nobody waits for the answer any more.
            # Nothing of a finished call is kept alive while the thread waits for the next.
            del item, work, loop, future, value, error

    def close(self, timeout: float = 5.0) -> None:
        """Lets the threads finish what they have, and ends them."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout)


def _finish(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
