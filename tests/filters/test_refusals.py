"""Messages of servers about filters, and the sentence for the caller."""

from __future__ import annotations

from metastored.filters.refusals import is_about_filters, refused
from metastored.model.names import TableName


def test_the_sentence_names_filter_table_and_reason() -> None:
    text = refused("ds ==", TableName("", "shop", "orders"), "at character 6 (the end): a value was expected")
    assert text == (
        "the filter 'ds ==' over the partitions of shop.orders is refused: at character 6 (the end): "
        "a value was expected"
    )


def test_messages_about_filters_are_recognised() -> None:
    assert is_about_filters("Error parsing partition filter; lexer error: null; exception X")
    assert is_about_filters("Specified key <x> is not a partitioning key for the table")
    assert is_about_filters("Filtering is supported only on partition keys of type string")
    assert not is_about_filters("disk full")
    assert not is_about_filters(None)
