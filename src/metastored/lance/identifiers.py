"""The identifiers of Lance as names of the metastore. Pure.

    Hive2Namespace      [] the metastore    [database]              [database, table]
    Hive3Namespace      [] the metastore    [catalog], [catalog, database]      [catalog, database, table]

The metastore stores names in lower case, and so they are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lance_namespace import InvalidInputError

from metastored.hive.names import normalize
from metastored.model.names import DatabaseName, TableName


class Levels(NamedTuple):
    """How deep identifiers are."""

    catalogs: bool
    """Whether the first part is a catalog."""

    def table(self, id: Sequence[str] | None) -> TableName:
        """The table of an identifier. Raises InvalidInputError if it has another depth."""
        parts = _parts(id)
        if len(parts) != (3 if self.catalogs else 2):
            form = "[catalog, database, table]" if self.catalogs else "[database, table]"
            raise InvalidInputError(f"{_shown(id)} names no table: the identifier of a table is {form}")
        return TableName(parts[0] if self.catalogs else "", parts[-2], parts[-1])

    def database(self, id: Sequence[str] | None) -> DatabaseName:
        """The database of an identifier. Raises InvalidInputError if it has another depth."""
        parts = _parts(id)
        if len(parts) != (2 if self.catalogs else 1):
            form = "[catalog, database]" if self.catalogs else "[database]"
            raise InvalidInputError(f"{_shown(id)} names no database: its identifier is {form}")
        return DatabaseName(parts[0] if self.catalogs else "", parts[-1])

    def namespace(self, id: Sequence[str] | None) -> DatabaseName | str | None:
        """A database; the name of a catalog; None for the metastore itself."""
        parts = _parts(id)
        if not parts:
            return None
        if self.catalogs and len(parts) == 1:
            return parts[0]
        return self.database(parts)

    def id_of(self, name: TableName) -> list[str]:
        """The identifier of a table."""
        return [*([name.catalog] if self.catalogs else []), name.database, name.table]


def _parts(id: Sequence[str] | None) -> list[str]:
    parts = [normalize(part) for part in id or ()]
    if not all(parts):
        raise InvalidInputError(f"{_shown(id)} has an empty part")
    return parts


def _shown(id: Sequence[str] | None) -> str:
    return f"the identifier {list(id or ())}"
