"""A handler that counts calls, errors and times by method.

Around the complete server it counts the calls of clients; around the handler of a remote, the calls to that remote.
"""

from __future__ import annotations

from time import perf_counter

from metastored.gate.tallies import Counts
from metastored.wire.message import Call, Handler, Reply, Session


class Measured:
    """A handler that counts what another one does. A long reply counts until its first byte."""

    def __init__(self, handler: Handler, counts: Counts) -> None:
        self._handle = handler.handle
        self._add = counts.add

    async def handle(self, call: Call, session: Session) -> Reply:
        started = perf_counter()
        failed = True
        try:
            reply = await self._handle(call, session)
            failed = reply.error is not None
            return reply
        finally:
            self._add(call.method, perf_counter() - started, failed)
