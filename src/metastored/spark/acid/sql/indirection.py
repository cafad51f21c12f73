"""Names of tables that a statement has as values: `IDENTIFIER(…)` and `EXECUTE IMMEDIATE …`. Pure.

Spark evaluates these when it analyzes a statement, so that the text does not show which tables it reads. Their
expressions are constants: `Evaluate` returns their values. An IDENTIFIER of an ACID table is replaced by the name, and
the text of EXECUTE IMMEDIATE is planned as a statement of its own. What cannot be evaluated is refused: it could be an
ACID table, of which Spark would read the directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sqlglot import TokenType

from metastored.errors import AcidStatementError, StatementError
from metastored.hive.quoting import backquoted
from metastored.spark.acid.sql.tables import Lookup, Parts, all_names
from metastored.spark.source import Edit, Source, flat

Evaluate = Callable[[str], str | None]
"""Returns the text that a constant expression in SQL has. Raises CannotEvaluate."""

_BEFORE_STATEMENTS: Final = frozenset({"BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT", ";", ":"})
"""What is before a statement in a script; a colon is that of a label."""


class CannotEvaluate(Exception):
    """An expression is not a constant, or has an error."""


class Immediate(NamedTuple):
    """EXECUTE IMMEDIATE, by its tokens."""

    start: int
    """The first token of the expression, and the end of it (exclusive)."""
    end: int
    bare: bool
    """Whether nothing follows: no INTO and no USING."""


def only_literals(text: str) -> str | None:
    """An `Evaluate` without Spark: the value of one literal."""
    value = _literal(flat(text), 0, None)
    if value is None:
        raise CannotEvaluate("it is not a literal")
    return value


def with_names(text: str, lookup: Lookup, evaluate: Evaluate) -> str:
    """The text with the names of ACID tables in the place of `IDENTIFIER(…)`, which means the same.

    Raises AcidStatementError for an IDENTIFIER that cannot be evaluated.
    """
    if "identifier" not in text.lower():
        return text
    source = flat(text)
    for index in range(len(source.tokens) - 1):
        if source.is_word(index, "IDENTIFIER") and source.at(index + 1, TokenType.L_PAREN):
            closing = source.closing(index + 1)
            value = _value(source, index + 2, closing, lookup, evaluate, "IDENTIFIER(…)")
            parts = _parts(value)
            if parts is None:
                raise source.error(
                    f"IDENTIFIER(…) is {value!r}, which could not be read as a name: write the name of the table",
                    source.offset(index),
                )
            if parts in lookup({parts}):
                name = ".".join(map(backquoted, parts))
                source.edits.append(Edit(source.offset(index), source.tokens[closing].end + 1, name))
    return source.cut(0, len(source.tokens)) if source.edits else text


def immediate_text(source: Source, immediate: Immediate, lookup: Lookup, evaluate: Evaluate) -> str:
    """The statement that EXECUTE IMMEDIATE executes. Raises AcidStatementError where it cannot be evaluated."""
    return _value(source, immediate.start, immediate.end, lookup, evaluate, "the text of EXECUTE IMMEDIATE")


def immediates(source: Source) -> Iterator[tuple[int, Immediate]]:
    """Each EXECUTE IMMEDIATE of a statement or a script, with the position of its first token."""
    for index in range(len(source.tokens) - 1):
        if not (source.is_word(index, "EXECUTE") and source.is_word(index + 1, "IMMEDIATE")):
            continue
        if index and source.tokens[index - 1].text.upper() not in _BEFORE_STATEMENTS:
            continue
        stop = source.find(index + 2, TokenType.SEMICOLON)
        end = source.find(index + 2, TokenType.INTO, TokenType.USING, end=stop)
        yield index, Immediate(index + 2, end, end == stop)


def is_script(source: Source) -> bool:
    return source.is_word(0, "BEGIN") and len(source.tokens) > 1


def _value(source: Source, first: int, end: int, lookup: Lookup, evaluate: Evaluate, what: str) -> str:
    if first >= end:
        raise source.error(f"{what} is empty", source.offset(first))
    literal = _literal(source, first, end)
    if literal is not None:
        return literal
    text = source.original(first, end)
    names = frozenset(parts for parts, _ in all_names(flat(text)))
    if any(not each.lance for each in lookup(names).values()):
        raise source.error(f"{what} names an ACID table: write a constant", source.offset(first))
    try:
        value = evaluate(text)
    except CannotEvaluate as error:
        raise source.error(
            f"{what} could be an ACID table and cannot be evaluated here ({error}): write the name or the statement",
            source.offset(first),
        ) from None
    if value is None:
        raise source.error(f"{what} is null", source.offset(first))
    return value


def _literal(source: Source, first: int, end: int | None) -> str | None:
    """The value of one literal, if it is written without escapes: whether they count is a setting of Spark."""
    stop = len(source.tokens) if end is None else end
    if stop != first + 1 or not source.at(first, TokenType.STRING):
        return None
    token = source.tokens[first]
    return None if "\\" in source.text[token.start : token.end + 1] else token.text


def _parts(value: str) -> Parts | None:
    """The parts of a name, as Spark reads it: with quotes, blanks and comments. None where it is not a name."""
    try:
        source = flat(value)
    except (StatementError, AcidStatementError):
        return None
    names = list(all_names(source))
    if len(names) != 1 or len(source.tokens) != 2 * len(names[0][0]) - 1:
        return None
    return names[0][0]
