"""COLUMN_STATS_ACCURATE and the basic statistics, compared with the results of Hive 2.3.10's own functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.hive.statistics import basic as stats

BASIC = '{"BASIC_STATS":"true"}'
BOTH = '{"BASIC_STATS":"true","COLUMN_STATS":{"c":"true"}}'
COLUMNS = '{"COLUMN_STATS":{"a":"true","b":"true"}}'


def state(text: str | None) -> dict[str, str]:
    return {"k": "v"} if text is None else {"k": "v", stats.COLUMN_STATS_ACCURATE: text}


@pytest.mark.parametrize(
    ("text", "basic", "columns"),
    [
        (None, False, ""),
        ("true", True, ""),
        ("TRUE", True, ""),
        ("false", False, ""),
        ("{}", False, ""),
        (BASIC, True, ""),
        (COLUMNS, False, "ab"),
        (BOTH, True, "c"),
        ("junk", False, ""),
        ("[1]", False, ""),
        ('{"BASIC_STATS":"false","X":1}', False, ""),
        ('{"BASIC_STATS":true,"COLUMN_STATS":7}', True, ""),
    ],
)
def test_accuracy_is_read_from_every_form_hive_ever_wrote(text: str | None, basic: bool, columns: str) -> None:
    assert stats.read_accuracy(state(text)) == (basic, frozenset(columns))
    assert stats.are_basic_stats_accurate(state(text)) is basic
    assert stats.are_column_stats_accurate(state(text), "c") is ("c" in columns)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, BASIC),
        ("true", BASIC),
        ("junk", BASIC),
        (BOTH, BOTH),
        (COLUMNS, '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true","b":"true"}}'),
    ],
)
def test_setting_the_basic_state_keeps_the_columns(before: str | None, after: str) -> None:
    assert stats.set_basic_state(state(before)) == state(after)


@pytest.mark.parametrize("before", [None, "true", BOTH, "junk"])
def test_clearing_the_basic_state_removes_it_all(before: str | None) -> None:
    assert stats.clear_basic_state(state(before)) == state(None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '{"COLUMN_STATS":{"c":"true","z":"true"}}'),
        ("true", '{"BASIC_STATS":"true","COLUMN_STATS":{"c":"true","z":"true"}}'),
        (COLUMNS, '{"COLUMN_STATS":{"a":"true","b":"true","c":"true","z":"true"}}'),
    ],
)
def test_columns_are_set_in_the_order_of_their_names(before: str | None, after: str) -> None:
    assert stats.set_columns_state(state(before), ["z", "c"]) == state(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, None), (BOTH, BASIC), (COLUMNS, '{"COLUMN_STATS":{"a":"true"}}'), ("junk", "{}")],
)
def test_columns_are_cleared_one_by_one(before: str | None, after: str | None) -> None:
    assert stats.clear_columns_state(state(before), ["c", "b"]) == state(after)


@pytest.mark.parametrize(("before", "after"), [(None, None), (BOTH, BASIC), (COLUMNS, "{}")])
def test_all_columns_can_be_cleared(before: str | None, after: str | None) -> None:
    assert stats.clear_columns_state(state(before)) == state(after)


@given(st.sets(st.text()))
def test_columns_survive_the_parameter(columns: set[str]) -> None:
    assert stats.read_accuracy(stats.set_columns_state({}, columns)).columns == columns


def test_fast_statistics_are_complete_only_together() -> None:
    assert not stats.has_fast_stats({"numFiles": "1"})
    assert stats.has_fast_stats({"numFiles": "1", "totalSize": "12"})


def test_a_listing_by_itself_makes_statistics_untrusted() -> None:
    assert stats.set_fast_stats(state(BOTH), 2, 12, {}) == {"k": "v", "numFiles": "2", "totalSize": "12"}


def test_a_listing_for_a_statistics_task_makes_them_trusted() -> None:
    env = {"STATS_GENERATED": "TASK"}
    assert stats.set_fast_stats({}, 2, 12, env) == {
        "numFiles": "2",
        "totalSize": "12",
        "COLUMN_STATS_ACCURATE": BASIC,
    }
