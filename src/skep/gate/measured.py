"""Counts calls and their time by method. What an answer says about success is all it looks at."""

from __future__ import annotations

from time import perf_counter

from skep.gate.tallies import WorkerTally
from skep.wire.message import Call, Handler, Reply, Session


class Measured:
    """A handler that counts what another one does. A long reply counts until its first byte."""

    def __init__(self, handler: Handler, tally: WorkerTally) -> None:
        self._handle = handler.handle
        self._add = tally.add

    async def handle(self, call: Call, session: Session) -> Reply:
        started = perf_counter()
        failed = True
        try:
            reply = await self._handle(call, session)
            failed = reply.error is not None
            return reply
        finally:
            self._add(call.method, perf_counter() - started, failed)
