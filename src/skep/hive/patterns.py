"""Name patterns of get_databases, get_tables, get_table_meta and get_functions.

`*` stands for any text and `|` separates alternatives; case does not matter. The real metastore hands the rest
to its database as a small regular expression of which only the dot means anything: `.` is any one character.
`?`, `%` and `_` are ordinary. Nothing here knows where the names come from.
"""

import re
from collections.abc import Callable
from functools import lru_cache

NamePredicate = Callable[[str], bool]


def _everything(name: str) -> bool:
    return True


@lru_cache(maxsize=512)
def compile_pattern(pattern: str | None) -> NamePredicate:
    """A predicate on names. No pattern at all matches every name; the empty pattern matches none."""
    if pattern is None or pattern.strip() == "*":
        return _everything
    alternatives = "|".join(map(_regular_expression, pattern.strip().split("|")))
    matches = re.compile(alternatives, re.IGNORECASE | re.DOTALL).fullmatch
    return lambda name: matches(name) is not None


def _regular_expression(alternative: str) -> str:
    return "".join(_TRANSLATED.get(character) or re.escape(character) for character in alternative)


_TRANSLATED = {"*": ".*", ".": "."}
