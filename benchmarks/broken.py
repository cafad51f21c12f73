"""Servers that misbehave, for the benchmark of remotes: silent, garbage, slow, and one that restarts every second.

Each runs in threads of its own, listens on a free port of 127.0.0.1, and ends with its block.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

HOST = "127.0.0.1"
Serve = Callable[[socket.socket, threading.Event], None]


@contextlib.contextmanager
def listening(serve: Serve | None = None, restart_every: float | None = None) -> Iterator[int]:
    """The port of a server that hands each connection to a function, in a thread; without one it never replies."""
    stop = threading.Event()
    server = socket.create_server((HOST, 0), backlog=512)
    port: int = server.getsockname()[1]

    def accept() -> None:
        nonlocal server
        server.settimeout(0.1)
        taken: list[socket.socket] = []
        since = time.monotonic()
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                connection = server.accept()[0]
                taken.append(connection)
                if serve is not None:
                    threading.Thread(target=_served, args=(serve, connection, stop), daemon=True).start()
            if restart_every is not None and time.monotonic() - since > restart_every:
                _close(server, *taken)
                taken.clear()
                time.sleep(0.2)
                server = socket.create_server((HOST, port), backlog=512)
                server.settimeout(0.1)
                since = time.monotonic()
        _close(server, *taken)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield port
    finally:
        stop.set()
        thread.join()


def garbage(connection: socket.socket, stop: threading.Event) -> None:
    """Answers with bytes that are no Thrift."""
    while connection.recv(1 << 16):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)


def relay(port: int, delay: float = 0.0) -> Serve:
    """Passes requests to a real server, each after a delay."""

    def serve(connection: socket.socket, stop: threading.Event) -> None:
        with socket.create_connection((HOST, port)) as target:
            threading.Thread(target=_pump, args=(target, connection), daemon=True).start()
            while data := connection.recv(1 << 16):
                if stop.wait(delay):
                    return
                target.sendall(data)

    return serve


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)


def _served(serve: Serve, connection: socket.socket, stop: threading.Event) -> None:
    with contextlib.suppress(OSError):
        serve(connection, stop)
    _close(connection)


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
