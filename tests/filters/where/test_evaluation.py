"""What a filter of `where=` means for the values of a partition, of every type."""

from __future__ import annotations

import pytest

from metastored.filters.where import FilterFault, bind, parse
from metastored.hive.names import DEFAULT_PARTITION

KEYS = (
    ("s", "string"), ("i", "int"), ("d", "date"), ("x", "double"), ("m", "decimal(10, 2)"), ("b", "boolean"),
    ("v", "varchar(5)"), ("t", "timestamp"), ("c", "char(5)"),
)  # fmt: skip
ROW = ("a%b", "10", "2024-02-29", "-0.5", "2.50", "true", "Xy", "2024-02-29 13:05:00.5", "ab   ")
NULLS = (DEFAULT_PARTITION,) * len(KEYS)


def holds(where: str, row: tuple[str, ...] = ROW) -> bool:
    return bind(where, parse(where), KEYS)(row)


@pytest.mark.parametrize(
    "where",
    [
        "",
        "s = 'a%b'", "S == 'a%b'", "'a%b' = s", "s <> 'x'", "`s` > 'a'",
        "i = 10", "10 <= i", "i = '10'", "i > 9.5", "i < 1e2", "i between 1 and 10", "i not between 1 and 9",
        "d = '2024-02-29'", "d = 2024-02-29", "d >= DATE '2024-02-01'", "d < TIMESTAMP '2024-03-01 00:00:00'",
        "x = -0.5", "x < 0", "x > -1", "x = '-5e-1'",
        "m = 2.5", "m = 2.50", "m > 2", "m between 2.49 and 2.51", "m in (1, 2.5)", "m not in (1, 2)",
        "b", "b = true", "b = 'TRUE'", "b is true", "not b is false", "b != false", "b in (true)",
        "v = 'Xy'", "v like 'X_'", "upper(v) = 'XY'",
        "c = 'ab'", "c = 'ab '", "'ab      ' = c", "c in ('ab')", "c <=> 'ab'", "c < 'ab!'", "c >= 'ab'", "c != 'abc'",
        "t > '2024-02-29'", "t = '2024-02-29 13:05:00.5'", "t >= DATE '2024-02-29'", "hour(t) = 13",
        "not s = 'x'", "not (s = 'x' or i = 1)", "not not i = 10",
        "s in ('x', 'a%b')", "(s) in ('a%b')", "s not in ('x')",
        r"s like 'a\%b'", "s like '%b'", "s not like 'b%'", "s like 'a.*'",
        "(struct(s, i)) in (const struct('a%b', 10), struct('x', 1))", "(struct(s, i)) not in (const struct('a%b', 1))",
        "s is not null", "not s is null", "(i = 11) is not true",
        "year(d) = 2024 and month(d) = 2 and day(d) = 29", "quarter(d) = 1", "date_add(d, 1) = '2024-03-01'",
        "datediff(d, '2024-02-28') = 1", "last_day('2024-02-01') = d", "date_format(d, 'yyyyMM') = '202402'",
        "substr(s, 1, 1) = 'a'", "substring(s, -1) = 'b'", "concat(s, v) = 'a%bXy'", "length(s) = 3",
        "lower(trim(' XY ')) = lower(v)", "abs(x) = 0.5", "floor(m) = 2", "mod(i, 3) = 1",
        "cast(s as string) = s", "cast(i as string) = '10'", "cast(m as int) = 2", "cast('2.5' as decimal(10,2)) = m",
        "i * 10 in (100)", "i-1 = 9", "1 + i * 2 = 21", "(i + 1) * 2 = 22", "-i < 0", "i / 4 = 2.5", "i % 4 = 2",
        "i <=> 10", "contains(s, '%')", "startswith(s, 'a')", "endswith(s, 'b')",
        "coalesce(s, 'none') = 'a%b'", "i > m", "s = 'x' or i = 10 and m > 2",
    ],
)  # fmt: skip
def test_conditions_that_hold(where: str) -> None:
    assert holds(where)
    assert not where or not holds(f"not ({where})")


@pytest.mark.parametrize(
    "where",
    ["i = 1", "i != 1", "not i = 1", "x > 0", "m = 1", "not m = 1", "b", "not b", "d > '2000-01-01'", "year(d) = 2024",
     "i in (1)", "i not in (1)", "i = null", "t < '2024-01-01'", "cast(s as int) = 1"],
)  # fmt: skip
def test_a_value_that_is_none_of_its_type_satisfies_neither_a_condition_nor_its_opposite(where: str) -> None:
    assert not holds(where, NULLS)


def test_the_default_partition_is_null_and_a_string_of_a_string_key() -> None:
    assert all(holds(f"{name} is null", NULLS) for name, _ in KEYS)
    assert holds("s != 'a'", NULLS)
    assert holds("coalesce(s, 'none') = 'none'", NULLS)
    assert holds("(i = 1) is not true", NULLS)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("i = 'soon'", r"at character 5 \(\"'soon'\"\): a number such as 7 or 1.5 was expected"),
        ("d = 'soon'", "at character 5 .* a date such as '2024-01-31' was expected"),
        ("b = 'maybe'", "at character 5 .* TRUE or FALSE was expected"),
        ("t = 'x'", "a timestamp such as '2024-01-31 12:00:00' was expected"),
        ("d = 7", r"at character 5 \('7'\): a date .* was expected: d \(date\) is not compared with 7"),
        ("nokey = 1", r"at character 1 .*nokey is not a partitioning key of the table; the partition keys are s \(str"),
        ("s", r"a condition was expected, and s \(string\) is not a boolean"),
        ("soundex(s) = 'x'", "at character 1 .*there is no function soundex in filters; known are abs, cast"),
        ("year(b) = 1", r"at character 6 .*a date .* was expected, and b \(boolean\) is none"),
        ("substr(s) = 'x'", "2 to 3 arguments were expected by substr, and 1 are there"),
        ("cast(s as zzz) = 1", "a type was expected in CAST"),
    ],
)
def test_a_filter_that_does_not_fit_the_keys_says_where_and_what_was_expected(where: str, message: str) -> None:
    with pytest.raises(FilterFault, match=message):
        holds(where)


def test_a_comparison_that_knows_nulls_is_never_unknown() -> None:
    assert holds("i <=> null and s <=> null", NULLS)
    assert holds("not i <=> 10", NULLS)
    assert not holds("i <=> 10", NULLS)
