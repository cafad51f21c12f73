"""A transactional table of a real metastore whose directories a test makes by hand: no rows, and no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import metastored
from metastored.hive.locations import local_path
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import TableName
from metastored.spark.acid.compaction.queue import Entry, entries, request
from metastored.testing import running_server
from metastored.wire.generated.compaction import FindNextCompactRequest
from metastored.wire.generated.transactions import TxnType
from metastored.wire.structs import replace

ORDERS = TableName("", "shop", "orders")


class Place:
    """The table `shop.orders`."""

    def __init__(self, client: metastored.Client, uri: str) -> None:
        self.client = client
        self.uri = uri
        self.location = client.table(ORDERS).sd.location or ""  # type: ignore[union-attr]

    @property
    def folder(self) -> Path:
        return Path(local_path(self.location))

    def names(self) -> list[str]:
        return sorted(each.name for each in self.folder.iterdir())

    def make(self, name: str, size: int = 10) -> None:
        (self.folder / name).mkdir(parents=True)
        (self.folder / name / "bucket_00000").write_bytes(b"x" * size)

    def write(self, abort: bool = False, size: int = 10) -> int:
        """A transaction that adds a delta."""
        with self.client.write(ORDERS) as write:
            self.make(f"delta_{write.write_id:07d}_{write.write_id:07d}_0000", size)
            if abort:
                write.abort()
        return write.write_id

    def compact(self, kind: CompactionKind = CompactionKind.MAJOR, abort: bool = False) -> int:
        """The calls of a worker; its result is a base. Returns the transaction."""
        assert request(self.client, ORDERS, None, kind, "test") is not None
        info = self.client.api.find_next_compact2(FindNextCompactRequest(workerId="elsewhere-1")).ci
        assert info is not None
        with self.client.transaction(type=TxnType.COMPACTION) as transaction:
            (seen,) = transaction.snapshot(ORDERS).values()
            info = replace(info, highestWriteId=seen.high_watermark)
            self.client.api.update_compactor_state(info, transaction.id)
            self.make(f"base_{seen.high_watermark:07d}_v{transaction.id:07d}", 100)
            if abort:
                transaction.abort()
        if abort:
            self.client.api.mark_failed(replace(info, errorMessage="no disk"))
        else:
            self.client.api.mark_compacted(info)
        return transaction.id

    def queue(self) -> list[Entry]:
        return entries(self.client)


@contextmanager
def place(**parameters: str) -> Iterator[Place]:
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        client.create_database(metastored.database("shop"))
        properties = {"transactional": "true", **parameters}
        client.create_table(metastored.table("shop.orders", {"id": "int"}, format="orc", properties=properties))
        yield Place(client, server.uri)
