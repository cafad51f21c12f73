"""The two ends that the server's tests are made of: a server in a thread, and a client on a plain socket."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from metastored.config import Settings, load
from metastored.server.auth.negotiation import Authenticator
from metastored.server.listener import Ports
from metastored.server.server import Application, Server
from metastored.service.core.changes import unpack
from metastored.store.engine.opening import open_database
from metastored.store.objects import events
from metastored.testing import RunningServer
from metastored.threads import Pool
from metastored.wire.codec import binary
from metastored.wire.connection import NEED_DATA, ClientConnection
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.server.handlers import Scripted

COMMAND = (sys.executable, str(Path(__file__).with_name("handlers.py")))
"""A server with the handler of the tests, as a process; for `running_server`."""
PATIENCE = 20.0
"""Seconds after which a test gives up. Nothing is expected to take so long."""


class Peer:
    """A client that can also misbehave."""

    def __init__(
        self, port: int, protocol: str = "binary", framed: bool = False, tls: ssl.SSLContext | None = None
    ) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        if tls is not None:
            # It takes the socket over, and closes it when the handshake fails.
            self.socket = tls.wrap_socket(self.socket)
        self.wire = ClientConnection(protocol, framed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.socket.close()

    def message(self, name: str, *args: Any) -> bytes:
        method = METHODS[name]
        return self.wire.send(method, binary.encode_args(method, args))

    def send(self, name: str, *args: Any) -> None:
        self.socket.sendall(self.message(name, *args))

    def reply(self) -> Reply:
        while True:
            event = self.wire.next_event()
            if event is not NEED_DATA:
                assert isinstance(event, Reply)
                return event
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the server hung up")
            self.wire.receive_data(data)

    def call(self, name: str, *args: Any) -> Any:
        self.send(name, *args)
        return self.reply().value(METHODS[name])

    def do(self, what: str, value: object = "") -> Any:
        """Calls `get_config_value`, whose arguments choose the behaviour of the tests' handler."""
        return self.call("get_config_value", what, str(value))

    def rest(self) -> bytes:
        """All that comes until the server hangs up."""
        return rest_of(self.socket)


def rest_of(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    parts = []
    while True:
        try:
            data = connection.recv(1 << 20)
        except ConnectionResetError:
            break
        if not data:
            break
        parts.append(data)
    return b"".join(parts)


class Running:
    """A server in a thread of this process, so that tests can look at its handler and its state."""

    def __init__(self, ports: Ports, handler: Scripted, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self.port: int = ports.thrift.getsockname()[1]
        self.http_port = ports.http_number or 0
        self.handler = handler
        self.server = server
        self.loop = loop

    def peer(self, **options: Any) -> Peer:
        return Peer(self.port, **options)

    def end(self) -> None:
        """Makes the server drain, as SIGTERM does."""
        with suppress(RuntimeError):  # It has ended already.
            self.loop.call_soon_threadsafe(self.server.end)


@contextmanager
def serving(authenticator: Authenticator | None = None, loop_factory: Any = None, **settings: Any) -> Iterator[Running]:
    chosen = load(environment={}, flags={"port": 0, **settings})
    started: list[Running] = []
    ready = threading.Event()

    def serve() -> None:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(_main(chosen, authenticator, started, ready))

    thread = threading.Thread(target=serve, name="server")
    thread.start()
    try:
        assert ready.wait(PATIENCE) and started
        yield started[0]
    finally:
        if started:
            started[0].end()
        thread.join(PATIENCE)
        assert not thread.is_alive()


async def _main(
    settings: Settings, authenticator: Authenticator | None, started: list[Running], ready: threading.Event
) -> None:
    ports = Ports.open(settings)
    pool = Pool(settings.threads)
    handler = Scripted(pool)
    server = Server(settings, Application(handler, pool, authenticator), ports)
    await server.start()
    started.append(Running(ports, handler, server, asyncio.get_running_loop()))
    ready.set()
    await server.ended()
    await server.stop()
    ports.close()


def users_of_events(server: RunningServer, database: str) -> set[str]:
    """The users who changed this database, from its events."""
    opened = open_database(None, server.data)
    try:
        rows = [row for row in events.since(opened.reader(), 0) if row.db == database]
    finally:
        opened.close()
    return {dict(unpack(row.body))["user"].decode() for row in rows}


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost and its key, made by openssl."""
    chain, key = folder / "server.pem", folder / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(key), "-out", str(chain), "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return chain, key
