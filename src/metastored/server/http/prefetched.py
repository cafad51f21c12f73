"""Calls of the server's handler from a thread, some of whose replies were read on the event loop before it began.

A call from a thread waits for the event loop twice: until the loop takes it, and until the thread runs again. A reply
that was read before costs neither. Each is returned once, so whoever reads again sees what the metastore has then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from metastored.client._backend.threads import InProcess, Later, Pending
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

__all__ = ["Prefetched"]


class Prefetched(InProcess):
    """Calls in the session of a caller, of which some were made before."""

    def __init__(
        self,
        handler: Handler,
        session: Session,
        loop: asyncio.AbstractEventLoop,
        known: Iterable[tuple[Call, Reply]] = (),
    ) -> None:
        super().__init__(handler, session.user, session, loop)
        self._known = {(call.method.name, call.body): reply for call, reply in known}

    def call(self, method: Method, body: bytes) -> Pending[Reply]:
        reply = self._known.pop((method.name, body), None) if self._known else None
        return super().call(method, body) if reply is None else Later(lambda seconds: reply)

    def forget(self) -> None:
        """Drops the replies that were not returned yet: they have become old."""
        self._known.clear()
