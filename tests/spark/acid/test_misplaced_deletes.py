"""Deletes in the file of another bucket than that of their rows, as Trino writes them in tables without buckets.

metastored wrote such tables with a bucket for each task of Spark, and Hive still does. Trino takes all their rows for
those of bucket 0, and writes all deletes into `bucket_00000`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc

from metastored.hive.transactions.compaction import CompactionKind
from metastored.hive.transactions.layout import bucket_file, delete_delta, delta, encode_bucket
from metastored.spark import acid
from tests.spark.acid.conftest import Warehouse
from tests.spark.acid.test_compaction import MAJOR, MINOR, Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Row = tuple[int, int, int, int | None]
"""The write id, the bucket and the number of a row, and its value; None in a delete."""


def write(root: Path, name: str, file: int, rows: Sequence[Row], write_id: int) -> None:
    """A file of Hive's layout."""
    columns = {
        "operation": pyarrow.array([0 if row[3] is not None else 2 for row in rows], pyarrow.int32()),
        "originalTransaction": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
        "bucket": pyarrow.array([encode_bucket(row[1], 0) for row in rows], pyarrow.int32()),
        "rowId": pyarrow.array([row[2] for row in rows], pyarrow.int64()),
        "currentTransaction": pyarrow.array([write_id] * len(rows), pyarrow.int64()),
        "row": pyarrow.array(
            [None if row[3] is None else {"id": row[3], "x": 0} for row in rows],
            pyarrow.struct([("id", pyarrow.int32()), ("x", pyarrow.int32())]),
        ),
    }
    directory = root / name
    directory.mkdir(exist_ok=True)
    (directory / "_orc_acid_version").write_bytes(b"2")
    orc.write_table(pyarrow.table(columns), directory / bucket_file(file))


@pytest.fixture
def changed(spark: Any, warehouse: Warehouse) -> Lab:
    """A table with rows 0 to 5 in three buckets, of which Trino has updated 1 and 5 to 11 and 15, and deleted 2."""
    name = warehouse.create("t", {"id": "int", "x": "int"})
    root = warehouse.path(name)
    with warehouse.client.write(name) as first:
        for bucket in range(3):
            rows = [(first.write_id, bucket, at, bucket * 2 + at) for at in range(2)]
            write(root, delta(first.write_id, first.write_id, 0).name, bucket, rows, first.write_id)
    with warehouse.client.write(name, "update") as second:
        number = second.write_id
        deleted: list[Row] = [(first.write_id, bucket, at, None) for bucket, at in ((0, 1), (1, 0), (2, 1))]
        write(root, delete_delta(number, number, 0).name, 0, deleted, number)
        write(root, delta(number, number, 1).name, 0, [(number, 0, 0, 11), (number, 0, 1, 15)], number)
    return Lab(spark, warehouse, name)


EXPECTED = [(0, 0), (3, 0), (4, 0), (11, 0), (15, 0)]


def test_the_deleted_rows_are_not_read(changed: Lab) -> None:
    assert changed.rows == EXPECTED


def test_rows_of_such_a_table_are_changed(changed: Lab) -> None:
    acid.update(changed.spark, changed.name, {"x": "7"}, "id in (3, 15)", client=changed.client)
    changed.delete("id = 4")
    assert changed.rows == [(0, 0), (3, 7), (11, 0), (15, 7)]
    # A delete of ours is in the file of the row's bucket, where all readers look for it.
    found = sorted(path.name for path in changed.warehouse.path(changed.name).glob("delete_delta_0000003_*/bucket_*"))
    assert found == ["bucket_00000", "bucket_00001"]


@pytest.mark.parametrize("kinds", [(MAJOR,), (MINOR,), (MINOR, MAJOR)])
def test_a_compaction_keeps_the_rows_and_mends_the_files(changed: Lab, kinds: tuple[CompactionKind, ...]) -> None:
    ids = changed.ids
    for kind in kinds:
        assert changed.compact(kind).outcome == "compacted"
        changed.clean()
        assert changed.rows == EXPECTED and changed.ids == ids
    root = changed.warehouse.path(changed.name)
    deletes = {path.name: orc.read_table(path).column("bucket") for path in root.glob("delete_delta*/bucket_*")}
    if MAJOR in kinds:
        assert not deletes
    else:  # Each delete is in the file of its row's bucket now: readers that look only there find it.
        assert {name: {value.as_py() for value in column} for name, column in deletes.items()} == {
            bucket_file(number): {encode_bucket(number, 0)} for number in range(3)
        }
