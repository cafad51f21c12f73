"""Keeps one endpoint's trouble to itself: a limit of concurrent calls, a deadline and a circuit breaker.

Every call to an endpoint ends within its timeout, with an answer or with an `Unreachable` that says why there is none.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from metastored.connectors.failures import Unreachable, unreachable
from metastored.errors import Error
from metastored.model.remotes.endpoints import Endpoint
from metastored.remotes.breaker import CircuitBreaker
from metastored.wire.message import Call, Handler, Relayed, Reply, Session

log = logging.getLogger("metastored.remotes")

MAX_CALLS: Final = 16
"""Calls of one worker that are under way to one endpoint; further ones wait."""
MAX_WAITING: Final = 1000
"""Calls that wait for one endpoint; further ones fail at once."""


class Status(NamedTuple):
    """What is known of an endpoint, without a call to it."""

    available: bool
    """False while the circuit breaker refuses calls."""
    running: int
    waiting: int
    failures: int
    last_error: str


class Guarded:
    """A connector's handler with limits. `clock` is that of the circuit breaker."""

    def __init__(
        self,
        inner: Handler,
        endpoint: Endpoint,
        max_calls: int = MAX_CALLS,
        max_waiting: int = MAX_WAITING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint: Final = endpoint
        self._inner = inner
        self._bounded: Final[bool] = getattr(inner, "bounded", False)
        """The connector ends each call within the timeout itself: a task that would end it is not needed."""
        self._max_waiting = max_waiting
        self._slots = asyncio.Semaphore(max_calls)
        self._breaker = CircuitBreaker(clock)
        self._running = self._waiting = 0

    def status(self) -> Status:
        breaker = self._breaker
        return Status(not breaker.is_open, self._running, self._waiting, breaker.failures, breaker.last_error)

    async def handle(self, call: Call, session: Session) -> Reply:
        breaker, method = self._breaker, call.method
        if not breaker.allows():
            text = (
                f"it is not called for another {breaker.remaining():.1f} s, because its last {breaker.failures} calls "
                f"failed: {breaker.last_error}"
            )
            return unreachable(method, text, session.version)
        if self._waiting >= self._max_waiting:
            breaker.abandoned()
            text = f"{self._waiting} calls wait for it already; try again later"
            return unreachable(method, text, session.version)
        if self._bounded and not self._slots.locked():
            try:
                reply = await self._call(call, session)
            except BaseException:
                breaker.abandoned()
                raise
        else:
            reply = await self._within_deadline(call, session)
        error = reply.error
        if isinstance(error, Unreachable):
            breaker.failed(str(error))
            log.warning("%s at %s failed: %s", method.name, self.endpoint, error)
        else:
            breaker.succeeded()
            if isinstance(reply.body, Relayed):
                reply.body.when_ended(partial(self._relayed, method.name))
        return reply

    def _relayed(self, method: str, error: Error | None) -> None:
        """The end of a reply that was passed on as it came; the slot was taken until now."""
        self._leave()
        if error is not None:
            self._breaker.failed(str(error))
            log.warning("%s at %s broke off its reply: %s", method, self.endpoint, error)

    async def _within_deadline(self, call: Call, session: Session) -> Reply:
        """The reply of the connector, or an `Unreachable` when the timeout has passed."""
        # A server takes the first step of a call outside of any task, where asyncio.timeout does not work.
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(self._call(call, session))
        timer = loop.call_later(self.endpoint.timeout, _end, ended)
        task.add_done_callback(lambda done: _end(ended))
        try:
            await ended
        except BaseException:
            self._breaker.abandoned()
            raise
        finally:
            timer.cancel()
            if not task.done():
                task.cancel()
        if task.done() and not task.cancelled():
            return task.result()
        text = f"{call.method.name} took longer than {self.endpoint.timeout:g} s (metastored.remote.timeout)"
        return unreachable(call.method, text, session.version)

    async def _call(self, call: Call, session: Session) -> Reply:
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        self._running += 1
        relayed = False
        try:
            reply = await self._inner.handle(call, session)
            relayed = isinstance(reply.body, Relayed)
            return reply
        except Error as error:
            # Such as an address that the server's settings do not allow, which is checked at each connection.
            return unreachable(call.method, str(error), session.version)
        finally:
            if not relayed:
                self._leave()

    def _leave(self) -> None:
        self._running -= 1
        self._slots.release()

    async def close(self) -> None:
        """Closes the connector."""
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
