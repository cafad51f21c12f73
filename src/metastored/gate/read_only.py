"""A handler that refuses changes. Sessions, locks and tokens still work, because readers need them too.

A session method can change objects, such as a commit that sets a table's parameter; these requests are refused.
"""

from __future__ import annotations

from metastored.errors import InvalidOperationException, MetaException
from metastored.gate.needs import gives
from metastored.model.refusals import READ_ONLY
from metastored.wire.message import Call, Handler, Reply, Session


class ReadOnly:
    """Refuses calls that write."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        if changes(call):
            text = f"{READ_ONLY}, and {call.method.name} would change it; call one that is not"
            return Reply.failed(call.method, text, session.version, MetaException, InvalidOperationException)
        return await self._inner.handle(call, session)


def changes(call: Call) -> bool:
    """Whether a call changes objects."""
    method = call.method
    return method.cost == "write" and (method.verb != "session" or gives(call, method.changes_with))
