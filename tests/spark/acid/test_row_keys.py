"""Deleted rows are found by one number; few of them are read by the driver, and become a filter instead of a join."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc

from metastored.hive.orc import Range
from metastored.spark import acid
from metastored.spark.acid.files.state import DeleteFile
from metastored.spark.acid.rows import deleted_bits
from metastored.spark.acid.rows import row_keys as module
from metastored.spark.acid.rows.deleted_bits import without_deleted
from metastored.spark.acid.rows.row_keys import BUCKET, KEY, OWID, PARTITION, ROW, RowKeys, row_keys
from tests.spark.acid.conftest import Warehouse, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

IDS = [(3, 536870912, 0), (3, 536870912, 70), (4, 536936448, 9), (9, 537067520, 1000)]


def delete_file(folder: Path, ids: Sequence[tuple[Any, Any, Any]], partition: int = 5, **fields: Any) -> DeleteFile:
    """A file of Hive's layout with these ids, and its statistics."""
    write_ids, buckets, rows = (pyarrow.array(each, pyarrow.int64()) for each in zip(*ids, strict=True))
    columns = {
        "operation": pyarrow.array([2] * len(ids), pyarrow.int32()),
        "originalTransaction": write_ids,
        "bucket": buckets.cast(pyarrow.int32()),
        "rowId": rows,
        "currentTransaction": write_ids,
    }
    path = folder / f"bucket_{partition}"
    orc.write_table(pyarrow.table(columns), str(path))
    known = [[value for value in each if value is not None] for each in zip(*ids, strict=True)]
    write_range, bucket_range, row_range = (Range(min(each), max(each)) for each in known)
    values = {"bucket": 0, "partly_visible": False, "rows": len(ids)} | fields
    return DeleteFile(
        path.as_uri(), partition, write_ids=write_range, buckets=bucket_range, row_ids=row_range, **values
    )


def test_the_driver_and_spark_make_the_same_numbers(spark: Any, tmp_path: Path) -> None:
    files = [delete_file(tmp_path, IDS[:2], 5), delete_file(tmp_path, IDS[2:], 7)]
    keys = row_keys(files)
    assert keys is not None
    numbers = keys.read(spark, files).to_pylist()
    rows = [(*id, 5 if at < 2 else 7) for at, id in enumerate(IDS)]
    assert sorted(numbers) == [number for (number,) in rows_of(numbered(spark, keys, rows))]
    assert len(set(numbers)) == len(IDS) and max(numbers) < 2**keys.bits


def numbered(spark: Any, keys: RowKeys, rows: list[tuple[int, int, int, int]]) -> Any:
    """The numbers that Spark computes of these ids."""
    frame = spark.createDataFrame(rows, f"{OWID} bigint, {BUCKET} int, {ROW} bigint, {PARTITION} int")
    return frame.selectExpr(f"{keys.text} AS {KEY}")


def test_a_statement_takes_few_bits_beside_a_bucket(tmp_path: Path) -> None:
    def bits(*buckets: list[int]) -> int:
        files = [delete_file(tmp_path, [(1, each, 0) for each in many], 0) for many in buckets]
        keys = row_keys(files)
        assert keys is not None
        return keys.bits

    first, second = 536870912, 536870912 + (1 << 16)
    assert bits([first], [second]) == 1
    assert bits([first, first + 1], [second]) == 2
    assert bits([first, second]) == 1 + 16, "a file of several buckets can have any statement"


def test_a_row_outside_of_the_ranges_has_no_number(spark: Any, tmp_path: Path) -> None:
    keys = row_keys([delete_file(tmp_path, IDS)])
    assert keys is not None
    others = [
        (2, 536870912, 0, 5),
        (3, 536870911, 0, 5),
        (3, 536805376, 0, 5),
        (3, 536870912, 1001, 5),
        (3, 536870912, 0, 6),
    ]
    assert rows_of(numbered(spark, keys, others)) == [(None,)] * 5


def test_numbers_of_more_than_63_bits_are_not_made(tmp_path: Path) -> None:
    assert row_keys([delete_file(tmp_path, [(0, 0, 0), (2**40, 2**30, 2**20)])]) is None


@pytest.mark.parametrize(
    "fields", [{"partly_visible": True}, {"rows": module.LOCAL_ROWS + 1}], ids=["partly visible", "many"]
)
def test_spark_reads_deletes_that_are_many_or_not_all_visible(tmp_path: Path, fields: dict[str, Any]) -> None:
    files = [delete_file(tmp_path, IDS, **fields)]
    keys = row_keys(files)
    assert keys is not None and keys.read(None, files) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [(3, 536870912, None), (3, 536870912, 5000), (3, 536870913, 5)],
    ids=["null", "another row", "another statement"],
)
def test_spark_reads_a_file_whose_statistics_are_wrong(tmp_path: Path, wrong: tuple[Any, ...]) -> None:
    true = RowKeys(Range(5, 5), Range(3, 9), Range(8192, 8195), Range(0, 0), Range(0, 1000))
    assert true.read(None, [delete_file(tmp_path, [*IDS, wrong])]) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["read by Spark", "read by the driver", "filtered"])
def test_deleted_rows_are_not_read(spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "read by Spark":
        monkeypatch.setattr(module, "LOCAL_ROWS", 0)
    elif way == "read by the driver":
        monkeypatch.setattr(deleted_bits, "SMALL", 0)
        monkeypatch.setattr(deleted_bits, "JOINED", 0)
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "string"})
    frame = spark.range(0, 400, 1, 2).selectExpr("id", "concat('d', id % 3) AS ds")
    with acid.transaction(spark, warehouse.client) as transaction:
        # Two statements of a transaction: their rows differ in the bucket only.
        transaction.insert(name, frame.where("id < 300"))
        transaction.insert(name, frame.where("id >= 300"))
    acid.delete(spark, name, "id % 4 = 1", client=warehouse.client)
    acid.delete(spark, name, "id = 2 AND ds = 'd2'", client=warehouse.client)
    found = acid.read(spark, name, client=warehouse.client)
    assert rows_of(found) == rows_of(frame.where("id % 4 <> 1 AND id <> 2"))
    plan = found._jdf.queryExecution().optimizedPlan().toString()
    assert ("LeftAnti" in plan, "LocalRelation" in plan) == {
        "read by Spark": (True, False), "read by the driver": (True, True), "filtered": (False, True),
    }[way]  # fmt: skip


def test_an_array_that_is_larger_than_the_table_of_a_join_is_not_made(spark: Any) -> None:
    keys = RowKeys(Range(0, 0), Range(1, 1), Range(0, 0), Range(0, 0), Range(0, 2**40))
    frame = spark.range(2).selectExpr(f"0 AS {PARTITION}", f"1L AS {OWID}", f"0 AS {BUCKET}", f"id AS {ROW}")
    few = pyarrow.chunked_array([pyarrow.array([1, 2**23 - 1])])
    filtered = without_deleted(spark, frame, keys, few)
    assert filtered is not None and [row[ROW] for row in filtered.collect()] == [0]
    assert without_deleted(spark, frame, keys, pyarrow.chunked_array([pyarrow.array([1, 2**23])])) is None
