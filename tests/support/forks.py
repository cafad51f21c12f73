"""Starts servers and commands of metastored as forks of one process that has already imported the package.

Such a process runs `metastored.cli.main` with its own arguments, environment, working directory and output, as
`python -m metastored` does, and exits as that does. Only the interpreter's start and the imports are saved: more than
four fifths of the time until a server is ready. Tests of exactly these, and of a first start, use `metastored.testing`.

The parent process is single-threaded and starts at the first use; it ends when this process closes its socket.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, BinaryIO, Final

from metastored import testing
from metastored.testing import RunningServer, Setting, _Process

COMMAND: Final = (sys.executable, "-m", "metastored")
MODULES: Final = (
    "metastored.cli.server.serving",
    "metastored.cli.app",
    "metastored.server.assemble",
    "metastored.server.workers",
    "metastored.server.http.app",
    "metastored.server.http.iceberg",
    "metastored.server.http.lance",
    "metastored.server.auth.identity",
    "metastored.lance.rest.routes",
    "metastored.client",
    "metastored.statements.building",
    "metastored.pipeline.running",
    "metastored.store.engine.mounts",
    "metastored.store.engine.postgresql",
    "metastored.store.engine.sqlite",
    "metastored.store.warehouse.relocation",
    "metastored.transfer.running",
    "cryptography.hazmat.primitives.serialization.ssh",
    "cryptography.x509",
    "psycopg",
    "sqlalchemy.dialects.postgresql",
    "sqlite3",
    "uvicorn",
    "uvicorn.lifespan.off",
)
PACKAGES: Final = ("metastored.filters", "metastored.service")
"""The modules that servers and commands import, and packages all of whose modules they do. None starts a thread."""
INTERPRETER: Final = "PYTHON"
"""The beginning of the names of variables that are read when an interpreter starts."""
LENGTH: Final = 8
"""Bytes of the number in front of each message."""


def running_server(
    command: Sequence[str] = testing.SERVE, **settings: Setting
) -> AbstractContextManager[RunningServer]:
    """As `metastored.testing.running_server`, in a fraction of its time."""
    return testing._server_started_by(start, command, settings)


def start(command: Sequence[str], environment: Mapping[str, str], output: BinaryIO) -> _Process:
    """A process that runs a command with this environment, writes to `output` and reads nothing."""
    return _start(command, environment, None, output, output)


def run_command(
    *words: str, input: str = "", environment: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Runs `metastored` with these arguments until it ends; without an environment, it has no settings from there."""
    command = [*COMMAND, *words]
    if environment is None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}
    with tempfile.TemporaryFile() as read, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        read.write(input.encode())
        read.seek(0)
        process = _start(command, environment, read, out, err)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(command, code, *texts)


def _start(
    command: Sequence[str], environment: Mapping[str, str], read: Any, output: BinaryIO, errors: BinaryIO
) -> _Process:
    if tuple(command[:3]) != COMMAND or not _can_fork(environment):
        standard_input = subprocess.DEVNULL if read is None else read
        return subprocess.Popen(command, stdin=standard_input, stdout=output, stderr=errors, env=environment)
    with open(os.devnull, "rb") as nothing:
        files = [(read or nothing).fileno(), output.fileno(), errors.fileno()]
        return Fork(_Parent.running(), command[3:], environment, files)


def _can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a new interpreter would start in the same way as the parent process did."""

    def read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name.startswith(INTERPRETER)}

    return hasattr(os, "pidfd_open") and read_at_start(environment) == read_at_start(_Parent.environment())


class Fork:
    """A process, with the methods of `subprocess.Popen` that `running_server` uses."""

    def __init__(
        self, parent: _Parent, words: Sequence[str], environment: Mapping[str, str], files: Sequence[int]
    ) -> None:
        self.returncode: int | None = None
        self._parent = parent
        request = {"words": list(words), "environment": dict(environment), "directory": os.getcwd()}
        self.pid: int = parent.ask(request, files)
        self._ended = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("metastored", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _wait(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            waiting = select.poll()
            waiting.register(self._ended, select.POLLIN)
            if waiting.poll(None if timeout is None else timeout * 1000):
                self.returncode = self._parent.ask({"ended": self.pid})
                os.close(self._ended)
        return self.returncode


class _Parent:
    """The process that forks."""

    _one: _Parent | None = None
    _starting = threading.Lock()

    def __init__(self) -> None:
        self.variables = dict(os.environ)
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            root = Path(__file__).parents[2]
            environment = {**self.variables, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
            words = [sys.executable, "-m", __name__, str(number)]
            self._process = subprocess.Popen(words, pass_fds=[number], env=environment)
        atexit.register(self.close)

    @classmethod
    def running(cls) -> _Parent:
        with cls._starting:
            if cls._one is None:
                cls._one = cls()
            return cls._one

    @classmethod
    def environment(cls) -> Mapping[str, str]:
        return cls.running().variables

    def ask(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> int:
        with self._lock:
            _send(self._socket, request, files)
            reply, _ = _receive(self._socket)
        number: int = reply["number"]
        return number

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


def _send(connection: socket.socket, message: Mapping[str, Any], files: Sequence[int] = ()) -> None:
    data = json.dumps(message).encode()
    # Each message has the open files with its length, or none.
    head = len(data).to_bytes(LENGTH, "big")
    if files:
        sent = socket.send_fds(connection, [head], list(files))
        assert sent == LENGTH
    else:
        connection.sendall(head)
    connection.sendall(data)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message and its open files; raises EOFError if there is none."""
    head, files, _, _ = socket.recv_fds(connection, LENGTH, 3)
    if not head:
        raise EOFError
    data = b"".join(_bytes(connection, int.from_bytes(head, "big")))
    message: dict[str, Any] = json.loads(data)
    return message, files


def _bytes(connection: socket.socket, length: int) -> Iterator[bytes]:
    while length:
        data = connection.recv(length)
        if not data:
            raise EOFError
        length -= len(data)
        yield data


# The process that forks


def _words_of_a_fork(connection: socket.socket) -> list[str] | None:
    """Returns in each fork, with its arguments, and in the parent process at the end, with None."""
    while True:
        try:
            request, files = _receive(connection)
        except EOFError:
            return None
        if "ended" in request:
            _, status = os.waitpid(request["ended"], 0)
            _send(connection, {"number": os.waitstatus_to_exitcode(status)})
            continue
        pid = os.fork()
        if pid == 0:
            connection.close()
            _become(request, files)
            words: list[str] = request["words"]
            return words
        for file in files:
            os.close(file)
        _send(connection, {"number": pid})


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    """Takes over what belongs to a new process: its files, variables, directory and signals."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["directory"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[1:] = request["words"]


def _main(number: int) -> None:
    # The terminal sends Ctrl-C to the forks, too: they decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    for name in MODULES:
        import_module(name)
    for name in PACKAGES:
        for found in walk_packages(import_module(name).__path__, f"{name}."):
            import_module(found.name)
    # The parser of statements is built at its first use.
    import_module("metastored.statements.parsing").parse("SHOW DATABASES")
    assert threading.active_count() == len(os.listdir("/proc/self/task")) == 1, "a fork would lose threads"
    gc.freeze()
    gc.enable()
    words = _words_of_a_fork(socket.socket(fileno=number))
    if words is not None:
        _run(words)


def _run(words: Sequence[str]) -> None:
    """Runs the command and exits as an interpreter does, but that it does not take every module apart."""
    try:
        import_module("metastored.cli").main(words)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else bool(ended.code)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
