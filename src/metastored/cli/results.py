"""Results of statements as text for people, and as JSON for programs. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from metastored.model.counting import counted

Value = str | int | float | bool | None

_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")
"""Where a word begins in the name of a class."""
_CONTROL: Final = {code: f"\\x{code:02x}" for code in (*range(10), *range(11, 32), *range(127, 160))}


def harmless(text: str) -> str:
    """A text for a terminal: control characters in names and comments become codes; lines stay."""
    return text.translate(_CONTROL)


class Tabular(Protocol):
    """Columns and rows, such as the result of a statement."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def rows(self) -> Sequence[tuple[Value, ...]]: ...


class Rows(NamedTuple):
    """Columns and rows of a command's own."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def done_text(statement: object) -> str:
    """The line for a statement without a result: `ok: CREATE REMOTE DATABASE shop`."""
    words = _CAPITAL.sub(" ", type(statement).__name__).upper()
    kind, name = getattr(statement, "kind", None), getattr(statement, "name", "")
    shown = ".".join(name) if isinstance(name, tuple) else str(name)
    granted = [each.word for each in getattr(statement, "privileges", ())] + [*getattr(statement, "roles", ())]
    parts = ("ok:", words, getattr(kind, "value", kind), shown, ", ".join(granted))
    return harmless(" ".join(filter(None, parts)))


def as_json(result: Tabular) -> str:
    """One line: the columns and the rows."""
    return json.dumps({"columns": result.columns, "rows": result.rows}, ensure_ascii=False)


def as_csv(result: Tabular) -> str:
    """The columns, and a line for each row, as RFC 4180 has them; no value is an empty one."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows(result.rows)
    return lines.getvalue().removesuffix("\n")


def as_text(result: Tabular, heading: Callable[[str], str] = str) -> str:
    """A table with a heading, as wide as its texts; nothing for a statement without a result.

    A single value of several lines, such as a statement, is printed as it is.
    """
    if not result.columns:
        return ""
    if len(result.columns) == 1 and any("\n" in str(row[0]) for row in result.rows):
        return "\n".join("\n".join(_shown(row[0])) for row in result.rows)
    lines = [
        [[harmless(name).replace("\n", "\\x0a")] for name in result.columns],
        *([_shown(value) for value in row] for row in result.rows),
    ]
    widths = [max(_width(text) for row in lines for text in row[at]) for at in range(len(result.columns))]
    printed = [line for row in lines for line in _printed(row, widths)]
    rule = "-+-".join("-" * width for width in widths)
    count = f"({counted(len(result.rows), 'row')})"
    return "\n".join([heading(printed[0]), rule, *printed[1:], count])


def _shown(value: Value) -> list[str]:
    if value is None or isinstance(value, bool):
        return ["" if value is None else str(value).lower()]
    return harmless(str(value)).split("\n")


def _printed(row: list[list[str]], widths: list[int]) -> list[str]:
    """A row takes as many lines as its tallest value."""
    height = max(map(len, row))
    return [
        " | ".join(
            text + " " * (width - _width(text))
            for text, width in zip([cell[at] if at < len(cell) else "" for cell in row], widths, strict=True)
        ).rstrip()
        for at in range(height)
    ]


def _width(text: str) -> int:
    """Columns of a terminal: wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
