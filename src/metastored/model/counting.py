"""Numbers of things, for people: `1 table`, `2,000 tables`. Pure."""

from __future__ import annotations


def plural(noun: str, number: int) -> str:
    """The noun, in the plural unless there is one of it."""
    if number == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `0 tables`, `1 table`, `1,234 tables`."""
    return f"{number:,} {plural(noun, number)}"
