"""The audit log: a handler that writes a line for each call with user, address, method, objects, outcome and time.

    user=alice peer=10.0.0.7:4711 method=get_table object=db.t outcome=ok ms=0.212

Names come from fields that the API files call a database, a table, a partition, a function, a pattern or a principal;
no other value is ever printed, so no secret is. Of an error only its kind is printed.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable
from typing import Final

from metastored.errors import Error, MetastoreError
from metastored.hive.limits import shortened
from metastored.model.objects import objects_of
from metastored.model.refusals import DENIED
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods.naming import names_in

log = logging.getLogger("metastored.audit")

BESIDE: Final = ("part_name", "function", "pattern", "user")
"""The roles whose values are printed beside databases and tables."""
MOST: Final = 8
"""The most names that are printed for one call; of further names only the number is printed."""
MAX_SHOWN: Final = 256
"""The most characters of one value; longer values are truncated."""

_PLAIN = re.compile(r"[\w.@#/:=+*|$-]+")


class Audited:
    """Logs every call at the level INFO of the logger metastored.audit."""

    def __init__(self, inner: Handler, clock: Callable[[], float] = time.perf_counter) -> None:
        self._inner = inner
        self._clock = clock

    async def handle(self, call: Call, session: Session) -> Reply:
        begun = self._clock()
        outcome = "failed"
        try:
            reply = await self._inner.handle(call, session)
            outcome = _outcome(reply.error)
            return reply
        finally:
            if log.isEnabledFor(logging.INFO):
                log.info("%s", line(call, session, outcome, self._clock() - begun))


def line(call: Call, session: Session, outcome: str, seconds: float) -> str:
    """The log line of one call."""
    fields = {
        "user": session.user or "-",
        "peer": session.peer or "-",
        "method": call.method.name,
        "object": ",".join(_subjects(call)) or "-",
        "outcome": outcome,
        "ms": f"{seconds * 1000:.3f}",
    }
    return " ".join(f"{name}={_quoted(value)}" for name, value in fields.items())


def _subjects(call: Call) -> list[str]:
    """Each name once: tables with their databases, databases without a table, and all other names."""
    objects = objects_of(call)
    named = {table.database_name for table in objects.tables}
    names = [*map(str, objects.tables), *(str(name) for name in objects.databases if name not in named)]
    names += dict.fromkeys(value for role, value in names_in(call.method, call.args) if role in BESIDE)
    shown_names = [shortened(name, MAX_SHOWN) for name in names[:MOST]]
    return shown_names if len(names) <= MOST else [*shown_names, f"and {len(names) - MOST} more"]


def _quoted(text: str) -> str:
    """Escapes text, so that it cannot forge another field or line."""
    if len(text) > MAX_SHOWN * MOST:
        text = f"{text[: MAX_SHOWN * MOST]}…"
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _outcome(error: Error | None) -> str:
    if error is None:
        return "ok"
    if isinstance(error, MetastoreError) and (error.message or "").startswith(DENIED):
        return "denied"
    return type(error).__name__
