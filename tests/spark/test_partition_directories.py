"""Directories that are partitions: names, values, and what is refused. Spark is not needed for few directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metastored.errors import InvalidInputException
from metastored.spark.partition_directories import Found, Key, find, measure

DAY, HOUR, TEXT = Key("ds", "date"), Key("h", "int"), Key("t", "string")


def found(root: Path, *keys: Key) -> dict[str, Found]:
    return find(None, root.as_uri(), keys)


def make(root: Path, *names: str | bytes) -> None:
    for name in names:
        if isinstance(name, bytes):
            os.makedirs(os.path.join(os.fsencode(root), name))
        else:
            (root / name).mkdir(parents=True)


def test_each_level_is_a_key(tmp_path: Path) -> None:
    make(tmp_path, "ds=2024-01-01/h=1", "ds=2024-01-01/h=2", "ds=2024-01-02/h=1")
    assert list(found(tmp_path, DAY, HOUR)) == ["ds=2024-01-01/h=1", "ds=2024-01-01/h=2", "ds=2024-01-02/h=1"]
    assert list(found(tmp_path, DAY)) == ["ds=2024-01-01", "ds=2024-01-02"]


def test_names_are_unescaped_and_the_location_is_the_directory(tmp_path: Path) -> None:
    make(tmp_path, "t=a%2Fb%3D%25", "t=a b", "t=ä:x", "T=upper", "t=%zz", "t=__HIVE_DEFAULT_PARTITION__")
    partitions = found(tmp_path, TEXT)
    assert {each.values[0] for each in partitions.values()} == {
        "a/b=%", "a b", "ä:x", "upper", "%zz", "__HIVE_DEFAULT_PARTITION__",
    }  # fmt: skip
    assert partitions["t=upper"].location.endswith("/T=upper")
    assert partitions["t=ä%3Ax"].location.endswith("/t=ä:x")


def test_other_names_are_ignored(tmp_path: Path) -> None:
    make(tmp_path, "_temporary/t=1", ".hive-staging/t=1", "other=1", "plain", "t=1")
    (tmp_path / "t=file").write_text("")
    assert list(found(tmp_path, TEXT)) == ["t=1"]


def test_a_missing_directory_has_no_partitions(tmp_path: Path) -> None:
    assert found(tmp_path / "missing", TEXT) == {}


@pytest.mark.parametrize(
    ("key", "name", "reason"),
    [
        (DAY, "ds=2024-02-30", "'2024-02-30' is not a date"),
        (HOUR, "h=one", "'one' is not of the type int"),
        (HOUR, "h=4294967296", "'4294967296' is not of the type int"),
        (TEXT, "t=", "it has no value"),
        (TEXT, "t=..", "is a path"),
        (TEXT, "t=%2E%2E", "is a path"),
        (TEXT, "t=line\nbreak", "control characters"),
        (TEXT, b"t=\xff\xfe", "not UTF-8"),
    ],
)
def test_a_name_that_no_partition_can_have_is_refused(tmp_path: Path, key: Key, name: str | bytes, reason: str) -> None:
    make(tmp_path, name)
    with pytest.raises(InvalidInputException, match=reason):
        found(tmp_path, key)


def test_two_directories_of_one_partition_are_refused(tmp_path: Path) -> None:
    make(tmp_path, "t=a:b", "t=a%3Ab")
    with pytest.raises(InvalidInputException, match="are both the partition t=a%3Ab"):
        found(tmp_path, TEXT)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere", "table")
    (tmp_path / "table" / "t=link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInputException, match="symbolic link"):
        found(tmp_path / "table", TEXT)


def test_files_are_measured_without_hidden_ones(tmp_path: Path) -> None:
    make(tmp_path, "below", "_hidden")
    for name, size in (("a", 3), ("below/b", 4), ("_hidden/c", 5), (".d", 6)):
        (tmp_path / name).write_bytes(b"x" * size)
    assert measure(str(tmp_path)) == (2, 7)
    assert measure(str(tmp_path / "missing")) == (0, 0)
