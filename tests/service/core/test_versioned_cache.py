"""The cache of computed values: hits, misses by another version, and its bounds."""

from __future__ import annotations

from metastored.service.core.versioned_cache import VersionedCache

MOST, MOST_BYTES = 4, 1000


class Source:
    """Computes values that contain the version, through a cache; counts the computations."""

    def __init__(self) -> None:
        self.version = 1
        self.computed = 0
        self.cache = VersionedCache[str](MOST, MOST_BYTES)

    def compute(self, size: int = 10) -> tuple[str, int]:
        self.computed += 1
        return f"version {self.version}", size

    def get(self, key: str, size: int = 10) -> str:
        return self.cache.get(key, self.version, lambda: self.compute(size))


def test_a_value_is_computed_once_while_the_version_is_the_same() -> None:
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


def test_an_older_version_is_a_miss_as_well() -> None:
    source = Source()
    source.version = 2
    source.get("a")
    source.version = 1
    assert source.get("a") == "version 1"


def test_a_value_computed_during_a_change_is_not_a_hit_later() -> None:
    source = Source()

    def changing() -> tuple[str, int]:
        value = source.compute()
        source.version = 2
        return value

    stale = source.cache.get("a", 1, changing)
    assert source.get("a") != stale


def test_a_late_thread_does_not_store_a_stale_value() -> None:
    source = Source()

    def late() -> tuple[str, int]:
        value = source.compute()
        source.version = 2
        source.get("a")
        return value

    stale = source.cache.get("a", 1, late)
    assert source.get("a") != stale


def test_a_value_larger_than_the_bound_is_not_cached() -> None:
    source = Source()
    source.get("a", MOST_BYTES + 1)
    source.get("a", MOST_BYTES + 1)
    assert source.computed == 2


def test_the_bytes_of_all_entries_are_bounded() -> None:
    source = Source()
    source.get("a", MOST_BYTES)
    source.get("b", 1)
    source.get("a", MOST_BYTES)
    assert source.computed == 3


def test_a_new_version_replaces_the_size_of_the_old_one() -> None:
    source = Source()
    source.get("other", 10)
    for version in range(5):
        source.version = version + 2
        source.get("a", MOST_BYTES - 10)
    source.cache.get("other", 1, source.compute)
    assert source.computed == 6


def test_the_number_of_entries_is_bounded() -> None:
    source = Source()
    for number in range(MOST + 1):
        source.get(str(number))
    source.get(str(MOST))
    assert source.computed == MOST + 1
    source.get("0")
    assert source.computed == MOST + 2
