"""A coroutine is run by hand up to its first wait, and by a task from there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from metastored.server.stepping import Waiting, resume, step


async def rest(waiting: Waiting[Any]) -> Any:
    return await resume(waiting)


def begin(coroutine: Coroutine[Any, Any, Any]) -> Waiting[Any]:
    waiting = step(coroutine)
    assert isinstance(waiting, Waiting)
    return waiting


def test_a_coroutine_that_does_not_wait_is_finished_at_once() -> None:
    async def response() -> int:
        return 42

    assert step(response()) == 42


def test_an_exception_passes_through_the_first_step() -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        step(fail())


def test_a_task_continues_from_the_pending_future() -> None:
    async def work(future: Awaitable[int]) -> int:
        first = await future
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        return first + 1

    async def main() -> Any:
        future = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(rest(begin(work(future))))
        await asyncio.sleep(0)
        future.set_result(41)
        return await task

    assert asyncio.run(main()) == 42


def test_a_future_that_is_done_before_the_task_starts_is_not_missed() -> None:
    async def main() -> Any:
        future = asyncio.get_running_loop().create_future()

        async def work() -> Any:
            return await future

        waiting = begin(work())
        future.set_result("early")
        return await asyncio.create_task(rest(waiting))

    assert asyncio.run(main()) == "early"


def test_a_failed_future_can_be_handled_by_the_coroutine() -> None:
    async def main() -> Any:
        future = asyncio.get_running_loop().create_future()

        async def work() -> str:
            try:
                await future
            except ValueError as error:
                await asyncio.sleep(0)
                return f"caught {error}"
            return "nothing"

        waiting = begin(work())
        future.set_exception(ValueError("it"))
        return await asyncio.create_task(rest(waiting))

    assert asyncio.run(main()) == "caught it"


def test_cancelling_the_task_reaches_the_coroutine() -> None:
    seen = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(rest(begin(work())))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled"]


def test_time_outs_work_after_the_first_wait_and_in_tasks_of_their_own() -> None:
    async def slow() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            return "too slow"
        return "done"

    async def work() -> str:
        return await asyncio.create_task(slow())

    async def main() -> Any:
        return await asyncio.create_task(rest(begin(work())))

    assert asyncio.run(main()) == "too slow"
