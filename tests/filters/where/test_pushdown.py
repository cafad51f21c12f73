"""The part of a filter that is sent to a server."""

from __future__ import annotations

import pytest

from metastored.filters.hive.parser import parse_filter
from metastored.filters.hive.tree import predicate
from metastored.filters.where import Pushed, bind, parse, pushed
from metastored.hive.generation import Generation

KEYS = (("s", "string"), ("i", "int"), ("d", "date"), ("m", "decimal(10,2)"))


@pytest.mark.parametrize(
    ("where", "text", "exact"),
    [
        ("s = 'a'", "s = 'a'", True),
        ("10 >= i", "i <= 10", True),
        ("d = 2024-01-31", "d = '2024-01-31'", True),
        ("s in ('a', 'b') and i > 1", "(s = 'a' or s = 'b') and i > 1", True),
        ("s not in ('a', 'b')", "s != 'a' and s != 'b'", True),
        ("not (s = 'a' or i > 1)", "s != 'a' and i <= 1", True),
        ("i between 1 and 5", "i >= 1 and i <= 5", True),
        ("s = 'a' and m > 1.5", "s = 'a'", False),
        ("s = 'a' and upper(s) = 'A' and i = 1", "s = 'a' and i = 1", False),
        ("s like '2024%'", "s >= '2024' and s < '2025'", False),
        ("s like '2024-%'", "s >= '2024-'", False),
        (r"s = 'it\'s'", 's = "it\'s"', True),
        (r"s = 'a\\b'", None, False),
        ('s = "it\'s"', 's = "it\'s"', True),
        ("s = 'a' or m > 1.5", None, False),
        ("s like '%a'", None, False),
        ("upper(s) = 'A'", None, False),
        ("`a b` = 1", None, False),
        ("", None, False),
        (" or ".join(f"i = {n}" for n in range(300)), None, False),
    ],
)
def test_what_every_server_can_evaluate_is_sent(where: str, text: str | None, exact: bool) -> None:
    assert pushed(parse(where)) == (None if text is None else Pushed(text, exact))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("i = '7' and s = 'a'", Pushed("i = 7 and s = 'a'", True)),
        ("s = 7 and i = 1", Pushed("i = 1", False)),
        ("m = 2 and s = 'a'", Pushed("s = 'a'", False)),
        ("d = 'soon'", None),
        ("i like '1%'", None),
        ("nokey = 1", None),
    ],
)
def test_with_the_types_of_the_keys_only_what_fits_them_is_sent(where: str, expected: Pushed | None) -> None:
    assert pushed(parse(where), KEYS) == expected


@pytest.mark.parametrize("generation", list(Generation))
@pytest.mark.parametrize(
    "where",
    [
        "s = 'a' and i in (1, 2)",
        "not (s = 'a' or i between 1 and 5)",
        "s like 'ab%' or i = '3'",
        "d > 2024-01-01 and m = 1",
        "s in ('a') and upper(s) = 'B' or i = 2 and d != '2024-01-02'",
    ],
)
def test_a_server_returns_at_least_what_the_filter_selects(where: str, generation: Generation) -> None:
    rows = [
        (s, i, d, m)
        for s in ("a", "abc", "b", "__HIVE_DEFAULT_PARTITION__")
        for i in ("1", "2", "3", "__HIVE_DEFAULT_PARTITION__")
        for d in ("2024-01-01", "2024-01-02")
        for m in ("1.00", "x")
    ]
    sent = pushed(parse(where), KEYS)
    assert sent is not None
    by_server = predicate(parse_filter(sent.text, generation), KEYS, generation)
    by_client = bind(where, parse(where), KEYS)
    for row in rows:
        assert not by_client(row) or by_server(row)
        assert not sent.exact or by_server(row) == by_client(row)
