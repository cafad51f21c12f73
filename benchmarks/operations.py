"""The operations of hmsbench, at several sizes: usual calls of a catalog, side by side with Apache's metastore."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from benchmarks.client import Client, median_after, median_time, request_for
from benchmarks.objects import batches, drops, partition, partition_name, table
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results
from benchmarks.slice import bulk_time
from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.databases import Database
from metastored.wire.generated.transactions import CommitTxnRequest, OpenTxnRequest
from metastored.wire.structs import replace

DB = "ops"
WRITERS = 4


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


class Operations:
    """All operations on one peer. Each returns the seconds it took."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.client = Client(peer.host, peer.port)
        self.client.call("create_database", Database(name=DB))

    def fill(self, name: str, size: int) -> None:
        """Creates a table with this many partitions."""
        self.client.call("create_table", table(DB, name, partitioned=True))
        for batch in batches(DB, name, size):
            self.client.call("add_partitions", batch)

    def measure(self, size: int) -> dict[str, float]:
        call = self.client.call
        seconds: dict[str, float] = {}
        many = f"{DB}{size}"
        call("create_database", Database(name=many))

        def create() -> None:
            for number in range(size):
                call("create_table", table(many, f"t{number}"))

        seconds["createTable"] = timed(create)
        listing = request_for("get_all_tables", many)
        seconds["listTables"] = median_time(self.peer.host, self.peer.port, listing, 20)

        def write() -> bytes:
            (txn,) = call("open_txns", OpenTxnRequest(1, "u", "h")).txn_ids
            call("commit_txn", CommitTxnRequest(txn))
            return listing

        seconds["listTables, after others' writes"] = median_after(self.peer.host, self.peer.port, write, 20)
        self.fill(f"p{size}", size)
        requested = tuple(map(partition_name, range(min(size, 1000))))
        by_names = request_for("get_partitions_by_names", DB, f"p{size}", requested)
        seconds["getPartitionsByNames"] = bulk_time(self.peer, by_names, 10)
        old = call("get_table", DB, f"p{size}")
        new = replace(old, tableName=f"q{size}")
        context = EnvironmentContext({})
        seconds["renameTable"] = timed(
            lambda: call("alter_table_with_environment_context", DB, f"p{size}", new, context)
        )
        requests = list(drops(DB, f"q{size}", size // 2))
        seconds["dropPartitions"] = timed(lambda: [call("drop_partitions_req", request) for request in requests])
        seconds["dropTable with partitions"] = timed(lambda: call("drop_table", DB, f"q{size}", True))
        seconds["concurrentPartitionAdd"] = self.concurrently(size)
        return seconds

    def concurrently(self, size: int) -> float:
        """Several connections add single partitions to one table. Requests are encoded in advance."""
        name = f"c{size}"
        self.client.call("create_table", table(DB, name, partitioned=True))
        count = min(size, 1000)
        requests = [request_for("add_partitions", (partition(DB, name, number),)) for number in range(count)]

        def add(writer: int) -> None:
            client = Client(self.peer.host, self.peer.port)
            for request in requests[writer::WRITERS]:
                client.socket.sendall(request)
                client.socket.recv(1 << 16)
            client.close()

        threads = [threading.Thread(target=add, args=(writer,)) for writer in range(WRITERS)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - start
        added = len(self.client.call("get_partition_names", DB, name, -1))
        if added != count:
            raise RuntimeError(f"{self.peer.name} added {added} partitions, not {count}")
        return took


def run(results: Results, quick: bool) -> None:
    """10,000 takes Apache a quarter of an hour on a small machine; name it with the group `operations_large`."""
    compare(results, (100,) if quick else (100, 1000))


def compare(results: Results, sizes: tuple[int, ...]) -> None:
    by_peer: dict[str, dict[int, dict[str, float]]] = {}
    for start in (apache, metastored_on_sqlite):
        with start() as peer:
            operations = Operations(peer)
            by_peer[peer.name] = {size: operations.measure(size) for size in sizes}
            operations.client.close()
    theirs, ours = by_peer.values()
    for size in sizes:
        for name, seconds in ours[size].items():
            # hmsbench lists the tables of an idle metastore; the other row lists them after a write.
            least = 1 if name.endswith("writes") else 10
            results.faster(f"{name}, {size:,}", seconds, theirs[size][name], least=least, aim=10)
