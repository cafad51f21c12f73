"""Parameters of statements become literals, whatever their values are. Without Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from metastored.errors import InvalidInputException
from metastored.spark.acid.sql.parameters import bound, literal, unbound
from metastored.spark.source import flat

HOSTILE = [
    "O'Brien",
    "' OR 1 = 1 --",
    "'; DROP TABLE orders; --",
    "\\",
    "\\' OR true --",
    '" OR true --',
    "`orders`",
    "/* */",
    "-- x\n",
    "a\x00b",
    "${spark.app.name}",
    ":other",
    "?",
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (5, "5"),
        (-5, "(-5)"),
        (2**31, "2147483648L"),
        (-(2**40), "(-1099511627776L)"),
        (2**63, "9223372036854775808BD"),
        (1.5, "1.5D"),
        (-1e-7, "(-1e-07D)"),
        (float("nan"), "CAST('nan' AS DOUBLE)"),
        (Decimal("1.230"), "1.230BD"),
        (Decimal("-1E+5"), "(-100000BD)"),
        ("é 1", "'é 1'"),
        ("it's", "CAST(X'69742773' AS STRING)"),
        (b"\x00'", "X'0027'"),
        (datetime(2020, 1, 1, microsecond=7, tzinfo=UTC), "timestamp_micros(1577836800000007)"),
        (date(20, 1, 2), "DATE'0020-01-02'"),
        (timedelta(days=-1, microseconds=1), "make_dt_interval(0, 0, 0, CAST('-86399.999999' AS DECIMAL(18, 6)))"),
        ([1, None], "array(1, NULL)"),
        ({"a'": 1}, "map(CAST(X'6127' AS STRING), 1)"),
        (object(), None),
        ([object()], None),
        ("\ud800", None),
        (10**39, None),
    ],
)
def test_a_value_has_a_literal(value: Any, expected: str | None) -> None:
    assert literal(value) == expected


@pytest.mark.parametrize("value", HOSTILE)
def test_a_text_is_one_literal_whatever_it_has(value: str) -> None:
    text = bound("DELETE FROM t WHERE a = :a AND b = 1", {"a": value})
    before, after = "DELETE FROM t WHERE a = ", " AND b = 1"
    assert text.startswith(before) and text.endswith(after)
    inner = text[len(before) : -len(after)]
    tokens = [token.token_type.name for token in flat(inner).tokens]
    assert tokens in (["STRING"], ["VAR", "L_PAREN", "HEX_STRING", "ALIAS", "TEXT", "R_PAREN"]), inner
    if tokens != ["STRING"]:
        assert bytes.fromhex(inner.split("'")[1]).decode() == value


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("a = ? AND b = '?' AND c = ?", [1, "x"], "a = 1 AND b = '?' AND c = 'x'"),
        ("a = :x, b=:y -- :x\n, c = ':x'", {"x": 1, "y": 2, "z": 3}, "a = 1, b=2 -- :x\n, c = ':x'"),
        ("f(:x,:x) IN (:x) AND v:x = :x AND v.a:x", {"x": 1}, "f(1,1) IN (1) AND v:x = 1 AND v.a:x"),
        ("CASE WHEN a THEN :x ELSE :x END LIMIT :x", {"x": 1}, "CASE WHEN a THEN 1 ELSE 1 END LIMIT 1"),
        ("t VERSION AS OF :x", {"x": 7}, "t VERSION AS OF 7"),
        ("a -:x", {"x": -1}, "a -(-1)"),
        ("a = :x AND b = :y", {"x": 1}, "a = 1 AND b = :y"),
        ("a = ? AND b = ?", [1], "a = 1 AND b = ?"),
        ("a = :x", [1], "a = :x"),
        ("a = 'open AND b = :x", {"x": 1}, "a = 'open AND b = :x"),
        ("a = :x", None, "a = :x"),
    ],
)
def test_parameters_are_replaced_outside_of_texts_and_comments(text: str, args: Any, expected: str) -> None:
    assert bound(text, args) == expected


def test_parameters_without_a_value_are_listed() -> None:
    assert unbound("a = :x AND b = ? AND c = ':z'") == [":x", "?"]


@pytest.mark.parametrize("args", ["text", b"bytes", 1])
def test_args_are_a_dict_or_a_list(args: Any) -> None:
    with pytest.raises(InvalidInputException, match="args has to be a dict or a list"):
        bound("a = ?", args)
