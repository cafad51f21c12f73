"""The progress of a transfer or a pipeline: a progress bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from metastored.model.counting import counted, plural

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

EVERY: Final = 10.0
"""Seconds between two lines if there is no terminal."""


class Lines:
    """Plain lines on standard error: messages, and the progress every few seconds."""

    def __init__(self, thing: str = "table", part: str = "partition") -> None:
        self._thing, self._part = thing, part
        self._total = self._tables = self._partitions = 0
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def tables(self, total: int) -> None:
        self._total += total

    def table(self, name: str, partitions: int) -> None: ...

    def partitions(self, done: int) -> None:
        self._partitions += done
        self._print_progress()

    def table_done(self) -> None:
        self._tables += 1
        self._print_progress()

    def _print_progress(self) -> None:
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            parts = f", {counted(self._partitions, self._part)}" if self._partitions else ""
            self.line(f"{self._tables:,} of {counted(self._total, self._thing)}{parts}")

    def line(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Bars:
    """One progress bar for the tables, and one for the partitions of the current table."""

    def __init__(self, thing: str = "table") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._many = plural(thing, 2)
        self._console = Console(stderr=True, highlight=False, markup=False)
        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._all: TaskID | None = None
        self._one: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        self._all = self._progress.add_task(self._many, total=None)
        self._one = self._progress.add_task("", total=None, visible=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def tables(self, total: int) -> None:
        assert self._all is not None
        known = self._progress.tasks[self._all].total or 0
        self._progress.update(self._all, total=known + total)

    def table(self, name: str, partitions: int) -> None:
        assert self._one is not None
        self._progress.reset(self._one, total=partitions, description=name, visible=partitions > 0)

    def partitions(self, done: int) -> None:
        assert self._one is not None
        self._progress.advance(self._one, done)

    def table_done(self) -> None:
        assert self._all is not None
        self._progress.advance(self._all)

    def line(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)


def progress_display(thing: str = "table", part: str = "partition") -> Bars | Lines:
    """The display for things that each have parts."""
    return Bars(thing) if sys.stderr.isatty() else Lines(thing, part)


class Meter:
    """One progress bar on standard error, for work whose parts are counted; without a terminal it shows nothing."""

    def __init__(self, description: str) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True, highlight=False, markup=False),
                transient=True,
            )
            self._task = self._progress.add_task(description, total=None)

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, done: int, total: int) -> None:
        """So many parts are done of so many."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def remaining(self, status: int, remaining: int, total: int) -> None:
        """The same as SQLite's backup reports it."""
        self(total - remaining, total)
