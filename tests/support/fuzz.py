"""Messages that no honest client sends, for all methods of the API, and the connections that carry them.

Arguments are built from the method table: values that are absent, extreme, or taken from texts that some parser reads.
Some messages are then damaged as bytes. Everything follows from one seed. Nothing here looks at a reply: what
counts is what the server writes to its log, and that it still serves. Use it only with `--directories off`: the
locations in these messages are arbitrary.
"""

from __future__ import annotations

import random
import select
import socket
import struct
from collections.abc import Iterator
from typing import Any, Final

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.codec import binary
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods import METHODS, Method
from metastored.wire.structs import fields, names, new
from metastored.wire.types import CALL, Type
from tests.support.codecs import PROTOCOLS

PER_CONNECTION: Final = 40
"""Messages that are pipelined on one Thrift connection."""
PATIENCE: Final = 120.0

# ruff: noqa: E501 (a list of texts)
TEXTS: Final = (
    *("", "default", "d", "t", "hive", "k", "v", "a", "public", "admin", "USER", "TABLE", "PRIMARY KEY", "MANAGED_TABLE"),
    *("@hive#d", "@hive#", "@#", "@", "hive.d", "d.t", " D ", "d\u00a0", "null", "k=1", "k=1/j=2", "k=", "=", "%zz", "k=%2F"),
    *("*", "d*|e*", "d|", "(", "[", "k = 'v'", "k = 1 and", "k like '%a_'", "(k) in ('1', '2')", "k between 1 and", "'", "\\"),
    *("int", "array<int>", "struct<a:int,b:map<string,array<int>>>", "decimal(99)", "struct<", "map<int>", "varchar(x)"),
    *("1:2:3:4", "d.t:9:1:1,2:3", ":::", "9:1-99999999999:", "0 0 0 ? * MON-FRI", "0 0 0 1 1 ? 2099", "* * * * *", "2024-02-30"),
    *("file:/nowhere/x", "s3a://b/k", "hdfs://h:99999/x", "://", "file:relative", "/../..", "har:/x", "\x00", "\n", "\r\nINFO [1] forged"),
    *("\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"), "\udcff", "größe", "𝄞", "x" * 300, "y" * 5000),
    *("9" * 30, "-1", "1e999", "NaN", "2038-01-19 03:14:08", "9999-12-31", "[]", "{}", '{"a":', "true"),
)  # fmt: skip
NUMBERS: Final = (0, 1, 2, 3, 7, -1, -2, 127, 255, 2**15 - 1, 2**31 - 1, -(2**31), 2**31, 2**40, 2**63 - 1, -(2**63))
_BITS: Final = {"byte": 8, "i16": 16, "i32": 32, "i64": 64}


class Fuzzer:
    """Arguments and messages from one source of chance."""

    def __init__(self, seed: int) -> None:
        self.random: Final = random.Random(seed)

    def message(self, method: Method, protocol: str) -> bytes:
        """A call with a valid header and any arguments."""
        absent = self.random.choice((0.0, 0.1, 0.4))
        args = tuple(None if self.random.random() < absent else self.value(each.type, 4) for each in method.args)
        body = binary.encode_args(method, args)
        return PROTOCOLS[protocol].write(CALL, method.name_bytes, self.random.randrange(2**31), body, method)

    def value(self, type: Type, depth: int) -> Any:
        chance, name = self.random, type.name
        if name == "bool":
            return chance.random() < 0.5
        if name in _BITS:
            bits = _BITS[name]
            number = chance.choice(NUMBERS) if chance.random() < 0.8 else chance.getrandbits(bits)
            return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        if name == "double":
            return chance.choice((0.0, -1.5, 1e308, float("inf"), float("nan")))
        if name == "string":
            return self.text()
        if name == "binary":
            return chance.choice((b"", b"\x00", b"\x01\xff\x80", b"k = '1'", chance.randbytes(40)))
        if name in ENUMS:
            return chance.choice((*ENUMS[name].NAMES, -1, 99))  # type: ignore[attr-defined]
        size = chance.choice((0, 1, 1, 2, 3))
        if name == "map":
            key, value = type.args
            pairs = ((self.value(key, depth - 1), self.value(value, depth - 1)) for _ in range(size))
            return {tuple(left) if isinstance(left, list) else left: right for left, right in pairs}
        if name == "set":
            return (
                frozenset()
                if type.args[0].name in STRUCTS
                else frozenset(self.value(type.args[0], 1) for _ in range(size))
            )
        if name == "list":
            return tuple(self.value(type.args[0], depth - 1) for _ in range(size))
        if name in THRIFT_EXCEPTIONS:
            return THRIFT_EXCEPTIONS[name](self.text())
        return self.struct(STRUCTS[name], depth)

    def struct(self, cls: type, depth: int) -> Any:
        absent = 1.0 if depth <= 0 else self.random.choice((0.05, 0.3, 0.7, 1.0))
        found: dict[str, Any] = dict.fromkeys(names(cls))
        for field in fields(cls):
            if self.random.random() >= absent:
                found[field.name] = self.value(field.type, depth - 1)
        return new(cls, list(found.values()))

    def text(self) -> str:
        found = self.random.choice(TEXTS)
        return found if self.random.random() < 0.9 else found + self.random.choice(TEXTS)

    def damaged(self, message: bytes) -> bytes:
        """The same with bytes changed, cut, doubled or put in."""
        data, chance = bytearray(message), self.random
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.randrange(len(data) + 1)
            match chance.randrange(5):
                case 0 if at < len(data):
                    data[at] ^= 1 << chance.randrange(8)
                case 1:
                    data[at : at + 4] = struct.pack(">i", chance.choice((-1, 2**31 - 1, 0, 65536)))
                case 2:
                    del data[at:]
                case 3:
                    data[at:at] = data[max(0, at - chance.randrange(1, 64)) : at]
                case _:
                    data[at:at] = chance.randbytes(chance.randrange(1, 9))
        return bytes(data)

    # Connections

    def thrift_connection(self, methods: Iterator[Method]) -> tuple[bytes, int]:
        """The bytes to send on one connection of the Thrift port, and the number of their messages."""
        protocol, framed = self.random.choice(tuple(PROTOCOLS)), self.random.random() < 0.5
        parts = [self.message(next(methods), protocol) for _ in range(self.random.randrange(1, PER_CONNECTION))]
        if self.random.random() < 0.7:
            parts[-1] = self.damaged(parts[-1])
        if framed:
            parts = [struct.pack(">I", len(part)) + part for part in parts]
        return b"".join(parts), len(parts)

    def sasl_connection(self) -> bytes:
        """The beginning of a negotiation that fails."""
        parts = []
        for _ in range(self.random.randrange(1, 4)):
            payload = self.random.choice((b"PLAIN", b"GSSAPI", b"DIGEST-MD5", b"X\nINFO [1] forged", b"\xff" * 30, b""))
            parts.append(
                bytes((self.random.choice((1, 1, 2, 3, 4, 5, 9)),)) + struct.pack(">I", len(payload)) + payload
            )
        return self.random.choice((bytes, self.damaged))(b"".join(parts))

    def http_connection(self, methods: Iterator[Method]) -> tuple[bytes, int]:
        """Requests to the HTTP port, pipelined, the last of which may be damaged."""
        parts: list[bytes] = []
        for _ in range(self.random.randrange(1, 8)):
            body = self.message(next(methods), self.random.choice(tuple(PROTOCOLS)))
            if self.random.random() < 0.3:
                body = self.damaged(body)
            actor = self.random.choice(
                (b"", b"x-actor-username: \xff\r\n", b"x-actor-username: a b\r\n", b"authorization: x\r\n")
            )
            path = self.random.choice((b"/metastore", b"/metastore", b"/metastore", b"/health", b"/\xff", b"/metrics"))
            length = len(body) if self.random.random() < 0.95 else self.random.choice((0, 5, 10**12))
            head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\n%sContent-Length: %d\r\n\r\n"
            parts.append(head % (path, actor, length) + body)
        if self.random.random() < 0.2:
            parts[-1] = self.damaged(parts[-1])
        return b"".join(parts), len(parts)


def cycled(fuzzer: Fuzzer) -> Iterator[Method]:
    """Every method, in an order of chance, again and again."""
    while True:
        methods = list(METHODS.values())
        fuzzer.random.shuffle(methods)
        yield from methods


def exchange(host: str, port: int, data: bytes, *, leave: bool = False) -> int:
    """Sends the data, then reads to the end; with `leave` it hangs up without reading. The number of bytes read."""
    received = 0
    with socket.create_connection((host, port), timeout=PATIENCE) as connection:
        try:
            if leave:
                connection.sendall(data)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return 0
            _send_and_drain(connection, data)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(1 << 20):
                received += len(chunk)
        except (ConnectionResetError, BrokenPipeError):
            pass  # The server has refused the rest.
        return received


def _send_and_drain(connection: socket.socket, data: bytes) -> None:
    """A server with pipelining stops reading while its replies are not read."""
    rest = memoryview(data)
    connection.setblocking(False)
    while rest:
        readable, writable, _ = select.select([connection], [connection], [], PATIENCE)
        if readable and not connection.recv(1 << 20):
            break
        if writable:
            rest = rest[connection.send(rest) :]
    connection.settimeout(PATIENCE)


def run(host: str, port: int, http_port: int, seed: int, messages: int) -> int:
    """So many messages, over Thrift and HTTP by turns; the number that was sent."""
    fuzzer, sent = Fuzzer(seed), 0
    methods = cycled(fuzzer)
    while sent < messages:
        leave = fuzzer.random.random() < 0.05
        match fuzzer.random.randrange(12):
            case 0:
                exchange(host, port, fuzzer.sasl_connection(), leave=leave)
                sent += 1
            case 1 | 2 | 3 | 4:
                data, count = fuzzer.http_connection(methods)
                exchange(host, http_port, data, leave=leave)
                sent += count
            case _:
                data, count = fuzzer.thrift_connection(methods)
                exchange(host, port, data, leave=leave)
                sent += count
    return sent
