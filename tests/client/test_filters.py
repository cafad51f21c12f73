"""Filters of `where=` over partition keys of every type, on every server."""

from __future__ import annotations

from typing import Any

import pytest

import metastored
from metastored.errors import MetaException
from tests.client.conftest import Server
from tests.support.driven import connected

# Each filter is a call to a server, with every kind of client.
pytestmark = pytest.mark.slow

KEYS = {
    "s": "string", "i": "int", "d": "date", "x": "double", "m": "decimal(10,2)", "b": "boolean", "v": "varchar(5)",
    "c": "char(5)",
}  # fmt: skip
ROWS = [
    ("a", "1", "2024-01-01", "1.5", "2.50", "true", "x", "ab   "),
    ("b%", "10", "2024-02-01", "-0.5", "10.00", "false", "y", "abc  "),
    ("ab", "7", "2023-12-31", "0.0", "-1.00", "true", "x", "ab"),
]
"""Spark stores a char with blanks up to its length, and Hive without."""
CASES = [
    ("s = 'a'", "a"),
    ("s != 'a' and i > 7", "b%"),
    ("d >= 2024-01-15", "b%"),
    ("d >= '2024-01-15' or i = 7", "b% ab"),
    ("i = '10'", "b%"),
    ("x > 1", "a"),
    ("x = -0.5", "b%"),
    ("m = 2.5", "a"),
    ("m > 2 and s = 'b%'", "b%"),
    ("m between -1 and 2.5", "a ab"),
    ("b = true", "a ab"),
    ("not b", "b%"),
    ("v = 'x' and not s = 'a'", "ab"),
    ("not (s = 'a' or i = 7)", "b%"),
    ("s in ('a', 'ab')", "a ab"),
    ("i not in (1, 7)", "b%"),
    ("(s) in ('a')", "a"),
    ("s like 'a%'", "a ab"),
    (r"s like 'b\%'", "b%"),
    ("s like 'a.*' and x < 1", "ab"),
    ("year(d) = 2024 and upper(v) = 'X'", "a"),
    ("cast(s as string) = 'a' or m < 0", "a ab"),
    ("s is not null and i > 5", "b% ab"),
    ("s = 'nothing'", ""),
    ("c = 'ab'", "a ab"),
    ("c = 'ab  ' and s = 'a'", "a"),
    ("c in ('x', 'abc') or c < 'ab'", "b%"),
    ("c != 'ab'", "b%"),
    ("c > 'ab'", "b%"),
]


@pytest.fixture
def table(client: Any, db: str) -> str:
    client.create_table(metastored.table((db, "p"), {"a": "int"}, partitioned_by=KEYS, format="textfile"))
    client.add_partitions(f"{db}.p", ROWS)
    return f"{db}.p"


def test_keys_of_every_type_are_filtered(client: Any, table: str) -> None:
    for where, expected in CASES:
        found = sorted(part.values[0] for part in client.partitions(table, where))
        assert found == sorted(expected.split()), where
        assert len(client.partition_names(table, where)) == len(expected.split()), where


def test_a_filter_over_more_than_a_batch_finds_the_same(server: Server, client: Any, table: str) -> None:
    with connected("sync", server.uri, batch=1, user="ann", cache=False) as small:
        for where, expected in CASES:
            assert sorted(part.values[0] for part in small.partitions(table, where)) == sorted(expected.split()), where


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("s in 'a'", r"is refused: at character 6 \(\"'a'\"\): \( was expected"),
        ("s = 'a' and", r"at character 12 \(the end\): a key, a function or a value such as 7"),
        ("nokey = 1", r"at character 1 .*nokey is not a partitioning key of the table; the partition keys are s \(st"),
        ("m = 'soon'", r"at character 5 .*: a number such as 7 or 1.5 was expected"),
        ("soundex(s) = 'x'", "there is no function soundex in filters"),
    ],
)
def test_a_wrong_filter_says_where_and_what_was_expected(client: Any, table: str, where: str, message: str) -> None:
    for call in (client.partitions, client.partition_names):
        with pytest.raises(MetaException, match=message) as raised:
            list(call(table, where))
        assert "Exception(" not in str(raised.value)
