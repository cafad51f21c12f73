"""Numbers with their nouns."""

import pytest

from metastored.model.counting import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "table", "0 tables"),
        (1, "table", "1 table"),
        (1234, "partition", "1,234 partitions"),
        (1, "property", "1 property"),
        (2, "directory", "2 directories"),
    ],
)
def test_a_noun_is_in_the_plural_unless_there_is_one(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text
