"""Parses statements. A text that is none raises StatementError: its line, its column, and what would be right there.

lark is imported, and the grammar compiled, at the first statement: 0.4 s, once in a process. There is no cache of
the compiled grammar in a file: it would save 0.3 s, and lark's is a pickle, which whoever can write it can
make execute anything.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from metastored.errors import SparkStatementError, StatementError
from metastored.hive.limits import shortened
from metastored.statements.building import Builder
from metastored.statements.refused import meant, refusal
from metastored.statements.rights import PRIVILEGES
from metastored.statements.values import Statement
from metastored.statements.words import split_statements

if TYPE_CHECKING:
    from lark import Lark, Token

GRAMMARS: Final = tuple(
    Path(__file__).with_name(f"{name}.lark") for name in ("grammar", "shows", "rights", "definitions", "materialized")
)
NEVER_NAMED: Final = frozenset({"BLANKS", "LINE_COMMENT", "BLOCK_COMMENT"})
WORDS: Final = {
    "NAME": "a name",
    "QUOTED_NAME": "a name in backquotes",
    "TEXT": "a text in quotes",
    "NUMBER": "a number",
    "$END": "the end of the statement",
    "SEMICOLON": ";",
    "COMMA": ",",
    "DOT": ".",
    "EQUAL": "=",
    "LPAR": "(",
    "RPAR": ")",
    "COLON": ":",
    "LT": "<",
    "GT": ">",
    "LE": "<=",
    "GE": ">=",
    "NE": "!=",
    "CONDITION": "a condition in parentheses",
    "QUERY": "a query",
}
"""Terminals that are not keywords, as errors call them."""
_SIGN: Final = re.compile(r"`(?:[^`]|``)+`|\w+|[^'\"]")
"""A word or a sign, but no text."""
_SIGNS: Final = frozenset("_;,.=()<>:!")
"""Those that statements have."""


def parse(text: str) -> Statement:
    """The statement that a text is; a `;` may end it. Raises StatementError also where there are several."""
    statements = parse_script(text)
    if len(statements) != 1:
        count = "no statement" if not statements else f"{len(statements)} statements"
        raise StatementError(f"one statement is expected, and there is {count}", 1, 1)
    return statements[0]


def parse_script(text: str) -> tuple[Statement, ...]:
    """The statements of a text, separated by `;`. Raises StatementError; then none of them should be executed."""
    from lark.exceptions import UnexpectedInput

    parser: Any = _parser().parse_interactive(text)
    tokens: list[Token] = []
    try:
        for token in parser.iter_parse():
            tokens.append(token)
        tree = parser.feed_eof()
    except UnexpectedInput as error:
        right = len(tokens) - (bool(tokens) and tokens[-1] is getattr(error, "token", None))
        ends = [token.end_pos or 0 for token in tokens[:right] if token.type == "SEMICOLON"]
        raise _error(error, text, _accepted(text, right), ends[-1] if ends else 0) from None
    statements: tuple[Statement, ...] = Builder().build(tree)
    return statements


def parse_beside_spark(text: str) -> tuple[Statement | str, ...]:
    """The same where a session of Spark is at hand: a statement that Spark executes is the text of it."""
    statements: list[Statement | str] = []
    start = 0
    for statement in split_statements(text):
        start = text.index(statement, start)
        # As many lines and columns before it as in the text, for the positions in errors.
        line = text.rfind("\n", 0, start) + 1
        before = "\n" * text.count("\n", 0, start) + " " * (start - line)
        start += len(statement)
        try:
            statements += parse_script(before + statement)
        except SparkStatementError:
            statements.append(statement)
    return tuple(statements)


def keywords() -> tuple[str, ...]:
    """All keywords of the statements and the privileges, sorted, for completion."""
    terminals = {each.name for each in _parser().terminals} - {*WORDS, *NEVER_NAMED}
    return tuple(sorted({*terminals, *PRIVILEGES}))


def grammar() -> str:
    """The complete grammar: the files, and a terminal for each keyword in them."""
    text = "\n".join(file.read_text("utf-8") for file in GRAMMARS)
    rules = re.sub(r"//[^\n]*|\"[^\"]*\"|/(?:[^/\\\n]|\\.)+/", " ", text)
    defined = set(re.findall(r"^([A-Z_]+)(?:\.\d)?:", rules, re.MULTILINE))
    used = set(re.findall(r"\b[A-Z][A-Z_]+\b", rules)) - defined
    return "\n".join([text, *(f"{word}.2: /{word.lower()}\\b/i" for word in sorted(used))])


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(grammar(), parser="lalr", start="script", propagate_positions=True, maybe_placeholders=True)


def _error(error: Any, text: str, accepted: set[str], start: int) -> StatementError:
    """An error of lark's in our words; the statement begins at `start`."""
    statement = split_statements(text[start:])
    refused = refusal(statement[0]) if statement else None
    if refused is not None:
        begun = text.index(statement[0], start)
        kind = SparkStatementError if refused.is_for_spark else StatementError
        return kind(refused.sentence, text.count("\n", 0, begun) + 1, begun - text.rfind("\n", 0, begun))
    names = accepted - {"QUOTED_NAME"} if "NAME" in accepted else accepted
    expected = tuple(sorted(WORDS.get(name, name) for name in names))
    token = getattr(error, "token", None)
    if token is None:
        at: int = error.pos_in_stream
        sign = text[at]
        line, column = error.line, error.column
        if sign in "'\"`":
            return StatementError(f"the quote {sign} is not closed", line, column, expected)
        if text.startswith("/*", at):
            return StatementError("the comment /* is not closed", line, column, expected)
        return StatementError(f"the character {sign!r} is not expected", line, column, expected)
    if token.type == "$END":
        before = text.rstrip()
        line = before.count("\n") + 1
        return StatementError("the statement is not complete", line, len(before) - before.rfind("\n"), expected)
    # A text may be a secret: it is not repeated. Where no token is right, lark returns the longest one.
    word = _SIGN.match(text, token.start_pos)
    shown = WORDS["TEXT"] if word is None else repr(shortened(word[0]))
    if word is not None and len(word[0]) == 1 and not word[0].isalnum() and word[0] not in _SIGNS:
        shown = f"the character {shown}"
    right = meant(word[0], expected) if word is not None and word[0].upper() not in keywords() else None
    hint = f" (did you mean {right}?)" if right is not None else ""
    return StatementError(f"{shown} is not expected{hint}", token.line, token.column, expected)


def _accepted(text: str, tokens: int) -> set[str]:
    """The terminals that may follow the first tokens of a text.

    The parser that failed has reduced what is before the wrong token, and accepts less by now: another one stops there.
    """
    from lark.exceptions import UnexpectedInput

    parser: Any = _parser().parse_interactive(text)
    reading = parser.iter_parse()
    with suppress(UnexpectedInput, StopIteration):
        for _ in range(tokens + 1):
            next(reading)  # It feeds the token before.
    accepted: set[str] = parser.accepts()
    return accepted
