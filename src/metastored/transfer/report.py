"""Counts the changes, differences and failures of a transfer, and passes lines about them to a display."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol

from metastored.model.counting import counted

MOST_LINES: Final = 1000
"""The most differences and failures that are reported one by one; the rest is only counted."""


class Action(Enum):
    """The change that makes the target equal to the source."""

    ADD = "add"
    ALTER = "alter"
    DROP = "drop"


class Display(Protocol):
    """Shows the progress of a transfer."""

    def tables(self, total: int) -> None:
        """The number of tables to compare."""

    def table(self, name: str, partitions: int) -> None:
        """The next table begins; it has this many partitions."""

    def partitions(self, done: int) -> None:
        """This many more partitions of the table are done."""

    def table_done(self) -> None: ...

    def line(self, text: str) -> None:
        """Prints a line."""


class Silent:
    """Shows nothing."""

    def tables(self, total: int) -> None: ...
    def table(self, name: str, partitions: int) -> None: ...
    def partitions(self, done: int) -> None: ...
    def table_done(self) -> None: ...
    def line(self, text: str) -> None: ...


class Tally:
    """The counts, and the lines that describe each change."""

    def __init__(self, display: Display, words: dict[Action, str] | None = None, *, by_table: bool = False) -> None:
        """With `words`, every change is reported, in these words; without, only failures.

        With `by_table`, the partitions of a table have one line together, which `partitions_done` writes.
        """
        self.display: Final = display
        self.changes: Final[Counter[tuple[str, Action]]] = Counter()
        self.failures: Final[list[str]] = []
        self.notes: Final[list[str]] = []
        self.compared: Final[Counter[str]] = Counter()
        """How many of each kind the source has."""
        self._words = words
        self._by_table = by_table
        self._partitions: Counter[Action] = Counter()
        """The changes of partitions of the current table, which are not reported yet."""
        self._printed = 0

    def count(self, kind: str, count: int = 1) -> None:
        self.compared[kind] += count

    def change(self, kind: str, name: str, action: Action, fields: Sequence[str] = ()) -> None:
        """One object that differs."""
        self.changes[kind, action] += 1
        if self._words is not None:
            head = f"{kind} {name}: {self._words[action]}"
            self._print(f"{head}: {'; '.join(fields)}" if fields else head)

    def partition(self, table: str, name: str, action: Action, fields: Sequence[str] = ()) -> None:
        """One partition that differs."""
        if self._by_table:
            self.changes["partition", action] += 1
            self._partitions[action] += 1
        else:
            self.change("partition", f"{table} {name}", action, fields)

    def added_partitions(self, table: str, names: Sequence[str]) -> None:
        """Many added partitions at once."""
        if self._by_table or self._words is None or self._printed >= MOST_LINES:
            self.changes["partition", Action.ADD] += len(names)
            self._partitions[Action.ADD] += len(names)
            return
        for name in names:
            self.partition(table, name, Action.ADD)

    def partitions_done(self, table: str) -> None:
        """All partitions of a table were compared."""
        counts, self._partitions = self._partitions, Counter()
        if self._by_table and self._words is not None:
            for action, count in counts.items():
                self._print(f"table {table}: {counted(count, 'partition')} {self._words[action]}")

    def failed(self, kind: str, name: str, error: Exception) -> None:
        text = f"{kind} {name}: {' '.join(str(error).split()) or type(error).__name__}"
        self.failures.append(text)
        self._print(text)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _print(self, text: str) -> None:
        self._printed += 1
        if self._printed <= MOST_LINES:
            self.display.line(text)
        elif self._printed == MOST_LINES + 1:
            self.display.line(f"there are more than {MOST_LINES} such lines; the others are counted only")

    @property
    def total(self) -> int:
        """How many objects differ."""
        return self.changes.total()

    def summary(self, action: Action) -> str:
        """`3 tables, 20 partitions`, or nothing."""
        counts = {kind: count for (kind, each), count in self.changes.items() if each is action}
        return ", ".join(counted(count, kind) for kind, count in counts.items())
