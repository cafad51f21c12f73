"""Name patterns of get_databases, get_tables, get_table_meta and get_functions.

`*` stands for any text and `|` separates alternatives; names and patterns are compared in lower case. Hive's metastore
passes the rest to its database as a regular expression in which only the dot is special: `.` is any one character. `?`,
`%` and `_` are ordinary. The source of the names does not matter.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from metastored.hive.limits import MAX_PATTERN, shortened

NamePredicate = Callable[[str], bool]


_LITERAL = re.compile(r"[!-)+,\-/-{}]*")
"""Printable ASCII without the space, `*`, `.`, `|` and the last character, which has none after it."""


class PatternError(ValueError):
    """A text that cannot be a pattern; the message has the reason."""


def _everything(name: str) -> bool:
    return True


def compile_pattern(pattern: str | None) -> NamePredicate:
    """A predicate on names. No pattern at all matches every name; the empty pattern matches none.

    Raises PatternError when the pattern is too long.
    """
    if pattern is not None and len(pattern) > MAX_PATTERN:
        raise PatternError(
            f"a pattern of {len(pattern)} characters ({shortened(pattern)}); at most {MAX_PATTERN} are accepted"
        )
    if pattern is None or pattern.strip() == "*":
        return _everything
    compiled = _compile if len(pattern) <= _LONGEST_CACHED else _compile.__wrapped__
    return compiled(pattern)


def literal_prefix(pattern: str | None) -> str:
    """A text in lower case with which every name begins that a pattern matches; empty if none is known.

    It has printable ASCII only, so that all databases sort names with it next to each other.
    """
    match = _LITERAL.match((pattern or "").strip().lower())
    return "" if match is None or "|" in (pattern or "") else match[0]


def may_begin_with(pattern: str | None, prefix: str) -> bool:
    """Whether a name that begins with a prefix can match a pattern. True where that is not certain."""
    if pattern is None:
        return True
    heads = (re.split(r"[*.]", part, maxsplit=1)[0].strip().lower() for part in pattern.split("|"))
    return any(head.startswith(prefix) or prefix.startswith(head) for head in heads)


# A pattern comes from a client; the cache must not hold megabytes for it.
_LONGEST_CACHED = 1000


@lru_cache(maxsize=512)
def _compile(pattern: str) -> NamePredicate:
    alternatives = "|".join(map(_regular_expression, pattern.strip().lower().split("|")))
    matches = re.compile(alternatives, re.DOTALL).fullmatch
    return lambda name: matches(name.lower()) is not None


def _regular_expression(alternative: str) -> str:
    pieces = alternative.split("*")
    return wildcard_expression([".".join(map(re.escape, piece.split("."))) for piece in pieces])


def wildcard_expression(pieces: Sequence[str]) -> str:
    """The regular expression for these pieces with any text between each and the next.

    Each piece is a regular expression of fixed length. The groups are atomic: the leftmost match of one is as good as
    any other, and without backtracking no pattern of a client can take exponential time.
    """
    if len(pieces) == 1:
        return pieces[0]
    first, *between, last = pieces
    return first + "".join(f"(?>.*?{piece})" for piece in between if piece) + ".*" + last
