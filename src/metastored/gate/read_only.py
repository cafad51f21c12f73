"""A handler that lets nothing change. Sessions, locks and tokens are for readers too, and go on."""

from __future__ import annotations

from metastored.errors import InvalidOperationException, MetaException
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method


class ReadOnly:
    """Refuses what writes."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        if changes(call.method):
            text = f"this metastore is read-only, and {call.method.name} would change it; ask one that is not"
            return Reply.failed(call.method, text, session.version, MetaException, InvalidOperationException)
        return await self._inner.handle(call, session)


def changes(method: Method) -> bool:
    """Whether a method changes what others see."""
    return method.cost == "write" and method.verb != "session"
