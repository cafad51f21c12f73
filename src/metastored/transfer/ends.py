"""The two ends of a transfer and what is to be done between them: what every part of a transfer is given."""

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
    """Whether what the source no longer has is dropped from the target."""

    @property
    def writes(self) -> bool:
        return self.mode is Mode.COPY

    @property
    def looks_for_more(self) -> bool:
        """Whether what only the target has is of interest."""
        return self.drop or self.mode is Mode.VERIFY

    def settle(
        self, kind: str, name: str, action: Action, write: Callable[[], None], fields: list[str] | None = None
    ) -> None:
        """One object that differs: it is told, and made equal if this is a copy."""
        if self.writes:
            write()
        self.tally.change(kind, name, action, fields or ())

    @contextmanager
    def failing(self, kind: str, name: str) -> Iterator[None]:
        """What a metastore refuses is told, and the transfer goes on with the next. A lost network ends it."""
        try:
            yield
        except (MetastoreError, ApplicationError, NotSupported) as error:
            self.tally.failed(kind, name, error)
