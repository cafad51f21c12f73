"""Finds the tables of a database by their parameter `table_type`, by which Iceberg and Lance mark theirs.

Filters compare with case, and `table_type` counts in any case. So two filters are sent: one for the usual spelling, and
one for other values of the same length, whose tables are read and checked. A server without filters, or with other
ones, gets a list of all tables, which are read in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, PermissionDenied
from metastored.model.names import DatabaseName
from metastored.model.origins import TABLE_TYPE
from metastored.wire.generated.common import Table

__all__ = ["TableType"]

BATCH: Final = 1000
"""Tables that are read in one call."""
FILTER: Final = f"hive_filter_field_params__{TABLE_TYPE}"


class TableType:
    """One value of `table_type`: its usual spelling, and whether a table has it in any spelling."""

    def __init__(self, word: str, holds: Callable[[Table], bool]) -> None:
        self._holds = holds
        self._usual: Final = f'{FILTER} = "{word}"'
        dots, underscores = "." * len(word), "_" * len(word)
        # Any character is `.` in Hive's filters, and `_` in SQL's.
        self._others: Final = f'({FILTER} like "{dots}" or {FILTER} like "{underscores}") and {FILTER} != "{word}"'

    @property
    def filters(self) -> tuple[str, str]:
        """The filters by which the names are found: for the usual spelling, and for other words of its length."""
        return self._usual, self._others

    def tables(self, client: Client, database: DatabaseName) -> Iterator[Table]:
        """The tables of this type in a database, in batches."""
        filtered = self._filtered(client, database)
        names = client.api.get_all_tables(database.field) if filtered is None else (*filtered[0], *filtered[1])
        yield from self.among(client, database, names)

    def names(self, client: Client, database: DatabaseName) -> list[str]:
        """The names of the tables of this type in a database, sorted."""
        filtered = self._filtered(client, database)
        if filtered is None:
            return sorted(table.tableName or "" for table in self.tables(client, database))
        certain, possible = filtered
        return sorted([*certain, *(table.tableName or "" for table in self.among(client, database, possible))])

    def _filtered(self, client: Client, database: DatabaseName) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The names of tables with the usual spelling, and with a word as long; None if the server cannot filter."""
        try:
            certain = client.api.get_table_names_by_filter(database.field, self._usual, -1)
            return certain, client.api.get_table_names_by_filter(database.field, self._others, -1)
        except PermissionDenied:
            raise
        except (MetastoreError, ApplicationError):
            return None

    def among(self, client: Client, database: DatabaseName, names: tuple[str, ...]) -> Iterator[Table]:
        """The tables of this type among these, each under the name that was asked for.

        The metastore of a remote table could answer with the name of another table, whose rights would then decide: a
        name that was not asked for, and one that came twice, is left out.
        """
        for at in range(0, len(names), BATCH):
            asked = names[at : at + BATCH]
            structs = client.tables_by_name(database, asked)
            replies = Counter(table.tableName for table in structs)
            expected = {name for name in asked if replies[name] == 1}
            yield from (table for table in structs if table.tableName in expected and self._holds(table))
