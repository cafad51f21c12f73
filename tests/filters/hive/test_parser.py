"""From text to tree, and the complaints of the real parsers."""

import re
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import (
    EVERYTHING,
    Between,
    Comparison,
    Filter,
    FilterError,
    FilterSyntaxError,
    In,
    Like,
    MultiIn,
    Not,
)
from metastored.filters.logic import And, Or
from metastored.hive.generation import Generation

V2, V3, V4, V42 = Generation
H1, H2 = Comparison("h", "=", 1), Comparison("h", "=", 2)


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", EVERYTHING),
        ("h=1", H1),
        ("((h = 1))", H1),
        ("h = 1 or h = 2 and h = 1", Or((H1, And((H2, H1))))),
        ("h = 1 and h = 2 and h = 1", And((H1, H2, H1))),
        ("5 >= H", Comparison("H", "<=", 5)),
        ("h <> 1", Comparison("h", "!=", 1)),
        ("h = -9223372036854775808", Comparison("h", "=", -(2**63))),
        ("h = 007", Comparison("h", "=", 7)),
        ("20240101 = ds", Comparison("ds", "=", 20240101)),
        ("1h = 2", Comparison("1h", "=", 2)),
        (r'ds = "a\"b"', Comparison("ds", "=", r"a\"b")),
        ('ds\n=\t"é"', Comparison("ds", "=", "é")),
        ("d = 2024-01-31", Comparison("d", "=", date(2024, 1, 31))),
        ("h not between 1 and 2", Between("h", 1, 2, negated=True)),
        ("((h) in (1, 2))", In("h", (1, 2))),
        ("(ds) not in ('a')", In("ds", ("a",), negated=True)),
        (
            "(STRUCT(ds, h)) IN (CONST STRUCT('a', 1), CONST STRUCT('b', 2))",
            MultiIn(("ds", "h"), (("a", 1), ("b", 2))),
        ),
        ("(struct(ds)) not in (struct('a'))", MultiIn(("ds",), (("a",),), negated=True)),
    ],
)
def test_a_filter_has_the_same_tree_in_every_generation(text: str, tree: Filter, generation: Generation) -> None:
    assert parse_filter(text, generation) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("ts = 2024-01-31 01:02:03", Comparison("ts", "=", datetime(2024, 1, 31, 1, 2, 3))),
        ("ts = TIMESTAMP '2024-01-31 01:02:03'", Comparison("ts", "=", datetime(2024, 1, 31, 1, 2, 3))),
        ("DATE '2024-01-31' < d", Comparison("d", ">", date(2024, 1, 31))),
        ("`a``b` = 1", Comparison("a`b", "=", 1)),
        ("_h = 1", Comparison("_h", "=", 1)),
        ("h in (1, 'a')", In("h", (1, "a"))),
    ],
)
def test_hive_4_reads_more(text: str, tree: Filter) -> None:
    assert parse_filter(text, V4) == tree


def test_only_hive_4_2_has_is_true_and_is_false() -> None:
    assert parse_filter("h = 1 is not true", V42) == Not(H1)
    with pytest.raises(FilterSyntaxError, match="mismatched input 'is' expecting AND, OR or the end"):
        parse_filter("h = 1 is not true", V4)


@pytest.mark.parametrize(
    ("generation", "text", "pattern"),
    [
        (V3, "2024.*", "2024%"),
        (V3, ".*a_b.*", r"%a\_b%"),
        (V3, "10%.*", r"10\%%"),
        (V3, "a_b", r"a\_b"),
        (V3, "a.b", "a_b"),
        (V3, r"a\.b", "a.b"),
        (V3, r"a\\b", r"a\\b"),
        (V3, "2024%", "2024%"),
        (V4, "2024%", "2024%"),
        (V4, "a_b", "a_b"),
        (V4, "2024.*", "2024%"),
        (V4, "a.b", "a.b"),
        (V4, "a%\\\\", "a%\\\\"),
    ],
)
def test_both_styles_of_wildcards_become_that_of_sql(generation: Generation, text: str, pattern: str) -> None:
    assert parse_filter(f'ds like "{text}"', generation) == Like("ds", pattern)


PARSING = "Error parsing partition filter"


@pytest.mark.parametrize("generation", [V2, V3])
@pytest.mark.parametrize(
    ("text", "complaint", "exception"),
    [
        ("ds = a", None, "NoViableAltException(13@[])"),
        ("ds =", None, "NoViableAltException(-1@[])"),
        ("ds", None, "NoViableAltException(-1@[])"),
        ("true", None, "NoViableAltException(-1@[])"),
        ("  ", None, "NoViableAltException(-1@[])"),
        ("not h = 1", None, "NoViableAltException(19@[])"),
        ("h in (1,2)", None, "NoViableAltException(12@[])"),
        ("ds is null", None, "NoViableAltException(13@[])"),
        ('ds == "a"', None, "NoViableAltException(9@[])"),
        ("h <=> 1", None, "NoViableAltException(10@[])"),
        ('d = date "2024-01-01"', None, "NoViableAltException(13@[])"),
        ("d = date2024-01-01", None, "NoViableAltException(13@[])"),
        ("like = 1", None, "NoViableAltException(18@[])"),
        ('ds = "a" and', None, "NoViableAltException(-1@[])"),
        ('ds = "a" or or', None, "NoViableAltException(20@[])"),
        ("()", None, "NoViableAltException(27@[])"),
        ("(h) in ()", None, "NoViableAltException(27@[])"),
        ('(ds = "a"', None, "MismatchedTokenException(-1!=27)"),
        ("h between 1", None, "MismatchedTokenException(-1!=15)"),
        ('h between 1 and "a"', None, "MismatchedTokenException(28!=14)"),
        ('(h) in (1,"a")', None, "MismatchedTokenException(28!=14)"),
        ("h not in (1)", None, "MismatchedTokenException(12!=4)"),
        ('"a" = "b"', None, "MismatchedTokenException(28!=13)"),
        ('"a"', None, "MismatchedSetException(-1!=null)"),
        ("h+1=2", "line 1:1 no viable alternative at character '+'", "NoViableAltException(14@[])"),
        ("é = 1", "line 1:0 no viable alternative at character 'É'", "NoViableAltException(9@[])"),
        ("h ! 1", "line 1:3 mismatched character ' ' expecting '='", "NoViableAltException(14@[])"),
        (
            'ds = "a',
            "line 1:7 mismatched character '<EOF>' expecting '\"'",
            "NoViableAltException(-1@[])",
        ),
        (
            "d = 2024-02-30",
            "line 1:14 rule DateLiteral failed predicate: { ExtractDate(getText()) != null }?",
            "NoViableAltException(-1@[])",
        ),
    ],
)
def test_the_older_parsers_complaints_are_repeated(
    text: str, complaint: str | None, exception: str, generation: Generation
) -> None:
    with pytest.raises(FilterSyntaxError) as error:
        parse_filter(text, generation)
    assert str(error.value) == f"{PARSING}; lexer error: {complaint or 'null'}; exception {exception}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dec = 1.5", "line 1:7 no viable alternative at character '.'"),
        ('`ds` = "a"', "line 1:3 no viable alternative at character '`'"),
        ('ds = "a" ;', "line 1:9 no viable alternative at character ';'"),
        ("h = 1\n or h = 2 ;", "line 2:10 no viable alternative at character ';'"),
        ("_h = 2", "line 1:0 no viable alternative at character '_'"),
        ("h = --1", "line 1:5 required (...)+ loop did not match anything at character '-'"),
        ("d = 2024-1-1", "line 1:10 mismatched character '-' expecting set null"),
        ("h = 1 !", "line 1:7 mismatched character '<EOF>' expecting '='"),
    ],
)
def test_an_unexpected_character_makes_an_otherwise_valid_filter_fail(text: str, complaint: str) -> None:
    with pytest.raises(FilterSyntaxError) as error:
        parse_filter(text, V3)
    assert str(error.value) == f"{PARSING} : {complaint}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ds = a", "line 1:5 mismatched input 'a' expecting a literal"),
        ('ds = "a" xor h = 1', "line 1:9 mismatched input 'xor' expecting AND, OR or the end"),
        ("ds = 1;", "line 1:6 no viable alternative at character ';'"),
        ("ds <=> 1", "line 1:3 mismatched input '<=>' expecting a comparison, BETWEEN or IN"),
        ("date = 1", "line 1:5 mismatched input '=' expecting string"),
        ("(h = 1", "line 1:6 mismatched input '<EOF>' expecting )"),
        ("d = 2024-02-30", "'2024-02-30' is not a date"),
        ("d = date '20240201'", "'20240201' is not a date"),
        ("ts = timestamp '2024-01-01T00:00:00'", "'2024-01-01T00:00:00' is not a timestamp"),
        ("ts = 2024-01-01 25:00:00", "'2024-01-01 25:00:00' is not a timestamp"),
        ("h = 1 is maybe", "line 1:9 mismatched input 'maybe' expecting TRUE or FALSE"),
    ],
)
def test_hive_4_names_the_expected_token(text: str, complaint: str) -> None:
    with pytest.raises(FilterSyntaxError) as error:
        parse_filter(text, V42)
    assert str(error.value) == f"{PARSING}: {complaint}"


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "h = 99999999999999999999",
            'java.lang.NumberFormatException: For input string: "99999999999999999999"',
        ),
        ("h = " + "9" * 5000, "java.lang.NumberFormatException"),
        ("(struct(ds,h)) in (const struct('a'))", "a STRUCT of 2 keys is compared with one of 1 literals"),
        ("h like 1", "LIKE needs a quoted pattern"),
        ("'a' like ds", "Value should be on the RHS for LIKE operator : Key <ds>"),
        ("(" * 5000 + "h = 1", "parentheses are nested deeper than 100 levels"),
    ],
)
def test_a_filter_that_no_generation_supports_is_refused(text: str, message: str, generation: Generation) -> None:
    with pytest.raises(FilterSyntaxError, match=re.escape(message)):
        parse_filter(text, generation)


WORDS = "h ds and or not in is true between like struct const date timestamp 2024-01-01 2024- 'a'"
pieces = st.sampled_from([*WORDS.split(), *'=<(),1-!é`"\\ \n'])


@given(st.lists(pieces, max_size=15).map(" ".join), st.sampled_from(Generation))
def test_any_text_is_a_filter_or_an_error_of_filters(text: str, generation: Generation) -> None:
    try:
        parse_filter(text, generation)
    except FilterError as error:
        assert str(error)
