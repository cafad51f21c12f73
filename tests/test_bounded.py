"""Dictionaries of caches: full ones are emptied."""

from metastored.bounded import BoundedDict


def test_a_full_dictionary_is_emptied_before_it_takes_another_entry() -> None:
    held: BoundedDict[str, int] = BoundedDict(2)
    held["a"], held["b"] = 1, 2
    assert held == {"a": 1, "b": 2}
    held["c"] = 3
    assert held == {"c": 3}


def test_an_entry_is_replaced_in_a_full_dictionary() -> None:
    held: BoundedDict[str, int] = BoundedDict(2)
    held["a"], held["b"] = 1, 2
    held["a"] = 3
    assert held == {"a": 3, "b": 2}
