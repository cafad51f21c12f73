"""Decisions of compaction: what is compacted into what, when it is needed, and what a cleaner may remove."""

from __future__ import annotations

import random

import pytest

from metastored.hive.transactions.compaction import (
    Compaction,
    CompactionKind,
    CompactorWriteIds,
    Thresholds,
    abandoned,
    cleaner_transactions,
    compaction,
    is_free,
    is_left_alone,
    needed,
    removable,
    thresholds_of,
)
from metastored.hive.transactions.resolution import File, Listing, resolve
from metastored.hive.transactions.snapshots import NO_OPEN_ID, RangeResponse, ValidTxnList, ValidWriteIdList

MINOR, MAJOR = CompactionKind.MINOR, CompactionKind.MAJOR


def snapshot(high: int, open: tuple[int, ...] = (), aborted: tuple[int, ...] = ()) -> ValidWriteIdList:
    return ValidWriteIdList("db.t", high, open, aborted, min(open, default=NO_OPEN_ID))


def ids_up_to(high: int, *aborted: int) -> CompactorWriteIds:
    return CompactorWriteIds("db.t", high, (), aborted)


def listing(*names: str, size: int = 1, files: tuple[str, ...] = (), **sizes: int) -> Listing:
    directories = {name: [File("bucket_00000", sizes.get(name, size))] for name in names}
    return Listing(directories, tuple(File(path, size) for path in files))


def decided(kind: CompactionKind, *names: str, ids: CompactorWriteIds | None = None, files: tuple[str, ...] = ()) -> (
    Compaction | None
):  # fmt: skip
    ids = ids or ids_up_to(100)
    return compaction(kind, resolve(listing(*names, files=files), ids, ValidTxnList(1000)), ids, 77)


# Write ids


def test_a_compaction_stops_below_the_lowest_open_write_id() -> None:
    ids = CompactorWriteIds.of(snapshot(9, open=(5, 7), aborted=(2, 6)))
    assert ids == ids_up_to(4, 2)
    assert CompactorWriteIds.of(snapshot(9)) == ids_up_to(9)
    assert CompactorWriteIds.of(snapshot(9, aborted=(2, 8)), highest=7) == ids_up_to(7, 2)


def test_a_range_is_compacted_only_completely() -> None:
    ids = ids_up_to(5, 2, 3)
    assert [ids.is_range_valid(4, 5), ids.is_range_valid(4, 6)] == [RangeResponse.ALL, RangeResponse.NONE]
    assert [ids.is_range_aborted(2, 3), ids.is_range_aborted(1, 3), ids.is_range_aborted(4, 5)] == [
        RangeResponse.ALL, RangeResponse.SOME, RangeResponse.NONE,
    ]  # fmt: skip
    assert ids.is_valid(1) and not ids.is_valid(2) and not ids.is_valid(6)
    assert ids.is_aborted(2) and ids.is_valid_base(5) and not ids.is_valid_base(6)


# The worker


def test_a_major_compaction_writes_a_base_of_everything_up_to_its_highest_write_id() -> None:
    found = decided(MAJOR, "base_3", "delta_4_4_0", "delete_delta_5_5_0", "delta_9_9_0", ids=ids_up_to(6, 1))
    assert found is not None
    assert (str(found.result), found.delete_result) == ("base_0000006_v0000077", None)
    assert [each.name for each in (*found.deltas, *found.delete_deltas)] == ["delta_4_4_0", "delete_delta_5_5_0"]
    assert found.base is not None and found.base.name == "base_3" and found.aborted == (1,)


def test_a_minor_compaction_writes_one_delta_and_one_delete_delta_of_all_write_ids() -> None:
    found = decided(MINOR, "base_3", "delta_4_4_0", "delete_delta_5_5_0", "delta_7_7_0")
    assert found is not None and found.base is None
    assert str(found.result) == "delta_0000004_0000007_v0000077"
    assert str(found.delete_result) == "delete_delta_0000004_0000007_v0000077"


def test_a_minor_compaction_has_only_the_results_that_have_rows() -> None:
    found = decided(MINOR, "delta_4_4_0", "delta_5_5_0")
    assert found is not None and found.delete_result is None
    found = decided(MINOR, "base_3", "delete_delta_4_4_0", "delete_delta_5_5_0")
    assert found is not None and found.result is None


@pytest.mark.parametrize(
    ("kind", "names", "files"),
    [
        (MAJOR, (), ()),
        (MAJOR, ("base_5",), ()),
        (MAJOR, ("delta_1_1_0",), ()),
        (MINOR, ("base_5", "delta_6_6_0"), ()),
        (MINOR, ("base_5", "delta_6_6_0", "delete_delta_6_6_0"), ()),
        (MINOR, ("base_5",), ("000000_0",)),
    ],
)
def test_a_compaction_that_would_change_nothing_is_refused(
    kind: CompactionKind, names: tuple[str, ...], files: tuple[str, ...]
) -> None:
    assert decided(kind, *names, files=files) is None


def test_files_from_before_a_table_was_transactional_are_compacted_into_a_base() -> None:
    found = decided(MAJOR, files=("000000_0",), ids=ids_up_to(0))
    assert found is not None and [file.path for file in found.originals] == ["000000_0"]
    assert str(found.result) == "base_0000000_v0000077"


# The initiator


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], None),
        (["base_1"], None),
        (["base_1", "delta_2_2_0"], None),
        (["base_1", "delta_2_2_0", "delta_3_3_0"], MAJOR),
        ([f"delta_{at}_{at}_0" for at in range(1, 11)], None),
        ([f"delta_{at}_{at}_0" for at in range(1, 12)], MAJOR),
        (["base_1", *(f"small_{at}" for at in range(11))], MINOR),
    ],
)
def test_a_table_is_compacted_by_hives_thresholds(names: list[str], expected: CompactionKind | None) -> None:
    found = Listing(
        {
            f"delta_{at + 2}_{at + 2}_0" if name.startswith("small") else name: [
                File("bucket_00000", 100 if name == "base_1" else 0 if name.startswith("small") else 10)
            ]
            for at, name in enumerate(names, start=-1)
        }
    )
    assert needed(resolve(found, snapshot(100), ValidTxnList()), found, Thresholds()) is expected


def test_many_aborted_transactions_with_files_are_compacted() -> None:
    found = listing("base_1", "delta_2_2_0", "delta_3_3_0", "delta_4_4_0", base_1=1000)
    ids = ids_up_to(9, 2, 3, 4)
    state = resolve(found, ids, ValidTxnList())
    assert needed(state, found, Thresholds(aborted=2)) is MAJOR
    assert needed(state, found, Thresholds(aborted=3)) is None


def test_a_table_has_thresholds_of_its_own() -> None:
    parameters = {
        "compactorthreshold.hive.compactor.delta.num.threshold": "3",
        "compactorthreshold.hive.compactor.delta.pct.threshold": "0.5",
    }
    assert thresholds_of(parameters, Thresholds()) == Thresholds(3, 0.5, 1000)
    with pytest.raises(ValueError, match="many"):
        thresholds_of({"compactorthreshold.hive.compactor.abortedtxn.threshold": "many"}, Thresholds())


def test_a_table_without_automatic_compaction_is_left_alone() -> None:
    assert is_left_alone({"NO_AUTO_COMPACTION": "True"})
    assert not is_left_alone({"no_auto_compaction": "false"}) and not is_left_alone({})


# The cleaner


def test_old_files_are_free_when_all_readers_from_before_the_commit_have_ended() -> None:
    assert is_free(10, 11) and is_free(None, 1) and is_free(0, 1)
    assert not is_free(10, 10) and not is_free(10, 9)


def test_a_cleaner_sees_only_what_every_reader_sees() -> None:
    assert cleaner_transactions(ValidTxnList(20, (9, 12), (3, 11), 9)) == ValidTxnList(8, (), (3,))
    assert cleaner_transactions(ValidTxnList(20, (), (3,))) == ValidTxnList(20, (), (3,))


def test_replaced_and_aborted_directories_are_removed_and_later_ones_stay() -> None:
    found = listing(
        "base_2", "base_5_v50", "delta_1_1_0", "delta_4_4_0", "delete_delta_5_5_0", "delta_6_6_0", "delta_3_3_0",
        files=("000000_0",),
    )  # fmt: skip
    gone = removable(found, ids_up_to(5, 3), ValidTxnList(60))
    assert gone.directories == ("base_2", "delete_delta_5_5_0", "delta_1_1_0", "delta_3_3_0", "delta_4_4_0")
    assert gone.files == ("000000_0",)


def test_the_result_of_an_aborted_compaction_is_removed_and_one_of_an_open_one_stays() -> None:
    found = listing("delta_1_1_0", "delta_2_2_0", "base_2_v50", "base_2_v51")
    gone = removable(found, ids_up_to(2), ValidTxnList(50, (), (50,)))
    assert gone.directories == ("base_2_v50",)


def test_staging_directories_of_ended_transactions_are_abandoned() -> None:
    found = listing("_tmp_compact_5", "_tmp_compact_6", "_tmp_compact_7", "_tmp_compact_x", "_tmp_acid_5")
    assert abandoned(found, ValidTxnList(7, (6,), (5,), 6)) == ("_tmp_compact_5", "_tmp_compact_7")


# All of them together


@pytest.mark.parametrize("seed", range(60))
def test_a_compaction_changes_nothing_for_any_reader(seed: int) -> None:
    """Random histories of writes, aborts, compactions and cleanings; directories are sets of write ids."""
    chance = random.Random(seed)
    contents: dict[str, frozenset[int]] = {}
    states: dict[int, str] = {}
    readers: list[tuple[ValidWriteIdList, ValidTxnList, frozenset[int]]] = []

    def at_now() -> ValidWriteIdList:
        opened = tuple(each for each, state in states.items() if state == "open")
        return snapshot(len(states), opened, tuple(each for each, state in states.items() if state == "aborted"))

    def seen(ids: ValidWriteIdList, txns: ValidTxnList) -> frozenset[int]:
        state = resolve(Listing({name: [File("bucket_00000", 1)] for name in contents}), ids, txns)
        found = [each for directory in state.data for each in contents[directory.name] if ids.is_valid(each)]
        assert len(found) == len(set(found)), "rows are read twice"
        return frozenset(found)

    for txn in range(1, 61):
        match chance.choice(("write", "write", "write", "end", "end", "read", "leave", "compact", "clean")):
            case "write":
                states[len(states) + 1] = "open"
                contents[f"delta_{len(states)}_{len(states)}_0"] = frozenset({len(states)})
            case "end":
                for write_id in [each for each, state in states.items() if state == "open"][:1]:
                    states[write_id] = chance.choice(("committed", "committed", "aborted"))
            case "read":
                ids = at_now()
                readers.append((ids, ValidTxnList(txn), frozenset(filter(ids.is_valid, states))))
            case "leave" if readers:
                readers.pop(chance.randrange(len(readers)))
            case "compact":
                compactor = CompactorWriteIds.of(at_now())
                state = resolve(Listing(dict.fromkeys(contents, ())), compactor, ValidTxnList(txn))
                done = compaction(chance.choice((MINOR, MAJOR)), state, compactor, txn)
                if done is not None and done.result is not None:
                    read = (*done.deltas, *((done.base,) if done.base else ()))
                    rows = {each for directory in read for each in contents[directory.name]}
                    contents[str(done.result)] = frozenset(rows - set(done.aborted))
            case "clean":
                lowest = min((each[1].high_watermark for each in readers), default=txn)
                compactor = CompactorWriteIds.of(at_now())
                compactions = [int(name.partition("_v")[2] or 0) for name in contents]
                if all(each <= lowest for each in compactions):
                    found = Listing(dict.fromkeys(contents, ()))
                    for name in removable(found, compactor, ValidTxnList(lowest)).directories:
                        del contents[name]
        for ids, txns, expected in readers:
            assert seen(ids, txns) == expected
        ids = at_now()
        assert seen(ids, ValidTxnList(txn)) == frozenset(filter(ids.is_valid, states))
