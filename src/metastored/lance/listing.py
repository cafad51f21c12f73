"""Finds the Lance tables of a database. The server selects them by the parameter `table_type` where it can.

Filters compare with case, and `table_type` counts in any case. So two filters are sent: one for `lance`, and one for
other values of five characters, whose tables are read and checked. A server without filters, or with other ones, gets a
list of all tables, which are read in batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from metastored.client._sync.client import Client
from metastored.errors import ApplicationError, MetastoreError, PermissionDenied
from metastored.lance.definition import LANCE, is_lance
from metastored.model.names import DatabaseName
from metastored.model.origins import TABLE_TYPE
from metastored.wire.generated.common import Table

BATCH: Final = 1000
"""Tables that are read in one call."""
FILTER: Final = f"hive_filter_field_params__{TABLE_TYPE}"
LANCE_TABLES: Final = f'{FILTER} = "{LANCE}"'
OTHER_CASES: Final = f'({FILTER} like "....." or {FILTER} like "_____") and {FILTER} != "{LANCE}"'
"""Among them are tables with `LANCE` or `Lance`. Any character is `.` in Hive's filters, and `_` in SQL's."""


def lance_tables(client: Client, database: DatabaseName) -> Iterator[Table]:
    """The Lance tables of a database, in batches."""
    found = _filtered(client, database)
    names = client.api.get_all_tables(database.field) if found is None else (*found[0], *found[1])
    yield from _read(client, database, names)


def lance_table_names(client: Client, database: DatabaseName) -> list[str]:
    """The names of the Lance tables of a database, sorted."""
    found = _filtered(client, database)
    if found is None:
        return sorted(table.tableName or "" for table in lance_tables(client, database))
    certain, possible = found
    return sorted([*certain, *(table.tableName or "" for table in _read(client, database, possible))])


def _filtered(client: Client, database: DatabaseName) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of tables with `lance`, and of those with a word as long; None if the server cannot filter."""
    try:
        certain = client.api.get_table_names_by_filter(database.field, LANCE_TABLES, -1)
        return certain, client.api.get_table_names_by_filter(database.field, OTHER_CASES, -1)
    except PermissionDenied:
        raise
    except (MetastoreError, ApplicationError):
        return None


def _read(client: Client, database: DatabaseName, names: tuple[str, ...]) -> Iterator[Table]:
    """The Lance tables among these, each under the name that was asked for.

    The metastore of a remote table could answer with the name of another table, whose rights would then decide: a name
    that was not asked for, and one that came twice, is left out.
    """
    for at in range(0, len(names), BATCH):
        asked = names[at : at + BATCH]
        found = client.tables_by_name(database, asked)
        replies = Counter(table.tableName for table in found)
        expected = {name for name in asked if replies[name] == 1}
        yield from (table for table in found if table.tableName in expected and is_lance(table))
