"""One endpoint's trouble stays its own: deadlines, the limit of calls, the circuit breaker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from metastored.connectors.failures import Unreachable, unreachable
from metastored.errors import ConfigError, NoSuchObjectException
from metastored.remotes.breaker import FAILURES, LONGEST_PAUSE, PAUSE, CircuitBreaker
from metastored.remotes.guard import Guarded
from metastored.wire.message import Call, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.metastore import Clock
from tests.support.remotes import endpoint

METHOD = METHODS["get_table"]


class Scripted:
    """A connector that does what a test says. While `hanging`, it never answers."""

    def __init__(self) -> None:
        self.hanging = False
        self.failing = False
        self.calls = self.running = self.most = self.cancelled = 0

    async def handle(self, call: Call, session: Session) -> Reply:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.hanging:
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(0)
            if self.failing:
                return unreachable(call.method, "connection refused", session.version)
            return Reply.raised(call.method, NoSuchObjectException("no such table"))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1


async def ask(guarded: Guarded) -> Reply:
    return await guarded.handle(Call(METHOD, ("d", "t")), Session())


def test_a_call_that_hangs_fails_at_its_deadline_and_is_given_up() -> None:
    async def test() -> None:
        inner = Scripted()
        inner.hanging = True
        reply = await ask(Guarded(inner, endpoint("thrift://h:1", timeout=0.05)))
        assert isinstance(reply.error, Unreachable)
        assert "get_table took longer than 0.05 s (metastored.remote.timeout)" in str(reply.error)
        await asyncio.sleep(0)
        assert inner.cancelled == 1

    asyncio.run(test())


def test_calls_beyond_the_limit_wait_and_those_beyond_the_queue_fail_at_once() -> None:
    async def test() -> None:
        inner = Scripted()
        guarded = Guarded(inner, endpoint("thrift://h:1"), max_calls=3, max_waiting=4)
        replies = await asyncio.gather(*(ask(guarded) for _ in range(7)))
        assert inner.most == 3
        assert all(isinstance(reply.error, NoSuchObjectException) for reply in replies)
        inner.hanging = True
        waiting = [asyncio.ensure_future(ask(guarded)) for _ in range(7)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert "4 calls wait for it already" in str((await ask(guarded)).error)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        inner.hanging = False
        assert isinstance((await ask(guarded)).error, NoSuchObjectException), "the slots are free again"

    asyncio.run(test())


def test_after_failures_in_a_row_it_is_left_alone_and_then_tried_by_one_call() -> None:
    async def test() -> None:
        inner, clock = Scripted(), Clock()
        guarded = Guarded(inner, endpoint("thrift://h:1"), clock=clock)
        inner.failing = True
        for _ in range(FAILURES):
            assert str((await ask(guarded)).error) == "connection refused"
        refused = await ask(guarded)
        assert inner.calls == FAILURES
        assert "not called for another 1.0 s, because its last 5 calls failed: connection refused" in str(refused.error)
        assert not guarded.status().available
        clock.forward(PAUSE)
        inner.failing = False
        assert isinstance((await ask(guarded)).error, NoSuchObjectException)
        assert guarded.status() == (True, 0, 0, 0, "")

    asyncio.run(test())


def test_an_error_that_the_remote_answers_with_is_no_failure() -> None:
    async def test() -> None:
        inner = Scripted()
        guarded = Guarded(inner, endpoint("thrift://h:1"))
        for _ in range(FAILURES * 2):
            await ask(guarded)
        assert inner.calls == FAILURES * 2
        assert guarded.status().available

    asyncio.run(test())


def test_what_a_connector_raises_is_a_failure_with_its_text() -> None:
    class Refusing:
        async def handle(self, call: Call, session: Session) -> Reply:
            raise ConfigError("10.0.0.1 is not in remotes_hosts")

    reply = asyncio.run(ask(Guarded(Refusing(), endpoint("thrift://h:1"))))
    assert isinstance(reply.error, Unreachable) and "remotes_hosts" in str(reply.error)


@pytest.mark.parametrize("outcome", ["failed", "abandoned"])
def test_while_one_call_tries_a_remote_no_other_does(outcome: str) -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for _ in range(FAILURES):
        assert breaker.allows()
        breaker.failed("down")
    clock.forward(PAUSE)
    assert [breaker.allows(), breaker.allows()] == [True, False]
    ends: dict[str, Any] = {"failed": lambda: breaker.failed("down"), "abandoned": breaker.abandoned}
    ends[outcome]()
    assert breaker.allows() == (outcome == "abandoned")


def test_each_failed_try_doubles_the_pause_up_to_a_limit() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for _ in range(FAILURES):
        breaker.failed("down")
    pauses = []
    for _ in range(7):
        pauses.append(breaker.remaining())
        clock.forward(breaker.remaining())
        assert breaker.allows()
        breaker.failed("down")
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, LONGEST_PAUSE, LONGEST_PAUSE]
