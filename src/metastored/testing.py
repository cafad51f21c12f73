"""A real metastored server for the tests of any project: an empty server in its own process, on a free port.

    with running_server() as server:
        spark_conf["spark.hadoop.hive.metastore.uris"] = server.uri

For pytest there is the fixture `metastored_server` in `metastored.pytest_plugin`. The server is always stopped by its
process id, and its data and warehouse are removed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from metastored.config import KEYS
from metastored.errors import ConfigError, ConnectError, TimeoutExceeded

__all__ = ["SERVE", "START_TIMEOUT", "STOP_TIMEOUT", "RunningServer", "Setting", "running_server"]

START_TIMEOUT: Final = 60.0
"""Seconds until `running_server` gives up on a server that does not become ready."""
STOP_TIMEOUT: Final = 60.0
"""Seconds after SIGTERM until a server is killed."""
Setting = str | int | float | Path | None
"""A value of the configuration; lists are texts with commas, and switches are "on" and "off"."""
SERVE: Final = (sys.executable, "-m", "metastored", "serve")
"""The command that starts a server with the Python of this process."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server."""

    host: str
    port: int
    data: Path | None
    """The directory of its database; None with a database URL."""
    warehouse: str
    """The URI of the warehouse: for `spark.sql.warehouse.dir`."""
    pid: int
    """The process to signal; with several workers, their parent."""
    ready_file: Path
    log_file: Path
    http_port: int | None = None
    """The HTTP port, if it was requested."""
    acid_views_port: int | None = None
    """The port on which ACID tables are views, if it was requested."""

    @property
    def uri(self) -> str:
        """The address for clients: `thrift://host:port`."""
        return f"thrift://{self.host}:{self.port}"

    @property
    def workers(self) -> tuple[int, ...]:
        """The current process ids of the workers."""
        return tuple(json.loads(self.ready_file.read_text(encoding="utf-8"))["workers"])

    @property
    def log(self) -> str:
        """The complete output and log of the server."""
        return self.log_file.read_text(encoding="utf-8", errors="replace")


class _Process(Protocol):
    """The part of `subprocess.Popen` that is used here."""

    pid: int
    returncode: Any

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def kill(self) -> None: ...


_Start = Callable[[Sequence[str], Mapping[str, str], BinaryIO], _Process]
"""Starts a process with a command, an environment and a file for its output and log."""


def _start_process(command: Sequence[str], environment: Mapping[str, str], output: BinaryIO) -> _Process:
    """Starts the command as a subprocess without input."""
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment)


@contextmanager
def running_server(command: Sequence[str] = SERVE, **settings: Setting) -> Iterator[RunningServer]:
    """Starts a server with these settings (keys of the configuration), and stops it at the end.

    Host, port, data and warehouse have test defaults; None means the server's own default. `command` is the command to
    run; flags are appended to it.
    """
    with _server_started_by(_start_process, command, settings) as server:
        yield server


@contextmanager
def _server_started_by(
    start: _Start, command: Sequence[str], settings: Mapping[str, Setting]
) -> Iterator[RunningServer]:
    """As `running_server`, with a process that `start` starts."""
    for name in settings:
        if name not in KEYS:
            raise ConfigError(f"running_server has no setting {name!r}; known are {', '.join(KEYS)}")
    with tempfile.TemporaryDirectory(prefix="metastored-test-", ignore_cleanup_errors=True) as folder:
        directory = Path(folder)
        chosen: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "warehouse": directory / "warehouse"}
        if "database_url" not in settings:
            chosen["data"] = directory / "data"
        chosen |= settings
        chosen["ready_file"] = directory / "ready.json"
        log_file = directory / "server.log"
        settings_set = {name: value for name, value in chosen.items() if value is not None}
        flags = [text for name, value in settings_set.items() for text in (KEYS[name].flag, str(value))]
        # The server does not inherit settings from the environment of the test run.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}
        with log_file.open("wb") as output:
            process = start([*command, *flags], environment, output)
        try:
            ready = _wait_until_ready(process, chosen["ready_file"], log_file)
            yield RunningServer(
                host=chosen["host"],
                port=ready["port"],
                data=chosen.get("data"),
                warehouse=ready["warehouse"],
                pid=process.pid,
                ready_file=chosen["ready_file"],
                log_file=log_file,
                http_port=ready.get("http_port"),
                acid_views_port=ready.get("acid_views_port"),
            )
        finally:
            _stop(process)


def _wait_until_ready(process: _Process, ready_file: Path, log_file: Path) -> dict[str, Any]:
    deadline = time.monotonic() + START_TIMEOUT
    while not ready_file.exists():
        if process.poll() is not None:
            output = log_file.read_text(encoding="utf-8", errors="replace")
            raise ConnectError(f"the server ended with exit code {process.returncode} before it was ready:\n{output}")
        if time.monotonic() > deadline:
            output = log_file.read_text(encoding="utf-8", errors="replace")
            raise TimeoutExceeded(f"the server was not ready after {START_TIMEOUT:g} s:\n{output}")
        time.sleep(0.01)
    ready: dict[str, Any] = json.loads(ready_file.read_text(encoding="utf-8"))
    return ready


def _stop(process: _Process) -> None:
    """Sends SIGTERM, and SIGKILL after a timeout; workers exit with their parent."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
