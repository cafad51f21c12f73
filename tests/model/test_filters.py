"""Where a partition filter is wrong, and what was expected there."""

from __future__ import annotations

import pytest

from metastored.model.filters import explained, fault, is_about_filters
from metastored.model.makers import table

ORDERS = table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string", "h": "int"})


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("ds => '1'", "at character 5 (\"> '1'\"): mismatched input '>' expecting a literal"),
        ("ds = '1' and", "at character 13 (the end): mismatched input '<EOF>' expecting a condition"),
        ("ds 7", "at character 4 ('7'): mismatched input '7' expecting a comparison, BETWEEN or IN"),
        ("ds = '1' h = 2", "at character 10 ('h = 2'): mismatched input 'h' expecting AND, OR or the end"),
        ("ds\n= = '1'", "at character 6 (\"= '1'\"): mismatched input '=' expecting a literal"),
        (
            "x = 1",
            "Specified key <x> is not a partitioning key for the table; the partition keys are ds (string), h (int)",
        ),
    ],
)
def test_a_fault_has_a_place_and_what_was_expected(where: str, said: str) -> None:
    assert fault(where, ORDERS) == said


def test_a_filter_that_can_be_used_has_no_fault() -> None:
    assert fault("ds >= '2024-01-01' and h in (1, 2)", ORDERS) is None
    assert fault("", ORDERS) is None


def test_the_sentence_names_filter_table_and_what_the_server_said() -> None:
    text = explained("ds ==", ORDERS, "lexer error")
    assert text.startswith("the filter 'ds ==' over the partitions of shop.orders is refused: at character 6 (the end)")
    assert text.endswith("(the server says: lexer error)")


def test_a_filter_that_only_older_servers_refuse_is_said_to_be_one() -> None:
    text = explained("ds == '1'", ORDERS, "exception NoViableAltException(9@[])")
    assert "the newest Hive takes it, this server says: exception NoViableAltException" in text


def test_messages_about_filters_are_recognised() -> None:
    assert is_about_filters("Error parsing partition filter; lexer error: null; exception X")
    assert is_about_filters("Specified key <x> is not a partitioning key for the table")
    assert not is_about_filters("disk full")
    assert not is_about_filters(None)
