"""Whether a caller may make a change, before any file is written for it. Raises PermissionDenied.

The metastore decides, by calls that need the same privileges and change nothing: an alter whose condition is never met,
a lock for a kind of change of rows, and a create_table that is never valid. A commit that only changes rows needs the
privileges to change rows; it ends with an alter, which only the owner of a table may send, so the table is then
entrusted to the session that commits. Nothing here is needed where privileges do not count.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
)
from metastored.iceberg.catalog import Catalog, conditional, is_conflict
from metastored.model.names import TableName
from metastored.model.normal import TWICE
from metastored.wire.generated.common import FieldSchema, Table
from metastored.wire.structs import replace

__all__ = ["may_change", "may_create"]

NEVER: Final = "(the caller may alter the table)"
"""A location of metadata that no table has."""


def may_change(catalog: Catalog, name: TableName, changed: Table, operations: Collection[str] | None) -> None:
    """Whether the caller may commit. `operations` are changes of rows; None where the table itself is changed."""
    if not catalog.caller.authorized:
        return
    if operations is None:
        try:
            catalog.client.alter(name, changed, environment=conditional(NEVER))
        except MetaException as error:
            if not is_conflict(error):
                raise
        return
    with catalog.locked([name], operations):
        pass
    catalog.caller.entrust([name])


def may_create(catalog: Catalog, row: Table) -> None:
    """Whether the caller may create a table or view at the location that it has."""
    if not catalog.caller.authorized:
        return
    assert row.sd is not None
    twice = (FieldSchema("twice", "int"), FieldSchema("twice", "int"))
    try:
        catalog.client.api.create_table(replace(row, sd=replace(row.sd, cols=twice)))
    except MetaException as error:
        if TWICE not in (error.message or ""):
            raise
    except (InvalidObjectException, AlreadyExistsException, NoSuchObjectException):
        return  # The create_table that follows reports it.
    else:
        # Only a remote metastore takes such a table.
        name = TableName(row.catName or "", row.dbName or "", row.tableName or "")
        catalog.client.drop_table(name, delete_data=False)
