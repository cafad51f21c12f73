"""The files of a snapshot as the parts of a view: what is read, and what is refused rather than read wrong."""

from __future__ import annotations

import pytest

from metastored.acid_views.files import Files, NotShown, TablePlace, compactions_in, files_of, pattern_of
from metastored.acid_views.names import Snapshot
from metastored.hive.transactions.resolution import Listing, listing_of
from metastored.hive.transactions.snapshots import ValidTxnList, ValidWriteIdList

HOME = TablePlace("file:/w/t")


def listed(*paths: str) -> Listing:
    return listing_of([(path.rstrip("/"), None if path.endswith("/") else 10) for path in paths])


def seen(*paths: str, high: int = 9, visible: int = 0, insert_only: bool = False, **ids: tuple[int, ...]) -> Files:
    write_ids = ValidWriteIdList(
        None, high, ids.get("open", ()), ids.get("aborted", ()), min(ids.get("open", (2**63 - 1,)))
    )
    return files_of({HOME: listed(*paths)}, Snapshot(write_ids, ValidTxnList(visible)), insert_only)


def test_directories_with_rows_and_with_deletes_are_told_apart() -> None:
    assert seen("delta_1_1_0/bucket_00000", "delete_delta_2_2_0/bucket_00000", "base_1/_orc_acid_version") == Files(
        rows=(), deletes=("file:/w/t/delete_delta_2_2_0",)
    )
    assert seen("delta_1_1_0/bucket_00000", "delta_2_2_0/") == Files(rows=("file:/w/t/delta_1_1_0",))


def test_what_was_not_committed_is_not_read() -> None:
    paths = [f"delta_{n}_{n}_0/bucket_00000" for n in (1, 2, 3, 4)]
    found = seen(*paths, high=3, open=(2,), aborted=(3,))
    assert found == Files(rows=("file:/w/t/delta_1_1_0",))


def test_a_compaction_counts_from_its_commit() -> None:
    paths = ["delta_1_1_0/bucket_00000", "delta_2_2_0/bucket_00000", "base_2_v7/bucket_00000"]
    assert compactions_in([listed(*paths)]) == [7]
    assert seen(*paths, visible=0).rows == ("file:/w/t/delta_1_1_0", "file:/w/t/delta_2_2_0")
    assert seen(*paths, visible=7).rows == ("file:/w/t/base_2_v7",)


def test_rows_of_hidden_write_ids_in_a_visible_directory_are_filtered() -> None:
    assert seen("delta_1_3/bucket_00000", high=3, open=(2,)).partly_visible


def test_files_from_before_the_table_was_transactional_are_read_as_they_are() -> None:
    assert seen("000000_0", "delta_1_1_0/bucket_00000") == Files(
        rows=("file:/w/t/delta_1_1_0",), plain=("file:/w/t/000000_0",)
    )


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["000000_0", "delete_delta_1_1_0/bucket_00000"], "files without ids are deleted"),
        (["delta_1_1/bucket_00000", "delta_1_1/bucket_00000_flush_length"], "a stream still writes"),
        (["delta_1_1_0/000000_0"], "loaded without ids"),
        (["delta_1_1_0/HIVE_UNION_SUBDIR_1/bucket_00000"], "directories in it"),
        (["some/000000_0"], "directories that are not Hive's"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_by_a_view_is_refused(paths: list[str], reason: str) -> None:
    with pytest.raises(NotShown, match=reason):
        seen(*paths)


def test_a_side_file_without_bytes_is_one_too() -> None:
    listing = listing_of([("delta_1_1/bucket_00000", 10), ("delta_1_1/bucket_00000_flush_length", 0)])
    with pytest.raises(NotShown, match="a stream still writes"):
        files_of({HOME: listing}, Snapshot(ValidWriteIdList(None, 1), ValidTxnList(0)), False)


def test_a_reader_whose_files_are_removed_is_told_so() -> None:
    with pytest.raises(NotShown, match="the cleaner has removed files"):
        seen("base_5_v7/bucket_00000", high=4, visible=7)


def test_files_of_an_insert_only_table_may_have_any_name() -> None:
    assert seen("delta_1_1_0/000000_0", insert_only=True).rows == ("file:/w/t/delta_1_1_0",)


def test_one_pattern_matches_all_directories_and_nothing_else() -> None:
    assert pattern_of(["file:/w/t/delta_1"]) == "file:/w/t/delta_1"
    assert pattern_of(["s3a://b/t/k=1/delta_1", "s3a://b/t/k=2/delta_1"]) == "s3a://b/t/{k=1/delta_1,k=2/delta_1}"
    assert pattern_of(["file:/w/k=a,b}*/d", "file:/o/d"]) == r"file:/{w/k=a\,b\}\*/d,o/d}"
    with pytest.raises(NotShown, match="several file systems"):
        pattern_of(["s3a://a/t", "s3a://b/t"])
