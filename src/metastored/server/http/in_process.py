"""The server's own handler for clients in this process: /sql, /iceberg and /lance, in the session of their request."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from metastored.server.calls import failure, log_when_slow
from metastored.server.thrift import Service
from metastored.wire.message import Call, Handler, Reply, Session, Stream

__all__ = ["Prefetched", "WholeReplies"]


class WholeReplies:
    """The server's handler for a client in this process: long replies are read on their own threads, within bounds."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def handle(self, call: Call, session: Session) -> Reply:
        service, started = self._service, monotonic()
        try:
            reply = await service.handler.handle(call, session)
            body = reply.body
            if not isinstance(body, Stream):
                return reply
            await service.state.replies.room(body.length)
            try:
                return Reply(await service.stream_pool.run(body.read), reply.kind, reply.error)
            finally:
                service.state.replies.change(-body.length)
        except Exception as error:
            return failure(call, error, session.peer)
        finally:
            log_when_slow(call, session.peer, monotonic() - started, service.settings.slow_call)


class Prefetched:
    """A handler with replies that were read before: each is returned once, to the call with the same arguments."""

    def __init__(self, inner: Handler, known: Iterable[tuple[Call, Reply]]) -> None:
        self._inner = inner
        self._known = {(call.method.name, call.body): reply for call, reply in known}

    async def handle(self, call: Call, session: Session) -> Reply:
        reply = self._known.pop((call.method.name, call.body), None)
        return reply or await self._inner.handle(call, session)
