"""Regular expressions of users: they match what Python's match, and none takes long."""

from __future__ import annotations

import random
import re

import pytest

from metastored.hive.linear_expressions import LinearExpression, PatternError

ATOMS = (*"abAB_1", ".", "[a-c]", "[^a]", "[A-B_]", "[]a-]", r"\d", r"\w", r"\W", r"\.", r"[\d_]")
REPETITIONS = ("", "*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,}", "*?", "+?")


def generated(chance: random.Random, depth: int = 0) -> str:
    match chance.randrange(6 if depth < 3 else 2):
        case 0 | 1:
            return f"{chance.choice(ATOMS)}{chance.choice(REPETITIONS)}"
        case 2:
            return f"({generated(chance, depth + 1)}|{generated(chance, depth + 1)})"
        case 3:
            return f"(?:{generated(chance, depth + 1)}{generated(chance, depth + 1)}){chance.choice(REPETITIONS)}"
        case _:
            return generated(chance, depth + 1) + generated(chance, depth + 1)


@pytest.mark.parametrize("seed", range(20))
def test_it_matches_what_python_matches(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        pattern = generated(chance)
        expression, theirs = LinearExpression(pattern), re.compile(pattern, re.IGNORECASE | re.DOTALL)
        for _ in range(20):
            text = "".join(chance.choice("abcAB_1.-]") for _ in range(chance.randrange(7)))
            assert expression.matches(text) == (theirs.fullmatch(text) is not None), (pattern, text)


@pytest.mark.parametrize("pattern", ["^sales_.*$", "sales_2024|sales_2023", "SALES_[0-9]{4}", "(web|sales)_20.."])
def test_names_are_matched_as_a_whole_and_in_any_case(pattern: str) -> None:
    assert LinearExpression(pattern).matches("Sales_2024")
    assert not LinearExpression(pattern).matches("my_sales_2024")


@pytest.mark.parametrize(
    "pattern",
    ["(a|a)*b", "(a*)*b", "((a+)+)+b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)(.*)b", ".*" * 300 + "b", "(a?){99}a{99}b"],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    """Python's matcher takes longer than the age of the universe for some of these."""
    assert not LinearExpression(pattern).matches("a" * 2000)


@pytest.mark.parametrize(
    "pattern",
    ["(", "a)", "[a", "*a", "+", "a**", "a{2}{3}", "(?=a)", "(?P<n>a)", "\\1", "a{", "a{3,1}", "a{99999}", "(" * 60,
     "\\", "a^b", "a$b", "((((a{9}){9}){9}){9}){9}"],
)  # fmt: skip
def test_what_it_does_not_know_is_refused_with_the_place(pattern: str) -> None:
    with pytest.raises(PatternError):
        LinearExpression(pattern)
