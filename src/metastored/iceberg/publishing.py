"""New metadata files and the change of the metastore that refers to them: files that nothing refers to are removed.

A file is removed only when it is certain that no table refers to it. If the reply to a change was lost, the table is
read again; if that does not tell, the file stays and the client gets CommitStateUnknownException.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from metastored.errors import Error, TransportError
from metastored.iceberg.catalog import Catalog
from metastored.iceberg.definition import metadata_location
from metastored.iceberg.errors import CommitUnknown
from metastored.iceberg.metadata import read_back, read_table, written
from metastored.iceberg.requests import Json
from metastored.model.names import TableName

__all__ = ["NewFiles"]

log = logging.getLogger("metastored.iceberg")


class NewFiles:
    """The metadata files of one commit. Leaving the block removes them, unless a table refers to them or may do so."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._files: list[str] = []
        self._kept = False
        self._committed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not self._kept:
            for file in self._files:
                self._catalog.files.remove(file)
        if self._committed and isinstance(error, Error):
            log.warning("a commit took effect, and this failed after it: %s", error)
            return True
        return False

    def write(self, file: str, metadata: Json) -> None:
        """Writes a file. Raises Unavailable, BadRequest."""
        self._catalog.files.write(file, metadata)
        self._files.append(file)

    def write_table(self, file: str, metadata: Json) -> None:
        """Writes the file of a table, and keeps its metadata for the next commit. Raises Unavailable, BadRequest."""
        stored = written(metadata)
        self._catalog.files.write(file, stored, read_table, read_back(stored))
        self._files.append(file)

    def commit(self, pointers: Sequence[tuple[TableName, str]], change: Callable[[], bool]) -> bool:
        """Makes the change by which tables refer to their files; returns what `change` returns, False for a conflict.

        Raises the error of the change if it did not take effect, and CommitUnknown if that cannot be found out.
        """
        try:
            self._committed = change()
        except Error as error:
            self._committed = self._took_effect(pointers, error)
            if not self._committed:
                raise
        self._kept = self._committed
        return self._committed

    def _took_effect(self, pointers: Sequence[tuple[TableName, str]], error: Error) -> bool:
        try:
            rows = [(self._catalog.row(name), file) for name, file in pointers]
        except Error:
            self._kept = True
            raise CommitUnknown(f"it is not known whether the commit took effect: {error}") from error
        if all(row is not None and metadata_location(row) == file for row, file in rows):
            return True
        if isinstance(error, TransportError):
            # The change may still be under way.
            self._kept = True
            raise CommitUnknown(f"it is not known whether the commit will take effect: {error}") from error
        return False
