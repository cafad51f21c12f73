"""The functions that a filter can call, as Hive has them: a NULL argument makes the result NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, NamedTuple


class Kind(Enum):
    """How values compare."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    NULL = "NULL"


class Function(NamedTuple):
    """A function: the kinds of its arguments, how many of them have to be given, and its result."""

    arguments: tuple[Kind, ...]
    required: int
    result: Kind
    call: Callable[..., Any]
    repeated: bool = False
    """Whether the last argument can be given any number of times."""


def _substring(text: str, start: int, length: int | None = None) -> str:
    """SQL's substring: positions begin with 1, and negative ones count from the end."""
    begin = int(start) - 1 if start > 0 else max(len(text) + int(start), 0) if start < 0 else 0
    return text[begin:] if length is None else text[begin : begin + max(int(length), 0)]


def _days(day: date, days: int) -> date:
    return day + timedelta(days=int(days))


_DAY: Final = timedelta(days=1)
_T, _N, _D, _M = Kind.TEXT, Kind.NUMBER, Kind.DATE, Kind.TIMESTAMP

_FUNCTIONS: Final[dict[str, Function]] = {
    "lower": Function((_T,), 1, _T, str.lower),
    "upper": Function((_T,), 1, _T, str.upper),
    "trim": Function((_T,), 1, _T, lambda text: text.strip(" ")),
    "ltrim": Function((_T,), 1, _T, lambda text: text.lstrip(" ")),
    "rtrim": Function((_T,), 1, _T, lambda text: text.rstrip(" ")),
    "length": Function((_T,), 1, _N, len),
    "reverse": Function((_T,), 1, _T, lambda text: text[::-1]),
    "substr": Function((_T, _N, _N), 2, _T, _substring),
    "concat": Function((_T,), 1, _T, lambda *texts: "".join(texts), repeated=True),
    "replace": Function((_T, _T, _T), 3, _T, str.replace),
    "instr": Function((_T, _T), 2, _N, lambda text, part: text.find(part) + 1),
    "abs": Function((_N,), 1, _N, abs),
    "floor": Function((_N,), 1, _N, math.floor),
    "ceil": Function((_N,), 1, _N, math.ceil),
    "mod": Function((_N, _N), 2, _N, lambda one, other: Decimal(one) % Decimal(other)),
    "contains": Function((_T, _T), 2, Kind.BOOLEAN, lambda text, part: part in text),
    "startswith": Function((_T, _T), 2, Kind.BOOLEAN, str.startswith),
    "endswith": Function((_T, _T), 2, Kind.BOOLEAN, str.endswith),
    "+": Function((_N, _N), 2, _N, lambda one, other: one + other),
    "-": Function((_N, _N), 2, _N, lambda one, other: one - other),
    "*": Function((_N, _N), 2, _N, lambda one, other: one * other),
    "/": Function((_N, _N), 2, _N, lambda one, other: Decimal(one) / Decimal(other)),
    "%": Function((_N, _N), 2, _N, lambda one, other: Decimal(one) % Decimal(other)),
    "year": Function((_D,), 1, _N, lambda day: day.year),
    "quarter": Function((_D,), 1, _N, lambda day: (day.month + 2) // 3),
    "month": Function((_D,), 1, _N, lambda day: day.month),
    "day": Function((_D,), 1, _N, lambda day: day.day),
    "dayofweek": Function((_D,), 1, _N, lambda day: day.isoweekday() % 7 + 1),
    "weekofyear": Function((_D,), 1, _N, lambda day: day.isocalendar().week),
    "hour": Function((_M,), 1, _N, lambda moment: moment.hour),
    "minute": Function((_M,), 1, _N, lambda moment: moment.minute),
    "second": Function((_M,), 1, _N, lambda moment: moment.second),
    "to_date": Function((_D,), 1, _D, lambda day: day),
    "date_add": Function((_D, _N), 2, _D, _days),
    "date_sub": Function((_D, _N), 2, _D, lambda day, days: _days(day, -days)),
    "datediff": Function((_D, _D), 2, _N, lambda one, other: (one - other).days),
    "last_day": Function((_D,), 1, _D, lambda day: (day.replace(day=28) + timedelta(days=4)).replace(day=1) - _DAY),
    "date_format": Function((_M, _T), 2, _T, lambda moment, pattern: _formatted(moment, pattern)),
}
FUNCTIONS: Final = {
    **_FUNCTIONS,
    "substring": _FUNCTIONS["substr"],
    "ucase": _FUNCTIONS["upper"],
    "lcase": _FUNCTIONS["lower"],
    "dayofmonth": _FUNCTIONS["day"],
    "ceiling": _FUNCTIONS["ceil"],
    "pmod": _FUNCTIONS["mod"],
}

_PATTERN: Final = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "DDD": "%j", "E": "%a",
}  # fmt: skip


def _formatted(moment: datetime, pattern: str) -> str:
    """A time by Java's pattern: `yyyy-MM-dd HH:mm:ss`."""
    written, at = "", 0
    while at < len(pattern):
        for word, code in _PATTERN.items():
            if pattern.startswith(word, at):
                written += moment.strftime(code)
                at += len(word)
                break
        else:
            written += pattern[at]
            at += 1
    return written
