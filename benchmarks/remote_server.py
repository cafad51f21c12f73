"""A metastored server with remote databases given on its command line; for measuring, and for tests with real sockets.

    python -m benchmarks.remote_server DATA_FOLDER LOCAL=REMOTE@thrift://host:port …

It prints its port and serves until it is told to end.
"""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import sys
from pathlib import Path

from metastored.config import Settings
from metastored.connectors.thrift import ThriftMetastore
from metastored.remotes.definitions import Definitions, RemoteDatabase
from metastored.remotes.routing import Routed
from metastored.server.assemble import build
from metastored.server.listener import Ports
from metastored.server.server import Server


def definition(text: str) -> RemoteDatabase:
    name, _, rest = text.partition("=")
    remote_name, _, uri = rest.partition("@")
    return RemoteDatabase(name, remote_name, uri)


async def serve(folder: Path, definitions: Definitions) -> None:
    settings = Settings(port=0, data=folder, warehouse=(folder / "warehouse").as_uri())
    local = build(settings)
    routed = Routed(local.handler, definitions, lambda remote: ThriftMetastore(remote.uri))
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    server = Server(settings, dataclasses.replace(local, handler=routed), Ports(listening))
    await server.run(lambda: print(listening.getsockname()[1], flush=True))


if __name__ == "__main__":
    folder, *given = sys.argv[1:]
    asyncio.run(serve(Path(folder), Definitions([definition(text) for text in given])))
