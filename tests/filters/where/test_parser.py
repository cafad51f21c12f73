"""Where a filter is wrong, and what was expected there."""

from __future__ import annotations

import pytest

from metastored.filters.where import FilterFault, parse
from metastored.hive.limits import MAX_FILTER


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("ds => '1'", r"at character 5 \(\"> '1'\"\): a key, a function or a value such as 7"),
        ("ds = = 1", r"at character 6 \('= 1'\): a key, a function or a value"),
        ("ds = '1' and", r"at character 13 \(the end\): a key, a function or a value"),
        ("ds 7", r"at character 4 \('7'\): a comparison \(=, !=, <, <=, >, >=\), BETWEEN, IN, LIKE or IS was expected"),
        ("7", r"at character 2 \(the end\): a comparison"),
        ("ds = '1' h = 2", r"at character 10 \('h = 2'\): AND, OR or the end was expected"),
        ("ds\n= = '1'", "at character 6"),
        ("ds = 'a", r"at character 6 \(\"'a\"\): the closing quote is missing"),
        ("ds ; 1", r"at character 4 \('; 1'\): no such sign in filters"),
        ("(ds = 1", r"at character 8 \(the end\): \) was expected"),
        ("ds in 1", r"at character 7 \('1'\): \( was expected"),
        ("ds like 1", "a quoted pattern was expected, such as '2024%'"),
        ("ds not = 1", "BETWEEN, IN or LIKE was expected behind NOT"),
        ("ds between 1 or 2", "at character 14 .*AND was expected"),
        ("ds is maybe", r"at character 7 \('maybe'\): TRUE, FALSE or NULL was expected behind IS"),
        ("ds = DATE '2024-13-01'", "'2024-13-01' is not a date; write one such as 2024-01-31"),
        ("(struct(a, b)) in (struct(1))", "2 values were expected, one for each key"),
        ("cast(ds int) = 1", "AS and a type was expected"),
        ("(" * 200 + "a = 1", "nested deeper than 100 levels"),
        ("upper(" * 200 + "a", "nested deeper than 100 levels"),
        ("a = 1" + " is true" * 200, "nested deeper than 100 levels"),
        ("a" + " + 1" * 200 + " = 1", "more than 100 operators in a row"),
        ("-" * 200 + "a = 1", "nested deeper than 100 levels"),
        ("x" * (MAX_FILTER + 1), "at most"),
    ],
)
def test_a_filter_that_cannot_be_read_says_where_and_what_was_expected(where: str, message: str) -> None:
    with pytest.raises(FilterFault, match=message):
        parse(where)
