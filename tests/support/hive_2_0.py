"""A simulated server of Hive 2.0 to 2.2, which are no longer published: metastored without newer methods and fields.

All else behaves as in Hive 2.3. The calls that take a request, and with them many tables in one, came with 2.3;
constraints with 2.1.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final

from metastored.connectors.thrift import ThriftMetastore
from metastored.errors import ApplicationError
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import METHODS
from tests.support.forks import running_server
from tests.support.thrift_server import serving

SINCE_2_1: Final = frozenset({
    "get_table_req", "get_table_objects_by_name_req", "get_tables_by_type", "get_partition_values", "compact2",
    "create_table_with_constraints", "add_primary_key", "add_foreign_key", "drop_constraint", "get_primary_keys",
    "get_foreign_keys", "cache_file_metadata",
})  # fmt: skip
"""Methods that 2.3 has and 2.0 has not."""
KNOWN: Final = frozenset(name for name, method in METHODS.items() if "2.3" in method.versions) - SINCE_2_1
PATIENCE = 60.0


class Hive20:
    """The methods of Hive 2.0, out of a metastore that has more."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def handle(self, call: Call, session: Session) -> Reply:
        if call.method.name not in KNOWN:
            text = f"Invalid method name: '{call.method.name}'"
            return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, text))
        if call.method.name == "set_ugi":
            session.user = call.args[0]  # The connection to the inner metastore has the same user.
            return Reply.of(call.method, call.args[1])
        return await self._inner.handle(call, session)


@contextmanager
def hive_2_0() -> Iterator[str]:
    """The address of one, in a thread of its own."""
    started: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve(uri: str) -> None:
        stop, inner = asyncio.Event(), ThriftMetastore(uri)
        async with serving(Hive20(inner)) as server:
            started.set_result((server.uri, asyncio.get_running_loop(), stop))
            await stop.wait()
        await inner.close()

    with running_server(compat="2.3") as behind:
        thread = threading.Thread(target=lambda: asyncio.run(serve(behind.uri)), daemon=True)
        thread.start()
        uri, loop, stop = started.result(PATIENCE)
        try:
            yield uri
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(PATIENCE)
