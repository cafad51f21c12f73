"""The rows of HTTP: TJSON over kept HTTPS connections beside binary Thrift, and the encoding of long replies."""

from __future__ import annotations

import base64
import socket
import ssl
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.client import Client, median_time, request_for
from benchmarks.objects import batches, table
from benchmarks.peers import apache
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, prepare

USER, PASSWORD = "bench", "a password of no other use"
PARTITIONS = 1_000


def run(results: Results, quick: bool) -> None:
    times = 300 if quick else 2_000
    get_table = request_for("get_table", DB, "wide")
    with apache() as peer:
        prepare(peer)
        theirs = median_time(peer.host, peer.port, get_table, times)
    with TemporaryDirectory(prefix="metastored-bench-") as folder:
        thrift, https = _measure(Path(folder), get_table, times)
    slower = https / thrift
    results.add(
        Row("TJSON get_table over HTTPS, beside binary Thrift", https * 1e3, thrift * 1e3, "ms", slower, 10, 4, False)
    )
    results.faster("the same, beside Apache's binary Thrift", https, theirs, least=4, aim=8)
    ours, apaches = _encoding(3 if quick else 10)
    results.faster(f"TJSON of {PARTITIONS:,} partitions, beside Apache's library", ours, apaches, least=6, aim=6)


def _measure(folder: Path, get_table: bytes, times: int) -> tuple[float, float]:
    """The medians of one call in binary Thrift and in TJSON over HTTPS, of the same server."""
    from metastored.server.auth.passwords import hashed
    from metastored.store.engine.migrate import ensure_schema
    from metastored.store.engine.opening import open_database
    from metastored.store.security import users
    from metastored.testing import running_server
    from metastored.wire.generated.databases import Database

    database = open_database(None, folder / "data")
    ensure_schema(database)
    database.run(lambda tx: users.insert(tx, USER, hashed(PASSWORD), 0))
    database.close()
    with running_server(data=folder / "data", http_port=0) as server:
        assert server.http_port is not None
        client = Client(server.host, server.port)
        client.call("create_database", Database(name=DB))
        client.call("create_table", table(DB, "wide"))
        client.close()
        thrift = median_time(server.host, server.port, get_table, times)
        return thrift, _https_time(server.http_port, times)


def _https_time(port: int, times: int) -> float:
    """The median time of one exchange on one persistent connection, with a password in every request."""
    from metastored.config import KEYS

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    body = f'[1,"get_table",1,1,{{"1":{{"str":"{DB}"}},"2":{{"str":"wide"}}}}]'.encode()
    credentials = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    head = (
        f"POST {KEYS['http_path'].default} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n"
        f"Content-Type: application/x-thrift\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        taken = []
        for at in range(times + times // 5):
            start = time.perf_counter()
            connection.sendall(head + body)
            _read_answer(connection)
            if at >= times // 5:
                taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _read_answer(connection: ssl.SSLSocket) -> None:
    data = connection.recv(1 << 16)
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    remaining = length - len(body)
    while remaining:
        got = len(connection.recv(min(remaining, 1 << 16)))
        if not got:
            raise ConnectionError("the server closed the connection")
        remaining -= got


def _encoding(times: int) -> tuple[float, float]:
    """Seconds to write a list of partitions of 50 columns as TJSON: metastored's from stored bytes, Apache's from
    objects.
    """
    from thrift.protocol.TJSONProtocol import TJSONProtocol
    from thrift.transport.TTransport import TMemoryBuffer

    from metastored.wire.codec import binary
    from metastored.wire.codec.tjson_protocol import TJSON_2_3_0
    from metastored.wire.methods import METHODS
    from metastored.wire.types import REPLY
    from tests.support.apache_thrift import ApacheClasses

    method = METHODS["get_partitions"]
    (partitions,) = batches(DB, "parts", PARTITIONS)
    stored = binary.encode_result(method, partitions)
    classes = ApacheClasses("2.3")
    assert method.returns is not None
    result = classes.result(method)(success=classes.to_apache(partitions, method.returns))

    def ours() -> None:
        TJSON_2_3_0.write(REPLY, method.name_bytes, 1, stored, method)

    def apaches() -> None:
        result.write(TJSONProtocol(TMemoryBuffer()))

    return _best(ours, times), _best(apaches, 2)


def _best(work: Callable[[], None], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best
