"""Accepts connections on one port and hands each over with or without TLS, depending on its first bytes.

The bytes are only peeked at, because a TLS handshake must read them too. A peer that sends nothing takes one socket
until its timeout. This module never reads a Thrift message.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Final, NamedTuple

from metastored.config import Settings
from metastored.errors import ConnectError
from metastored.server.state import SWEEP, ServerState
from metastored.wire.sniff import PEEK, Kind, sniff

log = logging.getLogger("metastored.server")

BACKLOG: Final = 1024
"""Connections that may wait to be accepted."""
GIVE_WAY: Final = 0.001
"""Seconds for which a worker leaves a new connection to workers with fewer connections."""
PEEK_AGAIN: Final = 0.05
"""Seconds until a peer is checked again whose first byte was not enough."""
KEEPALIVE: Final = {"TCP_KEEPIDLE": 120, "TCP_KEEPINTVL": 30, "TCP_KEEPCNT": 4}
"""TCP keepalive: a peer whose machine is down is detected after four minutes, even without calls."""


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A listening socket, which workers may share."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        hint = f"; is another metastore running? {flag} takes another" if port else ""
        raise ConnectError(f"cannot listen on {host}:{port}: {error.strerror or error}{hint}") from error
    listening.setblocking(False)
    return listening


class Ports(NamedTuple):
    """The listening sockets of a server; workers share them."""

    thrift: socket.socket
    http: socket.socket | None = None
    acid_views: socket.socket | None = None
    """A second Thrift port: its clients get ACID tables as views."""

    @classmethod
    def open(cls, settings: Settings) -> Ports:
        with ExitStack() as opened:

            def port(number: int | None, flag: str) -> socket.socket | None:
                return None if number is None else opened.enter_context(listen(settings.host, number, flag))

            thrift = opened.enter_context(listen(settings.host, settings.port))
            ports = cls(
                thrift, port(settings.http_port, "--http-port"), port(settings.acid_views_port, "--acid-views-port")
            )
            opened.pop_all()
            return ports

    @property
    def http_number(self) -> int | None:
        return _number(self.http)

    @property
    def acid_views_number(self) -> int | None:
        return _number(self.acid_views)

    def close(self) -> None:
        for each in self:
            if each is not None:
                each.close()


def _number(listening: socket.socket | None) -> int | None:
    return None if listening is None else int(listening.getsockname()[1])


class Listener:
    """One worker's share of the listening socket."""

    def __init__(
        self,
        listening: socket.socket,
        make: Callable[[], asyncio.Protocol],
        settings: Settings,
        state: ServerState,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listening = listening
        self._make = make
        self._settings = settings
        self._state = state
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._silent: dict[socket.socket, float] = {}
        """Accepted, but nothing (or not enough) has come yet: since when."""
        self._handing_over: set[asyncio.Task[None]] = set()
        self._refused = 0
        self._stopped = False

    def start(self) -> None:
        self._loop.add_reader(self._listening, self._ready)
        self._state.count()

    def stop(self) -> None:
        """Accepts no new connections; closes connections that have sent nothing yet."""
        if not self._stopped:
            self._stopped = True
            self._loop.remove_reader(self._listening)
            for accepted in tuple(self._silent):
                self._drop(accepted)

    def sweep(self, now: float) -> None:
        """Drops connections that have sent nothing for too long."""
        limit = self._settings.request_timeout
        if limit:
            for accepted, since in tuple(self._silent.items()):
                if now - since > limit:
                    log.info("%s: dropped: it sent nothing for %g s", _peer(accepted), limit)
                    self._drop(accepted)
        if self._refused:
            log.warning("%d connections refused: max_connections is reached", self._refused)
            self._refused = 0

    def _ready(self) -> None:
        """A connection waits. All workers are woken; the one with the fewest connections accepts it, if not busy."""
        if self._state.shares.is_ahead(self._state.slot):
            self._loop.remove_reader(self._listening)
            self._loop.call_later(GIVE_WAY, self._accept_late)
        else:
            self._accept()

    def _accept_late(self) -> None:
        if not self._stopped:
            self.start()
            self._accept()

    def _accept(self) -> None:
        try:
            accepted, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            # Out of file descriptors, most likely. The connection waits in the backlog until some are free.
            log.error("cannot accept a connection: %s", error.strerror or error)
            self._loop.remove_reader(self._listening)
            self._loop.call_later(SWEEP, self._accept_again)
            return
        accepted.setblocking(False)
        if self._state.count() >= self._settings.max_connections:
            self._refused += 1
            accepted.close()
            return
        _tune(accepted)
        self._silent[accepted] = monotonic()
        self._state.count(+1)
        self._loop.add_reader(accepted, self._look, accepted)

    def _accept_again(self) -> None:
        if not self._stopped:
            self.start()

    def _look(self, accepted: socket.socket) -> None:
        """Something has come: peek at it."""
        try:
            first = accepted.recv(PEEK, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            first = b""
        if not first:
            self._drop(accepted)
            return
        self._loop.remove_reader(accepted)
        if first[0] == 0x16 and sniff(first) is None:
            # A TLS record begins with two bytes. The socket stays readable, so it is checked again by a timer.
            self._loop.call_later(PEEK_AGAIN, self._look_again, accepted)
            return
        sniffed = sniff(first)
        tls = self._tls if sniffed is not None and sniffed[0] is Kind.TLS else None
        task = self._loop.create_task(self._hand_over(accepted, tls))
        self._handing_over.add(task)
        task.add_done_callback(self._handing_over.discard)

    def _look_again(self, accepted: socket.socket) -> None:
        if accepted in self._silent:
            self._loop.add_reader(accepted, self._look, accepted)

    async def _hand_over(self, accepted: socket.socket, tls: ssl.SSLContext | None) -> None:
        del self._silent[accepted]
        peer = _peer(accepted)
        handshake = (self._settings.request_timeout or None) if tls is not None else None
        try:
            await self._loop.connect_accepted_socket(self._make, accepted, ssl=tls, ssl_handshake_timeout=handshake)
        except (OSError, ssl.SSLError) as error:
            log.info("%s: no connection: %s", peer, error.strerror or error)
            accepted.close()
        finally:
            self._state.count(-1)

    def _drop(self, accepted: socket.socket) -> None:
        del self._silent[accepted]
        self._state.count(-1)
        self._loop.remove_reader(accepted)
        accepted.close()


def _peer(accepted: socket.socket) -> str:
    try:
        host, port = accepted.getpeername()[:2]
    except OSError:
        return "a disconnected peer"
    return f"{host}:{port}"


def _tune(accepted: socket.socket) -> None:
    """Sends replies without delay (TCP_NODELAY), and detects dead peers (keepalive)."""
    try:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, seconds in KEEPALIVE.items():
            if hasattr(socket, name):
                accepted.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
    except OSError:
        pass  # The peer has disconnected already; the first check detects it.
