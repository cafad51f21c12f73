"""Files that metastored wrote are read by Hive's own readers, of 3.1.3 and 4.0.1: the same rows, with the same ids.

A table is copied after each statement, with the lists of ids that its readers see then. Hive reads all copies at the
end, in one process. Hive 3.1 cannot read directories of compactions, whose names have the number of a transaction.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.hive.orc import read_tail
from metastored.hive.transactions.compaction import CompactionKind
from metastored.hive.transactions.layout import decode_bucket, encode_bucket
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.queue import request
from metastored.spark.acid.compaction.worker import work
from metastored.spark.acid.files.buckets import bucket_column
from metastored.spark.acid.tables import acid_table
from tests.spark.acid.conftest import FULL, INSERT_ONLY, Warehouse
from tests.spark.acid.test_hive_writes import ALL_TYPES, VALUES
from tests.support.hive_acid import READERS, HiveError, HiveFiles, comparable, deleted, inserted

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "bigint", "name": "string", "amount": "double"}
KINDS = [
    pytest.param(("plain", True), id="plain"),
    pytest.param(("partitioned", False), id="partitioned"),
    pytest.param(("bucketed", False), id="bucketed"),
    pytest.param(("partitioned", True), id="partitioned, all stages", marks=pytest.mark.soak),
    pytest.param(("bucketed", True), id="bucketed, all stages", marks=pytest.mark.soak),
]
"""Tables and whether they have all stages. `make test` has those of a plain table, and of the others an insert, a
delete, a merge, a transaction of two statements and a major compaction; `make soak` has the rest."""


@dataclass
class Stage:
    """A copy of a table."""

    label: str
    root: Path
    write_ids: str
    transactions: str
    rows: dict[str, list[tuple[Any, ...]]]
    """The rows with their ids, by the directory of their partition; sorted."""


@dataclass
class Stages:
    """A table and its copies."""

    spark: Any
    warehouse: Warehouse
    name: str
    partitioned: bool
    folder: Path
    kept: list[Stage] = field(default_factory=list)

    def keep(self, label: str) -> None:
        root = self.folder / label.replace(" ", "_")
        shutil.copytree(self.warehouse.path(self.name), root)
        with self.warehouse.client.read(self.name) as seen:
            write_ids, transactions = str(seen.snapshots[self.name.lower()]), str(seen.visible)
        names = [*COLUMNS, "ROW__ID", *(["ds"] if self.partitioned else [])]
        found = acid.read(self.spark, self.name, columns=names, client=self.warehouse.client).collect()
        rows: dict[str, list[tuple[Any, ...]]] = {path.name: [] for path in root.glob("ds=*")} or {"": []}
        for row in found:
            directory = f"ds={row['ds']}" if self.partitioned else ""
            rows[directory].append(comparable(tuple(row)[: len(COLUMNS) + 1]))
        ordered = {directory: sorted(members, key=repr) for directory, members in rows.items()}
        self.kept.append(Stage(label, root, write_ids, transactions, ordered))

    def assert_read_by_hive(self, version: str) -> None:
        files = HiveFiles(version, COLUMNS)
        reads = [
            (stage, directory, reader) for stage in self.kept for directory in stage.rows for reader in READERS
            if version != "3.1.3" or "compaction" not in stage.label
        ]  # fmt: skip
        for stage, directory, reader in reads:
            files.read(stage.root / directory, stage.write_ids, reader=reader, transactions=stage.transactions)
        for (stage, directory, reader), found in zip(reads, files.run(), strict=True):
            rows = stage.rows[directory]
            expected = rows if reader == "row" else sorted((row[:-1] for row in rows), key=repr)
            assert found.rows == expected, f"after {stage.label}, {directory or 'the table'} by the {reader} reader"


def numbers(spark: Any, first: int, last: int, tasks: int = 2) -> Any:
    return spark.range(first, last + 1, 1, tasks).selectExpr("id", "concat('n', id) as name", "id * 1.5D as amount")


@pytest.fixture(scope="module", params=KINDS)
def stages(
    request: pytest.FixtureRequest, spark: Any, client: metastored.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stages]:
    """A table after statements of each kind."""
    database = f"acid_{uuid.uuid4().hex[:12]}"
    client.create_database(database)
    warehouse = Warehouse(client, database)
    kind, whole = request.param
    write = written if whole else written_in_short
    yield write(spark, warehouse, kind, tmp_path_factory.mktemp(kind))
    client.drop_database(database, cascade=True)


class Table:
    """A new table of a kind, and rows for it."""

    def __init__(self, spark: Any, warehouse: Warehouse, kind: str, folder: Path) -> None:
        self.partitioned = kind == "partitioned"
        self.spark = spark
        self.name = warehouse.create(
            "t", COLUMNS, keys={"ds": "string"} if self.partitioned else None,
            buckets=("id", 3) if kind == "bucketed" else None, properties={**FULL, "bucketing_version": "2"},
        )  # fmt: skip
        self.stages = Stages(spark, warehouse, self.name, self.partitioned, folder)

    def rows(self, first: int, last: int) -> Any:
        key = ["concat('d', id % 2) as ds"] if self.partitioned else []
        return numbers(self.spark, first, last).selectExpr("*", *key)


def written_in_short(spark: Any, warehouse: Warehouse, kind: str, folder: Path) -> Stages:
    client, table = warehouse.client, Table(spark, warehouse, kind, folder)
    name, stages, rows = table.name, table.stages, table.rows
    acid.insert(spark, name, rows(1, 20), client=client)
    acid.delete(spark, name, "id in (1, 2, 5, 6)", client=client)
    stages.keep("an insert and a delete")
    merged = {"name": "concat(source.name, '!')"}
    acid.merge(
        spark, name, rows(15, 25), "target.id = source.id",
        matched=[acid.When("source.id = 16", "delete"), merged], not_matched="*", client=client,
    )  # fmt: skip
    with acid.transaction(spark, client) as transaction:
        transaction.insert(name, rows(30, 39))
        transaction.update(name, {"amount": "0"}, "id in (32, 8)")
    stages.keep("a merge and a transaction of two statements")
    compact(stages, CompactionKind.MAJOR)
    stages.keep("a major compaction")
    return stages


def written(spark: Any, warehouse: Warehouse, kind: str, folder: Path) -> Stages:
    client, table = warehouse.client, Table(spark, warehouse, kind, folder)
    name, stages, rows = table.name, table.stages, table.rows
    acid.insert(spark, name, rows(1, 20), client=client)
    stages.keep("an insert")
    acid.update(spark, name, {"amount": "-1", "name": "null"}, "id % 5 = 0", client=client)
    stages.keep("an update")
    acid.delete(spark, name, "id in (1, 2, 5, 6)", client=client)
    stages.keep("a delete")
    acid.merge(
        spark, name, rows(15, 25), "target.id = source.id",
        matched=[acid.When("source.id = 16", "delete"), {"name": "concat(source.name, '!')"}], not_matched="*",
        client=client,
    )  # fmt: skip
    stages.keep("a merge")
    with acid.transaction(spark, client) as transaction:
        transaction.insert(name, rows(30, 39))
        transaction.delete(name, "id in (30, 31, 7)")
        transaction.update(name, {"amount": "0"}, "id in (32, 8)")
        transaction.insert(name, rows(40, 44))
        transaction.delete(name, "id in (32, 33, 40, 41)")
    stages.keep("a transaction of five statements")
    with pytest.raises(ZeroDivisionError), acid.transaction(spark, client) as transaction:
        transaction.delete(name, "id < 15")
        transaction.insert(name, rows(900, 909))
        raise ZeroDivisionError
    stages.keep("an aborted transaction")
    compact(stages, CompactionKind.MINOR)
    stages.keep("a minor compaction")
    acid.delete(spark, name, "id in (9, 42)", client=client)
    acid.insert(spark, name, rows(50, 54), client=client)
    stages.keep("statements after a minor compaction")
    compact(stages, CompactionKind.MAJOR)
    stages.keep("a major compaction")
    acid.update(spark, name, {"amount": "7"}, "id in (10, 50)", client=client)
    stages.keep("an update after a major compaction")
    acid.insert_overwrite(spark, name, rows(60, 69), client=client)
    acid.delete(spark, name, "id = 60", client=client)
    # The overwrite hides the base of the compaction, but Hive 3.1 lists its directory.
    stages.keep("an overwrite after a compaction")
    return stages


def compact(stages: Stages, kind: CompactionKind) -> None:
    partitions = ("ds=d0", "ds=d1") if stages.partitioned else (None,)
    for partition in partitions:
        request(stages.warehouse.client, table_name(stages.name), partition, kind, "test")
        done = work(stages.spark, stages.warehouse.client, "test-1")
        assert done is not None and done.outcome == "compacted", done


def test_hive_reads_the_rows_and_ids_of_each_statement(stages: Stages, hive_version: str) -> None:
    stages.assert_read_by_hive(hive_version)


def test_hive_reads_an_overwrite(spark: Any, warehouse: Warehouse, hive_version: str, tmp_path: Path) -> None:
    name = warehouse.create("t", COLUMNS)
    stages = Stages(spark, warehouse, name, False, tmp_path)
    acid.insert(spark, name, numbers(spark, 1, 6), client=warehouse.client)
    acid.insert_overwrite(spark, name, numbers(spark, 5, 8), client=warehouse.client)
    stages.keep("an overwrite")
    acid.delete(spark, name, "id = 6", client=warehouse.client)
    acid.insert(spark, name, numbers(spark, 9, 9), client=warehouse.client)
    stages.keep("statements after an overwrite")
    acid.insert_overwrite(spark, name, numbers(spark, 1, 0), client=warehouse.client)
    stages.keep("an overwrite without rows")
    stages.assert_read_by_hive(hive_version)


@pytest.mark.parametrize("hive_version", ["3.1.3"], indirect=True)
def test_hive_3_cannot_read_a_table_after_a_compaction(
    spark: Any, warehouse: Warehouse, hive_version: str, tmp_path: Path
) -> None:
    """It takes the number of the transaction in the name of a directory for a part of the write id."""
    name = warehouse.create("t", COLUMNS)
    for first in (1, 11):
        acid.insert(spark, name, numbers(spark, first, first + 9), client=warehouse.client)
    stages = Stages(spark, warehouse, name, False, tmp_path)
    compact(stages, CompactionKind.MAJOR)
    stages.keep("rows of a base with the number of a transaction")
    with pytest.raises(HiveError, match="NumberFormatException"):
        stages.assert_read_by_hive(hive_version)


def test_hive_reads_values_of_all_types(spark: Any, warehouse: Warehouse, hive_version: str) -> None:
    name = warehouse.create("t", ALL_TYPES)
    schema = acid.read(spark, name, client=warehouse.client).schema
    acid.insert(spark, name, spark.createDataFrame(VALUES, schema), client=warehouse.client)
    files = HiveFiles(hive_version, ALL_TYPES)
    for reader in READERS:
        files.read(warehouse.path(name), f"{name}:1:9223372036854775807::", reader=reader)
    rows, batches = files.run()
    found = acid.read(spark, name, columns=[*ALL_TYPES, "ROW__ID"], client=warehouse.client).collect()
    mine = sorted((comparable(tuple(row)) for row in found), key=repr)
    assert len(mine) == len(VALUES)
    assert rows.rows == mine
    assert batches.rows == sorted((row[:-1] for row in mine), key=repr)


STRIPES = {"orc.stripe.row.count": "1000", "orc.rows.between.memory.checks": "1000", "orc.row.index.stride": "1000"}
"""Settings of Spark's ORC writer for short stripes."""
SPLITS = {"hive.exec.orc.split.strategy": "ETL", **{
    f"mapreduce.input.fileinputformat.split.{which}size": "1" for which in ("min", "max")
}}  # fmt: skip
"""Settings of Hive: a split for each stripe."""


def test_hive_finds_the_rows_and_deletes_of_each_stripe_by_the_index_of_keys(
    spark: Any, warehouse: Warehouse, hive_version: str
) -> None:
    name = warehouse.create("t", COLUMNS)
    for setting, value in STRIPES.items():
        spark.conf.set(setting, value)
    try:
        acid.insert(spark, name, numbers(spark, 1, 5000, tasks=1), client=warehouse.client)
        acid.delete(spark, name, "id % 7 = 0 or id between 2500 and 3500", client=warehouse.client)
    finally:
        for setting in STRIPES:
            spark.conf.unset(setting)
    (data,) = warehouse.path(name).glob("delta_*/bucket_00000")
    assert len(read_tail(data.read_bytes()).stripes) == 5
    files = HiveFiles(hive_version, COLUMNS)
    for reader in READERS:
        for settings in (SPLITS, {}):
            write_ids = f"{name}:2:9223372036854775807::"
            files.read(warehouse.path(name), write_ids, reader=reader, settings=settings)
    results = files.run()
    left = [number for number in range(1, 5001) if number % 7 and not 2500 <= number <= 3500]
    for found in results:
        assert sorted(row[0] for row in found.rows) == left
    assert [len(found.splits) for found in results] == [5, 1, 5, 1]


def test_user_metadata_is_what_hive_writes(spark: Any, warehouse: Warehouse, hive_version: str, tmp_path: Path) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, numbers(spark, 1, 3, tasks=1), client=warehouse.client)
    acid.delete(spark, name, "id = 2", client=warehouse.client)
    files = HiveFiles(hive_version, COLUMNS)
    files.write(tmp_path, [inserted(number, f"n{number}", number * 1.5) for number in (1, 2, 3)], 1)
    files.write(tmp_path, [deleted((1, encode_bucket(0, 0), 1))], 2)
    files.run()
    for directory in ("delta_0000001_0000001_0000", "delete_delta_0000002_0000002_0000"):
        directories = [root / directory for root in (warehouse.path(name), tmp_path)]
        tails = [read_tail((each / "bucket_00000").read_bytes()) for each in directories]
        mine, hives = ({key: value for key, value in tail.metadata.items() if "acid" in key} for tail in tails)
        assert mine == hives
        assert tails[0].fields == tails[1].fields
        assert {(each / "_orc_acid_version").read_bytes() for each in directories} == {b"2"}


# Buckets

NUMBERS = (0, 1, -1, 7, 127, -128)
TEXTS = ("", "a", "ab", "abc", "abcd", "abcde", "ä", "ï €", "x  ", "\x7f\x80ÿ")
BUCKETED: dict[str, tuple[Any, ...]] = {
    "boolean": (True, False),
    "tinyint": NUMBERS,
    "smallint": (*NUMBERS, 32767, -32768),
    "int": (*NUMBERS, 2**31 - 1, -(2**31)),
    "bigint": (*NUMBERS, 2**63 - 1, -(2**63), 2**40 + 3),
    "date": (date(1970, 1, 1), date(2024, 2, 29), date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31)),
    "string": (*TEXTS, "x" * 100),
    "varchar(5)": TEXTS,
    "char(5)": TEXTS,
    "binary": (b"", b"a", b"\xff\x00\x80", b"abcdefg"),
}


@pytest.mark.parametrize("version", [1, 2])
def test_the_bucket_of_a_row_is_that_of_hives_hash(
    spark: Any, warehouse: Warehouse, hive_version: str, version: int
) -> None:
    types = [type for type in BUCKETED if version == 2 or type != "binary"]  # That one is refused.
    count, files = 97, HiveFiles(hive_version, {})
    mine: list[list[int]] = []
    for type in types:
        columns = {"k": type, "n": "int"}
        properties = {**FULL, "bucketing_version": str(version)}
        table = acid_table(
            warehouse.client,
            warehouse.create(f"t{len(mine)}", columns, buckets=(("k", "n"), count), properties=properties),
        )
        rows = [*((value, number) for number, value in enumerate(BUCKETED[type])), (None, 3), (None, None)]
        frame = spark.createDataFrame(rows, table.columns)
        mine.append([row[0] for row in frame.coalesce(1).select(bucket_column(table)).collect()])
        files.buckets(rows, count, columns)
    hives = [[pair[version - 1] for pair in buckets] for buckets in files.run()]
    assert dict(zip(types, mine, strict=True)) == dict(zip(types, hives, strict=True))


def test_the_rows_of_a_bucketed_table_are_in_the_files_of_hives_hash(
    spark: Any, warehouse: Warehouse, hive_version: str
) -> None:
    columns = {"k": "string", "n": "bigint"}
    name = warehouse.create("t", columns, buckets=(("k", "n"), 4), properties={**FULL, "bucketing_version": "2"})
    frame = spark.range(0, 50, 1, 2).selectExpr("concat('k', id % 11) as k", "id as n")
    acid.insert(spark, name, frame, client=warehouse.client)
    acid.update(spark, name, {"n": "n + 100"}, "n % 3 = 0", client=warehouse.client)
    found = acid.read(spark, name, columns=["k", "n", "ROW__ID.bucketid"], client=warehouse.client).collect()
    files = HiveFiles(hive_version, columns)
    files.buckets([(row[0], row[1]) for row in found], 4, columns)
    (buckets,) = files.run()
    assert [decode_bucket(row[2])[0] for row in found] == [pair[1] for pair in buckets]


# Insert-only tables


def test_hive_selects_the_same_directories_of_an_insert_only_table(
    spark: Any, warehouse: Warehouse, hive_version: str
) -> None:
    name = warehouse.create("t", COLUMNS, properties=INSERT_ONLY)
    for first in (1, 4):
        acid.insert(spark, name, numbers(spark, first, first + 2), client=warehouse.client)
    acid.insert_overwrite(spark, name, numbers(spark, 10, 12), client=warehouse.client)
    with pytest.raises(ZeroDivisionError), acid.transaction(spark, warehouse.client) as transaction:
        transaction.insert(name, numbers(spark, 900, 901))
        raise ZeroDivisionError
    acid.insert(spark, name, numbers(spark, 13, 14), client=warehouse.client)
    with warehouse.client.read(name) as seen:
        write_ids, transactions = str(seen.snapshots[name.lower()]), str(seen.visible)
    files = HiveFiles(hive_version, COLUMNS)
    files.directories(warehouse.path(name), write_ids, transactions)
    (selected,) = files.run()
    read = acid.read(spark, name, client=warehouse.client)
    assert selected == sorted({path.split("/")[-2] for path in read.inputFiles()})
    assert selected == ["base_0000003", "delta_0000005_0000005_0000"]
