"""Deleted rows are found by one number; few of them are read by the driver, and the result is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc

from metastored.hive.orc import Range
from metastored.spark import acid
from metastored.spark.acid import row_keys as module
from metastored.spark.acid.row_keys import BUCKET, KEY, OWID, PARTITION, ROW, RowKeys, row_keys
from metastored.spark.acid.state import DeleteFile
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
    read = keys.read(spark, files)
    assert read is not None and "LocalTableScan" in read._jdf.queryExecution().executedPlan().toString()
    rows = [(*id, 5 if at < 2 else 7) for at, id in enumerate(IDS)]
    frame = spark.createDataFrame(rows, f"{OWID} bigint, {BUCKET} int, {ROW} bigint, {PARTITION} int")
    assert rows_of(read) == rows_of(frame.selectExpr(f"{keys.text} AS {KEY}"))
    assert len(set(rows_of(read))) == len(IDS)


def test_a_row_outside_of_the_ranges_has_no_number(spark: Any, tmp_path: Path) -> None:
    keys = row_keys([delete_file(tmp_path, IDS)])
    assert keys is not None
    others = [(2, 536870912, 0, 5), (3, 536870911, 0, 5), (3, 536870912, 1001, 5), (3, 536870912, 0, 6)]
    frame = spark.createDataFrame(others, f"{OWID} bigint, {BUCKET} int, {ROW} bigint, {PARTITION} int")
    assert rows_of(frame.selectExpr(f"{keys.text} AS {KEY}")) == [(None,)] * 4


def test_numbers_of_more_than_63_bits_are_not_made(tmp_path: Path) -> None:
    assert row_keys([delete_file(tmp_path, [(0, 0, 0), (2**40, 2**30, 2**20)])]) is None


@pytest.mark.parametrize(
    "fields", [{"partly_visible": True}, {"rows": module.LOCAL_ROWS + 1}], ids=["partly visible", "many"]
)
def test_spark_reads_deletes_that_are_many_or_not_all_visible(tmp_path: Path, fields: dict[str, Any]) -> None:
    files = [delete_file(tmp_path, IDS, **fields)]
    keys = row_keys(files)
    assert keys is not None and keys.read(None, files) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [(3, 536870912, None), (3, 536870912, 5000)], ids=["null", "not in the statistics"])
def test_spark_reads_a_file_whose_statistics_are_wrong(tmp_path: Path, wrong: tuple[Any, ...]) -> None:
    true = RowKeys(Range(5, 5), Range(3, 9), Range(536870912, 537067520), Range(0, 1000))
    assert true.read(None, [delete_file(tmp_path, [*IDS, wrong])]) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [0, module.LOCAL_ROWS], ids=["read by Spark", "read by the driver"])
def test_deleted_rows_are_not_read(
    spark: Any, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(module, "LOCAL_ROWS", most)
    name = warehouse.create("t", {"id": "bigint"}, keys={"ds": "string"})
    frame = spark.range(0, 40, 1, 2).selectExpr("id", "concat('d', id % 3) AS ds")
    acid.insert(spark, name, frame, client=warehouse.client)
    acid.delete(spark, name, "id % 4 = 1", client=warehouse.client)
    acid.delete(spark, name, "id = 2 AND ds = 'd2'", client=warehouse.client)
    found = acid.read(spark, name, client=warehouse.client)
    assert rows_of(found) == rows_of(frame.where("id % 4 <> 1 AND id <> 2"))
