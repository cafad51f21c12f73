"""One guarded connector for each endpoint, made at its first use and closed when no remote needs it any more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from metastored.model.remotes.endpoints import Endpoint
from metastored.remotes.definitions import NO_REMOTES, Known
from metastored.remotes.guard import Guarded, Status
from metastored.remotes.versions import AnyVersion
from metastored.wire.message import Handler

log = logging.getLogger("metastored.remotes")

Connect = Callable[[Endpoint], Handler]
"""Makes the handler for an endpoint, without a connection yet."""
Measure = Callable[[str, Handler], Handler]
"""Wraps a handler so that its calls are counted under a name."""


def _unmeasured(name: str, handler: Handler) -> Handler:
    return handler


class Endpoints:
    """The connectors of one server process."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._known = NO_REMOTES
        self._guarded: dict[Endpoint, Guarded] = {}
        self._handlers: dict[Endpoint, Handler] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self.measure: Measure = _unmeasured
        """Set before the first call, where calls are counted."""

    def handler(self, endpoint: Endpoint) -> Handler:
        """The handler of an endpoint. Raises ConfigError where there is no such connector."""
        handler = self._handlers.get(endpoint)
        if handler is None:
            guarded = self._guarded[endpoint] = Guarded(AnyVersion(self._connect(endpoint)), endpoint)
            handler = self._handlers[endpoint] = self.measure(str(endpoint), guarded)
        return handler

    def forget(self, endpoint: Endpoint) -> None:
        """Closes the connector of an endpoint that was only tried, unless a definition has it."""
        if endpoint in self._guarded and endpoint not in self._known.endpoints():
            self._close(endpoint)

    def keep(self, known: Known) -> None:
        """Closes the connectors of endpoints that no definition has any more."""
        if known is self._known:
            return
        self._known = known
        for endpoint in self._guarded.keys() - known.endpoints():
            log.info("the connections to %s are closed: no remote is there any more", endpoint)
            self._close(endpoint)

    def _close(self, endpoint: Endpoint) -> None:
        del self._handlers[endpoint]
        task = asyncio.get_running_loop().create_task(self._guarded.pop(endpoint).close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def status(self) -> dict[Endpoint, Status]:
        """What is known of the endpoints that were used."""
        return {endpoint: guarded.status() for endpoint, guarded in self._guarded.items()}

    async def close(self) -> None:
        """Closes all connectors."""
        for guarded in self._guarded.values():
            await guarded.close()
        self._guarded.clear()
        self._handlers.clear()
