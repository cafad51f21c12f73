"""The patterns of LIKE: SQL's, and those that clients of Hive 2 and 3 write."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from metastored.hive.patterns import wildcard_expression

_LIKE_PART: Final = re.compile(r"\\(.)|(.)", re.DOTALL)
_OLD_PART: Final = re.compile(r"\.\*|\\.|.", re.DOTALL)


@lru_cache(maxsize=512)
def like_expression(pattern: str) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression: `%` is any text, `_` one character, a backslash escapes."""
    pieces: list[list[str]] = [[]]
    for escaped, plain in _LIKE_PART.findall(pattern):
        if plain == "%":
            pieces.append([])
        else:
            pieces[-1].append("." if plain == "_" else re.escape(escaped or plain))
    return re.compile(wildcard_expression(["".join(piece) for piece in pieces]), re.DOTALL)


def from_old_pattern(pattern: str) -> str:
    """SQL's pattern for one of Hive 2 and 3: `.*` is any text, `.` one character, and `%` and `_` are themselves."""
    return _OLD_PART.sub(_translated, pattern)


def _translated(match: re.Match[str]) -> str:
    part = match[0]
    if part in (".*", "."):
        return "%" if part == ".*" else "_"
    literal = part[-1]
    return "\\" + literal if literal in "%_\\" else literal
