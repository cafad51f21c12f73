"""Random histories of statements on Spark against a model: every snapshot has the rows of the model.

Each step is an insert, update, delete, merge, overwrite or an aborted transaction; now and then another writer commits
in the middle of a transaction, the table is compacted, or a snapshot is opened and read again later, when its rows must
be the same. Other readers read all snapshots of a history at its end, when the files of later ones are there too: Spark
itself, through the views that the metastore shows to it, and Hive's own reader. The seeds are fixed, so a failure can
be repeated. `make test` has histories of two transactions of each kind of table; `make soak` has those of six and
eight, with a seed that is new in each run, and all kinds on PostgreSQL.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.queue import request
from metastored.spark.acid.compaction.worker import work
from metastored.testing import running_server
from tests.spark.acid.conftest import FULL, INSERT_ONLY, PLAIN, Warehouse, new_warehouse, write_original
from tests.support.hive_acid import HiveFiles
from tests.support.soak import SEED, scaled
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Row = tuple[int, int]
KINDS = ("plain", "partitioned", "bucketed", "insert-only", "converted")
PROPERTIES = {"converted": PLAIN, "insert-only": INSERT_ONLY}
INSERT_ONLY_STATEMENTS: Sequence[str] = ("insert", "overwrite")
STATEMENTS: Sequence[str] = ("insert", "insert", "update", "delete", "merge", "overwrite")
HIVE = "4.0.1"
"""The version whose reader reads the histories; older ones do not know directories of compactions."""


class Aborted(Exception):
    """Ends a transaction."""


@dataclass
class History:
    """A table and the rows that it should have: (id, value) pairs, each id once."""

    spark: Any
    warehouse: Warehouse
    name: str
    kind: str
    chance: random.Random
    rows: dict[int, int] = field(default_factory=dict)
    next_id: int = 0
    readers: int = 0
    """Open snapshots: an overwrite waits for them, by the locks of Hive 3."""

    def frame(self, rows: dict[int, int]) -> Any:
        columns = "id bigint, value bigint" + (", ds bigint" if self.kind == "partitioned" else "")
        values = [(id, value, id % 3) if self.kind == "partitioned" else (id, value) for id, value in rows.items()]
        return self.spark.createDataFrame(values, columns).coalesce(self.chance.choice((1, 2)))

    def new_rows(self) -> dict[int, int]:
        first, self.next_id = self.next_id, self.next_id + self.chance.randint(1, 12)
        return {id: self.chance.randint(0, 99) for id in range(first, self.next_id)}

    def condition(self) -> tuple[str, Any]:
        divisor = self.chance.randint(2, 5)
        rest = self.chance.randrange(divisor)
        if self.chance.random() < 0.3:
            limit = self.chance.randint(0, 99)
            return f"value < {limit}", lambda id, value: value < limit
        return f"id % {divisor} = {rest}", lambda id, value: id % divisor == rest

    def step(self, transaction: acid.Transaction, rows: dict[int, int]) -> bool:
        """One statement, on the table and on the model. Returns whether another one may follow."""
        match self.chance.choice(INSERT_ONLY_STATEMENTS if self.kind == "insert-only" else STATEMENTS):
            case "insert":
                new = self.new_rows()
                transaction.insert(self.name, self.frame(new))
                rows |= new
            case "update":
                where, holds = self.condition()
                transaction.update(self.name, {"value": "value + 1000"}, where)
                rows |= {id: value + 1000 for id, value in rows.items() if holds(id, value)}
            case "delete":
                where, holds = self.condition()
                transaction.delete(self.name, where)
                for id in [id for id, value in rows.items() if holds(id, value)]:
                    del rows[id]
            case "merge":
                known = self.chance.sample(sorted(rows), min(len(rows), 4))
                source = {**self.new_rows(), **{id: self.chance.randint(0, 99) for id in known}}
                transaction.merge(
                    self.name, self.frame(source), "target.id = source.id",
                    matched=[acid.When("source.value % 2 = 0", "delete"), {"value": "source.value"}], not_matched="*",
                )  # fmt: skip
                for id, value in source.items():
                    if id in rows and value % 2 == 0:
                        del rows[id]
                    else:
                        rows[id] = value
            case "overwrite" if self.kind != "partitioned" and not self.readers:
                new = self.new_rows()
                transaction.insert_overwrite(self.name, self.frame(new))
                rows.clear()
                rows |= new
                return False
        return True

    def compact(self) -> None:
        """Compacts the table, or one of its partitions; nothing is removed."""
        client = self.warehouse.client
        partitioned = self.kind == "partitioned"
        names: Sequence[str | None] = client.partition_names(self.name) if partitioned else [None]
        kind = self.chance.choice((CompactionKind.MINOR, CompactionKind.MAJOR))
        if names:
            request(client, table_name(self.name), self.chance.choice(names), kind, "test")
            work(self.spark, client, "test-1")

    def transaction(self) -> None:
        """One to three statements, which are committed or aborted. Perhaps another writer inserts rows meanwhile."""
        rows, aborts = dict(self.rows), self.chance.random() < 0.2
        others: dict[int, int] = {}
        unseen: dict[int, int] = {}
        try:
            with acid.transaction(self.spark, self.warehouse.client) as transaction:
                for _ in range(self.chance.randint(1, 3)):
                    if not self.step(transaction, rows):
                        break
                    if self.chance.random() < 0.3:
                        new = self.new_rows()
                        acid.insert(self.spark, self.name, self.frame(new), client=self.warehouse.client)
                        others |= new
                        if transaction.id:
                            unseen |= new
                        else:  # Its first statement opens it, and an overwrite may have been left out: it sees these.
                            rows |= new
                assert found(transaction.read(self.name)) == rows
                if aborts:
                    raise Aborted
        except Aborted:
            self.rows |= others
        else:
            self.rows = rows | unseen


def found(frame: Any) -> dict[int, int]:
    rows = [(row["id"], row["value"]) for row in frame.select("id", "value").collect()]
    assert len(rows) == len(dict(rows)), "no row is there twice"
    return dict(rows)


def started(spark: Any, warehouse: Warehouse, kind: str, seed: int) -> History:
    columns = {"id": "bigint", "value": "bigint"}
    name = warehouse.create(
        "t",
        columns,
        keys={"ds": "bigint"} if kind == "partitioned" else None,
        buckets=("id", 3) if kind == "bucketed" else None,
        properties=PROPERTIES.get(kind, {**FULL, "bucketing_version": "2"}),
    )
    history = History(spark, warehouse, name, kind, random.Random(seed))
    if kind == "converted":
        history.rows = history.new_rows()
        write_original(history.frame(history.rows), warehouse.path(name) / "000000_0")
        warehouse.client.set_parameters(name, FULL)
    return history


class Shown(NamedTuple):
    """A snapshot, for other readers."""

    rows: dict[int, int]
    view: str
    """The text of the view that plain Spark gets."""
    write_ids: str
    transactions: str
    directories: list[Path]
    """Those of the partitions, or that of the table."""


class Shows(Protocol):
    """Returns a snapshot of a table that should have these rows."""

    def __call__(self, warehouse: Warehouse, name: str, rows: dict[int, int]) -> Shown: ...


def run(
    spark: Any, warehouse: Warehouse, kind: str, seed: int, transactions: int, show: Shows | None = None
) -> list[Shown]:
    history = started(spark, warehouse, kind, seed)
    shown = []
    with ExitStack() as stack:
        kept: list[tuple[Any, dict[int, int]]] = []
        for _ in range(transactions):
            if history.chance.random() < 0.3:
                snapshot = stack.enter_context(acid.snapshot(spark, warehouse.client))
                kept.append((snapshot.read(history.name), dict(history.rows)))
                history.readers += 1
            history.transaction()
            assert found(acid.read(spark, history.name, client=warehouse.client)) == history.rows
            if show is not None:
                shown.append(show(warehouse, history.name, history.rows))
            if history.chance.random() < 0.3:
                history.compact()
        for frame, rows in kept:
            assert found(frame) == rows, "a snapshot stays as it was"
    return shown


@pytest.fixture(scope="module")
def views() -> Iterator[tuple[metastored.Client, metastored.Client, str]]:
    """A client that reads ACID, one that gets views, and the address of the latter."""
    with running_server(acid_views_port=0) as server:
        address = f"thrift://127.0.0.1:{server.acid_views_port}"
        with (
            metastored.connect(server.uri, user="ann") as able,
            metastored.connect(address, user="ann", cache=False) as plain,
        ):
            yield able, plain, address


def read_by_all(
    spark: Any, views: tuple[metastored.Client, metastored.Client, str], kinds: Sequence[str], seed: int, length: int
) -> None:
    """Histories of these kinds; all of their snapshots are read by plain Spark and by Hive."""
    able, plain, address = views

    def show(warehouse: Warehouse, name: str, rows: dict[int, int]) -> Shown:
        view = plain.api.get_table(*name.split("."))
        with able.read(name) as seen:
            ids = str(seen.snapshots[name]), str(seen.visible)
        partitions = [local_path(each.sd.location or "") for each in able.partitions(name) if each.sd is not None]
        directories = [Path(each) for each in partitions] or [warehouse.path(name)]
        return Shown(dict(rows), view.viewExpandedText or "", *ids, directories)

    with ExitStack() as stack:
        histories = {
            kind: run(spark, stack.enter_context(new_warehouse(able)), kind, seed, length, show) for kind in kinds
        }
        snapshots = [(kind, each) for kind, history in histories.items() for each in history]
        read = run_spark(
            PLAIN_READER.format(texts=[each.view for _, each in snapshots]),
            conf={"spark.hadoop.hive.metastore.uris": address},
        )
        for (kind, each), rows in zip(snapshots, read, strict=True):
            if kind == "converted" and isinstance(rows, str):
                assert "files without ids are deleted" in rows
            else:
                assert sorted(map(tuple, rows)) == sorted(each.rows.items())
        reads = [each for kind, each in snapshots if kind != "insert-only"]
        files = HiveFiles(HIVE, {"id": "bigint", "value": "bigint"})
        for each in reads:
            for directory in each.directories:
                files.read(directory, each.write_ids, transactions=each.transactions)
        results = iter(files.run())
        for each in reads:
            by_hive = [row[:2] for _ in each.directories for row in next(results).rows]
            assert sorted(by_hive) == sorted(each.rows.items())


PLAIN_READER = """
spark.sparkContext.setLogLevel("OFF")

def rows_of(text):
    try:
        return [(row["id"], row["value"]) for row in spark.sql(text).collect()]
    except Exception as error:
        return str(error)

result = [rows_of(text) for text in {texts!r}]
"""


@pytest.mark.parametrize(("seed", "length"), [(64, 2), pytest.param(7, 3, marks=pytest.mark.soak)])
def test_plain_spark_and_hive_read_every_snapshot_of_a_history(
    spark: Any, views: tuple[metastored.Client, metastored.Client, str], seed: int, length: int
) -> None:
    """The shortest has a compaction of each kind of table, and a snapshot that is read again later."""
    read_by_all(spark, views, KINDS, seed, length)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(scaled(1)))
def test_plain_spark_and_hive_read_every_snapshot_of_long_histories(
    spark: Any, views: tuple[metastored.Client, metastored.Client, str], number: int
) -> None:
    read_by_all(spark, views, KINDS, SEED + number, length=6)


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["converted", pytest.param("partitioned", marks=pytest.mark.soak)])
def test_every_snapshot_has_the_rows_of_the_model_on_postgresql(
    spark: Any, postgres_client: metastored.Client, kind: str
) -> None:
    """The other kinds of tables are in the long histories of `make soak`; test_compaction.py has a partitioned one."""
    with new_warehouse(postgres_client) as warehouse:
        run(spark, warehouse, kind, seed=7, transactions=3)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", range(scaled(1)))
@pytest.mark.parametrize("kind", KINDS)
def test_every_snapshot_has_the_rows_of_the_model_in_long_histories(
    spark: Any, either_warehouse: Warehouse, kind: str, number: int
) -> None:
    run(spark, either_warehouse, kind, SEED + number, transactions=8)
