"""Which files are read at a snapshot, and which of them deletes can touch. The files are real; no Spark is started."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow
import pytest
from pyarrow import orc
from pyspark.sql.types import StructType

from metastored.errors import InvalidInputException, NotSupported
from metastored.hive.orc import Range
from metastored.hive.transactions.layout import encode_bucket
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList, ValidWriteIdList
from metastored.model.names import table_name
from metastored.spark.acid.files.state import ANY, DeleteFile, Original, PartitionState, _partition_state
from metastored.spark.acid.tables import AcidTable, Buckets
from metastored.wire.generated.common import Table

TABLE = AcidTable(table_name("db.t"), Table(), False, "", "orc", StructType(), StructType(), None)
BUCKETED = dataclasses.replace(TABLE, buckets=Buckets(2, ("id",), 2))


def write(path: Path, rows: list[tuple[int, int, int]], operation: int = 0) -> None:
    """A file of Hive's layout with these ids of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {
        "operation": pyarrow.array([operation] * len(rows), pyarrow.int32()),
        "originalTransaction": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
        "bucket": pyarrow.array([encode_bucket(row[1], 0) for row in rows], pyarrow.int32()),
        "rowId": pyarrow.array([row[2] for row in rows], pyarrow.int64()),
        "currentTransaction": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
        "row": pyarrow.array([{"id": 1}] * len(rows)),
    }
    orc.write_table(pyarrow.table(columns), path)


def write_original(path: Path, rows: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    orc.write_table(pyarrow.table({"id": range(rows)}), path)


def state(
    root: Path, high: int = 10, open: tuple[int, ...] = (), row_ids: bool = False, table: AcidTable = TABLE
) -> PartitionState:
    write_ids = ValidWriteIdList("db.t", high, open, (), min(open, default=NO_OPEN_ID))
    return _partition_state(object(), table, 0, (), root.as_uri(), write_ids, ValidTxnList(100), row_ids)


def touched(found: PartitionState, root: Path) -> dict[str, bool]:
    prefix = len(str(root)) + 1
    return {file.location.removeprefix("file:").lstrip("/")[prefix - 1 :]: file.touched for file in found.data}


def test_deletes_touch_files_of_their_bucket_and_their_write_ids(tmp_path: Path) -> None:
    """Of the buckets in the ids that they have: the name of their file says nothing."""
    write(tmp_path / "base_5" / "bucket_00000", [(2, 0, 0), (5, 0, 0)])
    write(tmp_path / "base_5" / "bucket_00001_3", [(3, 1, 0)])
    write(tmp_path / "delta_6_6_0" / "bucket_00000", [(6, 0, 0)])
    write(tmp_path / "delta_8_8_0" / "bucket_00000", [(8, 0, 0)])
    write(tmp_path / "delete_delta_9_9_0" / "bucket_00007_1", [(5, 0, 0), (6, 0, 0)], operation=2)
    found = state(tmp_path, table=BUCKETED)
    assert touched(found, tmp_path) == {
        "base_5/bucket_00000": True,
        "base_5/bucket_00001_3": False,
        "delta_6_6_0/bucket_00000": True,
        "delta_8_8_0/bucket_00000": False,
    }
    (deletes,) = found.deletes
    assert (deletes.numbers, deletes.write_ids, deletes.row_ids, deletes.rows) == (
        Range(0, 0),
        Range(5, 6),
        Range(0, 0),
        2,
    )


def test_deletes_touch_files_of_all_names_if_the_table_has_no_buckets(tmp_path: Path) -> None:
    for number in (0, 1):
        write(tmp_path / "delta_1_1_0" / f"bucket_0000{number}", [(1, number, 0)])
    write(tmp_path / "delete_delta_2_2_0" / "bucket_00000", [(1, 1, 0)], operation=2)
    assert touched(state(tmp_path), tmp_path) == {f"delta_1_1_0/bucket_0000{number}": True for number in (0, 1)}


def test_deletes_with_ids_of_both_encodings_touch_all_buckets(tmp_path: Path) -> None:
    found = DeleteFile("", 0, 0, False, Range(1, 1), Range(3, encode_bucket(1, 0)), Range(0, 0), 2)
    assert found.numbers == ANY and found.may_touch(Range(1, 1), 2)


def test_a_delete_that_is_not_visible_touches_nothing(tmp_path: Path) -> None:
    write(tmp_path / "delta_1_1_0" / "bucket_00000", [(1, 0, 0)])
    write(tmp_path / "delete_delta_2_2_0" / "bucket_00000", [(1, 0, 0)], operation=2)
    assert touched(state(tmp_path), tmp_path) == {"delta_1_1_0/bucket_00000": True}
    assert touched(state(tmp_path, open=(2,)), tmp_path) == {"delta_1_1_0/bucket_00000": False}


def test_a_file_with_some_visible_write_ids_is_filtered(tmp_path: Path) -> None:
    write(tmp_path / "delta_1_4" / "bucket_00000", [(1, 0, 0), (3, 0, 0)])
    assert [file.partly_visible for file in state(tmp_path).data] == [False]
    assert [file.partly_visible for file in state(tmp_path, open=(3,)).data] == [True]


def test_rows_of_files_without_ids_are_numbered_through_the_files_of_a_bucket(tmp_path: Path) -> None:
    for name, rows in {"000000_0": 3, "000000_0_copy_1": 4, "000001_0": 5, "sub/000000_0": 2}.items():
        write_original(tmp_path / name, rows)
    write_original(tmp_path / "delta_2_2_1" / "000000_0", 6)
    originals = [file.original for file in state(tmp_path, row_ids=True).data]
    zero, one = encode_bucket(0, 0), encode_bucket(1, 0)
    assert originals == [
        Original(0, zero, 0), Original(0, zero, 3), Original(0, one, 0), Original(0, zero, 7),
        Original(2, encode_bucket(0, 1), 0),
    ]  # fmt: skip
    assert all(file.touched is False for file in state(tmp_path).data)


def test_a_file_of_other_names_is_known_by_its_columns(tmp_path: Path) -> None:
    write(tmp_path / "delta_1_1_0" / "000000_0", [(1, 0, 0)])
    assert [file.original for file in state(tmp_path).data] == [None]


def test_a_side_file_limits_what_may_be_read(tmp_path: Path) -> None:
    path = tmp_path / "delta_1_4" / "bucket_00000"
    write(path, [(1, 0, 0)])
    side = path.with_name("bucket_00000_flush_length")
    side.write_bytes(path.stat().st_size.to_bytes(8, "big"))
    assert len(state(tmp_path).data) == 1
    for incomplete in (b"", b"abc"):
        side.write_bytes(incomplete)
        assert len(state(tmp_path).data) == 0
    side.write_bytes((10).to_bytes(8, "big"))
    with pytest.raises(NotSupported, match="first 10 bytes"):
        state(tmp_path)


def test_a_reader_that_is_older_than_the_cleaner_gets_an_error(tmp_path: Path) -> None:
    write(tmp_path / "base_5_v9" / "bucket_00000", [(1, 0, 0)])
    assert len(state(tmp_path).data) == 1
    with pytest.raises(InvalidInputException, match="cannot be read at this snapshot"):
        state(tmp_path, open=(3,))
