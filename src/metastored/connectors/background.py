"""Blocking functions for connectors, each in a thread of its own: one that hangs takes no thread away from others.

The event loop's own pool has few threads for all remotes. Whoever waits has a deadline, and each connector has a limit
of concurrent calls, so there are never many threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """What the function returns or raises. It goes on when nobody waits any more."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(value: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, failure = None, None
        try:
            value = function(*args)
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # The event loop is closed.
            loop.call_soon_threadsafe(finish, value, failure)

    threading.Thread(target=run, name="metastored-connector", daemon=True).start()
    return await future
