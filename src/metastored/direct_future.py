"""A future that one waiter may follow without a task.

A task costs two turns of the event loop and more time than reading a row. Whoever steps coroutines itself sets `then`
instead, which is called where the result is set. For all others it is an ordinary future.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["DirectFuture"]

_T = TypeVar("_T")


class DirectFuture(asyncio.Future[_T]):
    """A future with at most one waiter that has no task. It is never cancelled by that waiter."""

    then: Callable[[], None] | None = None

    def succeed(self, result: _T) -> None:
        """Sets the result and lets the waiter continue before this returns. `then` must not raise."""
        self.set_result(result)
        then = self.then
        if then is not None:
            then()

    def fail(self, error: Exception) -> None:
        """Sets the exception. The waiter continues in the next turn of the loop."""
        self.set_exception(error)
        then = self.then
        if then is not None:
            self.get_loop().call_soon(then)
