"""A metastore for tests whose replies about tables are what a test says, on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.structs import Database, StorageDescriptor, Table
from metastored.wire.generated.tables import GetTablesResult
from metastored.wire.message import Call, Reply, Session
from tests.support.thrift_server import ThriftServer


class LyingMetastore:
    """A handler with one database, `shop`. `listed` are the names that it lists, `tables` what it returns for any."""

    def __init__(self) -> None:
        self.listed: tuple[str, ...] = ()
        self.tables: tuple[Table, ...] = ()
        self.uri = ""

    async def handle(self, call: Call, session: Session) -> Reply:
        replies: Mapping[str, Callable[[], Any]] = {
            "get_database": lambda: Database(name="shop", locationUri="file:/nowhere"),
            "get_all_databases": lambda: ("shop",),
            "get_all_tables": lambda: self.listed,
            "get_table_names_by_filter": lambda: self.listed,
            "get_table": lambda: self.tables[0],
            "get_table_objects_by_name": lambda: self.tables,
            "get_table_objects_by_name_req": lambda: GetTablesResult(self.tables),
        }
        if call.method.name not in replies:
            return Reply.raised(call.method, ApplicationError(ApplicationError.UNKNOWN_METHOD, call.method.name))
        if call.method.name == "get_table" and not self.tables:
            return Reply.raised(call.method, NoSuchObjectException("no such table"))
        return Reply.of(call.method, replies[call.method.name]())


def iceberg(name: str, location: str = "file:/nowhere/t", **parameters: str) -> Table:
    """A table that looks like an Iceberg table."""
    known = {"table_type": "ICEBERG", "metadata_location": f"{location}/metadata/0.metadata.json", **parameters}
    return Table(
        tableName=name,
        dbName="shop",
        tableType="EXTERNAL_TABLE",
        parameters=known,
        sd=StorageDescriptor(location=location, cols=()),
    )


@contextmanager
def lying_metastore() -> Iterator[LyingMetastore]:
    """It runs in a thread until the block ends."""
    metastore, started = LyingMetastore(), threading.Event()
    loop = asyncio.new_event_loop()
    server = ThriftServer(metastore)

    def run() -> None:
        loop.run_until_complete(server.start())
        metastore.uri = server.uri
        started.set()
        loop.run_forever()
        loop.run_until_complete(server.stop())
        loop.close()

    thread = threading.Thread(target=run, name="lying metastore")
    thread.start()
    started.wait()
    try:
        yield metastore
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
