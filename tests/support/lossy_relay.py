"""A relay in front of a real server that loses replies: the server does what it was sent, and the client never hears.

    with lossy(server.port) as relay:
        relay.lose("alter_table_with_environment_context")

The connection of a lost reply is closed, as when a network fails. All other bytes pass unchanged.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.support.relay import CHUNK, Relay


class LossyRelay(Relay):
    """A relay that loses the replies to chosen calls."""

    def __init__(self, target: int) -> None:
        self._lost: list[bytes] = []
        self._losing: set[socket.socket] = set()
        self.lost = 0
        """How many replies were lost."""
        self.after: Callable[[], None] | None = None
        """Called when a reply was lost, before the client hears of it."""
        super().__init__(target)

    def lose(self, method: str, times: int = 1) -> None:
        """Loses the replies to the next calls of a method."""
        self._lost += [method.encode()] * times

    def _copy(self, source: socket.socket, target: socket.socket, pair: tuple[socket.socket, socket.socket]) -> None:
        client, _ = pair
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if source is client:
                    self._look(data, client)
                elif client in self._losing:
                    self._losing.discard(client)
                    self.lost += 1
                    if self.after is not None:
                        self.after()
                    break
                target.sendall(data)
        self._end(pair)

    def _look(self, data: bytes, client: socket.socket) -> None:
        for method in self._lost:
            if method in data:
                self._lost.remove(method)
                self._losing.add(client)
                return


@contextmanager
def lossy(target: int) -> Iterator[LossyRelay]:
    """A lossy relay to this port of the local host."""
    relay = LossyRelay(target)
    try:
        yield relay
    finally:
        relay.close()
