"""One endpoint's trouble stays its own: deadlines, the limit of calls, the circuit breaker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from metastored.connectors.failures import Unreachable, unreachable
from metastored.errors import ConfigError, ConnectionLost, Error, NoSuchObjectException
from metastored.remotes.breaker import FAILURES, LONGEST_PAUSE, PAUSE, CircuitBreaker
from metastored.remotes.guard import Guarded
from metastored.wire.message import Call, Relayed, Reply, Session
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


class Bounded(Scripted):
    """A connector that ends its calls within the timeout itself, as the one for Thrift does."""

    bounded = True

    def __init__(self, body: Relayed | None = None) -> None:
        super().__init__()
        self.body = body

    async def handle(self, call: Call, session: Session) -> Reply:
        reply = await super().handle(call, session)
        return reply if self.body is None else Reply(self.body)


class Endless(Relayed):
    """A reply whose end a test decides."""

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: list[Callable[[Error | None], None]] = []

    def when_ended(self, callback: Callable[[Error | None], None]) -> None:
        self.callbacks.append(callback)

    def end(self, error: Error | None = None) -> None:
        for callback in self.callbacks:
            callback(error)


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


def test_a_connector_that_ends_its_calls_itself_has_the_same_limits() -> None:
    async def test() -> None:
        inner = Bounded()
        guarded = Guarded(inner, endpoint("thrift://h:1"), max_calls=2)
        replies = await asyncio.gather(*(ask(guarded) for _ in range(20)))
        assert all(isinstance(reply.error, NoSuchObjectException) for reply in replies)
        assert (inner.calls, inner.most) == (20, 2)
        inner.failing = True
        for _ in range(FAILURES):
            await ask(guarded)
        assert not guarded.status().available

    asyncio.run(test())


@pytest.mark.parametrize("kind", [Scripted, Bounded])
def test_a_caller_that_is_cancelled_frees_its_slot(kind: type[Scripted]) -> None:
    async def test() -> None:
        inner = kind()
        inner.hanging = True
        guarded = Guarded(inner, endpoint("thrift://h:1"), max_calls=1)
        task = asyncio.create_task(ask(guarded))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)
        inner.hanging = False
        assert isinstance((await ask(guarded)).error, NoSuchObjectException)

    asyncio.run(test())


def test_a_reply_that_is_relayed_takes_its_slot_until_its_end() -> None:
    async def test() -> None:
        body = Endless()
        guarded = Guarded(Bounded(body), endpoint("thrift://h:1", timeout=0.1), max_calls=1)
        assert (await ask(guarded)).body is body
        assert guarded.status().running == 1
        assert isinstance((await ask(guarded)).error, Unreachable)
        body.end()
        assert guarded.status().running == 0
        assert (await ask(guarded)).body is body

    asyncio.run(test())


def test_a_remote_that_breaks_off_its_replies_is_a_failure() -> None:
    async def test() -> None:
        body = Endless()
        guarded = Guarded(Bounded(body), endpoint("thrift://h:1"), max_calls=1)
        await ask(guarded)
        body.end(ConnectionLost("the connection was closed"))
        status = guarded.status()
        assert (status.running, status.failures, status.last_error) == (0, 1, "the connection was closed")

    asyncio.run(test())
