"""`metastored compact`: workers, the initiator and the cleaner of a metastore's compactions, and its queue.

Each of the three runs until it gets SIGINT or SIGTERM, or once. Only workers need Spark; the others start it when a
table is not on a local file system.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from metastored.cli.connecting import Principal, Stdin, Uri, User, connected
from metastored.cli.errors import explained
from metastored.errors import ConfigError, TransportError

if TYPE_CHECKING:
    from metastored.spark.acid.files import Files

compact = typer.Typer(
    name="compact", help="Compaction of transactional tables, on Spark.", no_args_is_help=True
)  # fmt: skip

Output = Annotated[Literal["text", "json"], typer.Option(help="The format of the output.")]
Once = Annotated[bool, typer.Option("--once", help="Do what there is to do now, and exit.")]
Interval = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="The time between two looks at the queue.")]
Pool = Annotated[str | None, typer.Option(metavar="NAME", help="Take only compactions of this pool.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Spark's master: local[*], spark://host:7077, yarn …")]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark.")]
Deltas = Annotated[int, typer.Option(metavar="N", min=1, help="Compact a table with more deltas than this.")]
Ratio = Annotated[float, typer.Option(metavar="PART", min=0, help="… with deltas larger than this part of the base.")]
Aborted = Annotated[int, typer.Option(metavar="N", min=0, help="… with more aborted transactions than this.")]
Table = Annotated[str, typer.Argument(metavar="DB.TABLE", help="The table.")]
Kind = Annotated[Literal["minor", "major"], typer.Option(help="The kind of compaction.")]
Partition = Annotated[str | None, typer.Option(metavar="NAME", help="A partition, as ds=2024-01-01.")]


@compact.command()
@explained
def worker(
    uri: Uri = "thrift://localhost:9083",
    once: Once = False,
    interval: Interval = 30.0,
    pool: Pool = None,
    master: Master = None,
    conf: Conf = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Take compactions from the queue and run them on Spark."""
    from metastored.spark.compaction.queue import requeue_interrupted, worker_id

    with connected(uri, user, password_stdin, kerberos) as client, _stopping() as stopped:
        spark = _session(uri, master, conf)
        from metastored.spark.compaction.worker import work  # It imports pyspark: without it, the session says so.

        def step() -> bool:
            for entry in requeue_interrupted(client):
                typer.echo(f"{entry.id} {_name(entry.table, entry.partition)} was interrupted and is requested again")
            done = work(spark, client, worker_id(), pool)
            if done is not None:
                reason = "" if done.reason is None else f": {done.reason}"
                typer.echo(f"{done.id} {_name(done.table, done.partition)} {done.outcome}{reason}")
            return done is not None

        try:
            _repeat(step, once, interval, stopped)
        finally:
            spark.stop()


@compact.command()
@explained
def initiator(
    uri: Uri = "thrift://localhost:9083",
    once: Once = False,
    interval: Interval = 300.0,
    deltas: Deltas = 10,
    ratio: Ratio = 0.1,
    aborted: Aborted = 1000,
    master: Master = None,
    conf: Conf = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Request compactions of tables that have reached Hive's thresholds. Tables may have thresholds of their own."""
    from metastored.hive.transactions.compaction import Thresholds
    from metastored.spark.compaction.initiator import initiate

    thresholds = Thresholds(deltas, ratio, aborted)
    with connected(uri, user, password_stdin, kerberos) as client, _stopping() as stopped:
        files = _files(uri, master, conf)

        def step() -> bool:
            for each in initiate(client, files, thresholds):
                typer.echo(f"{each.id} {_name(each.table, each.partition)} {each.kind.name.lower()} requested")
            return False

        _repeat(step, once, interval, stopped)


@compact.command()
@explained
def cleaner(
    uri: Uri = "thrift://localhost:9083",
    once: Once = False,
    interval: Interval = 60.0,
    master: Master = None,
    conf: Conf = None,
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Remove directories that compactions have replaced and that no reader needs any more."""
    from metastored.spark.compaction.cleaner import clean

    with connected(uri, user, password_stdin, kerberos) as client, _stopping() as stopped:
        files = _files(uri, master, conf)

        def step() -> bool:
            for each in clean(client, files):
                outcome = f"removed {len(each.removed)}" if each.error is None else f"failed: {each.error}"
                typer.echo(f"{each.entry.id} {_name(each.entry.table, each.entry.partition)} {outcome}")
            return False

        _repeat(step, once, interval, stopped)


@compact.command()
@explained
def request(
    table: Table,
    kind: Kind = "major",
    partition: Partition = None,
    uri: Uri = "thrift://localhost:9083",
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """Put a compaction into the queue, as ALTER TABLE … COMPACT does."""
    from metastored.hive.transactions.compaction import CompactionKind
    from metastored.model.names import table_name
    from metastored.spark.compaction.queue import request as put
    from metastored.spark.compaction.queue import worker_id

    with connected(uri, user, password_stdin, kerberos) as client:
        wanted = table_name(table)
        client.table(wanted)
        id = put(client, wanted, partition, CompactionKind[kind.upper()], worker_id())
    if id is None:
        raise ConfigError(f"a compaction of {_name(wanted, partition)} waits or runs already, or has nothing to do")
    typer.echo(f"{id} {_name(wanted, partition)} {kind} requested")


@compact.command(name="list")
@explained
def every(
    uri: Uri = "thrift://localhost:9083",
    output: Output = "text",
    user: User = None,
    password_stdin: Stdin = False,
    kerberos: Principal = None,
) -> None:
    """List the compactions that wait, run or have ended."""
    from metastored.cli.results import as_json, as_text
    from metastored.client.statements import Result
    from metastored.spark.compaction.queue import entries

    with connected(uri, user, password_stdin, kerberos) as client:
        found = entries(client)
    columns = ("id", "table", "partition", "kind", "state", "worker", "error")
    rows = tuple(
        (str(each.id), str(each.table), each.partition, each.kind, each.state, each.worker, each.error)
        for each in found
    )
    result = Result(columns, rows)
    typer.echo(as_json(result) if output == "json" else as_text(result))


# --- what they share ---------------------------------------------------------------------------------------


def _name(table: object, partition: str | None) -> str:
    return str(table) if partition is None else f"{table} {partition}"


def _repeat(step: Callable[[], bool], once: bool, interval: float, stopped: threading.Event) -> None:
    """Runs a step again at once while it has work, and after the interval otherwise.

    A metastore that cannot be reached is reported, and called again after the interval.
    """
    while not stopped.is_set():
        try:
            busy = step()
        except TransportError as error:
            if once:
                raise
            typer.echo(f"metastored: {error}", err=True)
            busy = False
        if not busy:
            if once:
                return
            stopped.wait(interval)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set: a running compaction is finished first."""
    stopped = threading.Event()
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _session(uri: str, master: str | None, conf: list[str] | None) -> Any:
    from metastored.spark.sessions import session

    options = {}
    for each in conf or ():
        key, equals, value = each.partition("=")
        if not equals:
            raise ConfigError(f"--conf {each} has no value: write KEY=VALUE")
        options[key] = value
    if master is not None:
        options["spark.master"] = master
    return session(uri, options=options)


def _files(uri: str, master: str | None, conf: list[str] | None) -> Callable[[str], Files]:
    """The file system of a location. Spark is started for the first one that is not local."""
    from metastored.hive.locations import is_local
    from metastored.spark.acid.files import files_of

    sessions: list[Any] = []

    def found(location: str) -> Files:
        if not is_local(location) and not sessions:
            sessions.append(_session(uri, master, conf))
        return files_of(sessions[0] if sessions else None, location)

    return found
