"""Other Python clients of the Hive metastore, each measured in a process and an environment of its own.

    python other_clients.py CLIENT PORT TIMES ANSWER

prints seconds as JSON: one table, all partitions, and decoding the reply in the file ANSWER (a result struct in Thrift
binary) with the protocol that the client uses and with Thrift's own C codec. Each client is used as its own code and
its documentation do. Nothing of metastored is imported: it is not installed in the environments.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

DB, PARTITIONED = "bench", "parts"
TABLES = tuple(f"wide_{number}" for number in range(10))
"""Requested in turn, so that a cache of the last reply is no advantage."""
NEW = tuple(f"new_{number}" for number in range(700))
"""Also in turn, and more than fit in a client's cache."""
HOST = "127.0.0.1"
ROUNDS = 5


def median(function: Callable[[], object], times: int) -> float:
    """The median of the seconds that a call takes, after a warm-up."""
    taken = []
    for _ in range(times + times // 4):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken[times // 4 :])


def quiet_median(function: Callable[[], object], times: int) -> float:
    """The least of several medians, to reduce the influence of other load on the machine."""
    return min(median(function, times // ROUNDS) for _ in range(ROUNDS))


def in_turn(get: Callable[[str], object], tables: Sequence[str] = TABLES) -> Callable[[], object]:
    """Requests one table after the other."""
    names = cycle(tables)
    return lambda: get(next(names))


def least_work(function: Callable[[], object], times: int) -> float:
    """The best of a few runs, in processor time of this process, so that other load does not count."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


class HiveMetastoreClient:
    """hive-metastore-client: Thrift's generated client, one connection."""

    generated = "thrift_files.libraries.thrift_hive_metastore_client.ThriftHiveMetastore"

    def __init__(self, port: int, stack: ExitStack) -> None:
        client = import_module("hive_metastore_client").HiveMetastoreClient(HOST, port)
        self._client = stack.enter_context(client)

    def table(self, name: str) -> object:
        return self._client.get_table(DB, name)

    def partitions(self) -> object:
        return self._client.get_partitions(DB, PARTITIONED, -1)


class PyIceberg:
    """pyiceberg's HiveCatalog, without what it then reads from Iceberg's own files: a connection for each operation."""

    generated = "hive_metastore.ThriftHiveMetastore"

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._catalog: Any = import_module("pyiceberg.catalog.hive").HiveCatalog("bench", uri=f"thrift://{HOST}:{port}")

    def table(self, name: str) -> object:
        with self._catalog._client as client:
            return self._catalog._get_hive_table(client, DB, name)

    def partitions(self) -> object:
        with self._catalog._client as client:
            return client.get_partitions(DB, PARTITIONED, -1)


class PyMetastore:
    """pymetastore: one connection, and dataclasses made from the structs of Thrift's generated client."""

    generated = "pymetastore.hive_metastore.ThriftHiveMetastore"

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._hms = stack.enter_context(import_module("pymetastore.metastore").HMS.create(HOST, port))

    def table(self, name: str) -> object:
        return self._hms.get_table(DB, name)

    def partitions(self) -> object:
        return self._hms.get_partitions(DB, PARTITIONED, -1)


CLIENTS: dict[str, Callable[[int, ExitStack], Any]] = {
    "hive-metastore-client": HiveMetastoreClient,
    "pyiceberg": PyIceberg,
    "pymetastore": PyMetastore,
}


def decoding(generated: str, data: bytes, accelerated: bool) -> Callable[[], object]:
    """Decodes a reply to get_partitions with the client's own classes."""
    service = import_module(generated)
    protocols = import_module("thrift.protocol.TBinaryProtocol")
    protocol = protocols.TBinaryProtocolAccelerated if accelerated else protocols.TBinaryProtocol
    memory = import_module("thrift.transport.TTransport").TMemoryBuffer

    def read() -> object:
        result = service.get_partitions_result()
        result.read(protocol(memory(data)))
        return result.success

    return read


def main() -> None:
    name, port, times, reply = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]).read_bytes()
    with ExitStack() as stack:
        client = CLIENTS[name](port, stack)
        seconds = {
            "get_table": quiet_median(in_turn(client.table), times),
            "get_table, new": quiet_median(in_turn(client.table, NEW), times),
            "get_partitions": median(client.partitions, 1),
            "decode": least_work(decoding(client.generated, reply, accelerated=False), 2),
            "decode in C": least_work(decoding(client.generated, reply, accelerated=True), 3),
        }
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
