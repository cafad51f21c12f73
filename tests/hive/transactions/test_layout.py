"""Names of directories and files of transactional tables."""

from __future__ import annotations

import pytest

from metastored.hive.transactions import layout
from metastored.hive.transactions.layout import Directory, Kind, parse_directory


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("base_0000005", (Kind.BASE, 0, 5, None, 0)),
        ("base_5_v42", (Kind.BASE, 0, 5, None, 42)),
        ("base_-9223372036854775808", (Kind.BASE, 0, layout.CONVERTED_BASE, None, 0)),
        ("delta_0000003_0000003", (Kind.DELTA, 3, 3, None, 0)),
        ("delta_0000003_0000003_0001", (Kind.DELTA, 3, 3, 1, 0)),
        ("delta_0000003_0000007_v0000042", (Kind.DELTA, 3, 7, None, 42)),
        ("delta_3_3_9999_v0", (Kind.DELTA, 3, 3, 9999, 0)),
        ("delete_delta_12345678_12345678_0000", (Kind.DELETE_DELTA, 12345678, 12345678, 0, 0)),
    ],
)
def test_a_directory_is_parsed_from_its_name(name: str, expected: tuple[Kind, int, int, int | None, int]) -> None:
    assert parse_directory(name) == Directory(*expected, name)


@pytest.mark.parametrize("name", ["ds=1", "base", "base_x", "delta_1", "delta_1_2_3_4", "xdelta_1_1", "base_1_v", ""])
def test_other_names_are_no_directories_of_a_transactional_table(name: str) -> None:
    assert parse_directory(name) is None


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        (layout.base(5), "base_0000005"),
        (layout.base(5, visibility=42), "base_0000005_v0000042"),
        (layout.delta(3, 3, 1), "delta_0000003_0000003_0001"),
        (layout.delete_delta(3, 7, visibility=42), "delete_delta_0000003_0000007_v0000042"),
        (layout.delta(12345678, 12345678), "delta_12345678_12345678"),
    ],
)
def test_names_are_written_as_hive_writes_them_and_parsed_back(directory: Directory, name: str) -> None:
    assert directory.name == str(directory) == name
    assert parse_directory(name) == directory


def test_the_bucket_of_a_file_may_be_followed_by_an_attempt() -> None:
    names = ("bucket_00003", "bucket_00003_1", "bucket_100000", "bucket_3_flush_length", "000003_0", "bucket_")
    assert [layout.bucket_of_file(name) for name in names] == [3, 3, 100000, None, None, None]
    assert layout.bucket_file(3) == "bucket_00003"


def test_files_from_before_a_conversion_have_their_bucket_first() -> None:
    names = ("000003_0", "000003_1_copy_12", "bucket_00003", "part-00000.orc", "000003")
    assert [layout.bucket_of_original(name) for name in names] == [3, 3, None, None, None]


def test_a_path_with_a_hidden_part_is_no_data() -> None:
    paths = ("bucket_00000", "_orc_acid_version", ".bucket_00000.crc", "_tmp/bucket_00000", "sub/000000_0", "a/.b/c")
    assert [layout.is_hidden(path) for path in paths] == [False, True, True, True, False, True]


def test_the_bucket_column_has_a_version_the_bucket_and_the_statement() -> None:
    assert layout.encode_bucket(0, 0) == 536870912
    assert layout.encode_bucket(1, 0) == 536936448
    assert layout.encode_bucket(0, 1) == 536870913
    assert layout.decode_bucket(layout.encode_bucket(4095, 4095)) == (4095, 4095)
    assert layout.decode_bucket(7) == (7, 0), "files of Hive before 3"
    for bucket, statement in ((4096, 0), (0, 4096), (-1, 0)):
        with pytest.raises(ValueError, match="not between 0 and 4095"):
            layout.encode_bucket(bucket, statement)


def test_the_last_complete_number_of_a_side_file_counts() -> None:
    content = (100).to_bytes(8, "big") + (250).to_bytes(8, "big")
    assert layout.flush_length(content) == 250
    assert layout.flush_length(content[:-3]) == 100
    assert layout.flush_length(b"") == layout.flush_length(b"abc") == -1
    assert layout.is_side_file("bucket_00000_flush_length")
    assert not layout.is_side_file("bucket_00000") and not layout.is_side_file("x_flush_length")
