"""Runs a coroutine directly, and creates a task only if it really waits.

Most calls complete without waiting; a task for each would cost more than the call. `step` runs the coroutine to its
first wait, or to its next one. If it yields a future, `resume` is the rest of the coroutine, to be run by a task; after
a `DirectFuture`, which is done then, it is stepped again.

Until it waits for another future the coroutine has no current task: functions that need one (`asyncio.timeout`,
`asyncio.wait_for`) must be inside a task that the handler creates itself (`await asyncio.create_task(…)`).
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Waiting(NamedTuple, Generic[T]):
    """A started coroutine, and the future that it waits for."""

    coroutine: Coroutine[Any, Any, T]
    future: Any


def step(running: Coroutine[Any, Any, T]) -> T | Waiting[T]:
    """The coroutine's result, or its state when it waits. Its exceptions are propagated."""
    try:
        return Waiting(running, running.send(None))
    except StopIteration as done:
        result: T = done.value
        return result


@coroutine
def resume(waiting: Waiting[T]) -> Generator[Any, Any, T]:
    """The rest of a coroutine: yields the future that it already waits for, then continues."""
    running, yielded = waiting
    while True:
        try:
            sent = yield yielded
        except GeneratorExit:
            running.close()
            raise
        except BaseException as error:
            advance = partial(running.throw, error)
        else:
            advance = partial(running.send, sent)
        try:
            yielded = advance()
        except StopIteration as done:
            result: T = done.value
            return result
