"""Whether the server itself may open, or remove, the files of a table: at the location that a look-up of it returned.

A file that a table names, such as the metadata of an Iceberg table, is the word of whoever may alter the table: below
the table's own location it may be opened, and elsewhere its caller needs USE_LOCATION.

The location of a local table was checked when it was stored. That of a remote's table is the word of the remote
metastore, which may name any place that the server can open: its caller needs USE_LOCATION, as for a new table at this
place. Files are never removed for a remote.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Final

from metastored.hive.location_rules import accepted
from metastored.hive.locations import LocationError, is_under
from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model.names import DatabaseName, TableName
from metastored.model.refusals import DENIED
from metastored.wire.message import Session

ROOT: Final = "file:/"
"""The file system of a location without a scheme."""


class Places:
    """The rule above."""

    def __init__(
        self,
        is_remote: Callable[[TableName], Awaitable[bool]],
        lacking: Callable[[str, Session], Awaitable[str | None]] | None,
        schemes: Collection[str],
        holds: Callable[[TableName, Collection[str], Session], Awaitable[bool]] | None = None,
        is_shared: Callable[[TableName, str], Awaitable[bool]] | None = None,
        remote_tables: Callable[[DatabaseName], Awaitable[tuple[str, ...]]] | None = None,
    ) -> None:
        """`lacking` returns the privilege that a caller lacks to use a location, and `holds` whether a caller has all
        of some privileges on a table; None where there is no authorization.

        `schemes` are those of locations that may be opened. `is_shared` returns whether anything besides a table has
        its location at or below one, and `remote_tables` the names of the remote tables of a local database.
        """
        self._is_remote = is_remote
        self._lacking = lacking
        self._holds = holds
        self._is_shared = is_shared
        self._remote_tables = remote_tables
        self._schemes = schemes

    async def refusal(self, name: TableName, location: str, session: Session, *, removes: bool) -> str | None:
        """See `model/opening.py`."""
        table = _normal(name)
        if not await self._is_remote(table):
            return None
        if removes:
            return f"{table} is a table of a remote metastore: its data is not removed from here; deregister the table"
        try:
            accepted(location, ROOT, self._schemes)
        except LocationError as error:
            return f"the remote metastore has {table} at {location!r}, which is not opened: {error}"
        lacking = None if self._lacking is None else await self._lacking(location, session)
        if lacking is None:
            return None
        return f"{DENIED}user {session.user} needs {lacking}, where the remote metastore has {table}"

    async def is_remote(self, name: TableName) -> bool:
        """See `model/opening.py`."""
        return await self._is_remote(_normal(name))

    async def remote_tables(self, database: DatabaseName) -> tuple[str, ...]:
        """See `model/opening.py`."""
        return () if self._remote_tables is None else await self._remote_tables(database)

    async def may(self, name: TableName, privileges: Collection[str], session: Session) -> bool:
        """See `model/opening.py`."""
        return self._holds is not None and await self._holds(_normal(name), privileges, session)

    async def is_shared(self, name: TableName, location: str) -> bool:
        """See `model/opening.py`."""
        return self._is_shared is None or await self._is_shared(_normal(name), location)

    def is_inside(self, location: str, file: str) -> bool:
        """See `model/opening.py`."""
        try:
            return self._is_below(accepted(file, ROOT, self._schemes), location)
        except LocationError:
            return False

    async def file_refusal(self, name: TableName, location: str, file: str, session: Session) -> str | None:
        """See `model/opening.py`."""
        try:
            opened = accepted(file, ROOT, self._schemes)
            inside = self._is_below(opened, location)
        except LocationError as error:
            return f"the file {file!r} of {name} is not opened: {error}"
        if inside and not await self.is_remote(name):
            return None
        lacking = None if self._lacking is None else await self._lacking(opened, session)
        if lacking is None:
            return None
        return f"{DENIED}user {session.user} needs {lacking}, for a file of {name} that is not below its location"

    def _is_below(self, opened: str, location: str) -> bool:
        return bool(location) and is_under(opened, accepted(location, ROOT, self._schemes))


def _normal(name: TableName) -> TableName:
    return TableName(normalize(name.catalog) or DEFAULT_CATALOG, normalize(name.database), normalize(name.table))


async def no_places(name: TableName, location: str, session: Session, *, removes: bool) -> str | None:
    """For a server without any rule: nothing may be opened."""
    return "this server opens no files"
