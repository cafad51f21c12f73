"""The parameters of a statement, `:name` and `?`, replaced by literals in SQL. Pure.

Spark binds parameters only in complete statements. Parts of a change of an ACID table are evaluated one by one, and
have to have the values themselves. A literal never ends earlier than its value, whatever the value is: texts with
quotes, backslashes, `$` or control characters are written as hexadecimal bytes, and negative numbers are in
parentheses.
"""

from __future__ import annotations

import calendar
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from sqlglot import TokenType

from metastored.errors import InvalidInputException, StatementError
from metastored.spark.source import Edit, Source, flat

Args = Mapping[str, Any] | Sequence[Any] | None
"""The values of parameters, as `spark.sql` has them: by name, or by position."""

_PLAIN_TEXT: Final = re.compile(r"[^'\"\\$\x00-\x1f\x7f]*")
"""Texts that are the same in a literal under all settings: no escapes, no `${variable}`."""
_OPERANDS: Final = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET)
_INT, _LONG, _DIGITS = 2**31, 2**63, 38


class Marker(NamedTuple):
    """A parameter in a text; `end` is exclusive."""

    start: int
    end: int
    name: str | None
    """None for `?`."""


def bound(text: str, args: Args) -> str:
    """The text with literals in the place of its parameters.

    A parameter without a value, or with a value that has no literal, stays as it is: `unbound` lists them. A text with
    open quotes is returned unchanged.
    """
    if not args:
        return text
    if isinstance(args, (str, bytes)) or not isinstance(args, (Mapping, Sequence)):
        raise InvalidInputException(f"args has to be a dict or a list, not {type(args).__name__}")
    try:
        source = flat(text)
    except StatementError:
        return text
    positions = iter([] if isinstance(args, Mapping) else args)
    for marker in _markers(source):
        if marker.name is None:
            value = next(positions, _MISSING)
        else:
            value = args.get(marker.name, _MISSING) if isinstance(args, Mapping) else _MISSING
        written = None if value is _MISSING else literal(value)
        if written is not None:
            source.edits.append(Edit(marker.start, marker.end, written))
    if not source.edits:
        return text
    return text[: source.offset(0)] + source.cut(0, len(source.tokens))


def unbound(text: str) -> list[str]:
    """The parameters that a text still has, as they are written."""
    return [text[each.start : each.end] for each in _markers(flat(text))]


def literal(value: Any) -> str | None:
    """The value as a literal or a constant expression in Spark's SQL; None for values of other kinds."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return _integer(value)
        case float():
            return _signed(f"{value!r}D") if math.isfinite(value) else f"CAST('{value!r}' AS DOUBLE)"
        case Decimal():
            return _signed(f"{value:f}BD") if value.is_finite() else None
        case str():
            return _text(value)
        case bytes() | bytearray():
            return f"X'{value.hex()}'"
        case datetime():
            return f"timestamp_micros({_signed(str(_micros(value)))})"
        case date():
            return f"DATE'{value.isoformat()}'"
        case timedelta():
            seconds = Decimal(value // timedelta(microseconds=1)).scaleb(-6)
            return f"make_dt_interval(0, 0, 0, CAST('{seconds:f}' AS DECIMAL(18, 6)))"
        case list() | tuple():
            return _call("array", [literal(each) for each in value])
        case dict():
            return _call("map", [literal(each) for pair in value.items() for each in pair])
    return None


_MISSING: Final = object()


def _markers(source: Source) -> Iterator[Marker]:
    for index, token in enumerate(source.tokens):
        if token.token_type is TokenType.PLACEHOLDER and token.text == "?":
            yield Marker(token.start, token.end + 1, None)
        elif token.token_type is TokenType.COLON and index + 1 < len(source.tokens) and not _is_path(source, index):
            name = source.tokens[index + 1]
            if name.text.replace("_", "a").isalnum():
                yield Marker(token.start, name.end + 1, name.text)


def _is_path(source: Source, index: int) -> bool:
    """Whether a colon follows an operand: `v:field` is a part of a variant."""
    if index == 0:
        return False
    before = source.tokens[index - 1]
    adjacent = before.end + 1 == source.tokens[index].start
    word = before.token_type in _OPERANDS or before.text.replace("_", "a").isalnum()
    if adjacent:
        return word
    return before.token_type in _OPERANDS and not source.is_word(index - 1, "OF")


def _integer(value: int) -> str | None:
    if -_INT <= value < _INT:
        return _signed(str(value))
    if -_LONG < value < _LONG:
        return _signed(f"{value}L")
    return _signed(f"{value}BD") if len(str(abs(value))) <= _DIGITS else None


def _signed(number: str) -> str:
    """After a minus sign, another one would begin a comment."""
    return f"({number})" if number.startswith("-") else number


def _text(value: str) -> str | None:
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        return None
    return f"'{value}'" if _PLAIN_TEXT.fullmatch(value) else f"CAST(X'{encoded.hex()}' AS STRING)"


def _micros(value: datetime) -> int:
    """The microseconds since 1970, as PySpark has them: a time without a zone is one of this machine's zone."""
    seconds = calendar.timegm(value.utctimetuple()) if value.tzinfo else int(time.mktime(value.timetuple()))
    return seconds * 1_000_000 + value.microsecond


def _call(function: str, parts: Sequence[str | None]) -> str | None:
    return None if None in parts else f"{function}({', '.join(filter(None, parts))})"
