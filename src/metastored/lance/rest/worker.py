"""A worker process: opens the data of Lance tables for the server, so that a crash of it ends one request.

The server starts it with `python -m metastored.lance.rest.worker`, gives it one request after another, all of the same
user, and makes its calls of the metastore for it. It listens to nothing, and ends with the server.
"""

from __future__ import annotations

import logging
import os
import resource
import socket
import sys
import threading
from contextlib import suppress
from typing import Any, Final

from metastored.client._backend.threads import InProcess, Later, Pending
from metastored.client._sync.caller import Caller
from metastored.client._sync.client import TIMEOUT, Client
from metastored.client._sync.metadata import BATCH
from metastored.client.endpoints import Identity
from metastored.client.retry import Retry
from metastored.lance import Hive2Namespace, Hive3Namespace
from metastored.lance.conditions import CheckedTables
from metastored.lance.rest.channel import Channel, Message
from metastored.lance.rest.requests import HttpRequest
from metastored.lance.rest.routes import route
from metastored.lance.rest.serving import serve
from metastored.model.names import TableName
from metastored.wire.message import Reply
from metastored.wire.methods import Method

LIFELINE: Final = 0
"""Standard input: it ends when the server does."""


class Asked:
    """The server, as the worker asks it: one question at a time, from any thread. pylance has threads of its own."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def ask(self, data: bytes = b"", **fields: Any) -> Message:
        with self._lock:
            self._channel.send(data, **fields)
            return self._channel.receive()

    def may_open(self, name: TableName, location: str, *, removes: bool) -> None:
        """Raises PermissionDeniedError if the server does not allow it."""
        from lance_namespace import PermissionDeniedError

        refusal = self.ask(kind="place", table=list(name), location=location, removes=removes).fields["refusal"]
        if refusal is not None:
            raise PermissionDeniedError(refusal)


class Relayed(InProcess):
    """The calls of a client, which the server makes in the session of the request."""

    def __init__(self, server: Asked, session: str) -> None:
        self._server = server
        self._name = session

    def call(self, method: Method, body: bytes) -> Pending[Reply]:
        def work(seconds: float) -> Reply:
            reply = self._server.ask(body, kind="call", session=self._name, method=method.name)
            return Reply(reply.data, int(reply.fields["type"]))

        return Later(work)

    def close(self) -> None: ...


class Records(logging.Handler):
    """Sends the messages of the log to the server."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        self._channel.send(kind="log", logger=record.name, level=record.levelno, text=text)


def limit_memory(size: int) -> None:
    """Bounds the address space of this process, and turns core dumps off: they would contain rows."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if size:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        with suppress(ValueError, OSError):  # macOS has no such limit.
            resource.setrlimit(resource.RLIMIT_AS, (size if most == resource.RLIM_INFINITY else min(size, most), most))


def run(channel: Channel) -> None:
    """Serves requests until the server closes the channel."""
    server, checked = Asked(channel), CheckedTables()
    while True:
        try:
            request = channel.receive()
        except EOFError:
            return
        fields = request.fields
        operation = route(fields["path"])
        assert operation is not None
        identity = Identity(fields["user"], tuple(fields["groups"]))
        clients = [_client(Relayed(server, session), identity) for session in ("caller", "committer")]
        kind = Hive2Namespace if fields["depth"] == 2 else Hive3Namespace
        namespace = kind(clients[0], checked, clients[1], server.may_open, **fields["properties"])
        reply = serve(namespace, HttpRequest(operation, fields["query"], request.data))
        channel.send(reply.body, kind="done", status=reply.status, content_type=reply.content_type)


def _client(inside: Relayed, identity: Identity) -> Client:
    return Client(Caller(None, inside, identity, TIMEOUT, Retry(), None), inside, identity, BATCH)


def _end_with_the_server() -> None:
    while os.read(LIFELINE, 1):
        pass
    os._exit(0)


def main() -> None:
    limit_memory(int(sys.argv[2]))
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    log = logging.getLogger("metastored")
    log.addHandler(Records(channel))
    log.setLevel(logging.INFO)
    log.propagate = False
    run(channel)


if __name__ == "__main__":
    main()
