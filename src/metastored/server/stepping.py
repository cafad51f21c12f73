"""Runs a coroutine on the spot, and makes a task only of one that really waits.

Most calls are answered without waiting; a task for each would cost more than the call. `step` takes the first
step by hand. When the coroutine yields a future, `resume` is the rest of it, to be driven by a task.

Until its first real wait such a coroutine has no current task: whatever needs one (`asyncio.timeout`,
`asyncio.wait_for`) must be inside a task that the handler makes itself (`await asyncio.create_task(…)`).
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Waiting(NamedTuple, Generic[T]):
    """A coroutine that has begun, and what it waits for."""

    coroutine: Coroutine[Any, Any, T]
    future: Any


def step(running: Coroutine[Any, Any, T]) -> T | Waiting[T]:
    """The coroutine's result, or where it stands when it waits. Its exceptions pass through."""
    try:
        return Waiting(running, running.send(None))
    except StopIteration as done:
        result: T = done.value
        return result


@coroutine
def resume(waiting: Waiting[T]) -> Generator[Any, Any, T]:
    """The rest of a coroutine: first hands out the future it already waits for, then goes on as it does."""
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
