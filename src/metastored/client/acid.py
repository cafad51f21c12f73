"""The locks that an operation on the rows of a transactional table takes. Pure.

The server does not decide which lock an operation takes: all writers of a table have to use the same rules. Hive before
4.0 has no EXCL_WRITE; an insert shares the table with all others, and an overwrite excludes them. From 4.0 on there is
a choice: writers share the table, and the first commit wins; or they exclude one another from the start
(`hive.txn.xlock.write`, on by default in 4.0 and off since 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from metastored.client.versions import HiveVersion
from metastored.errors import InvalidInputException
from metastored.model.names import TableName
from metastored.wire.generated.common import DataOperationType
from metastored.wire.generated.locks import LockComponent, LockLevel, LockType
from metastored.wire.structs import replace

OPERATIONS: Final = {
    "insert": DataOperationType.INSERT,
    "update": DataOperationType.UPDATE,
    "delete": DataOperationType.DELETE,
    "merge": DataOperationType.UPDATE,
    "overwrite": DataOperationType.UPDATE,
}
"""The operations on rows, and their type in the API."""


def known(operation: str) -> str:
    """Returns the operation; raises InvalidInputException, which lists the operations, if it is unknown."""
    if operation not in OPERATIONS:
        raise InvalidInputException(f"unknown operation {operation!r}; known are {', '.join(OPERATIONS)}")
    return operation


def keeps_writers_out(version: HiveVersion) -> bool:
    """Whether writers exclude one another by default in that version of Hive."""
    return version < (4, 1)


def lock_type(operation: str, version: HiveVersion, exclusive: bool) -> int:
    """The lock that this version of Hive takes for an operation on rows."""
    if version < (4, 0):
        old = {"insert": LockType.SHARED_READ, "overwrite": LockType.EXCLUSIVE}
        return old.get(operation, LockType.SHARED_WRITE)
    if exclusive:
        strict = {"insert": LockType.SHARED_READ, "overwrite": LockType.EXCLUSIVE}
        return strict.get(operation, LockType.EXCL_WRITE)
    return LockType.EXCL_WRITE if operation == "overwrite" else LockType.SHARED_WRITE


def write_components(
    table: TableName, operation: str, type: int, partitions: Sequence[str], partitioned: bool
) -> tuple[LockComponent, ...]:
    """The locks of a write: on the named partitions, or on the table if there are none."""
    component = LockComponent(
        type=type,
        level=LockLevel.TABLE,
        dbname=table.database,
        tablename=table.table,
        operationType=OPERATIONS[operation],
        isTransactional=True,
        # The partitions are not known yet: they are sent later, by add_dynamic_partitions.
        isDynamicPartitionWrite=partitioned and not partitions,
        catName=table.catalog_field,
    )
    if not partitions:
        return (component,)
    return tuple(replace(component, level=LockLevel.PARTITION, partitionname=name) for name in partitions)


def read_components(tables: Sequence[TableName]) -> tuple[LockComponent, ...]:
    """The locks of a read: shared with all operations except drop and overwrite."""
    return tuple(
        LockComponent(
            type=LockType.SHARED_READ,
            level=LockLevel.TABLE,
            dbname=table.database,
            tablename=table.table,
            operationType=DataOperationType.SELECT,
            isTransactional=True,
            catName=table.catalog_field,
        )
        for table in tables
    )
