"""Which directories a reader uses at a snapshot: each test is one rule of Hive's, or one of its traps."""

from __future__ import annotations

import random

import pytest

from metastored.hive.transactions.layout import Directory
from metastored.hive.transactions.resolution import File, Listing, NotEnoughHistory, Resolved, data_files, resolve
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList, ValidWriteIdList


def ids(high: int, open: tuple[int, ...] = (), aborted: tuple[int, ...] = ()) -> ValidWriteIdList:
    return ValidWriteIdList("db.t", high, open, aborted, min(open, default=NO_OPEN_ID))


def txns(high: int = 1000, open: tuple[int, ...] = (), aborted: tuple[int, ...] = ()) -> ValidTxnList:
    return ValidTxnList(high, open, aborted, min(open, default=NO_OPEN_ID))


def resolved(
    *names: str,
    at: ValidWriteIdList | None = None,
    transactions: ValidTxnList | None = None,
    files: tuple[str, ...] = (),
    compacted: tuple[str, ...] = (),
) -> Resolved:
    listing = Listing(dict.fromkeys(names, ()), tuple(File(path, 1) for path in files), frozenset(compacted))
    return resolve(listing, at or ids(100), transactions or txns())


def names(directories: tuple[Directory, ...]) -> list[str]:
    return [each.name for each in directories]


# Deltas


def test_deltas_are_read_in_the_order_of_their_write_ids() -> None:
    state = resolved("delta_10_10_0", "delta_2_2_0", "delta_1_1_0")
    assert names(state.data) == ["delta_1_1_0", "delta_2_2_0", "delta_10_10_0"]
    assert state.base is None and not state.obsolete


def test_deltas_of_open_and_later_write_ids_are_not_read() -> None:
    state = resolved("delta_1_1_0", "delta_2_2_0", "delta_3_3_0", "delta_9_9_0", at=ids(8, open=(2,)))
    assert names(state.data) == ["delta_1_1_0", "delta_3_3_0"]
    assert not state.obsolete and not state.aborted


def test_deltas_of_aborted_write_ids_can_be_cleaned() -> None:
    state = resolved("delta_1_1_0", "delta_2_2_0", "delete_delta_2_2_0", at=ids(8, aborted=(2,)))
    assert names(state.data) == ["delta_1_1_0"]
    assert names(state.aborted) == ["delete_delta_2_2_0", "delta_2_2_0"]


def test_all_statements_of_a_transaction_are_read() -> None:
    state = resolved("delta_1_1_0", "delta_1_1_1", "delete_delta_1_1_1", "delta_1_1_2")
    assert names(state.deltas) == ["delta_1_1_0", "delta_1_1_1", "delta_1_1_2"]
    assert names(state.delete_deltas) == ["delete_delta_1_1_1"]


def test_a_delta_and_its_delete_delta_without_statements_are_both_read() -> None:
    state = resolved("delta_1_1", "delete_delta_1_1")
    assert (names(state.deltas), names(state.delete_deltas)) == (["delta_1_1"], ["delete_delta_1_1"])


def test_a_delta_with_some_visible_write_ids_is_read_and_its_rows_are_filtered() -> None:
    state = resolved("delta_1_5", "delta_6_6_0", at=ids(9, open=(3,)))
    assert names(state.data) == ["delta_1_5", "delta_6_6_0"]
    assert state.partly_visible == {"delta_1_5"}


# Minor compactions


def test_a_compacted_delta_replaces_those_in_its_range() -> None:
    state = resolved("delta_1_10_v50", "delta_3_3_0", "delta_11_11_0", at=ids(11, open=(11,)))
    assert names(state.data) == ["delta_1_10_v50"]
    assert names(state.obsolete) == ["delta_3_3_0"]


def test_a_compaction_whose_transaction_is_open_does_not_count() -> None:
    state = resolved("delta_1_1_0", "delta_2_2_0", "delta_1_2_v5", transactions=txns(open=(5,)))
    assert names(state.data) == ["delta_1_1_0", "delta_2_2_0"]
    assert not state.obsolete and not state.aborted


def test_a_compaction_later_than_the_reader_does_not_count() -> None:
    state = resolved("delta_1_1_0", "base_1_v7", transactions=txns(6))
    assert names(state.data) == ["delta_1_1_0"]


def test_an_aborted_compaction_can_be_cleaned() -> None:
    state = resolved("delta_1_1_0", "delta_1_2_v5", "base_2_v6", transactions=txns(aborted=(5, 6)))
    assert names(state.data) == ["delta_1_1_0"]
    assert names(state.aborted) == ["base_2_v6", "delta_1_2_v5"]


def test_of_two_compactions_of_one_range_only_the_later_one_is_read() -> None:
    state = resolved("delta_1_3_v10", "delete_delta_1_3_v10", "delta_1_3_v12", "delete_delta_1_3_v12")
    assert names(state.deltas) == ["delta_1_3_v12"] and names(state.delete_deltas) == ["delete_delta_1_3_v12"]
    assert names(state.obsolete) == ["delete_delta_1_3_v10", "delta_1_3_v10"]


# Bases


def test_a_base_replaces_all_deltas_up_to_its_write_id_and_the_originals() -> None:
    state = resolved(
        "base_5_v9", "delta_3_3", "delta_6_6_0", "delete_delta_6_6_0", "delta_6_6_1", "base_2_v4", files=("000000_0",)
    )
    assert state.base is not None and state.base.name == "base_5_v9"
    assert names(state.deltas) == ["delta_6_6_0", "delta_6_6_1"]
    assert names(state.delete_deltas) == ["delete_delta_6_6_0"]
    assert names(state.obsolete) == ["delta_3_3", "base_2_v4"]
    assert (state.originals, state.obsolete_originals) == ((), (File("000000_0", 1),))


def test_an_overwrite_is_used_if_its_write_id_is_visible() -> None:
    assert names(resolved("base_7", "delta_1_1_0", at=ids(7, open=(3,))).data) == ["base_7"]
    assert names(resolved("base_7", "delta_1_1_0", at=ids(7, open=(7,))).data) == ["delta_1_1_0"]


def test_an_aborted_overwrite_is_not_used_and_can_be_cleaned() -> None:
    state = resolved("base_7", *(f"delta_{number}_{number}_0" for number in range(1, 7)), at=ids(7, aborted=(7,)))
    assert state.base is None and len(state.deltas) == 6
    assert names(state.aborted) == ["base_7"]


def test_a_compacted_base_above_an_open_write_id_is_not_used() -> None:
    state = resolved("base_3_v9", "base_10_v80", "delta_4_4_0", at=ids(10, open=(7,)))
    assert names(state.data) == ["base_3_v9", "delta_4_4_0"]


def test_a_base_that_hive_3_compacted_is_known_by_its_metadata_file() -> None:
    reader = ids(10, open=(7,))
    assert names(resolved("base_10", "base_5", at=reader, compacted=("base_10", "base_5")).data) == ["base_5"]
    assert names(resolved("base_10", "base_5", at=reader).data) == ["base_10"]


def test_of_an_overwrite_and_a_compaction_of_one_write_id_the_compaction_is_used() -> None:
    state = resolved("base_5", "base_5_v9")
    assert names(state.data) == ["base_5_v9"] and names(state.obsolete) == ["base_5"]


def test_a_reader_whose_directories_were_removed_gets_an_error() -> None:
    with pytest.raises(NotEnoughHistory, match="base_10_v80"):
        resolved("base_10_v80", "delta_11_11_0", at=ids(11, open=(7,)))


def test_an_overwrite_that_is_still_open_is_no_missing_history() -> None:
    assert resolved("base_5", at=ids(5, open=(5,))).data == ()


# Originals and other files


def test_files_from_before_the_conversion_are_read_until_there_is_a_base() -> None:
    listing = Listing(
        {"HIVE_UNION_SUBDIR_1": (File("HIVE_UNION_SUBDIR_1/000000_0", 5),), "delta_1_1_0": ()},
        (File("000001_0", 5), File("000000_0", 0), File("_SUCCESS", 3)),
    )
    state = resolve(listing, ids(5), txns())
    assert state.originals == (File("000001_0", 5), File("HIVE_UNION_SUBDIR_1/000000_0", 5))


def test_hidden_and_empty_files_are_no_data() -> None:
    files = (File("delta_1_1_0/bucket_00000", 9), File("delta_1_1_0/_orc_acid_version", 1), File("x", 0))
    assert data_files(files) == (files[0],)
    assert resolved("_tmp_acid_5", ".hive-staging_1", files=("_x", ".y")).originals == ()


# All together


@pytest.mark.parametrize("seed", range(40))
def test_each_visible_write_id_is_read_exactly_once_in_a_random_history(seed: int) -> None:
    """Write ids 1 to n with random outcomes, then compactions, with a reader that is older or younger than them."""
    chance = random.Random(seed)
    last = chance.randint(1, 12)
    outcome = {
        write_id: chance.choice(("committed", "committed", "aborted", "open")) for write_id in range(1, last + 1)
    }
    reader = ids(
        last,
        open=tuple(each for each, state in outcome.items() if state == "open"),
        aborted=tuple(each for each, state in outcome.items() if state == "aborted"),
    )
    directories = {f"delta_{each}_{each}_0": {each} for each in outcome}
    safe = min(reader.open, default=last + 1) - 1
    high, above = 0, 0
    for txn in range(1, chance.randint(1, 4)):
        if safe <= high:
            break
        high = chance.randint(high + 1, safe)
        minor = chance.random() < 0.5 and above < high
        low = above + 1 if minor else 1
        name = f"delta_{low}_{high}_v{txn}" if minor else f"base_{high}_v{txn}"
        directories[name] = {each for each in range(low, high + 1) if outcome[each] == "committed"}
        above = above if minor else high
    hidden = range(chance.randint(1, 4), 5)  # Compactions run one after the other: a reader sees the first ones.
    state = resolved(*directories, at=reader, transactions=txns(open=tuple(hidden)))
    read = [write_id for each in state.data for write_id in sorted(directories[each.name]) if reader.is_valid(write_id)]
    committed = [each for each, state in outcome.items() if state == "committed"]
    assert sorted(read) == committed
