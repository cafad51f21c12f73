"""What a transfer did, would do or found: counted, and told to whoever looks on. It prints nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol

MOST_LINES: Final = 1000
"""So many differences and failures are told one by one; the rest is only counted."""


class Action(Enum):
    """What makes the target like the source."""

    ADD = "add"
    ALTER = "alter"
    DROP = "drop"


class Display(Protocol):
    """Somebody who looks on."""

    def tables(self, total: int) -> None:
        """So many tables are to be looked at."""

    def table(self, name: str, partitions: int) -> None:
        """One of them begins, with so many partitions."""

    def partitions(self, done: int) -> None:
        """Some more of its partitions are done."""

    def table_done(self) -> None: ...

    def line(self, text: str) -> None:
        """Something worth a line."""


class Silent:
    """Nobody looks on."""

    def tables(self, total: int) -> None: ...
    def table(self, name: str, partitions: int) -> None: ...
    def partitions(self, done: int) -> None: ...
    def table_done(self) -> None: ...
    def line(self, text: str) -> None: ...


class Tally:
    """The sums, and the lines that tell of each."""

    def __init__(self, display: Display, words: dict[Action, str] | None = None, *, by_table: bool = False) -> None:
        """With `words`, every change is told, in these; without, only what failed.

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
        """Those of the table at hand, which have no line yet."""
        self._told = 0

    def saw(self, kind: str, count: int = 1) -> None:
        self.compared[kind] += count

    def change(self, kind: str, name: str, action: Action, fields: Sequence[str] = ()) -> None:
        """One object that differs."""
        self.changes[kind, action] += 1
        if self._words is not None:
            head = f"{kind} {name}: {self._words[action]}"
            self._tell(f"{head}: {'; '.join(fields)}" if fields else head)

    def partition(self, of: str, name: str, action: Action, fields: Sequence[str] = ()) -> None:
        """One partition that differs."""
        if self._by_table:
            self.changes["partition", action] += 1
            self._partitions[action] += 1
        else:
            self.change("partition", f"{of} {name}", action, fields)

    def added_partitions(self, of: str, names: Sequence[str]) -> None:
        """Many at once."""
        if self._by_table or self._words is None or self._told >= MOST_LINES:
            self.changes["partition", Action.ADD] += len(names)
            self._partitions[Action.ADD] += len(names)
            return
        for name in names:
            self.partition(of, name, Action.ADD)

    def partitions_done(self, of: str) -> None:
        """All partitions of a table were compared."""
        counts, self._partitions = self._partitions, Counter()
        if self._by_table and self._words is not None:
            for action, count in counts.items():
                self._tell(f"table {of}: {count:,} {plural('partition', count)} {self._words[action]}")

    def failed(self, kind: str, name: str, error: Exception) -> None:
        text = f"{kind} {name}: {' '.join(str(error).split()) or type(error).__name__}"
        self.failures.append(text)
        self._tell(text)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _tell(self, text: str) -> None:
        self._told += 1
        if self._told <= MOST_LINES:
            self.display.line(text)
        elif self._told == MOST_LINES + 1:
            self.display.line(f"there are more than {MOST_LINES} such lines; the others are counted only")

    @property
    def total(self) -> int:
        """How many objects differ."""
        return self.changes.total()

    def summary(self, action: Action) -> str:
        """`3 tables, 20 partitions`, or nothing."""
        counts = {kind: count for (kind, each), count in self.changes.items() if each is action}
        return ", ".join(f"{count:,} {plural(kind, count)}" for kind, count in counts.items())


def plural(kind: str, count: int) -> str:
    if count == 1:
        return kind
    return kind[:-1] + "ies" if kind.endswith("y") else f"{kind}s"
