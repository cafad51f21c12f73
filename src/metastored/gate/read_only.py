"""A handler that lets nothing change. Sessions, locks and tokens are for readers too, and go on.

A request of a session can carry changes of objects, as a commit does that sets a table's parameter; that is refused.
"""

from __future__ import annotations

from metastored.errors import InvalidOperationException, MetaException
from metastored.gate.needs import gives
from metastored.model.refusals import READ_ONLY
from metastored.wire.message import Call, Handler, Reply, Session


class ReadOnly:
    """Refuses what writes."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        if changes(call):
            text = f"{READ_ONLY}, and {call.method.name} would change it; ask one that is not"
            return Reply.failed(call.method, text, session.version, MetaException, InvalidOperationException)
        return await self._inner.handle(call, session)


def changes(call: Call) -> bool:
    """Whether a call changes what others see."""
    method = call.method
    return method.cost == "write" and (method.verb != "session" or gives(call, method.changes_with))
