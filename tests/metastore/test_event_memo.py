"""Rendered events are kept for the next reader, and never too many of them."""

from skep.metastore.event_memo import EventMemo


def test_what_was_kept_is_found_by_id_and_dialect() -> None:
    memo = EventMemo()
    memo.keep(1, 31, b"one")
    assert memo.get(1, 31) == b"one"
    assert memo.get(1, 40) is None
    assert memo.get(2, 31) is None


def test_more_than_the_limit_is_never_held() -> None:
    memo = EventMemo(limit=10)
    for id in range(4):
        memo.keep(id, 31, b"1234")
    assert [memo.get(id, 31) for id in range(4)] == [None, None, b"1234", b"1234"]
    memo.keep(9, 31, b"x" * 11)
    assert memo.get(9, 31) is None
