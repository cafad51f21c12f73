"""File systems as the driver uses them: the local one directly, and the same through Hadoop."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc

from metastored.errors import NotSupported
from metastored.spark.files import (
    Entry,
    Files,
    HadoopFiles,
    LocalFiles,
    end_of,
    files_of,
    in_threads,
    list_location,
    tail_of,
)


@pytest.fixture(params=["local", pytest.param("hadoop", marks=(pytest.mark.spark, pytest.mark.slow))])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "local":
        return LocalFiles()
    return HadoopFiles(request.getfixturevalue("spark"), tmp_path.as_uri())


def test_the_first_bytes_of_files_become_one_file(files: Files, tmp_path: Path) -> None:
    root = tmp_path.as_uri()
    for name, content in (("a", b"first body|tail"), ("b", b"second body|tail"), ("c", b"third|tail")):
        files.write(f"{root}/{name}", content)
    files.concatenate([(f"{root}/a", 10), (f"{root}/b", 11), (f"{root}/c", 5)], f"{root}/d", b"<end>")
    assert files.read(f"{root}/d") == b"first bodysecond bodythird<end>"
    assert [each.name for each in files.entries(root) if not each.name.startswith(".")] == ["d"]
    files.write(f"{root}/short", b"x")
    with pytest.raises(OSError, match="short was changed while it was read"):
        files.concatenate([(f"{root}/d", 3), (f"{root}/short", 2)], f"{root}/e", b"")


def test_files_are_written_listed_read_renamed_and_removed(files: Files, tmp_path: Path) -> None:
    root = tmp_path.as_uri()
    files.make(f"{root}/a b/delta_1_1")
    files.write(f"{root}/a b/delta_1_1/bucket_00000", b"0123456789")
    assert files.read(f"{root}/a b/delta_1_1/bucket_00000") == b"0123456789"
    assert files.end(f"{root}/a b/delta_1_1/bucket_00000", 10, 3) == b"789"
    assert files.end(f"{root}/a b/delta_1_1/bucket_00000", 10, 30) == b"0123456789"
    files.rename(f"{root}/a b/delta_1_1/bucket_00000", f"{root}/a b/ä%20")
    assert [each for each in files.entries(f"{root}/a b") if not each.name.startswith(".")] == [
        Entry("delta_1_1", 0, True), Entry("ä%20", 10, False),
    ]  # fmt: skip
    files.remove(f"{root}/a b")
    files.remove(f"{root}/a b")
    assert files.entries(f"{root}/a b") == []


def test_a_file_is_copied_and_its_digest_returned(files: Files, tmp_path: Path) -> None:
    content = bytes(range(256)) * 10_000
    (tmp_path / "a b%20").write_bytes(content)
    (tmp_path / "empty").touch()
    for name, expected in (("a b%20", content), ("empty", b"")):
        source, target = f"file:{tmp_path}/{name}", f"file:{tmp_path}/copy of {name}"
        digest = hashlib.sha256(expected).hexdigest()
        assert files.copy(source, target) == files.digest(target) == files.digest(source) == digest
        assert (tmp_path / f"copy of {name}").read_bytes() == expected


def test_a_location_without_a_scheme_is_local(files: Files, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert files.copy(f"{tmp_path}/a", f"{tmp_path}/b") == files.digest(f"{tmp_path}/b")


def test_a_directory_is_listed_with_everything_below(tmp_path: Path) -> None:
    for path, content in {
        "000000_0": b"x",
        "base_0000002/bucket_00000": b"xx",
        "base_0000002/_metadata_acid": b'{"thisFileVersion":"0","dataFormat":"compacted"}',
        "base_0000003/_metadata_acid": b'{"thisFileVersion":"0","dataFormat":"truncated"}',
        "delta_1_1/sub/000000_0": b"xxx",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "base_0000004").mkdir()
    listing = list_location(LocalFiles(), tmp_path.as_uri())
    assert [tuple(each) for each in listing.files] == [("000000_0", 1)]
    assert {name: [each.path for each in found] for name, found in listing.directories.items()} == {
        "base_0000002": ["base_0000002/_metadata_acid", "base_0000002/bucket_00000"],
        "base_0000003": ["base_0000003/_metadata_acid"],
        "base_0000004": [],
        "delta_1_1": ["delta_1_1/sub/000000_0"],
    }
    assert listing.compacted == {"base_0000002"}


def test_metadata_is_added_to_an_orc_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    orc.write_table(pyarrow.table({"a": range(100)}), path)
    files, size = LocalFiles(), path.stat().st_size
    files.add_orc_metadata(path.as_uri(), end_of(files, path.as_uri(), size), {"k": b"v" * 40_000})
    size = path.stat().st_size
    assert tail_of(files, path.as_uri(), size).metadata == {"k": b"v" * 40_000}, "its tail is longer than one read"
    assert orc.read_table(path).num_rows == 100


def test_a_session_without_a_jvm_has_only_the_local_file_system() -> None:
    remote: Any = object()
    assert isinstance(files_of(remote, "file:/w"), LocalFiles)
    with pytest.raises(NotSupported, match="Spark Connect"):
        files_of(remote, "hdfs://host/w")


def test_work_in_threads_keeps_its_order() -> None:
    assert in_threads(lambda number: number * 2, range(50)) == [number * 2 for number in range(50)]
    assert in_threads(str, []) == []
