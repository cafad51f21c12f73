# Made by tools/unasync.py from _async/events.py: DO NOT EDIT.
"""Polls the server's notification events and removes cached replies that other clients' changes made stale.

One poll, every `events_every` seconds, serves all cached objects. It runs beside the calls: a cached read never waits
for it. Only the first call whose reply is cached waits, for the number of the latest event: changes after that number
are found by a later poll. Polling stops when no entry was used for `tti` seconds, and starts again with the next cached
reply.
"""

from __future__ import annotations

import logging
from typing import Any, Final, Protocol

from metastored.client._backend import threads as io
from metastored.client.cache import MetadataCache, tags_of_event
from metastored.errors import ApplicationError, Error, MetastoreError, RateLimited
from metastored.wire.generated.notifications import NotificationEventRequest

log = logging.getLogger("metastored.client")

MAX_EVENTS: Final = 1000
"""If there are more events than these since the last poll, the whole cache is cleared instead."""


LONGEST_POLL: Final = 10.0
"""Seconds after which a poll without a reply is given up."""


class Call(Protocol):
    """Makes a call."""

    def __call__(self, name: str, args: tuple[Any, ...], deadline: io.Deadline) -> Any: ...


class EventPoll:
    """The polls of one client."""

    def __init__(self, cache: MetadataCache, call: Call, uri: str, timeout: float) -> None:
        self._cache = cache
        self._call = call
        self._uri = uri
        self._timeout = min(timeout, LONGEST_POLL)
        self._lock = io.Lock()
        self._enabled = cache.settings.events_every > 0
        self._started = False
        self._last_fetch = 0.0
        self._last_event: int | None = None
        self._timer: io.Timer | None = None
        self._poll: io.Background | None = None

    def start(self, deadline: io.Deadline) -> None:
        """To be called before a reply is fetched that will be cached. Waits only for the first one."""
        with self._lock:
            self._last_fetch = io.now()
            if self._started or not self._enabled:
                return
            self._started = True
        try:
            self._read_events(deadline)
        finally:
            self._schedule()

    def stop(self) -> None:
        """No poll is started from now on."""
        with self._lock:
            self._enabled = False
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def join(self) -> None:
        """Waits until the poll that is in progress has ended."""
        if self._poll is not None:
            self._poll.stop()

    def _schedule(self) -> None:
        with self._lock:
            if self._enabled:
                self._timer = io.later(self._cache.settings.events_every, self._due)

    def _due(self) -> None:
        with self._lock:
            self._timer = None
            if not self._enabled:
                return
            if self._cache.in_use() or io.now() - self._last_fetch < self._cache.settings.tti:
                self._poll = io.Background(self._run)
                return
            self._started, self._last_event = False, None
        self._cache.clear()  # A reply that is being fetched must not be stored: no poll would invalidate it.

    def _run(self) -> None:
        deadline = io.Deadline(self._timeout)
        try:
            self._read_events(deadline)
        finally:
            deadline.cancel()
            self._schedule()

    def _read_events(self, deadline: io.Deadline) -> None:
        last, cache = self._last_event, self._cache
        try:
            current = (self._call("get_current_notificationEventId", (), deadline)).eventId
            if last is None or current < last:
                cache.clear()  # It is not known what has changed.
            elif current > last:
                request = NotificationEventRequest(lastEvent=last, maxEvents=MAX_EVENTS)
                events = (self._call("get_next_notification", (request,), deadline)).events or ()
                cache.saw_events(len(events))
                if len(events) >= MAX_EVENTS:
                    cache.clear()
                for event in events:
                    cache.changed(tags_of_event(event.eventType, event.dbName, event.tableName, event.message))
            self._last_event = current
        except Error as error:
            if _is_final(error):
                self._enabled = False
                log.info("no notification events at %s; cached replies expire by their age only: %s", self._uri, error)
            else:
                log.debug("the events of %s could not be read and are read by the next poll: %s", self._uri, error)


def _is_final(error: Error) -> bool:
    """Whether the server has no events for this user. Lost connections and internal errors are temporary."""
    if isinstance(error, ApplicationError):
        return error.type == ApplicationError.UNKNOWN_METHOD
    return isinstance(error, MetastoreError) and not isinstance(error, RateLimited)
