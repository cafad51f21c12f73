"""What a copy did, and the errors of one. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from metastored.model.counting import counted
from metastored.model.names import DatabaseName, TableName


@dataclass(frozen=True, slots=True)
class CopyResult:
    """A copy of a table."""

    source: TableName
    target: TableName
    rows: int
    """Rows that were written in this copy."""
    bytes: int
    partitions: tuple[str, ...] = ()
    """The partitions that were written."""
    skipped: tuple[str, ...] = ()
    """The partitions that have not changed since an earlier copy."""
    dropped: tuple[str, ...] = ()
    """The partitions that the source does not have any more."""
    unchanged: bool = False
    """Whether nothing was written, because the source has not changed."""
    copied_files: int = 0
    """Files that were copied byte for byte. All others were written from rows."""

    def __str__(self) -> str:
        if self.unchanged:
            return "unchanged"
        how = f" ({counted(self.copied_files, 'file')} byte for byte)" if self.copied_files else ""
        if not (self.partitions or self.skipped or self.dropped):
            return f"copied{how}"
        counts = ((self.partitions, f"copied{how}"), (self.skipped, "unchanged"), (self.dropped, "dropped"))
        return "partitions: " + ", ".join(f"{len(names)} {word}" for names, word in counts if names)


@dataclass(frozen=True, slots=True)
class DatabaseCopyResult:
    """A copy of a database."""

    source: DatabaseName
    target: DatabaseName
    tables: tuple[CopyResult, ...]
    views: tuple[str, ...]
    """The views that were created or changed, in the order of their dependencies."""

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.tables)

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.tables)

    def __str__(self) -> str:
        changed = sum(not each.unchanged for each in self.tables)
        views = f", {counted(len(self.views), 'view')} written" if self.views else ""
        return f"{changed} of {counted(len(self.tables), 'table')} copied{views}"
