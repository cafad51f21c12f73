"""Conditional alters: how they are sent and refused, and whether a server honours them.

Hive 3.1.3, and 2.3 before 2.3.10, ignore the condition. A namespace therefore sends one conditional alter with a wrong
expected value before it relies on a server. A metastored may serve databases and tables of other metastores, so the
outcome counts for new tables of one database, or for one table.

metastored also honours `metastored.changes_only`, which Hive ignores: it refuses an alter if the stored table is not
the one that the caller has read. Its reply to the wrong value tells that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lance_namespace import UnsupportedOperationError

from metastored.bounded import BoundedDict
from metastored.client._sync.client import Client
from metastored.errors import MetastoreError
from metastored.hive.statistics.basic import KEEP_STATISTICS
from metastored.lance.definition import VERSION
from metastored.model.conditions import CHANGES_ONLY, EXPECTED_KEY, EXPECTED_VALUE, OTHER_TABLE, OTHER_VALUE
from metastored.model.names import TableName
from metastored.wire.generated.common import Table

NEVER: Final = "no version"
"""An expected value that no table has."""


def is_conflict(error: MetastoreError) -> bool:
    """Whether a refused alter was refused because of its conditions."""
    message = error.message or ""
    return OTHER_VALUE in message or OTHER_TABLE in message


def conditional(expected: str, *, changes: Iterable[str] | None = None) -> dict[str, str]:
    """The environment of an alter of a table whose version is `expected`.

    With `changes`, the names of all parameters that it changes, metastored refuses it also if somebody else has changed
    anything else since the table was read.
    """
    environment = {EXPECTED_KEY: VERSION, EXPECTED_VALUE: expected, **KEEP_STATISTICS}
    return environment if changes is None else {**environment, CHANGES_ONLY: ",".join(changes)}


class CheckedTables:
    """The tables, and databases for new tables, whose server honours conditions, by its address.

    Namespaces of one program may share it.
    """

    CAPACITY: Final = 10_000
    """Entries; then all are evicted."""

    def __init__(self) -> None:
        self._found: BoundedDict[tuple[str, TableName], bool] = BoundedDict(self.CAPACITY)
        """Whether the server also refuses to alter a table that is not the one that was read."""

    def check(self, client: Client, name: TableName, table: Table) -> None:
        """Raises UnsupportedOperationError if the server ignores conditions for this table."""
        key = client.api.address, name
        if key not in self._found:
            self._found[key] = check_condition(client, name, table)

    def check_new(self, client: Client, name: TableName, table: Table) -> None:
        """The same for a table that was just created: the outcome counts for all new tables of its database."""
        address = client.api.address
        database = name._replace(table="")
        compares = self._found.get((address, database))
        if compares is None:
            compares = check_condition(client, name, table)
            self._found[address, database] = compares
        self._found[address, name] = compares

    def compares(self, client: Client, name: TableName) -> bool:
        """Whether the server honours `changes` of `conditional`, by an earlier check of this table."""
        return self._found.get((client.api.address, name), False)


def check_condition(client: Client, name: TableName, table: Table) -> bool:
    """Raises UnsupportedOperationError if the server ignores the condition of an alter.

    It sends an alter that changes nothing, with a wrong expected value: it is refused, so there is no event. Returns
    whether the server honours `changes` of `conditional`.
    """
    try:
        client.alter(name, table, environment=conditional(NEVER, changes=()))
    except MetastoreError as error:
        if is_conflict(error):
            return CHANGES_ONLY in (error.message or "")
        raise
    raise UnsupportedOperationError(
        f"the metastore at {client.uri} ignores the condition of an alter_table, so concurrent commits would be lost: "
        f"managed_by=impl needs Hive 2.3.10, Hive 4.0 or metastored; use managed_by=storage"
    )
