"""Rendered events are cached for the next reader, within a limit."""

from metastored.service.core.event_cache import EventCache


def test_an_event_is_found_by_number_and_dialect() -> None:
    cache = EventCache()
    cache.put(31, {1: b"one"})
    assert cache.get(1, 31) == b"one"
    assert cache.get(1, 40) is None
    assert cache.get(2, 31) is None


def test_the_cache_never_holds_more_than_its_limit() -> None:
    cache = EventCache(limit=10)
    for number in range(4):
        cache.put(31, {number: b"%04d" % number})
    assert [cache.get(number, 31) for number in range(4)] == [None, None, b"0002", b"0003"]
    cache.put(31, {9: b"x" * 11})
    assert cache.get(9, 31) is None
