"""The context of a transfer: its source, its target and its options. Every part of a transfer takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from metastored.errors import ApplicationError, MetastoreError, NotSupported
from metastored.transfer.journal import Journal
from metastored.transfer.reading import Reader
from metastored.transfer.report import Action, Tally
from metastored.transfer.selection import Catalogs, Selection
from metastored.transfer.writing import Writer


class Mode(Enum):
    COPY = "copy"
    DRY_RUN = "dry run"
    VERIFY = "verify"


@dataclass(frozen=True)
class Ends:
    source: Reader
    target: Reader
    writer: Writer
    selection: Selection
    catalogs: Catalogs
    journal: Journal
    tally: Tally
    mode: Mode = Mode.COPY
    drop: bool = False
    """Whether objects that the source no longer has are dropped from the target."""

    @property
    def writes(self) -> bool:
        return self.mode is Mode.COPY

    @property
    def includes_extra(self) -> bool:
        """Whether objects that exist only in the target are included."""
        return self.drop or self.mode is Mode.VERIFY

    def settle(
        self, kind: str, name: str, action: Action, write: Callable[[], None], fields: list[str] | None = None
    ) -> None:
        """Reports one object that differs, and writes it if this is a copy."""
        if self.writes:
            write()
        self.tally.change(kind, name, action, fields or ())

    @contextmanager
    def failing(self, kind: str, name: str) -> Iterator[None]:
        """Reports an object that a metastore refuses, so that the run continues. A lost connection ends the run."""
        try:
            yield
        except (MetastoreError, ApplicationError, NotSupported) as error:
            self.tally.failed(kind, name, error)
