"""One worker from start to stop: listen, serve, drain.

It is given its settings, an application and a listening socket, and makes nothing of these itself: the processes are
in `workers.py`, the parts of the application in `assemble.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from metastored.config import Settings
from metastored.gate.measured import Measured
from metastored.gate.tallies import Tallies, WorkerTally
from metastored.hive.generation import Generation
from metastored.server.auth.negotiation import Authenticator
from metastored.server.listener import Listener, Ports
from metastored.server.state import SWEEP, ServerState
from metastored.server.thrift import Service, connections
from metastored.server.tls import thrift_tls
from metastored.threads import Pool
from metastored.wire.message import Handler

if TYPE_CHECKING:
    from metastored.server.auth.identity import Proofs
    from metastored.server.http.app import HttpPort

log = logging.getLogger("metastored.server")

SWITCH_INTERVAL: Final = 0.0002
"""Seconds after which a busy thread lets the loop run; Python's own 5 ms would be added to every call."""

STREAM_THREADS: Final = 4
"""Threads of a worker that make the chunks of long replies."""

PROOF_THREADS: Final = 2
"""Threads of a worker that check who somebody is. A password takes 19 MiB and a core while it is hashed."""


def _nothing() -> None:
    """An application that holds nothing has nothing to close."""


@dataclass(frozen=True, slots=True)
class Application:
    """What a worker serves: one handler, and what it needs around it."""

    handler: Handler
    pool: Pool
    authenticator: Authenticator | None = None
    background: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = ()
    """Run while the server runs, and cancelled when it stops."""
    close: Callable[[], None] = _nothing
    """Called at the very end, when no call is in flight and the pool is closed."""
    spool: Path | None = None
    """Where the streams of slow readers are kept."""
    proofs: Proofs | None = None
    """What callers over HTTP can prove who they are with."""
    check: Callable[[], None] = _nothing
    """Raises Error when calls cannot be answered now. It may block."""
    failed_jobs: Callable[[], int] = int
    """How many jobs of directories have failed; asked once a second."""
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
        self._proof_pool = Pool(PROOF_THREADS, "metastored-proof")
        self.state = state or ServerState()
        self.state.limit(settings)
        self._tasks: list[asyncio.Task[None]] = []
        self._listener: Listener | None = None
        self._http: HttpPort | None = None
        self._tally: WorkerTally | None = None
        self._stop = asyncio.Event()
        self._cut = asyncio.Event()

    async def start(self) -> None:
        """From here on calls are answered."""
        application, settings = self._application, self._settings
        handler = application.handler
        if self._ports.http is not None:
            # Without the port nobody could ask for the figures.
            self.state.tallies = self.state.tallies or Tallies()
            self._tally = self.state.tallies.worker(self.state.slot)
            handler = Measured(handler, self._tally.calls)
        service = Service(
            handler,
            application.pool,
            self._stream_pool,
            self._proof_pool,
            settings,
            self.state,
            Generation.of(settings.compat),
            application.authenticator,
            application.spool,
            http_refusal(settings, self._ports.http_number),
        )
        self._tls = thrift_tls(settings)
        context = None if self._tls is None else self._tls.context
        self._listener = Listener(self._ports.thrift, connections(service), settings, self.state, context)
        if self._ports.http is not None:
            self._http = self._http_port(self._ports.http, service)
            self._http.start()
        self._listener.start()
        self._tasks = [asyncio.create_task(self._sweep())]
        self._tasks += (asyncio.create_task(_watched(each)) for each in application.background)

    def _http_port(self, listening: socket.socket, service: Service) -> HttpPort:
        from metastored.server.auth.identity import Identities, Proofs
        from metastored.server.http.app import HttpPort
        from metastored.server.metrics import Metrics

        application, settings = self._application, self._settings
        assert self.state.tallies is not None
        identities = Identities(
            application.proofs or Proofs(),
            self._proof_pool,
            wanted=settings.wants_proof,
            proxies=settings.proxy_users,
        )
        pools = {"calls": application.pool.size, "streams": STREAM_THREADS, "proofs": PROOF_THREADS}
        metrics = Metrics(self.state.tallies, pools)
        return HttpPort(listening, service, identities, metrics, application.check)

    async def stop(self) -> None:
        """No new connections; calls in flight finish, up to the drain time-out; then everything is closed."""
        if self._listener is not None:
            self._listener.stop()
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
        for pool in (self._proof_pool, self._stream_pool, self._application.pool):
            pool.close()
        self._application.close()

    def end(self) -> None:
        """Asks for a stop: calls in flight may finish. To ask twice changes nothing."""
        self._stop.set()

    def cut_off(self) -> None:
        """Asks for a stop that waits for nobody."""
        self._stop.set()
        self._cut.set()

    def interrupt(self) -> None:
        """What a person at the keyboard means: at first an end, and the second time right now."""
        if self._stop.is_set():
            self._cut.set()
        self._stop.set()

    async def ended(self) -> None:
        """Returns when `end` was called."""
        await self._stop.wait()

    async def run(self, ready: Callable[[], None]) -> None:
        """Serves until SIGTERM or SIGINT. `ready` is called when calls are answered."""
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
        assert self._listener is not None
        while True:
            await asyncio.sleep(SWEEP)
            self.state.sweep()
            self._listener.sweep(self.state.now)
            if self._tls is not None:
                self._tls.reload()
            if self._http is not None:
                self._http.sweep(self.state.now)
            if self._tally is not None:
                self._tally.put(
                    connections=self.state.count(),
                    waiting_calls=self._application.pool.waiting,
                    waiting_chunks=self._stream_pool.waiting,
                    waiting_proofs=self._proof_pool.waiting,
                    long_replies=self.state.open_streams,
                    failed_jobs=self._application.failed_jobs(),
                )


async def _watched(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Background work that fails is an error of its own, not of the server."""
    with contextlib.suppress(asyncio.CancelledError):
        try:
            await work()
        except Exception:
            log.exception("background work failed and is not started again")


def http_refusal(settings: Settings, http_port: int | None) -> str:
    """What an HTTP client is told that comes to the Thrift port."""
    scheme = "HTTPS" if settings.http_tls == "on" else "HTTP"
    where = f"{scheme} is on port {http_port}." if http_port else "There is no HTTP port here."
    return f"This port speaks Thrift (the Hive Metastore API), not HTTP. {where}"
