"""Prints the results of commands, as text for people or as JSON for programs.

JSON is one document on one line: a list is `{"columns": […], "rows": [[…], …]}`, anything else an object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import typer

from metastored.cli.colours import painted
from metastored.cli.results import Rows, Tabular, Value, as_csv, as_json, as_text, harmless

JSON: Final = "json"
CSV: Final = "csv"


def print_result(result: Tabular, output: str) -> None:
    """A table with a heading, JSON or CSV. Nothing for a statement without a result."""
    if not result.columns:
        return
    if output == JSON:
        typer.echo(as_json(result))
    elif output == CSV:
        typer.echo(as_csv(result))
    else:
        typer.echo(as_text(result, lambda text: painted(text, "bold", sys.stdout)))


def print_rows(columns: Sequence[str], rows: Iterable[tuple[Value, ...]], output: str) -> None:
    """The same for columns and rows."""
    print_result(Rows(tuple(columns), tuple(rows)), output)


def print_object(value: Any, text: str, output: str) -> None:
    """An object as JSON, or the text that says the same. Bytes in it become base64, as in Thrift's JSON."""
    typer.echo(dumped(value) if output == JSON else harmless(text))


def dumped(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def moment(seconds: float | None) -> str | None:
    """A time as text; None for no time, which Hive writes as 0."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if seconds else None


def moment_of_milliseconds(milliseconds: int | None) -> str | None:
    """The same for a time in milliseconds."""
    return moment(milliseconds / 1000) if milliseconds else None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        from base64 import b64encode

        return b64encode(value).decode()
    return str(value)
