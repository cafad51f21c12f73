"""The server's own handler for clients in this process: /sql, /iceberg and /lance, in the session of their request."""

from __future__ import annotations

from time import monotonic

from metastored.server.calls import failure, log_when_slow
from metastored.server.thrift import Service
from metastored.wire.message import Call, Reply, Session, Stream

__all__ = ["WholeReplies"]


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
