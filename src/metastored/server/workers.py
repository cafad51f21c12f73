"""The processes of a server: a single process, or a parent and its workers.

The parent opens the port and nothing else: no database, no thread, no event loop. So its workers can be forked at any
time, and a worker that dies is replaced. The parent stops workers by their process ids; they exit when it has died.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from metastored.config import Settings
from metastored.errors import Error
from metastored.gate.tallies import Tallies
from metastored.server.banner import Warehouses, announce, check_ready_file, forget
from metastored.server.listener import Ports
from metastored.server.log_lines import LineFormatter
from metastored.server.safety import checked, open_files
from metastored.server.server import Application, Server
from metastored.server.state import ServerState, Shares
from metastored.server.tls import http_tls, thrift_tls

log = logging.getLogger("metastored.server")

START_TIMEOUT: Final = 120.0
"""Seconds for a worker's first start; a migration of the database is part of it."""
YOUNG: Final = 5.0
"""Seconds: a worker that dies sooner may have died of its start."""
MAX_YOUNG: Final = 5
"""So many that die young, one after the other, end the server."""
GRACE: Final = 10.0
"""Seconds on top of the drain time-out before a worker that should have ended is killed."""
OTHER_FILES: Final = 1000
"""Open files that a worker may need besides its connections: databases, pools, spools."""
FAILED: Final = 2
"""The exit code of a process that could not start."""

Build = Callable[[Settings], Application]


class WorkerSlot(NamedTuple):
    """The resources that a worker inherits from its parent, and its number."""

    shares: Shares
    tallies: Tallies
    slot: int
    lifeline: int
    """A pipe that is closed when the parent has died: then the worker exits too."""


def run(settings: Settings, build: Build) -> int:
    """Serves until a signal ends it; the process's exit code."""
    warnings = checked(settings)
    configure_logging(settings)
    allow_files(settings.max_connections + OTHER_FILES)
    check_ready_file(settings)
    # A bad certificate is reported before anything is started, and a missing one is created by a single process.
    thrift_tls(settings)
    if settings.http_port is not None:
        http_tls(settings)
    ports = Ports.open(settings)
    warnings += open_files(settings)
    for each in warnings:
        log.warning("%s", each)
    try:
        if settings.workers == 1:
            own = [os.getpid()]
            serve(
                settings,
                build,
                ports,
                lambda served: announce(settings, ports, _warehouses(served), own, warnings=warnings),
            )
            return 0
        return Supervisor(settings, build, ports, warnings).run()
    finally:
        forget(settings)
        ports.close()


def serve(
    settings: Settings,
    build: Build,
    ports: Ports,
    ready: Callable[[Application], None],
    worker_slot: WorkerSlot | None = None,
) -> None:
    """Runs one worker in this process; `worker_slot` has the resources of its parent, if there is one."""
    application = build(settings)

    async def main() -> None:
        if worker_slot is None:
            await Server(settings, application, ports).run(lambda: ready(application))
            return
        server = Server(
            settings, application, ports, ServerState(worker_slot.shares, worker_slot.slot, worker_slot.tallies)
        )
        loop = asyncio.get_running_loop()

        def orphaned() -> None:
            loop.remove_reader(worker_slot.lifeline)
            log.error("the parent process has died")
            server.end()

        loop.add_reader(worker_slot.lifeline, orphaned)
        await server.run(lambda: ready(application))

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(main())


def _warehouses(application: Application) -> Warehouses:
    return Warehouses(application.warehouse, application.first_warehouse)


def configure_logging(settings: Settings) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])


def allow_files(number: int) -> None:
    """Raises the limit of open files of this process and its workers, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= number:
        return
    most = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most < number:
        log.warning("at most %d files can be open (ulimit -Hn): max_connections will not be reached", most)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


class _Worker(NamedTuple):
    slot: int
    """Its place in `Shares`."""
    started: float


class Supervisor:
    """The parent. It waits for signals and for its workers, and does nothing else."""

    def __init__(self, settings: Settings, build: Build, ports: Ports, warnings: Sequence[str] = ()) -> None:
        self._settings = settings
        self._warnings = warnings
        self._build = build
        self._ports = ports
        self._shares = Shares(settings.workers)
        self._tallies = Tallies(settings.workers)
        self._workers: dict[int, _Worker] = {}
        """By process id."""
        self._died_young = 0
        """How many did, one after the other."""
        self._not_before = 0.0
        """When the next worker may be started: workers that die soon are replaced with a growing backoff."""
        self._warehouses = Warehouses("", "")
        """As the first worker reports them."""
        self._stopping = False
        self._hurry = False
        """SIGQUIT, or SIGINT twice, was received: calls in flight are aborted."""
        self._lifeline, self._lifeline_end = os.pipe()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)

    def run(self) -> int:
        old_wake = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        handled = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGCHLD)
        old = {number: signal.signal(number, self._signalled) for number in handled}
        try:
            return self._supervise()
        finally:
            self._end_all()
            signal.set_wakeup_fd(old_wake)
            for number, handler in old.items():
                signal.signal(number, handler)
            for fd in (self._lifeline, self._lifeline_end, self._woken, self._wake):
                os.close(fd)

    def _supervise(self) -> int:
        # The first worker migrates the database before the others start.
        if not self._start_first():
            return 0 if self._stopping else FAILED
        announced = False
        while not self._stopping:
            self._reap()
            if self._died_young >= MAX_YOUNG:
                log.error("%d workers died right after their start; giving up", self._died_young)
                return FAILED
            wait = self._not_before - time.monotonic()
            if len(self._workers) < self._settings.workers and wait <= 0:
                while len(self._workers) < self._settings.workers:
                    self._fork()
                announce(self._settings, self._ports, self._warehouses, list(self._workers), announced, self._warnings)
                announced = True
            self._pause(wait if wait > 0 else None)
        return 0

    def _start_first(self) -> bool:
        ready, ready_end = os.pipe()
        try:
            self._fork(ready_end)
            os.close(ready_end)
            with selectors.DefaultSelector() as selector:
                selector.register(ready, selectors.EVENT_READ)
                selector.register(self._woken, selectors.EVENT_READ)
                until = time.monotonic() + START_TIMEOUT
                while not self._stopping and (remaining := until - time.monotonic()) > 0:
                    readable = {key.fd for key, _ in selector.select(remaining)}
                    if ready in readable:
                        # A worker that is ready reports where its warehouse is; the end of the pipe, that it died.
                        with open(ready, encoding="utf-8", closefd=False) as report:
                            line = report.readline()
                        if line:
                            self._warehouses = Warehouses(*json.loads(line))
                        return bool(line)
                    self._drain_wakes()
        finally:
            os.close(ready)
        log.error("the first worker was not ready")
        return False

    def _fork(self, ready: int | None = None) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # The memory of existing objects stays shared between the processes.
        slot = min(set(range(self._settings.workers)) - {worker.slot for worker in self._workers.values()})
        pid = os.fork()
        if pid:
            self._workers[pid] = _Worker(slot, time.monotonic())
            return
        # The worker. It never returns into the parent's code.
        code = FAILED
        try:
            self._become_worker()
            worker_slot = WorkerSlot(self._shares, self._tallies, slot, self._lifeline)
            serve(self._settings, self._build, self._ports, lambda served: self._report(ready, served), worker_slot)
            code = 0
        except (Error, OSError) as error:
            print(f"metastored: {error}", file=sys.stderr)
        except BaseException:
            log.exception("the worker failed")
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _become_worker(self) -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        if self._stopping:
            # The parent's handler took a signal that came to this process right after the fork.
            os._exit(0)
        # A Ctrl-C reaches all processes of a terminal; only the parent acts on it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for fd in (self._lifeline_end, self._woken, self._wake):
            os.close(fd)

    @staticmethod
    def _report(ready: int | None, served: Application) -> None:
        if ready is not None:
            with open(ready, "w", encoding="utf-8") as report:
                report.write(json.dumps(_warehouses(served)) + "\n")

    def _signalled(self, number: int, frame: object) -> None:
        if number != signal.SIGCHLD:
            again = self._stopping and number == signal.SIGINT
            self._hurry = self._hurry or again or number == signal.SIGQUIT
            self._stopping = True

    def _pause(self, seconds: float | None) -> None:
        """Until a signal comes or the time is over."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._woken, selectors.EVENT_READ)
            selector.select(seconds)
        self._drain_wakes()

    def _drain_wakes(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 512):
                pass

    def _reap(self) -> None:
        """Forgets the workers that ended."""
        for pid, worker in tuple(self._workers.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self._workers[pid]
            self._shares.leave(worker.slot)
            self._tallies.leave(worker.slot)
            if not self._stopping:
                log.error("worker %d ended (%s)", pid, _reason(status))
                now = time.monotonic()
                self._died_young = self._died_young + 1 if now - worker.started < YOUNG else 0
                self._not_before = now + (0.1 * 2**self._died_young if self._died_young else 0.0)

    def _end_all(self) -> None:
        """Sends SIGTERM to each, and SIGKILL to the remaining processes after the timeout."""
        self._stopping = True
        self._reap()
        self._signal_all(signal.SIGTERM)
        until = time.monotonic() + self._settings.drain_timeout + GRACE
        while self._workers and time.monotonic() < until:
            self._pause(0.5)
            if self._hurry:
                self._signal_all(signal.SIGQUIT)
            self._reap()
        self._signal_all(signal.SIGKILL)
        for pid in self._workers:
            os.waitpid(pid, 0)

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in self._workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _reason(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
