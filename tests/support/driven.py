"""Both halves of the client, and of the catalog, behind one face, so that each test of a behaviour runs on both.

`Driven` runs the asynchronous client in an event loop of its own, one step at a time; iterators become lists.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import pytest

import metastored

HALVES = ("sync", pytest.param("async", marks=pytest.mark.slow))
"""The synchronous half is generated from the asynchronous one, so `make quick` tests one of them."""


class Driven:
    """An object of the asynchronous half, used without `await`."""

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
        """Advances the time, while background tasks continue."""
        self._runner.run(asyncio.sleep(seconds))

    def _face(self, value: Any) -> Any:
        if callable(value):

            def called(*args: Any, **kwargs: Any) -> Any:
                return self._finished(value, args, kwargs)

            return called
        return self._face_of_result(value)

    def _finished(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        async def run() -> Any:
            result = function(*args, **kwargs)
            if inspect.isasyncgen(result):
                return [each async for each in result]
            return await result if inspect.isawaitable(result) else result

        return self._face_of_result(self._runner.run(run()))

    def _face_of_result(self, value: Any) -> Any:
        asynchronous = type(value).__module__.startswith(("metastored.client._async", "metastored.catalog._async"))
        return Driven(value, self._runner) if asynchronous else value


async def _of(awaitable: Any) -> Any:
    return await awaitable


@contextmanager
def connected(half: str, uris: Any = None, **options: Any) -> Iterator[Any]:
    """A client of either half."""
    with _entered(
        half, lambda: metastored.connect(uris, **options), lambda: metastored.aconnect(uris, **options)
    ) as client:
        yield client


def grouped(**flat: Any) -> dict[str, Any]:
    """Arguments of `connect`: settings of the pool and of the transport in their groups, all others as they are."""
    pool = {name: flat.pop(name) for name in metastored.PoolSettings._fields if name in flat}
    transport = {name: flat.pop(name) for name in metastored.TransportSettings._fields if name in flat}
    return {
        **flat, "pool": metastored.PoolSettings(**pool), "transport": metastored.TransportSettings(**transport),
    }  # fmt: skip


@contextmanager
def managed(half: str, *args: Any, **options: Any) -> Iterator[Any]:
    """A catalog manager of either half."""
    from metastored.catalog import AsyncCatalogManager, CatalogManager

    with _entered(
        half, lambda: CatalogManager.load(*args, **options), lambda: AsyncCatalogManager.load(*args, **options)
    ) as manager:
        yield manager


@contextmanager
def _entered(half: str, sync: Callable[[], Any], asynchronous: Callable[[], Any]) -> Iterator[Any]:
    if half == "sync":
        with sync() as made:
            yield made
        return
    with asyncio.Runner() as runner:

        async def make() -> Any:
            return asynchronous()

        with Driven(runner.run(make()), runner) as driven:
            yield driven
