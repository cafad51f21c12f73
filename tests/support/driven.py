"""Both halves of the client behind one face, so that each test of a behaviour runs on both.

`Driven` runs the asynchronous client in an event loop of its own, one step at a time; iterators become lists.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import skep

HALVES = ("sync", "async")


class Driven:
    """An object of the asynchronous client, used without `await`."""

    def __init__(self, inner: Any, runner: asyncio.Runner) -> None:
        self._inner = inner
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        return self._face(getattr(self._inner, name))

    def __enter__(self) -> Any:
        entered = self._runner.run(_of(self._inner.__aenter__()))
        return Driven(entered, self._runner)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(_of(self._inner.__aexit__(kind, error, trace)))

    def wait(self, seconds: float) -> None:
        """Lets time pass, in which what runs beside the caller goes on."""
        self._runner.run(asyncio.sleep(seconds))

    def _face(self, value: Any) -> Any:
        if callable(value):

            def called(*args: Any, **kwargs: Any) -> Any:
                return self._finished(value, args, kwargs)

            return called
        return Driven(value, self._runner) if type(value).__module__.startswith("skep.client._async") else value

    def _finished(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        async def run() -> Any:
            result = function(*args, **kwargs)
            if inspect.isasyncgen(result):
                return [each async for each in result]
            return await result if inspect.isawaitable(result) else result

        return self._face_of_result(self._runner.run(run()))

    def _face_of_result(self, value: Any) -> Any:
        return Driven(value, self._runner) if type(value).__module__.startswith("skep.client._async") else value


async def _of(awaitable: Any) -> Any:
    return await awaitable


@contextmanager
def connected(half: str, uris: Any = None, **options: Any) -> Iterator[Any]:
    """A client of either half."""
    if half == "sync":
        with skep.connect(uris, **options) as client:
            yield client
        return
    with asyncio.Runner() as runner:

        async def make() -> Any:
            return skep.aconnect(uris, **options)

        with Driven(runner.run(make()), runner) as client:
            yield client
