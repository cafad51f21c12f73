"""A cache of what remotes replied to reads, for remotes that have `metastored.remote.cache`.

An entry is for one caller and one call, expires after the remote's time, and is dropped when a call through this server
writes to the endpoint, or when the endpoint's own event log has moved on; the log is looked at once a second at most. A
reply that was on its way at that moment may be older than the write, and is not cached.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from metastored.model.remotes.endpoints import Endpoint
from metastored.wire.edit.splice import carries_exception
from metastored.wire.message import REPLY, Call, Handler, Reply, Session, Stream
from metastored.wire.methods import METHODS, Method

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of all entries of one server process."""
LONGEST: Final = 4 * 1024 * 1024
"""Bytes of a reply that is cached."""
EVENTS_EVERY: Final = 1.0
"""Seconds between two looks at the event log of one endpoint."""
_CURRENT_EVENT: Final = METHODS["get_current_notificationEventId"]


class _Entry:
    __slots__ = ("body", "expires")

    def __init__(self, body: bytes, expires: float) -> None:
        self.body = body
        self.expires = expires


class ReplyCache:
    """Replies of all endpoints. The least recently used is evicted first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most = most
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._size = 0
        self._events: dict[Endpoint, tuple[float, object]] = {}
        """When the event log of an endpoint was looked at, and where it was."""
        self._drops = 0
        """How often entries were dropped."""

    async def handle(self, call: Call, session: Session, inner: Handler, endpoint: Endpoint, seconds: float) -> Reply:
        """The cached reply, or the one of `inner`, which is then cached for some seconds."""
        method = call.method
        if not is_cached(method):
            return await inner.handle(call, session)
        await self._follow_events(inner, endpoint, session)
        key = (endpoint, method.name, call.body, session.user, session.groups)
        entry = self._entries.get(key)
        if entry is not None and entry.expires > self._clock():
            self._entries.move_to_end(key)
            return Reply(entry.body)
        drops = self._drops
        reply = await inner.handle(call, session)
        body = reply.body
        if reply.kind == REPLY and not isinstance(body, Stream) and not carries_exception(body):
            self._put(key, body, seconds, drops)
        return reply

    def drop(self, endpoint: Endpoint) -> None:
        """Evicts all replies of an endpoint, and keeps those out that are on their way."""
        self._drops += 1
        for key in [key for key in self._entries if isinstance(key, tuple) and key[0] == endpoint]:
            self._remove(key)

    async def _follow_events(self, inner: Handler, endpoint: Endpoint, session: Session) -> None:
        looked, before = self._events.get(endpoint, (float("-inf"), None))
        now = self._clock()
        if now - looked < EVENTS_EVERY:
            return
        # Noted first: calls that come meanwhile do not look too.
        self._events[endpoint] = (now, before)
        reply = await inner.handle(Call(_CURRENT_EVENT, ()), session)
        if reply.kind != REPLY or isinstance(reply.body, Stream) or carries_exception(reply.body):
            return  # It has no event log, or does not answer: entries expire by their time.
        if reply.body != before:
            self.drop(endpoint)
            self._events[endpoint] = (now, reply.body)

    def _put(self, key: Hashable, body: bytes, seconds: float, drops: int) -> None:
        """Caches a reply, unless it is long or something was dropped since it was requested."""
        if len(body) > LONGEST or drops != self._drops:
            return
        self._remove(key)
        self._entries[key] = _Entry(body, self._clock() + seconds)
        self._size += len(body)
        while self._size > self._most:
            self._remove(next(iter(self._entries)))

    def _remove(self, key: Hashable) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= len(entry.body)


def is_cached(method: Method) -> bool:
    """Whether replies of a method may be cached: reads of objects, and not of transactions and locks."""
    return method.verb == "read" and method.object not in ("transaction", "lock", "compaction", "notification")
