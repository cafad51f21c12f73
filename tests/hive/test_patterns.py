"""Patterns of names, compared with the results of the real servers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.patterns import compile_pattern, literal_prefix, may_begin_with

DATABASES = ["default", "otherdb", "pd_x", "pdb"]
TABLES = ["badcol2", "ext1", "ext2", "t1", "v1", "wf2"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", DATABASES),
        (" * ", DATABASES),
        (None, DATABASES),
        (".*", DATABASES),
        ("pd*", ["pd_x", "pdb"]),
        ("PD*", ["pd_x", "pdb"]),
        ("pdb|pd_x", ["pd_x", "pdb"]),
        ("p*|o*", ["otherdb", "pd_x", "pdb"]),
        ("p.b", ["pdb"]),
        ("*d*b", ["otherdb", "pdb"]),
        ("pd?", []),
        ("", []),
        ("|", []),
        ("%", []),
        ("pd%", []),
        ("pd[b]", []),
        (" pdb ", ["pdb"]),
    ],
)
def test_a_pattern_finds_the_databases_that_hive_finds(pattern: str | None, found: list[str]) -> None:
    assert list(filter(compile_pattern(pattern), DATABASES)) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("T*", ["t1"]),
        ("ext*|v1", ["ext1", "ext2", "v1"]),
        ("ext.", ["ext1", "ext2"]),
        ("EXT1", ["ext1"]),
        ("*1|*2", TABLES),
        ("ext1*", ["ext1"]),
        ("ext1.*", []),
    ],
)
def test_a_pattern_finds_the_tables_that_hive_finds(pattern: str, found: list[str]) -> None:
    assert list(filter(compile_pattern(pattern), TABLES)) == found


def test_a_pattern_of_many_stars_does_not_take_for_ever() -> None:
    assert not compile_pattern("*a" * 40 + "b")("a" * 120)


def test_a_very_long_pattern_is_not_cached() -> None:
    pattern = "x" * 5000
    assert compile_pattern(pattern) is not compile_pattern(pattern)
    assert compile_pattern(pattern)(pattern)


@pytest.mark.parametrize(
    ("pattern", "possible"),
    [
        *((pattern, True) for pattern in ("*", None, "old_*", "OLD_db", "o*", "*db", "x|old_y", "old.db", " old_x")),
        *((pattern, False) for pattern in ("new_*", "x|y", "oldx", "nld.db")),
    ],
)
def test_whether_a_name_with_a_prefix_can_match(pattern: str | None, possible: bool) -> None:
    assert may_begin_with(pattern, "old_") is possible
    assert may_begin_with(pattern, "")


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        (None, ""),
        ("*", ""),
        ("Sales_*", "sales_"),
        (" sales.x ", "sales"),
        ("sales", "sales"),
        ("sales*|tax*", ""),
        ("größe*", "gr"),
        ("a~b*", "a"),
        ("a b*", "a"),
    ],
)
def test_a_pattern_has_the_prefix_of_all_names_that_it_matches(pattern: str | None, prefix: str) -> None:
    assert literal_prefix(pattern) == prefix


@given(name=st.text("aA.*|sSſKk~ İß", max_size=6), pattern=st.text("aA.*|sSſKk~ İß", max_size=6))
def test_every_name_that_a_pattern_matches_begins_with_its_prefix(name: str, pattern: str) -> None:
    stored = name.lower()
    if compile_pattern(pattern)(stored):
        assert stored.startswith(literal_prefix(pattern))
