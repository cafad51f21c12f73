"""The cache of encoded replies: hits, misses by another version, and its bounds."""

from __future__ import annotations

from metastored.service.core import reply_cache
from metastored.service.core.reply_cache import ReplyCache
from metastored.wire.generated.transactions import GetValidWriteIdsResponse, TableValidWriteIds

METHOD = "get_valid_write_ids"


class Source:
    """Computes replies that contain the version, through a cache; counts the computations."""

    def __init__(self) -> None:
        self.version = 1
        self.computed = 0
        self.cache = ReplyCache()

    def compute(self) -> GetValidWriteIdsResponse:
        self.computed += 1
        return GetValidWriteIdsResponse((TableValidWriteIds("db.t", self.version),))

    def get(self, request: str, length: int = 10) -> bytes:
        return self.cache.get(METHOD, request, self.version, length, self.compute)


def test_a_reply_is_computed_once_while_the_version_is_the_same() -> None:
    source = Source()
    assert source.get("a") == source.get("a")
    source.get("b")
    assert source.computed == 2


def test_another_version_is_a_miss() -> None:
    source = Source()
    before = source.get("a")
    source.version = 2
    assert source.get("a") != before
    assert source.computed == 2


def test_two_methods_with_the_same_request_have_two_replies() -> None:
    source = Source()
    source.get("a")
    other = source.cache.get("get_all_databases", "a", 1, 1, lambda: ("x",))
    assert other != source.get("a")


def test_a_reply_computed_during_a_change_is_not_a_hit_later() -> None:
    source = Source()

    def changing() -> GetValidWriteIdsResponse:
        reply = source.compute()
        source.version = 2
        return reply

    stale = source.cache.get(METHOD, "a", 1, 1, changing)
    assert source.get("a") != stale


def test_a_late_thread_does_not_store_a_stale_reply() -> None:
    source = Source()

    def late() -> GetValidWriteIdsResponse:
        reply = source.compute()
        source.version = 2
        source.get("a")
        return reply

    stale = source.cache.get(METHOD, "a", 1, 1, late)
    assert source.get("a") != stale


def test_a_reply_longer_than_the_bound_is_not_cached() -> None:
    source = Source()
    source.get("a", reply_cache.MOST_BYTES)
    source.get("a", reply_cache.MOST_BYTES)
    assert source.computed == 2


def test_the_number_of_entries_is_bounded() -> None:
    source = Source()
    for number in range(reply_cache.MOST + 1):
        source.get(str(number))
    source.get(str(reply_cache.MOST))
    assert source.computed == reply_cache.MOST + 1
    source.get("0")
    assert source.computed == reply_cache.MOST + 2
