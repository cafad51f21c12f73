"""The tail of ORC files: read, and extended with user metadata, compared with pyarrow's reader."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from pyarrow import orc as arrow

from metastored.hive import orc
from metastored.hive.orc import Range
from metastored.hive.orc_messages import OrcError

COMPRESSIONS = ("uncompressed", "zlib", "snappy", "lz4", "zstd")


def write(path: Path, compression: str = "zlib", rows: int = 1000, stripe: int = 64 * 1024 * 1024) -> bytes:
    table = pyarrow.table(
        {
            "a": pyarrow.array(range(rows), pyarrow.int64()),
            "b": pyarrow.array([-7] * rows, pyarrow.int32()),
            "c": [f"text {number}" for number in range(rows)],
        }
    )
    arrow.write_table(table, path, compression=compression, stripe_size=stripe)
    return path.read_bytes()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_tail_has_rows_fields_and_ranges(tmp_path: Path, compression: str) -> None:
    content = write(tmp_path / "file", compression)
    tail = orc.read_tail(content[-orc.END :])
    assert (tail.rows, tail.fields) == (1000, ("a", "b", "c"))
    assert tail.ranges == (None, Range(0, 999), Range(-7, -7), None)
    assert [(stripe.rows, stripe.ranges[1]) for stripe in tail.stripes] == [(1000, Range(0, 999))]
    assert orc.tail_length(content) < orc.END


def test_each_stripe_has_its_ranges(tmp_path: Path) -> None:
    tail = orc.read_tail(write(tmp_path / "file", rows=200_000, stripe=64 * 1024))
    assert len(tail.stripes) > 1 and sum(stripe.rows for stripe in tail.stripes) == tail.rows == 200_000
    next_row = 0
    for stripe in tail.stripes:
        assert stripe.ranges[1] == Range(next_row, next_row + stripe.rows - 1)
        next_row += stripe.rows


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_metadata_is_added_in_place_or_appended(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    content = write(path, compression)
    added = {"hive.acid.version": b"2", "long": b"x" * 300_000}
    cut, replacement = orc.with_metadata(content, added)
    for changed in (content[:-cut] + replacement, content + orc.appended_metadata(content, added)):
        path.write_bytes(changed)
        assert arrow.read_table(path).num_rows == 1000
        assert orc.read_tail(changed).metadata == added


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    content = write(tmp_path / "file")
    for wrong in (b"", b"\x00", b"no orc file", content[:-1]):
        with pytest.raises(OrcError):
            orc.tail_length(wrong)
    with pytest.raises(OrcError, match="were read"):
        orc.read_tail(content[-60:])


@pytest.mark.parametrize(
    ("compression", "is_old"),
    [("uncompressed", True), ("zlib", True), ("snappy", True), ("lz4", True), ("zstd", False)],
)
def test_compressions_that_all_versions_of_hive_read_are_recognized(
    tmp_path: Path, compression: str, is_old: bool
) -> None:
    arrow.write_table(pyarrow.table({"id": [1]}), tmp_path / "file", compression=compression)
    assert (orc.compression((tmp_path / "file").read_bytes()) in orc.OLD_COMPRESSIONS) is is_old
