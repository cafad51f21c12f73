"""Snapshots as clients write them: the results of completely parsed ones, though few of their ids are parsed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.transactions import written_snapshots
from metastored.hive.transactions.snapshots import SnapshotSyntaxError, ValidTxnList
from metastored.hive.transactions.written_snapshots import WrittenTxnList

LONG = tuple(range(100, 20_000, 3))
TEXT = f"20001:100:{','.join(map(str, LONG))}:"


@given(st.frozensets(st.integers(0, 21_000), max_size=40))
def test_the_ids_of_a_long_list_are_found(txns: frozenset[int]) -> None:
    assert WrittenTxnList(TEXT).open_among(txns) == txns & set(LONG)


@given(
    st.lists(st.integers(1, 200), unique=True).map(sorted),
    st.lists(st.integers(1, 200), unique=True).map(sorted),
    st.frozensets(st.integers(0, 210)),
    st.integers(0, 210),
)
def test_it_has_the_results_of_a_completely_parsed_snapshot(
    opened: list[int], aborted: list[int], txns: frozenset[int], high: int
) -> None:
    text = str(ValidTxnList(high, tuple(opened), tuple(aborted)))
    whole = ValidTxnList.parse(text)
    with pytest.MonkeyPatch.context() as patch:
        for short in (0, 2048):
            patch.setattr(written_snapshots, "SHORT", short)
            written = WrittenTxnList(text)
            assert written.high_watermark == whole.high_watermark
            assert written.open_among(txns) == whole.open_among(txns) == txns & set(opened)
            assert written.aborted_among(txns) == whole.aborted_among(txns) == txns & set(aborted)
            assert [written.is_valid(txn) for txn in txns] == [whole.is_valid(txn) for txn in txns]


def test_a_short_list_need_not_ascend_and_may_have_zeros_in_front() -> None:
    assert WrittenTxnList("9:1:5,03,4:").open_among(frozenset(range(9))) == {3, 4, 5}


def test_a_long_list_may_have_zeros_in_front() -> None:
    text = f"9999:1:{','.join(f'{number:08}' for number in range(1000, 2000))}:"
    assert WrittenTxnList(text).open_among(frozenset(range(990, 1010))) == set(range(1000, 1010))


def test_no_text_sees_everything() -> None:
    assert WrittenTxnList("").is_valid(2**60)


@pytest.mark.parametrize("wrong", [",", "x", "1,,2", " 1", "-", "3-1"])
def test_an_invalid_list_of_ids_is_refused(wrong: str) -> None:
    for text in (f"30000:1:{wrong}:", f"30000:1:1:{wrong}"):
        with pytest.raises(SnapshotSyntaxError):
            WrittenTxnList(text)


@pytest.mark.parametrize("wrong", ["x", " 1", "-", "3-1", "é", "\udcff"])
def test_an_invalid_id_is_refused_at_any_position_of_a_long_list(wrong: str) -> None:
    ids = TEXT.split(":")[2]
    for text in (f"9:1:{ids},{wrong}:", f"9:1:{wrong},{ids}:", f"9:1:{ids}:{wrong}", f"{wrong}:1:{ids}:"):
        with pytest.raises(SnapshotSyntaxError):
            WrittenTxnList(text)


def test_a_gap_in_a_long_list_is_refused_where_it_is_met() -> None:
    ids = TEXT.split(":")[2]
    snapshot = WrittenTxnList(f"30000:1:{ids},,20002:")
    assert snapshot.open_among(frozenset(range(100, 104))) == {100, 103}
    with pytest.raises(SnapshotSyntaxError, match="between two commas is not an id in '30000:1:100,103,"):
        snapshot.open_among(frozenset((20_002,)))


def test_parts_at_the_end_of_a_long_snapshot_may_be_missing() -> None:
    ids = TEXT.split(":")[2]
    assert WrittenTxnList(f"20001:1:{ids}").open_among(frozenset((100, 101))) == {100}
    assert WrittenTxnList(f"20001:1::{ids}").aborted_among(frozenset((100, 101))) == {100}
    assert WrittenTxnList(f"20001:1::{ids}").open_among(frozenset((100, 101))) == frozenset()
