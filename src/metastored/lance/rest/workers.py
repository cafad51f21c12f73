"""The worker processes that open the data of Lance tables for the server.

Arrow's and Lance's native code reads bytes that clients sent and files that users wrote. A fault in it ends its
process. So it runs in processes whose memory and time are bounded: when one ends, one request fails. A worker serves
one user only, since what is left in its memory is that user's.

The server itself parses no Arrow data and opens no Lance file.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from lance_namespace.errors import ErrorCode

from metastored.lance.rest.channel import Channel, Message
from metastored.lance.rest.replies import HttpReply, error_reply

__all__ = ["Request", "Workers"]

log = logging.getLogger("metastored.lance")

MODULE: Final = "metastored.lance.rest.worker"
LOGGERS: Final = "metastored"
SETTINGS: Final = "METASTORED_"
"""Variables with settings of the server, such as the password of its database: a worker needs none."""
IDLE: Final = 300.0
"""Seconds after which a worker that nobody uses is ended."""

Answer = Callable[[Message], tuple[dict[str, Any], bytes]]
"""Answers a question of a worker with fields and bytes."""


class Request(NamedTuple):
    """What a worker is given: a request that was parsed, and that its caller may make."""

    user: str | None
    groups: tuple[str, ...]
    depth: int
    path: str
    """As it came in, after the path of the namespace."""
    query: str
    body: bytes
    properties: Mapping[str, str]
    reads: bool
    """Whether it changes nothing."""


class Worker:
    """One process."""

    def __init__(self, user: str | None, memory: int) -> None:
        self.user = user
        self.used = time.monotonic()
        ours, theirs = socket.socketpair()
        with theirs:
            # Without -P, a file lance.py in the current directory would be imported.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, str(theirs.fileno()), str(memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)},
                start_new_session=True,
            )
        self._channel = Channel(ours)

    def serve(self, request: Request, answer: Answer, until: float | None) -> HttpReply:
        """The response to a request. Raises EOFError, OSError, ValueError or TimeoutError if there is none."""
        self._channel.send(
            request.body,
            until,
            kind="request",
            user=request.user,
            groups=request.groups,
            depth=request.depth,
            path=request.path,
            query=request.query,
            properties=dict(request.properties),
        )
        while True:
            message = self._channel.receive(until)
            if message.kind == "log":
                _log(message)
            elif message.kind == "done":
                return _reply(message)
            else:
                fields, data = answer(message)
                self._channel.send(data, until, **fields)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> int:
        """Ends the process, if it has not ended. Returns its exit status, which is negative for a signal."""
        try:
            status = self._process.wait(0.05)  # Its channel may be closed a moment before it has ended.
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        self._channel.close()
        assert self._process.stdin is not None
        self._process.stdin.close()
        return status


class Workers:
    """The processes of a server. At most `size` are there at a time; `serve` must not be called by more threads."""

    def __init__(self, size: int, memory: int, timeout: float) -> None:
        """`memory` is the address space of each in bytes, and `timeout` the seconds of a request; 0 is no limit."""
        self._size = size
        self._memory = memory
        self._timeout = timeout
        self._idle: list[Worker] = []
        """The one that was used last is at the end."""
        self._busy: set[Worker] = set()
        self._lock = threading.Lock()

    def serve(self, request: Request, answer: Answer) -> HttpReply:
        """The response to a request; an error if its worker ended, or took too long."""
        try:
            worker = self._taken(request.user)
        except OSError as error:
            log.error("no process for a request of Lance can be started: %s", error)
            return error_reply(ErrorCode.SERVICE_UNAVAILABLE, "no process that opens the data can be started")
        ended = True
        try:
            until = time.monotonic() + self._timeout if self._timeout else None
            reply = worker.serve(request, answer, until)
            ended = False
            return reply
        except TimeoutError:
            log.error("a request of Lance by %s took longer than %g s: %s", request.user, self._timeout, request.path)
            return _failure(request, f"the request took longer than {self._timeout:g} s (lance_timeout)")
        except (EOFError, OSError, ValueError) as error:
            why = _ending(worker.end()) or str(error)
            log.error("the process of a request of Lance by %s ended (%s): %s", request.user, why, request.path)
            return _failure(request, f"the process that opened the data ended ({why}): the request may be too large")
        finally:
            self._given_back(worker, ended)

    def close(self) -> None:
        """Ends the processes. Requests that are being served fail."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for worker in busy:
            worker.kill()  # The thread that waits for it ends it.
        for worker in idle:
            worker.end()

    def _taken(self, user: str | None) -> Worker:
        """An idle worker of this user, or a new one: in place of the one that was idle for the longest time."""
        with self._lock:
            now = time.monotonic()
            ended = [each for each in self._idle if now - each.used > IDLE]
            worker = next((each for each in reversed(self._idle) if each.user == user and each not in ended), None)
            if worker is None and len(self._idle) - len(ended) + len(self._busy) >= self._size:
                ended.append(next(each for each in self._idle if each not in ended))
            self._idle = [each for each in self._idle if each not in ended and each is not worker]
            if worker is not None:
                self._busy.add(worker)
        for each in ended:
            each.end()
        if worker is None:
            worker = Worker(user, self._memory)
            with self._lock:
                self._busy.add(worker)
        return worker

    def _given_back(self, worker: Worker, ended: bool) -> None:
        if ended:
            worker.end()
        with self._lock:
            self._busy.remove(worker)
            if not ended:
                worker.used = time.monotonic()
                self._idle.append(worker)


def _reply(message: Message) -> HttpReply:
    status, kind = message.fields.get("status"), message.fields.get("content_type")
    if not isinstance(status, int) or not 200 <= status < 600 or not isinstance(kind, str | None):
        raise ValueError("a worker sent no response")
    return HttpReply(status, message.data, kind)


def _log(message: Message) -> None:
    name, level, text = (message.fields.get(key) for key in ("logger", "level", "text"))
    if isinstance(level, int) and str(name).partition(".")[0] == LOGGERS:
        logging.getLogger(str(name)).log(level, "%s", text)


def _ending(status: int) -> str:
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"exit status {status}" if status else ""


def _failure(request: Request, why: str) -> HttpReply:
    outcome = "" if request.reads else "; whether it was done is not known"
    return error_reply(ErrorCode.INTERNAL, f"{why}{outcome}")
