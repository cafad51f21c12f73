"""One HTTP connection: uvicorn's protocol with the timeouts and the graceful shutdown of the Thrift port.

uvicorn reads and writes HTTP; it has no timeouts for peers that stop in the middle of a request or do not read their
response. This module never parses a request.
"""

from __future__ import annotations

import asyncio
import logging
from email.utils import formatdate
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState as UvicornState

from metastored.config import Settings
from metastored.server.state import SLOWEST, SLOWEST_READER, STANDSTILL, ServerState
from metastored.wire.message import Session

log = logging.getLogger("metastored.server")

MAX_HEAD: Final = 64 * 1024
"""Bytes of a request's head; tickets in `Authorization: Negotiate` can have 48 KB."""
FOR_EVER: Final = 10 * 365 * 86400
LINGER: Final = 1.0
"""Seconds for which a peer that is refused may go on sending, so that it reads why."""
PLAIN: Final = "This port serves HTTPS: begin the address with https://."


class _Gathering:
    """A transport that combines all writes of one turn of the event loop into one.

    uvicorn writes the head and the body of a response separately: two TLS records, two system calls, and a peer that
    is woken twice.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self.written = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        self.written += len(data)
        if data:
            if not self._parts:
                self._loop.call_soon(self._flush)
            self._parts.append(data)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size() + sum(map(len, self._parts))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        # The peer may have disconnected since these were written.
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


class HttpConnection(HttpToolsProtocol):
    """The server's side of one connection."""

    def __init__(self, config: Config, shared: UvicornState, state: ServerState, settings: Settings) -> None:
        super().__init__(config, shared, {})
        self._state = state
        self._settings = settings
        self._received = 0
        self._is_refused = False
        """It was answered without being read; what comes is dropped until it is closed."""
        self._head: int | None = None
        """Bytes of a request's head that has begun and not ended."""
        self._phase: tuple[str, object] = ("", None)
        """The phase of the connection at the last sweep, and its request."""
        self._since = state.now
        self._unsent = 0
        self._unsent_since = state.now
        self._taken_from = 0
        """Bytes that the peer had taken when it began to be behind."""
        self._counted = 0
        """Bytes of unsent responses that the worker's budget has counted."""

    # Called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._gathering = _Gathering(cast(asyncio.Transport, transport), self.loop)
        super().connection_made(cast(asyncio.Transport, self._gathering))
        self._sessions: dict[str, Session] = {}
        self.app_state = {
            "certificate": transport.get_extra_info("peercert"),
            "cascades": {},
            "sessions": self._sessions,
        }
        self._state.add(self)
        if self._state.draining:
            self.transport.close()
        elif self._settings.http_tls == "on" and transport.get_extra_info("sslcontext") is None:
            body = PLAIN.encode() + b"\n"
            head = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            # Beside the parser, and not closed at once: what the peer still sends would reset the connection, and the
            # answer with it.
            self._is_refused = True
            transport = cast(asyncio.Transport, transport)
            transport.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            transport.write_eof()
            self.loop.call_later(LINGER, transport.close)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._is_refused:
            return
        self._received += len(data)
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MAX_HEAD and not self.transport.is_closing():
                self.send_400_response(f"The head of the request has more than {MAX_HEAD} bytes.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._count_unsent(0)
        for session in self._sessions.values():
            session.ended = session.gone = True
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._state.discard(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._count_unsent(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._count_unsent(0)

    def _count_unsent(self, unsent: int) -> None:
        self._state.replies.change(unsent - self._counted)
        self._counted = unsent

    # Called by the parser

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    # Called by the server

    def sweep(self, now: float) -> None:
        """Drops a peer that takes too long."""
        phase = self._now_doing()
        unsent = self.transport.get_write_buffer_size()
        if phase != self._phase:
            self._phase, self._since = phase, now
            self._received = 0
            self._taken_from = self._gathering.written - unsent
        if unsent < self._unsent or phase[0] != "taking":
            self._unsent_since = now
        self._unsent = unsent
        limit = self._settings.request_timeout
        if phase[0] == "taking":
            self._sweep_taking(now, limit)
        elif phase[0] not in ("idle", "waiting") and limit and now - self._since > limit + self._received / SLOWEST:
            what = "stopped in the middle of a request" if self._received or phase[0] != "head" else "sent nothing"
            self._drop(f"it {what} for {limit:g} s")

    def _sweep_taking(self, now: float, limit: float) -> None:
        """Drops a peer that does not read its response, or reads it too slowly."""
        taken = self._gathering.written - self._unsent - self._taken_from
        if limit and now - self._unsent_since > limit:
            self._drop(f"it did not read its response for {limit:g} s")
        elif self._state.replies.waiting and now - self._unsent_since > STANDSTILL:
            self._drop(f"it did not read its response for {STANDSTILL:g} s while others waited for memory")
        elif limit and now - self._since > limit + taken / SLOWEST_READER:
            self._drop(f"it read its response at less than {SLOWEST_READER} bytes a second")

    def _now_doing(self) -> tuple[str, object]:
        cycle = self.cycle
        if self.transport.get_write_buffer_size():
            return "taking", cycle
        if cycle is not None and not cycle.response_complete:
            return ("body" if cycle.more_body else "waiting"), cycle
        # Before its first request a peer owes one; later it may rest.
        if cycle is None or self._head is not None:
            return "head", cycle
        return "idle", cycle

    def drain(self) -> None:
        self.shutdown()

    def abort(self) -> None:
        self.transport.abort()

    def _drop(self, reason: str) -> None:
        peer = f"{self.client[0]}:{self.client[1]}" if self.client else "a peer"
        log.warning("%s: dropped: %s", peer, reason)
        self.transport.abort()


class Pages:
    """The shared state of all connections of a worker: the application, uvicorn's configuration, the date."""

    def __init__(self, app: Any, settings: Settings, state: ServerState) -> None:
        self._config = Config(
            app,
            http=HttpConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(settings.idle_timeout) or FOR_EVER,
        )
        self._config.load()
        self._shared = UvicornState()
        self._settings = settings
        self._state = state
        self.tick()

    def connection(self) -> HttpConnection:
        """Creates the protocol for a socket of the listener."""
        return HttpConnection(self._config, self._shared, self._state, self._settings)

    def tick(self) -> None:
        """Once a second: updates the Date header of responses."""
        self._shared.default_headers = [(b"date", formatdate(usegmt=True).encode())]
