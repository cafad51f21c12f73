"""What the demo prints: numbered steps with their time, statements, and results as tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from metastored.cli.results import as_text
from metastored.client.statements.values import Result

BAR = 24
"""Signs of the progress bar."""


class Steps:
    """Counts the steps, and remembers how long each took."""

    def __init__(self, total: int) -> None:
        self._total = total
        self.times: list[tuple[str, float]] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        number = len(self.times) + 1
        done = BAR * number // self._total
        print(f"[{'#' * done}{'.' * (BAR - done)}] {number}/{self._total}  {title}\n", flush=True)
        start = time.monotonic()
        yield
        taken = time.monotonic() - start
        self.times.append((title, taken))
        print(f"    ({taken:.1f} s)\n", flush=True)

    def summary(self) -> None:
        """A table of all steps, and the total."""
        rows = [(title, f"{taken:6.1f} s") for title, taken in self.times]
        total = sum(taken for _, taken in self.times)
        print_table(("step", "time"), [*rows, ("together", f"{total:6.1f} s")])


def print_statement(text: str) -> None:
    first, *others = text.strip().splitlines()
    print("\n".join([f"sql> {first}", *(f"     {line.strip()}" for line in others)]), flush=True)


def print_rows(rows: Sequence[Any]) -> None:
    """The rows of a DataFrame or of a statement."""
    if rows:
        print_table(tuple(rows[0].__fields__), rows)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    texts = tuple(tuple(_text(value) for value in row) for row in rows)
    print("\n".join(f"    {line}" for line in as_text(Result(tuple(columns), texts)).splitlines()))
    print(flush=True)


def say(text: str) -> None:
    print(f"    {text}", file=sys.stdout, flush=True)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return "" if value is None else str(value)
