"""A bounded pool of threads for blocking work, such as database calls.

Work is passed through a `SimpleQueue`, and its result is returned to the event loop as a future: a third of the cost
of `run_in_executor`. The number of threads and the length of the queue are bounded (backpressure). No thread is started
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
"""The most pieces of work in the queue; when it is full, further work is refused."""

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
        """The length of the queue."""
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
                return  # The loop is closed: nothing waits for the result.
            # Releases the objects of a finished call while the thread waits for the next.
            del item, work, loop, future, value, error

    def close(self, timeout: float = 5.0) -> None:
        """Lets the threads finish their current work, and stops them."""
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
