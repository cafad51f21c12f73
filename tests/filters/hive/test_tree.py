"""Partition filters: their results, compared with the partitions that the real servers returned."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import FilterKeyError, check, evaluate, negate, predicate
from metastored.filters.patterns import like_expression
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_PARTITION

V2, V3, V4, V42 = Generation
OLD = (V2, V3)
NEW = (V4, V42)

KEYS = [
    ("ds", "string"),
    ("h", "int"),
    ("d", "date"),
    ("dec", "decimal(10,2)"),
    ("c", "char(2)"),
    ("bg", "bigint"),
    ("ts", "timestamp"),
    ("vc", "varchar(5)"),
]
NULL = "null"  # how the default partition is called in the tables below
PARTITIONS = {
    row[0]: [DEFAULT_PARTITION if value == NULL else value for value in row]
    for row in [
        ["a", "1", "2024-01-01", "1.50", "ab", "1", "2024-01-01 00:00:00", "v1"],
        ["b", "2", "2024-02-01", "2.50", "ab", "2", "2024-01-01 00:00:00", "v2"],
        ["ab", "10", "2024-03-01", "3.50", "ab", "3", "2024-01-01 00:00:00", "v3"],
        ["A", "-1", "2023-12-31", "4.50", "ab", "4", "2024-01-01 00:00:00", "v4"],
        ["o'q", "3", "2024-01-15", "5.50", "ab", "5", "2024-01-01 00:00:00", "v5"],
        [NULL, NULL, NULL, "6.50", "ab", "6", "2024-01-01 00:00:00", "v6"],
        ["a b", "7", "2024-01-01", "7.50", "ab", "7", "2024-01-01 00:00:00", "v7"],
    ]
}
ALL = set(PARTITIONS)


def selected(text: str, generation: Generation) -> set[str]:
    holds = predicate(parse_filter(text, generation), KEYS, generation)
    return {name for name, values in PARTITIONS.items() if holds(values)}


# The results of both 2.3.10 and 3.1.3.
ANSWERS: list[tuple[str, set[str]]] = [
    ("", ALL),
    ('ds = "a"', {"a"}),
    ("ds='a'", {"a"}),
    ('DS = "a"', {"a"}),
    ('ds="a" and h=1', {"a"}),
    ('ds="a" AND h=1', {"a"}),
    ('ds = "a" or ds="b"', {"a", "b"}),
    ('(ds = "a" or ds="b") and h > 1', {"b"}),
    ('"a" = ds', {"a"}),
    ("1 < h", {"a b", "ab", "b", "o'q"}),
    ("h > 1", {"a b", "ab", "b", "o'q"}),
    ("h >= 2", {"a b", "ab", "b", "o'q"}),
    ("h < 3", {"A", "a", "b"}),
    ("h = -1", {"A"}),
    ('h=1 and (ds="a")', {"a"}),
    ("h <> 1", ALL - {"a", NULL}),
    ("h != 1", ALL - {"a", NULL}),
    ('ds <> "a"', ALL - {"a"}),
    ("h between 1 and 3", {"a", "b", "o'q"}),
    ("h not between 1 and 3", {"A", "a b", "ab"}),
    ("h BETWEEN 1 AND 3", {"a", "b", "o'q"}),
    ("(h) in (1,2)", {"a", "b"}),
    ("(h) not in (1,2)", {"A", "a b", "ab", "o'q"}),
    ('(ds) IN ("a","b")', {"a", "b"}),
    ('(struct(ds,h)) IN (const struct("a",1),const struct("b",2))', {"a", "b"}),
    ('ds like "a.*"', {"a b", "a", "ab"}),
    ('ds LIKE "a"', {"a"}),
    ('d = "2024-01-01"', {"a b", "a"}),
    ("d = 2024-01-01", {"a b", "a"}),
    ("d > 2024-01-10", {"ab", "b", "o'q"}),
    ('d >= "2024-02-01"', {"ab", "b"}),
    ("d between 2024-01-01 and 2024-01-31", {"a b", "a", "o'q"}),
    ("bg = 3", {"ab"}),
    ("bg > 3", {"A", NULL, "a b", "o'q"}),
    ('ds = "o\'q"', {"o'q"}),
    ("ds = 'o\\'q'", set()),
    (f'ds = "{DEFAULT_PARTITION}"', {NULL}),
    (f'ds != "{DEFAULT_PARTITION}"', ALL - {NULL}),
    ('ds="a b"', {"a b"}),
    ('ds > "a" and ds < "b"', {"a b", "ab"}),
]


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize(("text", "partitions"), ANSWERS)
def test_a_filter_selects_the_same_partitions_as_the_real_servers(
    text: str, partitions: set[str], generation: Generation
) -> None:
    assert selected(text, generation) == partitions


@pytest.mark.parametrize("generation", OLD)
@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ('ds = "a" xor h = 1', {"a"}),
        ('(ds = "a"))', {"a"}),
        ('ds like "a_"', set()),
        ('ds like "a.b"', {"a b"}),
        ('ds like ".*b"', {"a b", "ab", "b"}),
        (r'ds like "a\.*"', set()),
    ],
)
def test_the_older_grammar_ignores_a_rest_and_has_its_own_wildcards(
    text: str, partitions: set[str], generation: Generation
) -> None:
    assert selected(text, generation) == partitions


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ('ds like "a%"', {"a b", "a", "ab"}),
        ('ds like "%b"', {"a b", "ab", "b"}),
        ('ds like "a_%"', {"a b", "ab"}),
        ('ds like "a\\%"', set()),
    ],
)
def test_the_wildcards_of_sql_are_understood_by_every_generation(
    text: str, partitions: set[str], generation: Generation
) -> None:
    assert selected(text, generation) == partitions


@pytest.mark.parametrize("generation", NEW)
@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ('ds == "a"', {"a"}),
        ('`ds` = "a"', {"a"}),
        ("ds = 'a' 'b'", {"ab"}),
        ("d = date '2024-01-01'", {"a b", "a"}),
        ("(d) in (DATE '2024-01-01', 2024-02-01)", {"a b", "a", "b"}),
        ("h in (1, 2)", {"a", "b"}),
        ("h not in (1, 2)", {"A", "a b", "ab", "o'q"}),
        ("h = - 1", {"A"}),
        ('ds like "a_"', {"ab"}),
        ('c = "ab"', ALL),
        ('vc = "v1"', {"a"}),
        ('ts = "2024-01-01 00:00:00"', ALL),
        ("ts > timestamp '2023-12-31 23:59:59.5'", ALL),
        ("ts = 2024-01-01 00:00:00", ALL),
        ("ts < 2024-01-01", set()),
        (f'h = "{DEFAULT_PARTITION}"', {NULL}),
        (f'h != "{DEFAULT_PARTITION}"', ALL - {NULL}),
        ('(struct(ds,h)) in (struct("a",1))', {"a"}),
        ('(struct(ds,h)) not in (struct("a",1))', ALL - {"a"}),
        ("(struct(h,bg)) not in (struct(1,1))", ALL - {"a"}),
    ],
)
def test_hive_4_has_more_operators(text: str, partitions: set[str], generation: Generation) -> None:
    assert selected(text, generation) == partitions


@pytest.mark.parametrize("generation", NEW)
@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ('d = "tomorrow"', set()),
        ('d != "tomorrow"', ALL),
        ('d < "tomorrow"', ALL),
        ('d > "tomorrow"', set()),
        ('d > "2024-13-45"', {NULL}),
        ('(d) in ("tomorrow", "2024-02-01")', {"b"}),
        ('(d) not in ("tomorrow", "2024-02-01")', ALL - {"b"}),
        ('d not between "a" and "b"', ALL),
        ('d like "2024-01-%"', {"a b", "a", "o'q"}),
        ('d like "2024-02-01"', {"b"}),
        ('ts != "noon"', ALL),
        ('ts < "2024-1-5"', ALL),
        ('ts like "2024%"', ALL),
    ],
)
def test_dates_and_other_text_compare_as_strings_in_hive_4(
    text: str, partitions: set[str], generation: Generation
) -> None:
    assert selected(text, generation) == partitions


@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ("h = 1 is true", {"a"}),
        ("(h = 1) is false", ALL - {"a", NULL}),
        ("(h = 1) is not true", ALL - {"a"}),
        ("(h = 1) is not false", {"a", NULL}),
        ('(h = 1 or ds = "b") is false', ALL - {"a", "b", NULL}),
        ('(h > 1 and ds like "a%") is not true', {"A", "a", "b", "o'q", NULL}),
        ('(ds like "a%") is false', {"A", "b", "o'q", NULL}),
        ("((h = 1) is not true) is false", {"a"}),
    ],
)
def test_hive_4_2_has_is_true(text: str, partitions: set[str]) -> None:
    assert selected(text, V42) == partitions


NOT_COMPARABLE = "Filtering is supported only on partition keys of type string"


@pytest.mark.parametrize("generation", OLD)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('h = "1"', NOT_COMPARABLE),
        ("ds = 1", NOT_COMPARABLE),
        ("ds = 2024-01-01", NOT_COMPARABLE),
        ('d = "tomorrow"', NOT_COMPARABLE),
        ('d = "2024-13-45"', NOT_COMPARABLE),
        ('(d) in ("2024-01-01", "tomorrow")', NOT_COMPARABLE),
        ('d like "2024%"', NOT_COMPARABLE),
        ("d = 20240101", NOT_COMPARABLE),
        ('dec = "1.50"', NOT_COMPARABLE),
        ("dec > 1", NOT_COMPARABLE),
        ('c = "ab"', NOT_COMPARABLE),
        ('vc = "v1"', NOT_COMPARABLE),
        ('ts = "2024-01-01 00:00:00"', NOT_COMPARABLE),
        (f'h = "{DEFAULT_PARTITION}"', NOT_COMPARABLE),
        ('h like "1%"', NOT_COMPARABLE),
        ('(h) in ("1")', NOT_COMPARABLE),
        ('nokey = "x"', "Specified key <nokey> is not a partitioning key for the table"),
        ('ds = "a" or a = "x"', "Specified key <a> is not a partitioning key for the table"),
        ("NoKey between 1 and 2", "Specified key <NoKey> is not a partitioning key for the table"),
    ],
)
def test_a_filter_that_does_not_fit_the_keys_is_refused_in_hives_words(
    text: str, message: str, generation: Generation
) -> None:
    node = parse_filter(text, generation)
    with pytest.raises(FilterKeyError, match=f"^{re.escape(message)}$"):
        check(node, KEYS, generation)


@pytest.mark.parametrize("text", ["ts = 5", "d = 5", "d = timestamp '2024-01-01 00:00:00'", 'h < "x"', 'h like "1%"'])
def test_hive_4_refuses_other_mismatches(text: str) -> None:
    node = parse_filter(text, V4)
    with pytest.raises(FilterKeyError, match=NOT_COMPARABLE):
        check(node, KEYS, V4)


@pytest.mark.parametrize("value", ["notint", "", DEFAULT_PARTITION, "9" * 5000])
def test_a_value_that_is_no_integer_satisfies_no_comparison(value: str) -> None:
    for text in ("h = 1", "h != 1", "h < 1 or h >= 1", "(h) not in (1)"):
        assert not evaluate(parse_filter(text, V2), [value], [("h", "int")], V2)


def test_fractions_of_seconds_compare_as_numbers() -> None:
    keys = [("ts", "timestamp")]
    later = parse_filter('ts > "2024-01-01 00:00:00.45"', V4)
    assert evaluate(later, ["2024-01-01 00:00:00.5"], keys, V4)
    assert not evaluate(later, ["2024-01-01 00:00:00.450"], keys, V4)
    assert not evaluate(later, ["never"], keys, V4)


def test_a_filter_of_many_wildcards_does_not_take_for_ever() -> None:
    node = parse_filter('ds like "' + "%a" * 40 + 'b"', V4)
    assert not evaluate(node, ["a" * 120], [("ds", "string")], V4)


@given(st.text())
def test_an_escaped_pattern_matches_only_itself(text: str) -> None:
    pattern = re.sub(r"([\\%_])", r"\\\1", text)
    assert like_expression(pattern).fullmatch(text)
    assert not like_expression(pattern).fullmatch(text + "x")


def test_negating_twice_gives_the_filter_back() -> None:
    for text, _ in ANSWERS[1:]:
        node = parse_filter(text, V3)
        assert negate(negate(node)) == node
