"""How cost grows with the number of partitions of a table, and of tables in a database. metastored alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.client import Client, request_for
from benchmarks.objects import batches, table
from benchmarks.peers import metastored_on_sqlite
from benchmarks.rows import Results
from benchmarks.slice import DB, bulk_time
from metastored.wire.generated.common import EnvironmentContext, FieldSchema
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

SIZES = (10_000, 100_000, 1_000_000)
TABLES = 10_000


def timed(action: Callable[..., object], *args: Any) -> float:
    start = time.perf_counter()
    action(*args)
    return time.perf_counter() - start


def run(results: Results, quick: bool) -> None:
    sizes = SIZES[:2] if quick else SIZES
    with metastored_on_sqlite(directories="off") as peer:
        client = Client(peer.host, peer.port)
        client.call("create_database", Database(name=DB))
        for size in sizes:
            name = f"p{size}"
            client.call("create_table", table(DB, name, partitioned=True))
            add = sum([timed(client.call, "add_partitions", batch) for batch in batches(DB, name, size)])
            names = bulk_time(peer, request_for("get_partition_names", DB, name, -1), 2)
            day = request_for("get_partitions_by_filter", DB, name, 'ds = "day-000003"', -1)
            filtered = bulk_time(peer, day, 20)
            full = bulk_time(peer, request_for("get_partitions", DB, name, -1), 1)
            before = client.call("get_table", DB, name)
            wider = replace(before.sd, cols=(*before.sd.cols, FieldSchema("added", "int")))
            cascade = EnvironmentContext({"CASCADE": "true", "DO_NOT_UPDATE_STATS": "true"})
            after = replace(before, sd=wider)
            casc = timed(client.call, "alter_table_with_environment_context", DB, name, after, cascade)
            renamed = replace(after, tableName=f"{name}_renamed", sd=replace(wider, location=before.sd.location))
            ren = timed(client.call, "alter_table", DB, name, renamed)
            for label, value in (
                ("add_partitions", add),
                ("get_partition_names", names),
                ("filter, 24 found", filtered),
                ("get_partitions", full),
                ("alter with cascade", casc),
                ("rename table", ren),
            ):
                results.growth.setdefault(label, {})[size] = value
        client.close()
        _many_tables(peer.host, peer.port, 1_000 if quick else TABLES, results)
    print("\nSeconds by number of partitions (tables in the last rows)")
    for label, curve in results.growth.items():
        print(f"  {label:34}" + "".join(f"  {size:>9,}: {value:9.4f}" for size, value in curve.items()))


def _many_tables(host: str, port: int, count: int, results: Results) -> None:
    client = Client(host, port)
    client.call("create_database", Database(name="many"))
    start = time.perf_counter()
    for number in range(count):
        client.call("create_table", table("many", f"t{number:06d}"))
        if number + 1 in (count // 10, count):
            at = number + 1
            results.growth.setdefault("create_table, each", {})[at] = (time.perf_counter() - start) / at
            results.growth.setdefault("get_all_tables", {})[at] = timed(client.call, "get_all_tables", "many")
            results.growth.setdefault("get_table, each", {})[at] = (
                timed(lambda: [client.call("get_table", "many", "t000007") for _ in range(200)]) / 200
            )
    client.close()
