"""Conditional alters: how they are sent and refused, and whether a server honours them.

Hive 3.1.3, and 2.3 before 2.3.10, ignore the condition. A namespace therefore sends one conditional alter with a wrong
expected value before it relies on a server. A metastored may serve databases and tables of other metastores, so the
outcome counts for new tables of one database, or for one table.
"""

from __future__ import annotations

import threading
import uuid
from typing import Final

from lance_namespace import UnsupportedOperationError

from metastored.client._sync.client import Client
from metastored.errors import MetastoreError
from metastored.lance.definition import VERSION
from metastored.model.formats import classes_of
from metastored.model.kinds import VIEW
from metastored.model.makers import storage
from metastored.model.names import DatabaseName, TableName
from metastored.wire.generated.common import FieldSchema, Table

CONFLICT: Final = "The table has been modified. The parameter value for key '"
"""How a metastore's refusal of a conditional alter begins; the key and the values follow."""
NEVER: Final = "no version"
"""An expected value that no table has."""


def is_conflict(error: MetastoreError) -> bool:
    """Whether a refused alter was refused because of its condition."""
    return CONFLICT in (error.message or "")


def conditional(expected: str, key: str = VERSION) -> dict[str, str]:
    """The environment of a conditional alter."""
    return {"expected_parameter_key": key, "expected_parameter_value": expected, "DO_NOT_UPDATE_STATS": "true"}


class CheckedTables:
    """The tables, and databases for new tables, whose server honours conditions, by its address.

    Namespaces of one program may share it.
    """

    CAPACITY: Final = 10_000
    """Entries; then all are evicted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: set[tuple[str, TableName]] = set()

    def check(self, client: Client, name: TableName, table: Table | None, owner: str | None = None) -> None:
        """Raises UnsupportedOperationError if the server ignores conditions.

        `table` is None if it does not exist; then `owner` is the user who would own it.
        """
        address = client.api.address
        key = address, name if table is not None else name._replace(table="")
        if key not in self._found:
            if table is not None:
                check_condition(client, name, table)
            else:
                check_conditional_alter(client, name.database_name, owner)
        with self._lock:
            if len(self._found) >= self.CAPACITY:
                self._found.clear()
            self._found |= {key, (address, name)}


def check_conditional_alter(client: Client, database: DatabaseName, owner: str | None = None) -> None:
    """Raises UnsupportedOperationError if the server ignores the condition of an alter.

    It alters a view with a wrong expected value; the view has no directory and is dropped.
    """
    name = database.table(f"lance_probe_{uuid.uuid4().hex}")
    view = Table(
        tableName=name.table,
        dbName=name.database,
        owner=owner,  # Only the owner of a table may alter it.
        createTime=0,
        lastAccessTime=0,
        retention=0,
        sd=storage((FieldSchema("version", "int"),), classes_of("textfile"), {}),
        partitionKeys=(),
        parameters={VERSION: "0"},
        viewOriginalText="SELECT 1 AS version",
        viewExpandedText="SELECT 1 AS version",
        tableType=VIEW,
        catName=name.catalog_field,
    )
    client.create_table(view)
    try:
        check_condition(client, name, view)
    finally:
        client.drop_table(name, if_exists=True)


def check_condition(client: Client, name: TableName, table: Table) -> None:
    """The same by an alter of an existing table that changes nothing."""
    try:
        client.alter(name, table, environment=conditional(NEVER))
    except MetastoreError as error:
        if is_conflict(error):
            return
        raise
    raise UnsupportedOperationError(
        f"the metastore at {client.uri} ignores the condition of an alter_table, so concurrent commits would be lost: "
        f"managed_by=impl needs Hive 2.3.10, Hive 4.0 or metastored; use managed_by=storage"
    )
