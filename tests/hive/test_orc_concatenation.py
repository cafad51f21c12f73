"""ORC files made of the stripes of others, compared with pyarrow's reader."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc as arrow

from metastored.hive import orc
from metastored.hive.orc import Range
from metastored.hive.orc_concatenation import concatenation
from metastored.hive.orc_messages import OrcError

COMPRESSIONS = ("uncompressed", "zlib", "snappy", "lz4", "zstd")


def of_all_types(rows: range) -> pyarrow.Table:
    """A column of each type, in which every third value is null."""

    def column(type: pyarrow.DataType, make: Any) -> pyarrow.Array:
        return pyarrow.array([None if at % 3 == 2 else make(at) for at in rows], type)

    return pyarrow.table(
        {
            "long": pyarrow.array(rows, pyarrow.int64()),
            "int": column(pyarrow.int32(), lambda at: -at),
            "double": column(pyarrow.float64(), lambda at: at / 7),
            "text": column(pyarrow.string(), lambda at: f"text {at}"),
            "flag": column(pyarrow.bool_(), lambda at: at % 2 == 0),
            "price": column(pyarrow.decimal128(12, 2), lambda at: Decimal(at).scaleb(-2)),
            "day": column(pyarrow.date32(), lambda at: datetime.date(2024, 1, 1) + datetime.timedelta(at % 900)),
            "at": column(pyarrow.timestamp("ns"), lambda at: datetime.datetime(2024, 1, 1, microsecond=at % 1000)),
            "bytes": column(pyarrow.binary(), lambda at: bytes([at % 256])),
            "many": column(pyarrow.list_(pyarrow.int32()), lambda at: [at, at + 1]),
            "one": column(pyarrow.struct([("a", pyarrow.int32())]), lambda at: {"a": at}),
            "by_name": column(pyarrow.map_(pyarrow.string(), pyarrow.int32()), lambda at: [("k", at)]),
        }
    )


def written(path: Path, table: pyarrow.Table, compression: str = "zlib", stripe: int = 64 << 20) -> bytes:
    arrow.write_table(table, path, compression=compression, stripe_size=stripe)
    return path.read_bytes()


def concatenated(*files: bytes, **metadata: bytes) -> bytes:
    made = concatenation([(len(each), each[-orc.END :]) for each in files], metadata)
    return b"".join(each[:length] for each, length in zip(files, made.bodies, strict=True)) + made.tail


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_rows_are_those_of_all_files_in_order(tmp_path: Path, compression: str) -> None:
    tables = [of_all_types(range(low, low + 1000)) for low in (0, 5000, 2000)]
    path = tmp_path / "file"
    path.write_bytes(concatenated(*(written(path, each, compression) for each in tables)))
    assert arrow.read_table(path).equals(pyarrow.concat_tables(tables))


def test_stripes_keep_their_ranges_and_the_file_has_those_of_all(tmp_path: Path) -> None:
    files = [
        written(
            tmp_path / "file",
            pyarrow.table({"a": pyarrow.array(rows, pyarrow.int64()), "b": [f"text {at}" for at in rows]}),
            stripe=64 << 10,
        )
        for rows in (range(200_000), range(-3, 0))
    ]
    made = concatenated(*files, key=b"value")
    tail, parts = orc.read_tail(made), [orc.read_tail(each) for each in files]
    assert tail.rows == 200_003 and tail.metadata == {"key": b"value"}
    assert tail.ranges == (None, Range(-3, 199_999), None)
    assert tail.stripes == parts[0].stripes + parts[1].stripes and len(tail.stripes) > 2


def test_a_file_without_values_does_not_hide_the_ranges_of_the_others(tmp_path: Path) -> None:
    empty = pyarrow.table({"a": pyarrow.array([None] * 3, pyarrow.int64())})
    full = pyarrow.table({"a": pyarrow.array([4, 9], pyarrow.int64())})
    made = concatenated(written(tmp_path / "file", empty), written(tmp_path / "file", full))
    assert orc.read_tail(made).ranges == (None, Range(4, 9))


def test_what_was_concatenated_is_concatenated_again(tmp_path: Path) -> None:
    files = [written(tmp_path / "file", of_all_types(range(at, at + 10))) for at in (0, 10, 20)]
    path = tmp_path / "file"
    path.write_bytes(concatenated(concatenated(files[0], files[1]), files[2]))
    assert arrow.read_table(path).equals(of_all_types(range(30)))


def test_files_with_other_columns_or_compression_are_refused(tmp_path: Path) -> None:
    one, other = pyarrow.table({"a": [1]}), pyarrow.table({"b": [1]})
    first = written(tmp_path / "file", one)
    with pytest.raises(OrcError, match="different columns"):
        concatenated(first, written(tmp_path / "file", other))
    with pytest.raises(OrcError, match="compressed in the same way"):
        concatenated(first, written(tmp_path / "file", one, "snappy"))


def test_damaged_tails_raise_orc_errors_only(tmp_path: Path) -> None:
    good = written(tmp_path / "file", of_all_types(range(10)), "uncompressed")
    refused = 0
    for at in range(1, orc.tail_length(good)):
        bad = bytearray(good)
        bad[-at] ^= 0xFF
        try:
            concatenated(good, bytes(bad))
        except OrcError:
            refused += 1
    assert refused > 10
