"""A real metastore on a free port, in a thread of the test process: it starts in a fraction of a second."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metastored.config import load
from metastored.server.assemble import build
from metastored.server.listener import Ports
from metastored.server.server import Server

PATIENCE = 60.0


@contextmanager
def serving_metastore(folder: Path, **settings: Any) -> Iterator[str]:
    """The address of a server with a database and a warehouse in the folder, or with these settings."""
    defaults: dict[str, Any] = {"port": 0, "data": str(folder / "data"), "warehouse": str(folder / "warehouse")}
    if "database_url" in settings:
        del defaults["data"]
    chosen = load(environment={}, flags={**defaults, **settings})
    ports = Ports.open(chosen)
    ready, ended = threading.Event(), []
    loops: list[tuple[Server, asyncio.AbstractEventLoop]] = []

    async def main() -> None:
        application = build(chosen)
        server = Server(chosen, application, ports)
        await server.start()
        loops.append((server, asyncio.get_running_loop()))
        ready.set()
        await server.ended()
        await server.stop()
        ports.close()

    def serve() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            ended.append(error)
            ready.set()
            raise

    thread = threading.Thread(target=serve, name="metastored")
    thread.start()
    try:
        assert ready.wait(PATIENCE) and loops, ended
        yield f"thrift://127.0.0.1:{ports.thrift.getsockname()[1]}"
    finally:
        for server, loop in loops:
            loop.call_soon_threadsafe(server.end)
        thread.join(PATIENCE)
        assert not thread.is_alive()
