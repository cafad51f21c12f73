"""ACID tables on Spark against DuckDB: random statements in both, and all 22 queries of TPC-H compared whole.

Tables with and without partitions and buckets are changed by SQL and compacted in between. `make test` has scale 0.002
and 8 statements, and compares at the end: all 22 queries and all rows, after changes and compactions. `make soak` has
scale 0.1 and 12 statements; `SOAK=10 make soak` has scale 1, and takes hours.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

from metastored.hive.transactions.compaction import CompactionKind
from metastored.spark import acid, sql
from tests.spark.acid.conftest import Warehouse
from tests.spark.acid.test_compaction import Lab
from tests.spark.acid.tpch.changes import change
from tests.spark.acid.tpch.queries import QUERIES
from tests.spark.acid.tpch.tables import COLUMNS, tables
from tests.support.soak import SCALE

pytestmark = [pytest.mark.spark, pytest.mark.slow]

BUCKETS = {"lineitem": ("l_orderkey", 4)}
KEYS = {"customer": "c_mktsegment"}
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"


class Both:
    """The same tables in Spark and in DuckDB."""

    def __init__(self, spark: Any, warehouse: Warehouse, folder: Path, scale: float) -> None:
        self.spark, self.warehouse, self.folder = spark, warehouse, folder
        self.oracle = duckdb.connect()
        if scale >= 1:  # Spark's driver has little memory in tests.
            spark.conf.set(BROADCAST, "-1")
        spark.sql(f"create database {warehouse.database}")
        spark.catalog.setCurrentDatabase(warehouse.database)
        for name, rows in tables(scale, seed=1).items():
            path = str(folder / f"{name}.parquet")
            pyarrow.parquet.write_table(rows, path)
            self.oracle.execute(f"create table {name} as select * from '{path}'")
            key = KEYS.get(name)
            columns = {column: type for column, type in COLUMNS[name].items() if column != key}
            keys = {key: COLUMNS[name][key]} if key else None
            warehouse.create(name, columns, keys=keys, buckets=BUCKETS.get(name))
            acid.insert(spark, self.full(name), spark.read.parquet(path), client=warehouse.client)

    def full(self, name: str) -> str:
        return f"{self.warehouse.database}.{name}"

    def execute(self, statement: str, duckdb: str = "") -> None:
        sql(self.spark, statement, client=self.warehouse.client)
        self.oracle.execute(duckdb or statement)

    def check(self, query: str) -> int:
        """Compares the rows of a query. Returns their number."""
        mine = [tuple(row) for row in sql(self.spark, query, client=self.warehouse.client).collect()]
        theirs = self.oracle.execute(query).fetchall()
        assert len(mine) == len(theirs), query
        for row, expected in zip(mine, theirs, strict=True):
            assert all(map(is_same, row, expected)), (query, row, expected)
        return len(mine)

    def check_table(self, name: str) -> None:
        """Compares all rows, in DuckDB: at scale 1 they are too many for lists."""
        listed, path = ", ".join(COLUMNS[name]), str(self.folder / f"{name}.spark")
        rows = sql(self.spark, f"select {listed} from {name}", client=self.warehouse.client)
        rows.write.mode("overwrite").parquet(path)
        mine, theirs = f"select {listed} from '{path}/*.parquet'", f"select {listed} from {name}"
        different = f"({mine} except all {theirs}) union all ({theirs} except all {mine}) limit 10"
        assert self.oracle.execute(different).fetchall() == [], name

    def check_all(self) -> int:
        """All queries, and all rows of all tables. Returns the number of queries that found rows."""
        for name in COLUMNS:
            self.check_table(name)
        return sum(self.check(query) > 0 for query in QUERIES)


def is_same(one: Any, other: Any) -> bool:
    """Numbers are compared up to the digits that both engines keep of a division of decimals."""
    if isinstance(one, (Decimal, float)) and isinstance(other, (Decimal, float)):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-4)
    return bool(one == other)


@pytest.fixture
def both(spark: Any, warehouse: Warehouse, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Both]:
    made = Both(spark, warehouse, tmp_path, request.param)
    try:
        yield made
    finally:
        made.oracle.close()
        spark.conf.unset(BROADCAST)
        spark.catalog.setCurrentDatabase("default")
        spark.sql(f"drop database {warehouse.database}")


@pytest.mark.parametrize(
    ("both", "statements"),
    [
        (0.002, 8),
        pytest.param(0.1 * SCALE, 12, marks=[pytest.mark.soak, pytest.mark.timeout(6 * 3600)]),
    ],
    indirect=["both"],
)
def test_random_statements_and_compactions_leave_the_rows_of_duckdb(both: Both, statements: int) -> None:
    chance = random.Random(statements)
    changed: set[str] = set()
    for number in range(1, statements + 1):
        made = change(chance, number)
        both.execute(made.spark, made.duckdb)
        changed.add(made.table)
        if number % 4 == 0:
            compact(both, chance, changed)
        if number == statements or number % 12 == 0:
            # At first nearly all queries find rows: the comparison is about something.
            assert both.check_all() >= (20 if number <= 12 else 0)
            print(f"{number} statements: all tables and queries are the same", flush=True)
    assert {"lineitem", "orders", "partsupp"} <= changed


def compact(both: Both, chance: random.Random, changed: set[str]) -> None:
    """Compacts one of the changed tables, or one of its partitions."""
    name = chance.choice(sorted(changed))
    lab = Lab(both.spark, both.warehouse, both.full(name))
    partition = None
    if name in KEYS:
        partition = chance.choice(sorted(both.warehouse.client.partition_names(lab.name)))
    done = lab.compact(chance.choice((CompactionKind.MINOR, CompactionKind.MAJOR)), partition)
    if done.outcome == "compacted":
        lab.clean()
