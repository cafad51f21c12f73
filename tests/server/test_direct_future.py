"""A future that is followed without a task."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from metastored.direct_future import DirectFuture
from metastored.server.stepping import Waiting, step


async def follow(future: DirectFuture[int]) -> int:
    return await future + 1


def test_its_follower_continues_before_the_result_is_set_for_others() -> None:
    async def main() -> list[Any]:
        future = DirectFuture[int](loop=asyncio.get_running_loop())
        waiting, seen = step(follow(future)), []
        assert isinstance(waiting, Waiting) and waiting.future is future
        future.then = lambda: seen.append(step(waiting.coroutine))
        future.succeed(41)
        return seen

    assert asyncio.run(main()) == [42]


def test_its_failure_reaches_the_follower_in_the_next_turn_of_the_loop() -> None:
    async def main() -> list[str]:
        future = DirectFuture[int](loop=asyncio.get_running_loop())
        waiting, seen = step(follow(future)), []
        assert isinstance(waiting, Waiting)

        def then() -> None:
            with pytest.raises(KeyError) as caught:
                step(waiting.coroutine)
            seen.append(str(caught.value))

        future.then = then
        future.fail(KeyError("gone"))
        assert seen == []
        await asyncio.sleep(0)
        return seen

    assert asyncio.run(main()) == ["'gone'"]


def test_for_a_task_it_is_an_ordinary_future() -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        good, bad = DirectFuture[int](loop=loop), DirectFuture[int](loop=loop)
        loop.call_soon(good.succeed, 1)
        loop.call_soon(bad.fail, KeyError("x"))
        results = await asyncio.gather(follow(good), follow(bad), return_exceptions=True)
        return [repr(each) for each in results]

    assert asyncio.run(main()) == ["2", "KeyError('x')"]
