"""`metastored compact`: workers, the initiator and the cleaner of a metastore's compactions, and its queue.

Each of the three runs until it gets SIGINT or SIGTERM, or once. Only workers need Spark; the others start it when a
table is not on a local file system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import typer

from metastored.cli.errors import complain, explained
from metastored.cli.help import command_group
from metastored.cli.options import Output, Server, Table, options
from metastored.cli.output import print_object, print_rows
from metastored.cli.spark_options import Spark
from metastored.cli.stopping import Stop, stopping
from metastored.errors import ConfigError, TransportError
from metastored.model.counting import counted

compact = command_group("compact", "Compaction of transactional tables, on Spark.")

Once = Annotated[bool, typer.Option("--once", help="Do what there is to do now, and exit.")]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="The time between two looks at the queue.")]
Pool = Annotated[str | None, typer.Option(metavar="NAME", help="Take only compactions of this pool.")]
Deltas = Annotated[int, typer.Option(metavar="N", min=1, help="Compact a table with more deltas than this.")]
Ratio = Annotated[float, typer.Option(metavar="PART", min=0, help="… with deltas larger than this part of the base.")]
Aborted = Annotated[int, typer.Option(metavar="N", min=0, help="… with more aborted transactions than this.")]
Kind = Annotated[Literal["minor", "major"], typer.Option(help="The kind of compaction.")]
Partition = Annotated[str | None, typer.Option(metavar="NAME", help="A partition, as ds=2024-01-01.")]

COLUMNS = ("id", "table", "partition", "kind", "state", "worker", "waits_for", "error")


@compact.command()
@explained
@options(spark=Spark.read, server=Server.read)
def worker(
    server: Server,
    spark: Spark,
    once: Once = False,
    interval: Interval = 30.0,
    pool: Pool = None,
    output: Output = "text",
) -> None:
    """Take compactions from the queue and run them on Spark. JSON has an object on each line."""
    from metastored.spark.acid.compaction.queue import requeue_interrupted, worker_id

    with server.connect() as client, stopping() as stopped:
        session = spark.session(server.uri)
        from metastored.spark.acid.compaction.worker import work  # It imports pyspark: without it, the session says so.

        def step() -> bool:
            for entry in requeue_interrupted(client):
                _report(output, entry.id, entry.table, entry.partition, "was interrupted and is requested again")
            done = work(session, client, worker_id(), pool)
            if done is not None:
                _report(output, done.id, done.table, done.partition, str(done.outcome), done.reason)
            return done is not None

        try:
            _repeat(step, once, interval, stopped)
        finally:
            session.stop()


@compact.command()
@explained
@options(spark=Spark.read, server=Server.read)
def initiator(
    server: Server,
    spark: Spark,
    once: Once = False,
    interval: Interval = 300.0,
    deltas: Deltas = 10,
    ratio: Ratio = 0.1,
    aborted: Aborted = 1000,
    output: Output = "text",
) -> None:
    """Request compactions of tables that reached Hive's thresholds. Tables may have thresholds of their own."""
    from metastored.hive.transactions.compaction import Thresholds
    from metastored.spark.acid.compaction.initiator import initiate

    thresholds = Thresholds(deltas, ratio, aborted)
    with server.connect() as client, stopping() as stopped:
        files = spark.files(server.uri)

        def step() -> bool:
            for each in initiate(client, files, thresholds):
                _report(output, each.id, each.table, each.partition, f"{each.kind.name.lower()} requested")
            return False

        _repeat(step, once, interval, stopped)


@compact.command()
@explained
@options(spark=Spark.read, server=Server.read)
def cleaner(
    server: Server, spark: Spark, once: Once = False, interval: Interval = 60.0, output: Output = "text"
) -> None:
    """Remove what compactions replaced, and what aborted writes left. Says which transaction it waits for."""
    from metastored.spark.acid.compaction.aborted import forget_aborted
    from metastored.spark.acid.compaction.cleaner import clean
    from metastored.spark.acid.compaction.waiting import find_holder

    with server.connect() as client, stopping() as stopped:
        files = spark.files(server.uri)
        said: set[tuple[int, int]] = set()

        def step() -> bool:
            for each in clean(client, files):
                outcome = f"removed {counted(len(each.removed), 'directory')}" if each.error is None else "failed"
                _report(output, each.entry.id, each.entry.table, each.entry.partition, outcome, each.error)
            for left in forget_aborted(client, files):
                count = counted(len(left.removed), "directory")
                outcome = f"removed {count} of aborted writes" if left.error is None else "failed"
                if left.removed or left.error is not None:
                    _report(output, 0, left.table, None, outcome, left.error)
            held = find_holder(client)
            now = {(held.transaction, each.id) for each in held.compactions} if held is not None else set()
            if now - said:
                complain(held)
            said.clear()
            said.update(now)
            return False

        _repeat(step, once, interval, stopped)


@compact.command()
@explained
@options(server=Server.read)
def request(
    server: Server, table: Table, kind: Kind = "major", partition: Partition = None, output: Output = "text"
) -> None:
    """Put a compaction into the queue, as ALTER TABLE … COMPACT does."""
    from metastored.hive.transactions.compaction import CompactionKind
    from metastored.model.names import table_name
    from metastored.spark.acid.compaction.queue import request as put
    from metastored.spark.acid.compaction.queue import worker_id

    with server.connect() as client:
        wanted = table_name(table)
        client.table(wanted)
        id = put(client, wanted, partition, CompactionKind[kind.upper()], worker_id())
    if id is None:
        raise ConfigError(f"a compaction of {_name(wanted, partition)} waits or runs already, or has nothing to do")
    _report(output, id, wanted, partition, f"{kind} requested")


@compact.command(name="list")
@explained
@options(server=Server.read)
def every(server: Server, output: Output = "text") -> None:
    """List the compactions that wait, run or have ended. `waits_for` is a transaction that may read the old files."""
    from metastored.spark.acid.compaction.queue import entries
    from metastored.spark.acid.compaction.waiting import find_holder

    with server.connect() as client:
        queue = entries(client)
        held = find_holder(client, queue)
    waiting = {each.id: held.transaction for each in held.compactions} if held is not None else {}
    rows = [
        (each.id, str(each.table), each.partition, each.kind, each.state, each.worker, waiting.get(each.id), each.error)
        for each in queue
    ]
    print_rows(COLUMNS, rows, output)
    if held is not None:
        complain(held)


def _report(
    output: str, id: int, table: object, partition: str | None, outcome: str, reason: object | None = None
) -> None:
    value = {"id": id, "table": str(table), "partition": partition, "outcome": outcome, "reason": reason}
    print_object(value, f"{id} {_name(table, partition)} {outcome}{'' if reason is None else f': {reason}'}", output)


def _name(table: object, partition: str | None) -> str:
    return str(table) if partition is None else f"{table} {partition}"


def _repeat(step: Callable[[], bool], once: bool, interval: float, stopped: Stop) -> None:
    """Runs a step again at once while it has work, and after the interval otherwise.

    A metastore that cannot be reached is reported, and called again after the interval.
    """
    while not stopped.is_set():
        try:
            busy = step()
        except TransportError as error:
            if once:
                raise
            complain(error)
            busy = False
        if not busy:
            if once:
                return
            stopped.wait(interval)
