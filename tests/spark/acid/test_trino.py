"""Trino and `metastored.spark` write the same ACID tables, in turn and at once, with compactions in between.

After each statement both engines show the rows of a model. `make trino` installs Trino; only `make soak` runs it.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import metastored
from metastored.errors import Error
from metastored.hive.transactions.compaction import CompactionKind
from metastored.spark import acid
from metastored.testing import RunningServer, running_server
from metastored.wire.generated.transactions import TxnInfo, TxnState
from tests.cli.running import run
from tests.spark.acid.conftest import FULL, INSERT_ONLY, Warehouse, rows_of
from tests.spark.acid.test_compaction import Lab
from tests.spark.acid.test_old_dates import COLUMNS, CONVERTED, NEW, OLD, UNCONVERTED, days, frame, read
from tests.support.apache import MissingPeer
from tests.support.trino import Trino, TrinoError, running_trino

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.peers, pytest.mark.soak]

KINDS = ("plain", "partitioned", "bucketed", "insert-only")
Model = dict[int, int]


@pytest.fixture(scope="module")
def trino(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    try:
        with running_trino(server.uri, tmp_path_factory.mktemp("trino")) as running:
            yield running
    except MissingPeer as reason:
        pytest.skip(str(reason))


class Shared:
    """A table (id, value[, part]) that two engines write, and the rows that it should have."""

    def __init__(self, spark: Any, trino: Trino, warehouse: Warehouse, kind: str, seed: int) -> None:
        self.spark, self.trino, self.warehouse, self.kind = spark, trino, warehouse, kind
        self.chance = random.Random(seed)
        self.rows: Model = {}
        self.next_id = 0
        self.name = warehouse.create(
            "t",
            {"id": "bigint", "value": "bigint"},
            keys={"part": "bigint"} if kind == "partitioned" else None,
            buckets=("id", 3) if kind == "bucketed" else None,
            properties=INSERT_ONLY if kind == "insert-only" else FULL,
        )

    # What both engines do

    def row(self, id: int, value: int) -> tuple[int, ...]:
        return (id, value, id % 3) if self.kind == "partitioned" else (id, value)

    def new_rows(self) -> Model:
        first, self.next_id = self.next_id, self.next_id + self.chance.randint(2, 9)
        return {id: self.chance.randint(0, 99) for id in range(first, self.next_id)}

    def by_trino(self, statement: str) -> None:
        self.trino.execute(statement.replace("TABLE", f"lake.{self.name}"))

    def insert(self, engine: str) -> None:
        new = self.new_rows()
        if engine == "trino":
            self.by_trino(f"insert into TABLE values {', '.join(str(self.row(*each)) for each in new.items())}")
        else:
            acid.insert(self.spark, self.name, self.frame(new), client=self.warehouse.client)
        self.rows |= new

    def update(self, engine: str) -> None:
        divisor, rest = 4, self.chance.randrange(4)
        if engine == "trino":
            self.by_trino(f"update TABLE set value = value + 1000 where id % {divisor} = {rest}")
        else:
            where = f"id % {divisor} = {rest}"
            acid.update(self.spark, self.name, {"value": "value + 1000"}, where, client=self.warehouse.client)
        self.rows |= {id: value + 1000 for id, value in self.rows.items() if id % divisor == rest}

    def delete(self, engine: str) -> None:
        divisor, rest = 7, self.chance.randrange(7)
        if engine == "trino":
            self.by_trino(f"delete from TABLE where id % {divisor} = {rest}")
        else:
            acid.delete(self.spark, self.name, f"id % {divisor} = {rest}", client=self.warehouse.client)
        self.rows = {id: value for id, value in self.rows.items() if id % divisor != rest}

    def merge(self, engine: str) -> None:
        known = self.chance.sample(sorted(self.rows), min(len(self.rows), 4))
        source = {**self.new_rows(), **{id: self.chance.randint(0, 99) for id in known}}
        if engine == "trino":
            names = "id, value, part" if self.kind == "partitioned" else "id, value"
            values = ", ".join(str(self.row(*each)) for each in source.items())
            listed = ", ".join(f"s.{name}" for name in names.split(", "))
            self.by_trino(
                f"merge into TABLE t using (values {values}) s ({names}) on t.id = s.id "
                "when matched and s.value % 2 = 0 then delete when matched then update set value = s.value "
                f"when not matched then insert ({names}) values ({listed})"
            )
        else:
            acid.merge(
                self.spark, self.name, self.frame(source), "target.id = source.id", client=self.warehouse.client,
                matched=[acid.When("source.value % 2 = 0", "delete"), {"value": "source.value"}], not_matched="*",
            )  # fmt: skip
        for id, value in source.items():
            if id in self.rows and value % 2 == 0:
                del self.rows[id]
            else:
                self.rows[id] = value

    def frame(self, rows: Model) -> Any:
        columns = "id bigint, value bigint" + (", part bigint" if self.kind == "partitioned" else "")
        made = self.spark.createDataFrame([self.row(*each) for each in rows.items()], columns)
        return made.repartition(self.chance.choice((1, 3)))

    def compact(self) -> None:
        lab = Lab(self.spark, self.warehouse, self.name)
        partition = None
        if self.kind == "partitioned":
            partition = self.chance.choice(sorted(self.warehouse.client.partition_names(self.name)))
        if lab.compact(self.chance.choice(tuple(CompactionKind)), partition).outcome == "compacted":
            lab.clean()

    def step(self) -> str:
        """One statement of one engine. Returns what it was."""
        changes: tuple[Callable[[str], None], ...] = (self.insert, self.update, self.delete, self.merge)
        change = self.insert if self.kind == "insert-only" or not self.rows else self.chance.choice(changes)
        engine = self.chance.choice(("trino", "spark"))
        change(engine)
        return f"{change.__name__} by {engine}"

    # What both engines show

    def found(self) -> dict[str, list[tuple[Any, ...]]]:
        with acid.snapshot(self.spark, self.warehouse.client) as snapshot:
            by_spark = rows_of(snapshot.read(self.name).select("id", "value"))
        return {
            "spark": by_spark,
            "trino": sorted(self.trino.execute(f"select id, value from lake.{self.name}")),
        }

    def check(self, history: list[str]) -> None:
        expected = sorted(self.rows.items())
        for engine, rows in self.found().items():
            assert rows == expected, (engine, history)


@pytest.mark.parametrize("kind", KINDS)
def test_statements_of_both_engines_in_turn_leave_the_rows_of_the_model(
    spark: Any, trino: Trino, warehouse: Warehouse, kind: str
) -> None:
    table = Shared(spark, trino, warehouse, kind, seed=1)
    history: list[str] = []
    for number in range(1, 41):
        history.append(table.step())
        table.check(history)
        if number % 8 == 0:
            table.compact()
            history.append("compaction")
            table.check(history)
    done = Counter(each.rpartition(" ")[2] for each in history)
    assert min(done["spark"], done["trino"]) >= 10


def test_an_update_by_trino_doubles_no_row_of_several_tasks(spark: Any, trino: Trino, warehouse: Warehouse) -> None:
    """Two rows of VALUES are written by two tasks: each was in a bucket of its own."""
    table = Shared(spark, trino, warehouse, "plain", seed=1)
    for overwrite in (False, True):
        write = acid.insert_overwrite if overwrite else acid.insert
        frame = spark.createDataFrame([(1, 10), (2, 20), (3, 30)], "id bigint, value bigint").repartition(3)
        write(spark, table.name, frame, client=warehouse.client)
        table.by_trino("update TABLE set value = value + 1")
        table.by_trino("delete from TABLE where id = 2")
        table.rows = {1: 11, 3: 31}
        table.check(["overwrite" if overwrite else "insert", "update and delete by trino"])
        if not overwrite:
            table.compact()
            table.check(["compaction"])


def test_old_dates_of_each_engine_are_shifted_by_the_other(spark: Any, trino: Trino, warehouse: Warehouse) -> None:
    columns = "cast(d as varchar), substr(cast(t as varchar), 1, 19)"
    name = warehouse.create("old", COLUMNS)
    acid.insert(spark, name, frame(spark), client=warehouse.client)
    assert sorted(trino.execute(f"select {columns} from lake.{name}")) == days(UNCONVERTED, NEW)
    other = warehouse.create("other", COLUMNS)
    values = ", ".join(f"(date '{day}', timestamp '{noon}')" for day, noon in days(OLD, NEW))
    trino.execute(f"insert into lake.{other} values {values}")
    assert sorted(trino.execute(f"select {columns} from lake.{other}")) == days(OLD, NEW)
    assert read(spark, warehouse, other) == days(CONVERTED, NEW)


@pytest.mark.parametrize("kind", KINDS)
def test_statements_of_both_engines_at_once_lose_and_double_nothing(
    spark: Any, trino: Trino, warehouse: Warehouse, server: RunningServer, kind: str
) -> None:
    """Each engine changes rows of its own; a conflict may refuse a statement, which then has changed nothing."""
    table = Shared(spark, trino, warehouse, kind, seed=2)
    acknowledged: dict[str, Model] = {"spark": {}, "trino": {}}
    unexpected: list[BaseException] = []

    def work(engine: str, first: int) -> None:
        rows = acknowledged[engine]
        try:
            with metastored.connect(server.uri, user="ann", cache=False) as client:
                for number in range(12):
                    id = first + number
                    update = number % 3 == 2 and kind != "insert-only"
                    try:
                        if update:
                            where = f"id = {id - 1}"
                            if engine == "trino":
                                table.by_trino(f"update TABLE set value = value + 100 where {where}")
                            else:
                                acid.update(spark, table.name, {"value": "value + 100"}, where, client=client)
                        elif engine == "trino":
                            table.by_trino(f"insert into TABLE values {table.row(id, number)}")
                        else:
                            acid.insert(spark, table.name, table.frame({id: number}), client=client)
                    except (Error, TrinoError):
                        continue
                    if update:
                        if id - 1 in rows:
                            rows[id - 1] += 100
                    else:
                        rows[id] = number
        except BaseException as error:  # It is raised again below.
            unexpected.append(error)

    threads = [threading.Thread(target=work, args=each) for each in (("spark", 1000), ("trino", 2000))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if unexpected:
        raise unexpected[0]
    table.rows = {**acknowledged["spark"], **acknowledged["trino"]}
    assert all(len(rows) >= 4 for rows in acknowledged.values()), acknowledged
    table.check(["at once"])
    table.compact()
    table.check(["at once", "compaction"])


def test_a_transaction_that_trino_forgets_is_named_and_can_be_ended(
    trino: Trino, warehouse: Warehouse, server: RunningServer
) -> None:
    """Trino opens a transaction before its lock. If the lock is refused, it neither commits nor aborts."""
    client = warehouse.client
    with running_server() as far:
        with metastored.connect(far.uri, cache=False) as other:
            other.create_table(metastored.table("default.t", {"id": "bigint"}, format="orc", properties=FULL))
        remote = f"{warehouse.database}_remote"
        client.sql(
            f"CREATE REMOTE DATABASE {remote} CONNECTED TO default "
            f"WITH DBPROPERTIES ('hive.metastore.uris' = '{far.uri}')"
        )
        before = {each.id for each in opened(client)}
        with pytest.raises(TrinoError, match="no transaction spans two metastores"):
            trino.execute(f"insert into lake.{remote}.t values (1)")
        (forgotten,) = (each for each in opened(client) if each.id not in before)
        assert forgotten.user == "ann"  # The user of Trino's session.
        done = run("transactions", "--abort", str(forgotten.id), "--open", "--uri", server.uri, "--output", "json")
        assert forgotten.id not in {row["transaction"] for row in done.dicts}
        client.sql(f"DROP REMOTE DATABASE {remote}")


def opened(client: metastored.Client) -> list[TxnInfo]:
    found = client.api.get_open_txns_info().open_txns or ()
    return [each for each in found if each.state == TxnState.OPEN]
