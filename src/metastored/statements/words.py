"""Looks at a text without parsing it: whether it is one of metastored's statements, and whether it is complete.

A program that also runs other statements, such as Spark's, needs to know this before it can choose a parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

_PIECES: Final = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)+`)
      | (?P<open>['"`]|/\*)
      | (?P<word>\w+)
      | (?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)

MOST_PIECES: Final = 200
"""Of a statement, up to the change that ALTER TABLE makes."""
OWN: Final = (
    *(("CREATE", "REMOTE"), ("ALTER", "REMOTE"), ("DROP", "REMOTE"), ("SHOW", "REMOTES"), ("SHOW", "CREATE", "REMOTE")),
    *(("CREATE", "CONNECTOR"), ("ALTER", "CONNECTOR"), ("DROP", "CONNECTOR"), ("SHOW", "CONNECTORS")),
    *(("DESCRIBE", "CONNECTOR"), ("DESC", "CONNECTOR"), ("GRANT",), ("REVOKE",)),
    *(("CREATE", "ROLE"), ("DROP", "ROLE"), ("SET", "ROLE"), ("SHOW", "ROLES"), ("SHOW", "ROLE"), ("SHOW", "GRANT")),
    *(("SHOW", "CURRENT", "ROLES"), ("SHOW", "PRINCIPALS")),
    *(("SHOW", "CREATE", "DATABASE"), ("SHOW", "CREATE", "SCHEMA")),
    *(("SHOW", "LOCKS"), ("SHOW", "TRANSACTIONS"), ("SHOW", "COMPACTIONS"), ("SHOW", "MATERIALIZED")),
    *(("CREATE", "MATERIALIZED"), ("ALTER", "MATERIALIZED"), ("DROP", "MATERIALIZED")),
    *(("CREATE", "CATALOG"), ("ALTER", "CATALOG"), ("DROP", "CATALOG")),
)
"""The first words of the statements that Spark does not execute."""


def is_own(text: str) -> bool:
    """Whether a text begins as a statement that only metastored has. It need not be a correct one."""
    first = first_words(text, 3)
    return any(first[: len(words)] == words for words in OWN) or words_of_change(text)[:1] == ("EXCHANGE",)


def first_words(text: str, most: int) -> tuple[str, ...]:
    """The words with which a text begins, in capital letters; at most so many, and none behind a sign or a text.

    Parentheses before them do not count: a query may begin with some.
    """
    words: list[str] = []
    for kind, piece in pieces_of(text):
        if piece == "(" and not words:
            continue
        if kind != "word" or len(words) == most:
            break
        words.append(piece.upper())
    return tuple(words)


def words_of_change(text: str) -> tuple[str, ...]:
    """The words behind ALTER TABLE, the name of a table and PARTITION (…); none for another statement."""
    pieces = [*islice(pieces_of(text), MOST_PIECES)]
    words = [piece.upper() for _, piece in pieces]
    if words[:2] != ["ALTER", "TABLE"]:
        return ()
    at = 3
    while words[at : at + 1] == ["."]:
        at += 2
    if words[at : at + 2] == ["PARTITION", "("]:
        at = words.index(")", at) + 1 if ")" in words[at:] else len(words)
    changed: list[str] = []
    for kind, piece in pieces[at : at + 3]:
        if kind != "word":
            break
        changed.append(piece.upper())
    return tuple(changed)


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a text, which are separated by `;` outside of quotes and comments. Empty ones are omitted."""
    statements, start, empty = [], 0, True
    for match in _PIECES.finditer(text):
        if match.lastgroup == "sign" and match[0] == ";":
            if not empty:
                statements.append(text[start : match.start()].strip())
            start, empty = match.end(), True
        elif match.lastgroup != "blank":
            empty = False
        if match.lastgroup == "open":
            break
    if not empty:
        statements.append(text[start:].strip())
    return tuple(statements)


def is_complete(text: str) -> bool:
    """Whether a text ends with a `;` that is in no quotes and in no comment; an empty one does."""
    last = ";"
    for kind, piece in pieces_of(text):
        if kind == "open":
            return False
        last = piece
    return last == ";"


def pieces_of(text: str) -> Iterator[tuple[str, str]]:
    """Words, signs and quoted texts, without blanks and comments; an `open` one is a quote that is never closed."""
    for match in _PIECES.finditer(text):
        kind = match.lastgroup or ""
        if kind != "blank":
            yield kind, match[0]
        if kind == "open":
            return
