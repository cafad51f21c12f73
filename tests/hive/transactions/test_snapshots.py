"""Valid transaction lists and valid write id lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.transactions import snapshots
from metastored.hive.transactions.snapshots import NO_OPEN_ID, RangeResponse, ValidTxnList, ValidWriteIdList


@pytest.mark.parametrize(("places", "data"), [([], b""), ([0], b"\x01"), ([0, 9], b"\x01\x02"), ([7], b"\x80")])
def test_bits_are_packed_as_java_packs_them(places: list[int], data: bytes) -> None:
    assert snapshots.encode_bits(places) == data
    assert snapshots.decode_bits(data) == places


@given(st.sets(st.integers(0, 500)))
def test_bits_survive_their_bytes(places: set[int]) -> None:
    assert snapshots.decode_bits(snapshots.encode_bits(places)) == sorted(places)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("100:93:93,97:90,91", "100:93:93,97:90,91"),
        ("60:50:50-56:10", "60:50:50,51,52,53,54,55,56:10"),
        (f"100:{NO_OPEN_ID}::", f"100:{NO_OPEN_ID}::"),
        ("", f"{NO_OPEN_ID}:{NO_OPEN_ID}::"),
        ("100:5", "100:5::"),
        ("100:7:7", "100:7:7:"),
        ("100:5:5-10,20:1,2,3,4", "100:5:5,6,7,8,9,10,20:1,2,3,4"),
        ("50:1:1-5:", "50:1:1,2,3,4,5:"),
    ],
)
def test_a_transaction_list_is_read_and_written_as_hive_does(text: str, written: str) -> None:
    assert str(ValidTxnList.parse(text)) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "has 1 parts; a snapshot has 2 to 4"),
        ("a:1", "'a' is not an id in 'a:1'"),
        ("9:1:2,x:", "'x' is not an id"),
        ("9:1:5-2:", "'5-2' is not a run"),
        ("9:1:1-99999999999:", "is not a run of at most"),
        ("1:2:3:4:5", "has 5 parts"),
    ],
)
def test_an_invalid_snapshot_is_refused(text: str, message: str) -> None:
    with pytest.raises(snapshots.SnapshotSyntaxError, match=message):
        ValidTxnList.parse(text)


def test_a_transaction_is_seen_up_to_the_mark_unless_open_or_aborted() -> None:
    seen = ValidTxnList.parse("10:5:5,7:3")
    assert [txn for txn in range(1, 13) if seen.is_valid(txn)] == [1, 2, 4, 6, 8, 9, 10]
    assert seen.is_aborted(3)
    assert not seen.is_aborted(5)


def test_a_reply_of_open_transactions_becomes_a_list() -> None:
    assert str(ValidTxnList.of_reply(2, [2], b"\x01")) == f"2:{NO_OPEN_ID}::2"
    assert str(ValidTxnList.of_reply(2, [1, 2], b"")) == "2:1:1,2:"


def test_bits_beyond_the_list_are_ignored() -> None:
    assert str(ValidTxnList.of_reply(2, [2], b"\x02")) == "2:2:2:"


def test_an_own_transaction_ends_the_list_and_is_seen() -> None:
    seen = ValidTxnList.of_reply(9, [3, 5, 6, 8], b"\x04", own_txn=6)
    assert str(seen) == "6:3:3,5:"
    assert seen.is_valid(6)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (f"default.t:9:{NO_OPEN_ID}::", f"default.t:9:{NO_OPEN_ID}::"),
        ("default.t:9:4:4,7:", "default.t:9:4:4,7:"),
        (f"default.t:9:{NO_OPEN_ID}::3", f"default.t:9:{NO_OPEN_ID}::3"),
        ("default.t:9:4:4", "default.t:9:4:4:"),
        ("default.t:9:4", "default.t:9:4::"),
        ("null:9:4:4,5,6,7,8,9:1", "null:9:4:4,5,6,7,8,9:1"),
        ("", f"null:{NO_OPEN_ID}:{NO_OPEN_ID}::"),
    ],
)
def test_a_write_id_list_is_read_and_written_as_hive_does(text: str, written: str) -> None:
    assert str(ValidWriteIdList.parse(text)) == written


NONE, SOME, ALL = RangeResponse.NONE, RangeResponse.SOME, RangeResponse.ALL


@pytest.mark.parametrize(
    ("text", "one_to_five", "three_aborted", "base_four", "ten_up", "eight_up"),
    [
        (f"default.t:9:{NO_OPEN_ID}::", ALL, NONE, True, NONE, SOME),
        ("default.t:9:4:4,7:", SOME, NONE, False, NONE, SOME),
        (f"default.t:9:{NO_OPEN_ID}::3", SOME, ALL, True, NONE, SOME),
        ("default.t:9:4:4:3", SOME, ALL, False, NONE, SOME),
        ("null:9:4:4,5,6,7,8,9:1", SOME, NONE, False, NONE, NONE),
        ("default.t:9:5::3", SOME, ALL, True, NONE, SOME),
        ("", ALL, NONE, True, ALL, ALL),
    ],
)
def test_ranges_of_write_ids_are_judged_as_hive_judges_them(
    text: str,
    one_to_five: RangeResponse,
    three_aborted: RangeResponse,
    base_four: bool,
    ten_up: RangeResponse,
    eight_up: RangeResponse,
) -> None:
    seen = ValidWriteIdList.parse(text)
    assert seen.is_range_valid(1, 5) is one_to_five
    assert seen.is_range_aborted(3, 3) is three_aborted
    assert seen.is_valid_base(4) is base_four
    assert seen.is_range_valid(10, 11) is ten_up
    assert seen.is_range_valid(8, 11) is eight_up


def test_a_range_below_every_exception_is_all_visible() -> None:
    assert ValidWriteIdList.parse("t:9:7:7:").is_range_valid(1, 6) is ALL


def test_write_ids_go_into_thrift_and_come_back() -> None:
    seen = ValidWriteIdList.parse("pdb.t1:9:4:4,7:3,5")
    invalid, bits = seen.invalid()
    assert invalid == (3, 4, 5, 7)
    assert bits == b"\x05"
    assert ValidWriteIdList.of_reply("pdb.t1", 9, invalid, 4, bits) == seen


def test_a_table_never_written_has_nothing_to_see() -> None:
    seen = ValidWriteIdList.of_reply("pdb.never", 0, [], None, b"")
    assert not seen.is_valid(1)
    assert seen.min_open == NO_OPEN_ID


def test_one_write_id_is_seen_or_not() -> None:
    seen = ValidWriteIdList.parse("t:9:4:4:3")
    assert [one for one in range(1, 12) if seen.is_valid(one)] == [1, 2, 5, 6, 7, 8, 9]
    assert [one for one in range(1, 12) if seen.is_aborted(one)] == [3]


def test_the_snapshots_of_several_tables_travel_together() -> None:
    text = f"7$default.t:9:4:4,7:$b.u:3:{NO_OPEN_ID}::"
    txn, lists = snapshots.parse_write_id_lists(text)
    assert txn == 7
    assert list(lists) == ["default.t", "b.u"]
    assert snapshots.format_write_id_lists(txn, lists.values()) == text


ids = st.sets(st.integers(1, 60))


@given(ids, ids, st.integers(60, 100))
def test_every_transaction_list_survives_its_text(opened: set[int], aborted: set[int], mark: int) -> None:
    open_ids, aborted_ids = tuple(sorted(opened - aborted)), tuple(sorted(aborted))
    seen = ValidTxnList(mark, open_ids, aborted_ids, min(open_ids, default=NO_OPEN_ID))
    assert ValidTxnList.parse(str(seen)) == seen
    assert [txn for txn in range(1, mark + 1) if not seen.is_valid(txn)] == sorted(opened | aborted)


@given(ids, ids, st.integers(60, 100))
def test_every_write_id_list_survives_text_and_thrift(opened: set[int], aborted: set[int], mark: int) -> None:
    open_ids, aborted_ids = tuple(sorted(opened - aborted)), tuple(sorted(aborted))
    lowest = min(open_ids, default=NO_OPEN_ID)
    seen = ValidWriteIdList("db.t", mark, open_ids, aborted_ids, lowest)
    assert ValidWriteIdList.parse(str(seen)) == seen
    invalid, bits = seen.invalid()
    assert ValidWriteIdList.of_reply("db.t", mark, invalid, lowest, bits) == seen
