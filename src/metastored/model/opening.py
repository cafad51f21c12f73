"""Whether a server may open the files of a table itself: the form of the questions. `server/places.py` answers them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from metastored.model.names import DatabaseName, TableName
from metastored.wire.message import Session


class MayOpen(Protocol):
    """Why the files of a table may not be opened, or removed, for a caller; None if they may."""

    async def __call__(self, name: TableName, location: str, session: Session, *, removes: bool) -> str | None: ...


class FileRules(Protocol):
    """The same for single files, which a table or a client names."""

    async def is_remote(self, name: TableName) -> bool:
        """Whether a table is a remote's."""
        ...

    async def remote_tables(self, database: DatabaseName) -> tuple[str, ...]:
        """The names of the remote tables of a local database."""
        ...

    async def may(self, name: TableName, privileges: Collection[str], session: Session) -> bool:
        """Whether a caller has all of these privileges on the rows of a table; False where privileges do not count."""
        ...

    async def is_shared(self, name: TableName, location: str) -> bool:
        """Whether anything besides a table has its location there or below. All objects are read for it."""
        ...

    def is_inside(self, location: str, file: str) -> bool:
        """Whether a file has an accepted location below that of a table. A local table's may be read and written."""
        ...

    async def file_refusal(self, name: TableName, location: str, file: str, session: Session) -> str | None:
        """Why a file may not be read or written for a caller, for a table at a location; None if it may."""
        ...
