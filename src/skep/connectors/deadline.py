"""One timer for all that a call waits for: a free connection, the connection itself, the answer.

It works with bare futures, so that a handler may wait before it has become a task, and sets one timer however often
the call waits.
"""

from __future__ import annotations

import asyncio
from typing import TypeVar

from skep.errors import TimeoutExceeded

T = TypeVar("T")


class Deadline:
    """Begins to run when it is made. Cancel it when the call is done."""

    __slots__ = ("_doing", "_expired", "_future", "_timer", "seconds")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.seconds = seconds
        self._doing = ""
        self._expired = False
        self._future: asyncio.Future[object] | None = None
        self._timer = loop.call_later(seconds, self._expire)

    async def wait(self, future: asyncio.Future[T], doing: str) -> T:
        """The future's result, or TimeoutExceeded; `doing` says what is being waited for."""
        self._doing = doing
        if self._expired:
            future.cancel()
            raise self._error()
        self._future = future  # type: ignore[assignment]
        try:
            return await future
        finally:
            self._future = None

    def cancel(self) -> None:
        self._timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        if self._future is not None and not self._future.done():
            self._future.set_exception(self._error())

    def _error(self) -> TimeoutExceeded:
        return TimeoutExceeded(f"{self._doing} took longer than {self.seconds:g} s")
