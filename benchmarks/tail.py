"""The slowest calls under mixed load: 64 connections, 90 % small reads, 8 % small writes, 2 % lists of partitions.

A list has 10,000 partitions. Each connection waits for its reply before its next call, and calls are in a fixed random
order. With 2 % lists, the 99th percentile of all calls is the median of the lists; that of the small reads is how long
users of the other calls wait. The load also runs without the lists: the ratio shows whether small reads wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.client import Client, reply_length, request_for
from benchmarks.load import Call, Times, load, percentile
from benchmarks.objects import batches, narrow, partition_name, table
from benchmarks.peers import Peer, apache, metastored_on_postgres, metastored_on_sqlite
from benchmarks.rows import Results, Row
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

DB: Final = "tail"
CONNECTIONS: Final = 64
PARTITIONS: Final = 10_000
READ, WRITE, LIST = "read", "write", "list"
SHARES: Final = {READ: 900.0, WRITE: 80.0, LIST: 20.0}
"""Of a thousand calls."""
HEAP: Final = "2g"
"""For Apache's metastore: many lists at a time do not fit into the memory that it has in other groups."""
LEAST, AIM = 10.0, 20.0
SERVERS: Final[dict[str, Callable[[], AbstractContextManager[Peer]]]] = {
    "SQLite": lambda: metastored_on_sqlite(directories="off"),
    "SQLite, two workers": lambda: metastored_on_sqlite(directories="off", workers=2),
    "PostgreSQL": lambda: metastored_on_postgres(directories="off"),
    "PostgreSQL, two workers": lambda: metastored_on_postgres(directories="off", workers=2),
}


@dataclass
class Tails:
    """The times of one server with the lists and without them."""

    mixed: Times
    without_lists: Times

    @property
    def waiting(self) -> tuple[float, float]:
        """The 99th percentile of small reads with lists, and without."""
        return percentile(self.mixed.of(READ), 0.99), percentile(self.without_lists.of(READ), 0.99)


def prepare(peer: Peer, partitions: int) -> None:
    """A table to list, and for each connection a table to read and one to change."""
    client = Client(peer.host, peer.port)
    client.call("create_database", Database(name=DB))
    # With one column and in one directory: Apache's metastore holds many lists in memory at a time, and takes ten
    # milliseconds for a directory.
    client.call("create_table", narrow(table(DB, "parts", partitioned=True)))
    location = client.call("get_table", DB, "parts").sd.location
    for batch in batches(DB, "parts", partitions):
        client.call("add_partitions", tuple(narrow(part, location) for part in batch))
    for number in range(CONNECTIONS):
        for name in (_read(number), _written(number)):
            client.call("create_table", table(DB, name))
    client.close()


def calls_of(peer: Peer, partitions: int) -> list[list[Call]]:
    """The calls of each connection. All replies of a call have the same length, which is found once."""
    client = Client(peer.host, peer.port)
    lengths: dict[str, int] = {}

    def call(kind: str, share: float, method: str, *args: Any) -> Call:
        request = request_for(method, *args)
        if method not in lengths:
            lengths[method] = reply_length(peer.host, peer.port, request)
        return Call(kind, method, request, lengths[method], share * SHARES[kind])

    def of_connection(number: int) -> list[Call]:
        some = (number * 131) % partitions
        written = client.call("get_table", DB, _written(number))
        changes = [replace(written, parameters={**written.parameters, "turn": turn}) for turn in "01"]
        return [
            call(READ, 0.7, "get_table", DB, _read(number)),
            call(READ, 0.1, "get_database", DB),
            call(READ, 0.1, "get_partition_by_name", DB, "parts", partition_name(some)),
            call(READ, 0.1, "get_partitions_by_filter", DB, "parts", f'ds = "day-{some % 10:06d}"', -1),
            *(call(WRITE, 0.5, "alter_table", DB, _written(number), change) for change in changes),
            call(LIST, 1.0, "get_partitions", DB, "parts", -1),
        ]

    calls = [of_connection(number) for number in range(CONNECTIONS)]
    client.close()
    return calls


def measure(peer: Peer, partitions: int, warm: float, seconds: float) -> Tails:
    prepare(peer, partitions)
    calls = calls_of(peer, partitions)
    small = [[call for call in of_one if call.kind != LIST] for of_one in calls]
    # The small calls first: Apache's memory is full after the lists.
    without = load(peer.host, peer.port, small, warm, seconds / 2)
    mixed = load(peer.host, peer.port, calls, warm, seconds)
    return Tails(mixed, without)


def report(results: Results, name: str, ours: Tails, theirs: Tails) -> None:
    """The rows of one server beside Apache's. Only the 99th percentiles have a limit."""
    note = _note(ours.mixed, theirs.mixed)
    for what, kinds in (("all calls", ()), ("small reads", (READ,)), ("small writes", (WRITE,))):
        mine, other = ours.mixed.of(*kinds), theirs.mixed.of(*kinds)
        for share, label in ((0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")):
            ratio = percentile(other, share) / percentile(mine, share)
            row = Row(
                f"{label} of {what} under mixed load, {name}",
                percentile(mine, share) * 1e3,
                percentile(other, share) * 1e3,
                "ms",
                ratio,
            )
            if (what, label) == ("all calls", "p50"):
                row.note = note
            if label == "p99" and what != "small writes":
                row.least, row.aim = LEAST, AIM
            results.add(row)
    results.add(waiting(name, ours))


def waiting(name: str, tails: Tails) -> Row:
    """How many times longer the slowest small reads take beside lists: the smaller the better."""
    beside, alone = tails.waiting
    what = f"p99 of small reads, with lists over without, {name}"
    return Row(what, beside * 1e3, alone * 1e3, "ms", beside / alone, higher_is_better=False)


def _note(ours: Times, theirs: Times) -> str:
    counts = f"{len(ours.of()):,} calls, Apache {len(theirs.of()):,}"
    errors = f"; errors: {ours.errors}, Apache {theirs.errors}" if ours.errors or theirs.errors else ""
    return f"{counts}{errors}"


def _read(number: int) -> str:
    return f"read_{number:02}"


def _written(number: int) -> str:
    return f"written_{number:02}"


def run(results: Results, quick: bool) -> None:
    partitions, warm, seconds = (500, 1.0, 3.0) if quick else (PARTITIONS, 5.0, 20.0)
    with apache(heap=HEAP) as peer:
        # Longer, because it serves some dozens of calls per second: a percentile needs a thousand.
        theirs = measure(peer, partitions, warm, 3 * seconds)
    results.add(waiting("Apache", theirs))
    for name, start in SERVERS.items():
        with start() as peer:
            report(results, name, measure(peer, partitions, warm, seconds), theirs)
