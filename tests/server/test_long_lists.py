"""Long lists of partitions: pulled from one snapshot in bounded memory, framed or not, while a writer continues."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.testing import RunningServer
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.methods import METHODS
from tests.support.client import Client
from tests.support.forks import running_server

COLUMNS = tuple(FieldSchema(f"column_{i:02d}", "string", f"comment {i}") for i in range(35))
STORAGE = StorageDescriptor(cols=COLUMNS, inputFormat="in", outputFormat="out", serdeInfo=SerDeInfo(None, "lib", {}))
"""A million of these stay below the 2 GiB that a frame can hold."""
KEYS = (FieldSchema("ds", "string"), FieldSchema("n", "int"))
MEGABYTE = 1024 * 1024


def fill(client: Client, count: int) -> None:
    client.call("create_database", Database(name="long"))
    client.call("create_table", Table("t", "long", sd=STORAGE, partitionKeys=KEYS))
    for start in range(0, count, 5000):
        batch = range(start, min(start + 5000, count))
        client.call("add_partitions", tuple(Partition((f"d{i:07d}", str(i)), "long", "t", sd=STORAGE) for i in batch))


def memory(server: RunningServer) -> int:
    """The most that any worker has held so far."""
    lines = [line for pid in server.workers for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return max(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def pieces(sock: socket.socket) -> Iterator[bytes]:
    while data := sock.recv(MEGABYTE):
        yield data


def list_all(server: RunningServer, *, framed: bool) -> tuple[int, int]:
    """(partitions that the reply announces, bytes of it), read without keeping them."""
    method = METHODS["get_partitions"]
    request = ClientConnection(framed=framed).send(method, binary.encode_args(method, ("long", "t", -1)))
    with socket.create_connection((server.host, server.port), timeout=600) as sock:
        sock.sendall(request)
        head, total, announced = b"", 0, None
        last = b""
        for data in pieces(sock):
            head = (head + data)[:64] if len(head) < 64 else head
            last = (last + data)[-64:]
            total += len(data)
            if framed and announced is None and len(head) >= 4:
                announced = struct.unpack(">I", head[:4])[0] + 4
            if announced is not None and total >= announced:
                break
            if not framed and last.endswith(b"\x00\x00\x00") and _ended(server, sock):
                break
    start = (4 if framed else 0) + 12 + len(method.name)
    assert head[start : start + 4] == b"\x0f\x00\x00\x0c", "the reply is not a list of structs"
    count: int = struct.unpack(">i", head[start + 4 : start + 8])[0]
    return count, total


def _ended(server: RunningServer, sock: socket.socket) -> bool:
    """Whether an unframed reply is complete: the server serves another call on the same connection."""
    sock.settimeout(2)
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True
    finally:
        sock.settimeout(600)


def check(count: int) -> None:
    with running_server(directories="off") as server:
        client = Client(server.host, server.port)
        fill(client, count)
        before = memory(server)
        stop = threading.Event()
        written: list[int] = []

        def write() -> None:
            writer = Client(server.host, server.port)
            number = count
            while not stop.is_set():
                writer.call("add_partitions", (Partition((f"d{number:07d}", str(number)), "long", "t", sd=STORAGE),))
                number += 1
                written.append(number)
            writer.close()

        thread = threading.Thread(target=write)
        thread.start()
        try:
            unframed, size = list_all(server, framed=False)
            framed, framed_size = list_all(server, framed=True)
        finally:
            stop.set()
            thread.join(60)
        assert count <= unframed <= framed <= max([count, *written])
        assert written, "the writer never got through"
        assert size > unframed * 1500 and framed_size > framed * 1500, "a reply is shorter than its partitions"
        assert memory(server) - before < 48 * MEGABYTE
        client.close()


@pytest.mark.slow
def test_forty_thousand_partitions_are_sent_in_bounded_memory_while_a_writer_continues() -> None:
    check(40_000)


@pytest.mark.soak
def test_a_million_partitions_are_sent_in_bounded_memory_while_a_writer_continues() -> None:
    check(1_000_000)
