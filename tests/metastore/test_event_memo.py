"""Rendered events are kept for the next reader, and never too many of them."""

from metastored.metastore.event_memo import EventMemo


def test_what_was_kept_is_found_by_id_and_dialect() -> None:
    memo = EventMemo()
    memo.keep(31, {1: (b"one",)})
    assert memo.get(1, 31) == (b"one",)
    assert memo.get(1, 40) is None
    assert memo.get(2, 31) is None


def test_more_than_the_limit_is_never_held() -> None:
    memo = EventMemo(limit=10)
    for number in range(4):
        memo.keep(31, {number: (b"%04d" % number,)})
    assert [memo.get(number, 31) for number in range(4)] == [None, None, (b"0002",), (b"0003",)]
    memo.keep(31, {9: (b"x" * 11,)})
    assert memo.get(9, 31) is None


def test_a_piece_that_events_share_counts_once() -> None:
    memo, shared = EventMemo(limit=10), b"1234567"
    for number in range(3):
        memo.keep(31, {number: (shared, b"%d" % number)})
    assert [memo.get(number, 31) for number in range(3)] == [(shared, b"0"), (shared, b"1"), (shared, b"2")]
    memo.keep(31, {3: (b"too long", b"3")})
    assert [memo.get(number, 31) for number in range(4)] == [None, None, None, (b"too long", b"3")]
