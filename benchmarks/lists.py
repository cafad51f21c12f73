"""Long lists of names, a hundred thousand each: partitions of a table, and tables of a database.

Apache's metastore creates them by its own calls, partitions and tables at the same time on two connections, which takes
it four minutes on two cores. To save time, they have one column and share one directory. Lists return only names, which
are like others. metastored's tables are copies of one, made in its database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from benchmarks.client import Client, request_for
from benchmarks.objects import narrow, partition, table
from benchmarks.peers import Peer, apache, metastored_on_sqlite
from benchmarks.rows import Results
from benchmarks.slice import bulk_time
from benchmarks.stores import copied
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace

DB, MANY = "lists", "many_tables"
COUNT = 100_000
BATCH = 1_000
TURNS = 5
LEAST, AIM = 20, 40


def prepare(client: Client) -> str:
    """A partitioned table, and a database with one table. Returns the directory that all share."""
    for database in (DB, MANY):
        client.call("create_database", Database(name=database))
    client.call("create_table", narrow(table(DB, "parts", partitioned=True)))
    location = client.call("get_table", DB, "parts").sd.location
    assert isinstance(location, str)
    client.call("create_table", narrow(table(MANY, "seed"), location))
    return location


def add_partitions(client: Client, location: str, count: int) -> None:
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        client.call("add_partitions", tuple(narrow(partition(DB, "parts", number), location) for number in numbers))


def create_tables(client: Client, location: str, count: int) -> None:
    one = narrow(table(MANY, "seed"), location)
    for number in range(count):
        client.call("create_table", replace(one, tableName=copied(number)))


def at_the_same_time(peer: Peer, *works: Callable[[Client], None]) -> None:
    """Runs each with a connection of its own; raises the first error."""
    errors: list[Exception] = []

    def run(work: Callable[[Client], None]) -> None:
        client = Client(peer.host, peer.port)
        try:
            work(client)
        except Exception as error:
            errors.append(error)
        finally:
            client.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def measure(peer: Peer, count: int) -> tuple[float, float]:
    """The best times of both lists, to their last byte."""
    client = Client(peer.host, peer.port)
    location = prepare(client)
    if peer.database is None:
        at_the_same_time(
            peer,
            lambda own: add_partitions(own, location, count),
            lambda own: create_tables(own, location, count),
        )
    else:
        add_partitions(client, location, count)
        peer.store.copy_table(MANY, "seed", count)
    names = len(client.call("get_partition_names", DB, "parts", -1))
    tables = len(client.call("get_all_tables", MANY))
    if (names, tables) != (count, count + 1):
        raise RuntimeError(f"{peer.name} lists {names} partitions and {tables} tables, not {count} and {count + 1}")
    client.close()
    return (
        bulk_time(peer, request_for("get_partition_names", DB, "parts", -1), TURNS),
        bulk_time(peer, request_for("get_all_tables", MANY), TURNS),
    )


def run(results: Results, quick: bool) -> None:
    count = 1_000 if quick else COUNT
    with apache() as peer:
        theirs = measure(peer, count)
    with metastored_on_sqlite() as peer:
        ours = measure(peer, count)
    for name, mine, other in zip(("get_partition_names", "get_all_tables"), ours, theirs, strict=True):
        results.faster(f"{name} of {count:,}", mine, other, least=LEAST, aim=AIM)
