"""`metastored bench`: a quick measure of a metastore, by calls on a database that it creates and drops again.

It is for a first impression of one server. `make bench` in the source tree compares servers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

import typer

from metastored.cli.errors import explained
from metastored.cli.options import Output, Server, options
from metastored.cli.output import print_rows
from metastored.cli.progress import Meter

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

COLUMNS: Final = ("call", "clients", "calls", "calls_per_second", "median_ms", "p99_ms")

Seconds = Annotated[float, typer.Option(metavar="SECONDS", min=0.01, help="The time for each kind of call.")]
Clients = Annotated[int, typer.Option(metavar="N", min=1, max=256, help="How many clients call at the same time.")]
Partitions = Annotated[int, typer.Option(metavar="N", min=1, help="How many partitions the table has.")]

Call = Callable[["Client", int], object]


@explained
@options(server=Server.read)
def bench(
    server: Server,
    seconds: Seconds = 2.0,
    clients: Clients = 4,
    partitions: Partitions = 1000,
    output: Output = "text",
) -> None:
    """Measure common calls of a metastore, one kind after the other.

    Creates a database named metastored_bench_… with one partitioned table, and drops both at the end. The clients are
    threads of one Python process, which may be busier than the server.
    """
    from metastored.model import makers

    name = f"metastored_bench_{uuid4().hex[:12]}"
    with server.connect() as client, _database(client, name), Meter("bench") as meter:
        table = f"{name}.events"
        client.create_table(
            makers.table(table, {"id": "bigint", "body": "string"}, partitioned_by={"ds": "string"}, external=True)
        )
        names = [f"ds={number}" for number in range(partitions)]
        started = time.perf_counter()
        client.add_partitions(table, names)
        took = time.perf_counter() - started
        milliseconds = round(took * 1000, 2)
        rows: list[tuple[str | int | float, ...]] = [
            (f"add_partitions ({partitions:,})", 1, 1, round(1 / took, 1), milliseconds, milliseconds)
        ]
        calls: dict[str, Call] = {
            "get_database": lambda each, _: each.database(name),
            "get_table": lambda each, _: each.table(table),
            "get_partition": lambda each, number: each.partition(table, names[number % partitions]),
            "get_partition_names": lambda each, _: each.partition_names(table),
            f"get_partitions ({partitions:,})": lambda each, _: sum(1 for _ in each.partitions(table)),
            "create_table, drop_table": lambda each, number: _create_and_drop(each, f"{name}.t{number}"),
        }
        for at, (what, call) in enumerate(calls.items()):
            meter(at, len(calls))
            rows.append(_measured(server, what, call, clients, seconds))
    print_rows(COLUMNS, rows, output)


def _measured(server: Server, what: str, call: Call, clients: int, seconds: float) -> tuple[str | int | float, ...]:
    """Calls for a time from several threads, each with its own connection."""
    from statistics import median, quantiles

    numbers, stopped = count(), Event()

    def one_client(_: int) -> list[float]:
        times = []
        with server.connect() as client:
            call(client, next(numbers))  # Connects, and learns what the server supports.
            end = time.perf_counter() + seconds
            while (started := time.perf_counter()) < end and not stopped.is_set():
                call(client, next(numbers))
                times.append(time.perf_counter() - started)
        return times

    with ThreadPoolExecutor(clients) as threads:
        try:
            times = [each for client_seconds in threads.map(one_client, range(clients)) for each in client_seconds]
        except BaseException:
            stopped.set()  # Otherwise Ctrl-C would wait until the time of the threads is over.
            raise
    slow = quantiles(times, n=100)[98] if len(times) > 1 else times[0]
    rate = round(len(times) / seconds, 1)
    return what, clients, len(times), rate, round(median(times) * 1000, 2), round(slow * 1000, 2)


def _create_and_drop(client: Client, name: str) -> None:
    from metastored.model import makers

    client.create_table(makers.table(name, {"id": "bigint"}, external=True))
    client.drop_table(name, delete_data=False)


@contextmanager
def _database(client: Client, name: str) -> Iterator[None]:
    """A database that is dropped at the end, also after an error or Ctrl-C."""
    try:
        # Ctrl-C may come when the server has created it, and the reply has not been read.
        client.create_database(name)
        yield
    finally:
        client.drop_database(name, if_exists=True, cascade=True)
