"""How times grow with the number of partitions of a table, and of tables in a database. metastored alone.

A call with a reply of constant size is measured with the least and the most objects: its time may not grow. For other
calls the time for each object of the reply, or each object changed, is compared. Partitions are added by calls; tables
are copies of one, made in the database. Both are measured on SQLite and PostgreSQL, with the size of the database.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from benchmarks.client import Client, median_time, request_for
from benchmarks.objects import batches, narrow, partition, partition_name, table
from benchmarks.peers import Peer, metastored_on_postgres, metastored_on_sqlite
from benchmarks.rows import Results, Row
from benchmarks.slice import DB, MEGABYTE, bulk_time
from benchmarks.stores import copied
from metastored.wire.generated.common import EnvironmentContext, FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

SIZES: Final = (10_000, 100_000, 1_000_000)
LONGEST_LIST: Final = 1_000_000
"""A table with more partitions is not listed with all their definitions: the reply would have tens of gigabytes."""
TIMES: Final = 200
CHANGES: Final = 20
ADDED: Final = 100
WIDENED: Final = 5
MOST, AIM = 2.0, 1.2
"""How many times longer a call may take with the most objects, and is meant to take."""

CONSTANT: Final = {
    "get_table": "get_table",
    "get_partition": "get_partition_by_name",
    "filter": "get_partitions_by_filter, 24 found",
    "first names": "get_partition_names, first 100",
    "add": f"add_partitions of {ADDED}",
    "drop": "drop_partition",
    "cascade": "alter_table with CASCADE",
    "rename": "rename a table with partitions",
    "get_table among": "get_table among tables",
    "create_table": "create_table",
    "drop_table": "drop_table",
    "pattern": "get_tables by pattern, 10 found",
}
"""Calls whose reply does not grow."""
BY_OBJECT: Final = {
    "fill": "add_partitions, each of all",
    "names": "get_partition_names, each name",
    "partitions": "get_partitions, each partition",
    "tables": "get_all_tables, each name",
}
"""Calls whose reply or change grows with the objects; their times are divided by the number of objects."""
STORES: Final[dict[str, Callable[..., AbstractContextManager[Peer]]]] = {
    "SQLite": metastored_on_sqlite,
    "PostgreSQL": metastored_on_postgres,
}


def timed(action: Callable[..., object], *args: Any) -> float:
    start = time.perf_counter()
    action(*args)
    return time.perf_counter() - start


def run(results: Results, quick: bool) -> None:
    grow(results, (1_000, 10_000) if quick else SIZES)


def grow(results: Results, sizes: Sequence[int]) -> None:
    bytes_of_one: dict[str, float] = {}
    for kind, start in STORES.items():
        with start(directories="off") as peer:
            curves: dict[str, dict[int, float]] = {}
            client = Client(peer.host, peer.port)
            client.call("create_database", Database(name=DB))
            before = peer.store.size
            for size in sizes:
                _keep(curves, size, partitions(peer, client, size))
            bytes_of_one[kind] = (peer.store.size - before) / sum(sizes)
            for size in sizes:
                _keep(curves, size, tables(peer, client, size))
            client.close()
        report(results, kind, curves)
    results.add(sizes_of_million(bytes_of_one["SQLite"], bytes_of_one["PostgreSQL"]))


def partitions(peer: Peer, client: Client, size: int) -> dict[str, float]:
    """The seconds of each call on a table with this many partitions; those in `BY_OBJECT` for all of them."""
    name = f"p{size}"
    client.call("create_table", table(DB, name, partitioned=True))
    seconds = {"fill": sum([timed(client.request, "add_partitions", batch) for batch in batches(DB, name, size)])}
    peer.store.analyze()
    seconds["names"] = bulk_time(peer, request_for("get_partition_names", DB, name, -1), 3)
    if size <= LONGEST_LIST:
        seconds["partitions"] = bulk_time(peer, request_for("get_partitions", DB, name, -1), 1)
    for call, request in {
        "get_table": request_for("get_table", DB, name),
        "get_partition": request_for("get_partition_by_name", DB, name, partition_name(size // 2)),
        "filter": request_for("get_partitions_by_filter", DB, name, 'ds = "day-000003"', -1),
        "first names": request_for("get_partition_names", DB, name, 100),
    }.items():
        seconds[call] = median_time(peer.host, peer.port, request, TIMES)
    added = [
        tuple(partition(DB, name, size + turn * ADDED + number) for number in range(ADDED)) for turn in range(CHANGES)
    ]
    seconds["add"] = _median(lambda batch: client.request("add_partitions", batch), added)
    values = [batch[0].values for batch in added]
    seconds["drop"] = _median(lambda of: client.request("drop_partition", DB, name, of, False), values)
    plain = client.call("get_table", DB, name)
    context = EnvironmentContext({"CASCADE": "true", "DO_NOT_UPDATE_STATS": "true"})
    more = [tuple(FieldSchema(f"added_{column}", "int") for column in range(turn + 1)) for turn in range(WIDENED)]
    wider = [replace(plain, sd=replace(plain.sd, cols=(*plain.sd.cols, *columns))) for columns in more]
    seconds["cascade"] = _median(
        lambda new: client.request("alter_table_with_environment_context", DB, name, new, context), wider
    )
    names = [f"{name}_{turn}" for turn in range(CHANGES)]
    previous = dict(zip(names, (name, *names), strict=False))
    seconds["rename"] = _median(
        lambda new: client.request("alter_table", DB, previous[new], replace(wider[-1], tableName=new)), names
    )
    return seconds


def tables(peer: Peer, client: Client, size: int) -> dict[str, float]:
    """The same for a database with this many tables."""
    database = f"many{size}"
    client.call("create_database", Database(name=database))
    client.call("create_table", narrow(table(database, "seed")))
    peer.store.copy_table(database, "seed", size)
    peer.store.analyze()
    new = [narrow(table(database, f"new{turn:03}")) for turn in range(CHANGES)]
    seconds = {"create_table": _median(lambda one: client.request("create_table", one), new)}
    last = client.call("get_tables", database, copied(size - 1)[:-1] + "*")
    if last != tuple(copied(number) for number in range(size - 10, size)):
        raise RuntimeError(f"the last tables are {last}")
    seconds["tables"] = bulk_time(peer, request_for("get_all_tables", database), 3)
    for call, request in {
        "get_table among": request_for("get_table", database, copied(size // 2)),
        "pattern": request_for("get_tables", database, copied(size // 20)[:-1] + "*"),
    }.items():
        seconds[call] = median_time(peer.host, peer.port, request, TIMES)
    seconds["drop_table"] = _median(lambda one: client.request("drop_table", database, one.tableName, False), new)
    return seconds


def report(results: Results, kind: str, curves: dict[str, dict[int, float]]) -> None:
    """A curve of each call, and a row that compares its time with the most objects to that with the least."""
    for call, name in {**CONSTANT, **BY_OBJECT}.items():
        curve = curves[call]
        results.growth[f"{kind}: {name.partition(', each')[0]}"] = curve
        results.add(growth_of(f"{name}, {kind}", curve, each=call in BY_OBJECT))


def growth_of(name: str, curve: dict[int, float], *, each: bool) -> Row:
    """With `each` the times are divided by the number of objects, and microseconds, not milliseconds."""
    least, most = min(curve), max(curve)
    first, last = (curve[size] / size if each else curve[size] for size in (least, most))
    scale, unit = (1e6, "µs") if each else (1e3, "ms")
    note = f"{most:,} against {least:,}"
    return Row(name, last * scale, first * scale, unit, last / first, MOST, AIM, higher_is_better=False, note=note)


def sizes_of_million(sqlite: float, postgresql: float) -> Row:
    """The sizes of both databases for a million partitions, with the events of their addition, from bytes of one."""
    million = 1e6 / MEGABYTE
    name = "size of a million partitions: SQLite, and PostgreSQL"
    return Row(name, sqlite * million, postgresql * million, "MB", postgresql / sqlite)


def _median(action: Callable[[Any], object], arguments: Sequence[Any]) -> float:
    return statistics.median(timed(action, argument) for argument in arguments)


def _keep(curves: dict[str, dict[int, float]], size: int, seconds: dict[str, float]) -> None:
    for call, value in seconds.items():
        curves.setdefault(call, {})[size] = value
