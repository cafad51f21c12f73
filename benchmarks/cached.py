"""The metadata cache of the client: each operation that reads, with the cache and without it, on the same server.

Each operation has a row for its round trips and a row for its latency. The ratio is the share that remains with the
cache: at most 0.3, which is 70 % less. Round trips are those of `ROUNDS` repetitions after the client was opened; with
the cache they include the first read, which fills it, and the polls of notification events.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import metastored
from benchmarks.objects import table
from benchmarks.peers import metastored_on_sqlite
from benchmarks.rows import Results, Row
from benchmarks.slice import DB
from metastored.catalog import CatalogManager
from metastored.catalog._sync.hive import HiveProvider
from metastored.client._sync.client import Client
from metastored.wire.structs import replace

ROUNDS = 10
DATABASES = 20
VIEWS = 100
LEAST = 0.3
"""The share of round trips and of latency that may remain."""
AIM = 0.2

Operation = Callable[[CatalogManager], object]


def operations(tables: int) -> dict[str, Operation]:
    """The reads of the catalog, by name, and those of the client below it."""
    return {
        "get_database": lambda catalog: catalog.get_database(DB),
        f"list_databases, {DATABASES}": lambda catalog: catalog.list_databases(),
        "get_table": lambda catalog: catalog.get_table(f"{DB}.t00001"),
        f"list_tables, {tables:,}": lambda catalog: catalog.list_tables(DB),
        "list_tables by pattern": lambda catalog: catalog.list_tables(DB, "t0000*"),
        "get_view": lambda catalog: catalog.get_view("views.v001"),
        f"list_views, {VIEWS}": lambda catalog: catalog.list_views("views"),
        "client.table": lambda catalog: client_of(catalog).table(f"{DB}.t00001"),
        f"client.tables, {tables:,}": lambda catalog: client_of(catalog).tables(DB),
    }


def fill(uri: str, tables: int) -> None:
    with metastored.connect(uri, cache=False) as client:
        for name in (DB, "views", *(f"db{number}" for number in range(DATABASES - 3))):
            client.create_database(name)
        for number in range(tables):
            client.create_table(table(DB, f"t{number:05d}"))
        for number in range(VIEWS):
            view = replace(table("views", f"v{number:03d}"), tableType="VIRTUAL_VIEW", viewOriginalText="SELECT 1")
            client.create_table(view)


def client_of(catalog: CatalogManager) -> Client:
    provider = catalog.provider()
    assert isinstance(provider, HiveProvider)
    return provider.client


def measured(uri: str, operation: Operation, cached: bool) -> tuple[int, float]:
    """The round trips of all repetitions, and the median seconds of those after the first."""
    settings = {"name": "hive", "type": "hive", "uri": uri, "cache": {"enabled": cached}}
    with CatalogManager.load(environment={}, list=[settings]) as catalog:
        taken = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            operation(catalog)
            taken.append(time.perf_counter() - start)
        return client_of(catalog).api.calls, statistics.median(taken[1:])


def less(results: Results, name: str, cached: float, uncached: float, unit: str) -> None:
    results.add(Row(name, cached, uncached, unit, cached / uncached, LEAST, AIM, higher_is_better=False))


def run(results: Results, quick: bool) -> None:
    tables = 1_000 if quick else 10_000
    with metastored_on_sqlite(directories="off") as peer:
        uri = f"thrift://{peer.host}:{peer.port}"
        fill(uri, tables)
        for name, operation in operations(tables).items():
            all_calls, uncached = measured(uri, operation, cached=False)
            calls, cached = measured(uri, operation, cached=True)
            less(results, f"cache: {name}, round trips of {ROUNDS}", calls, all_calls, "calls")
            less(results, f"cache: {name}, latency", cached * 1e3, uncached * 1e3, "ms")
