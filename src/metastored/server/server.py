"""One worker from start to stop: listen, serve, drain.

Its settings, the application and the listening socket are arguments: processes are started in `workers.py`, the
application is built in `assemble.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from metastored.config import Settings
from metastored.gate.measured import Measured
from metastored.gate.tallies import Tallies, WorkerTally
from metastored.hive.generation import Compat
from metastored.model.opening import FileRules, MayOpen
from metastored.server.auth.negotiation import Authenticator
from metastored.server.listener import Listener, Ports
from metastored.server.places import no_places
from metastored.server.state import SWEEP, ServerState
from metastored.server.thrift import Service, connections
from metastored.server.tls import thrift_tls
from metastored.threads import Pool
from metastored.wire.message import Handler

if TYPE_CHECKING:
    from metastored.server.auth.identity import Verifiers
    from metastored.server.http.app import HttpPort
    from metastored.store.warehouse.directories import Warehouse

log = logging.getLogger("metastored.server")

SWITCH_INTERVAL: Final = 0.0002
"""Seconds after which a busy thread lets the loop run; Python's own 5 ms would be added to every call."""

STREAM_THREADS: Final = 4
"""Threads of a worker that make the chunks of long replies."""

AUTHENTICATION_THREADS: Final = 2
"""Threads of a worker for authentication. Hashing a password takes 19 MiB and a core."""


def _nothing() -> None:
    """An application that holds nothing has nothing to close."""


async def _no_connections() -> None:
    """An application without remotes has no connections to close."""


def _not_measured(tally: WorkerTally) -> None:
    """An application without remotes has nothing to count."""


@dataclass(frozen=True, slots=True)
class Application:
    """The application of a worker: one handler, and its resources."""

    handler: Handler
    pool: Pool
    authenticator: Authenticator | None = None
    background: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = ()
    """Run while the server runs, and cancelled when it stops."""
    disconnect: Callable[[], Coroutine[Any, Any, None]] = _no_connections
    """Closes the connections to remotes, when no call is in flight."""
    measure_remotes: Callable[[WorkerTally], None] = _not_measured
    """Has the calls to remotes counted."""
    remote_status: Callable[[], Mapping[str, Mapping[str, int]]] = dict
    """What is true of the remotes that were called; asked once a second."""
    close: Callable[[], None] = _nothing
    """Called at the very end, when no call is in flight and the pool is closed."""
    spool: Path | None = None
    """The directory of temporary files for the streams of slow readers."""
    verifiers: Verifiers | None = None
    """The verifiers of HTTP credentials."""
    check: Callable[[], None] = _nothing
    """Raises Error when calls cannot be served now. It may block."""
    failed_jobs: Callable[[], int] = int
    """The number of failed directory jobs; called once a second."""
    may_open: MayOpen = no_places
    """Whether the server itself may open the files of a table."""
    files: Warehouse | None = None
    """The access to files of tables, and the rules for it; None where the server opens none."""
    file_rules: FileRules | None = None
    warehouse: str = ""
    """Where new databases are put."""
    first_warehouse: str = ""
    """The warehouse that the database was made with."""


class Server:
    """A worker's life. `start` and `stop`, or `run`, which does both and listens to signals."""

    def __init__(
        self,
        settings: Settings,
        application: Application,
        ports: Ports,
        state: ServerState | None = None,
    ) -> None:
        self._settings = settings
        self._application = application
        self._ports = ports
        self._stream_pool = Pool(STREAM_THREADS, "metastored-stream")
        self._authentication_pool = Pool(AUTHENTICATION_THREADS, "metastored-authentication")
        self.state = state or ServerState()
        self.state.limit(settings)
        self._tasks: list[asyncio.Task[None]] = []
        self._listeners: list[Listener] = []
        self._http: HttpPort | None = None
        self._tally: WorkerTally | None = None
        self._stop = asyncio.Event()
        self._cut = asyncio.Event()

    async def start(self) -> None:
        """Starts to serve calls."""
        application, settings = self._application, self._settings
        handler = application.handler
        if self._ports.http is not None:
            # The metrics can only be read over the HTTP port.
            self.state.tallies = self.state.tallies or Tallies()
            self._tally = self.state.tallies.worker(self.state.slot)
            handler = Measured(handler, self._tally.calls)
            application.measure_remotes(self._tally)
        service = Service(
            handler,
            application.pool,
            self._stream_pool,
            self._authentication_pool,
            settings,
            self.state,
            Compat.of(settings.compat),
            application.authenticator,
            application.spool,
            http_refusal(settings, self._ports.http_number),
            application.may_open,
            files=application.files,
            file_rules=application.file_rules,
        )
        self._tls = thrift_tls(settings)
        context = None if self._tls is None else self._tls.context
        shared = (settings, self.state, context)
        self._listeners = [Listener(self._ports.thrift, connections(service), *shared)]
        if self._ports.acid_views is not None:
            viewing = replace(service, acid_views=True)
            self._listeners.append(Listener(self._ports.acid_views, connections(viewing), *shared))
        if self._ports.http is not None:
            self._http = self._http_port(self._ports.http, service)
            self._http.start()
        for listener in self._listeners:
            listener.start()
        self._tasks = [asyncio.create_task(self._sweep())]
        self._tasks += (asyncio.create_task(_watched(each)) for each in application.background)

    def _http_port(self, listening: socket.socket, service: Service) -> HttpPort:
        from metastored.server.auth.identity import Identities, Verifiers
        from metastored.server.http.app import HttpPort
        from metastored.server.metrics import Metrics

        application, settings = self._application, self._settings
        assert self.state.tallies is not None
        identities = Identities(
            application.verifiers or Verifiers(),
            self._authentication_pool,
            required=settings.requires_authentication,
            proxies=settings.proxy_users,
        )
        pools = {"calls": application.pool.size, "streams": STREAM_THREADS, "authentication": AUTHENTICATION_THREADS}
        metrics = Metrics(self.state.tallies, pools)
        return HttpPort(listening, service, identities, metrics, application.check)

    async def stop(self) -> None:
        """No new connections; calls in flight finish, up to the drain time-out; then everything is closed."""
        for listener in self._listeners:
            listener.stop()
        if self._http is not None:
            self._http.stop()
        self.state.drain()
        waits = [asyncio.ensure_future(event.wait()) for event in (self.state.empty, self._cut)]
        await asyncio.wait(waits, timeout=self._settings.drain_timeout, return_when=asyncio.FIRST_COMPLETED)
        if self.state.connections:
            log.warning("%d connections with calls in flight are cut off", len(self.state.connections))
            for connection in tuple(self.state.connections):
                connection.abort()
        for task in (*waits, *self._tasks):
            task.cancel()
        await asyncio.gather(*waits, *self._tasks, return_exceptions=True)
        await self._application.disconnect()
        if self._http is not None:
            self._http.close()
        for pool in (self._authentication_pool, self._stream_pool, self._application.pool):
            pool.close()
        self._application.close()

    def end(self) -> None:
        """Requests a stop: calls in flight may finish. A second request has no effect."""
        self._stop.set()

    def cut_off(self) -> None:
        """Requests a stop that does not wait for calls in flight."""
        self._stop.set()
        self._cut.set()

    def interrupt(self) -> None:
        """Ctrl-C: the first one drains, the second one aborts."""
        if self._stop.is_set():
            self._cut.set()
        self._stop.set()

    async def ended(self) -> None:
        """Returns when `end` was called."""
        await self._stop.wait()

    async def run(self, ready: Callable[[], None]) -> None:
        """Serves until SIGTERM or SIGINT. `ready` is called when calls are served."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.end)
        loop.add_signal_handler(signal.SIGQUIT, self.cut_off)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGINT, self.interrupt)
        sys.setswitchinterval(SWITCH_INTERVAL)
        await self.start()
        try:
            ready()
            await self.ended()
        finally:
            await self.stop()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            self.state.sweep()
            for listener in self._listeners:
                listener.sweep(self.state.now)
            if self._tls is not None:
                self._tls.reload()
            if self._http is not None:
                self._http.sweep(self.state.now)
            if self._tally is not None:
                self._tally.put(
                    connections=self.state.count(),
                    waiting_calls=self._application.pool.waiting,
                    waiting_chunks=self._stream_pool.waiting,
                    waiting_logins=self._authentication_pool.waiting,
                    long_replies=self.state.open_streams,
                    failed_jobs=self._application.failed_jobs(),
                )
                for remote, gauges in self._application.remote_status().items():
                    self._tally.put_remote(remote, **gauges)


async def _watched(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Background work that fails is an error of its own, not of the server."""
    with contextlib.suppress(asyncio.CancelledError):
        try:
            await work()
        except Exception:
            log.exception("background work failed and is not started again")


def http_refusal(settings: Settings, http_port: int | None) -> str:
    """The response to an HTTP client that connects to the Thrift port."""
    scheme = "HTTPS" if settings.http_tls == "on" else "HTTP"
    where = f"{scheme} is on port {http_port}." if http_port else "There is no HTTP port here."
    return f"This port serves Thrift (the Hive Metastore API), not HTTP. {where}"
