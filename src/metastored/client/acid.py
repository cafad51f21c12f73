"""Which locks an operation on the rows of a transactional table takes. Pure.

Which lock an operation takes is not the server's to say: all who write to a table agree on it. Hive before 4 knows no
EXCL_WRITE, lets inserts share with everybody and keeps all others away while it overwrites. From 4.0 on there is a
choice: writers share, and the first to commit wins; or they keep one another out from the start (Hive calls it
`hive.txn.xlock.write`, on by default in 4.0 and off since 4.1).
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
"""What can be done to rows, and what the metastore is told about it."""


def known(operation: str) -> str:
    """The operation, or what there is instead."""
    if operation not in OPERATIONS:
        raise InvalidInputException(f"unknown operation {operation!r}; known are {', '.join(OPERATIONS)}")
    return operation


def keeps_writers_out(version: HiveVersion) -> bool:
    """Whether writers exclude one another where nobody says which way it is to be: as that version of Hive does."""
    return version < (4, 1)


def lock_type(operation: str, version: HiveVersion, exclusive: bool) -> int:
    """The lock for an operation on rows, as Hive of that version takes it."""
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
    """The locks of a write: on the partitions that are named, else on the table."""
    whole = LockComponent(
        type=type,
        level=LockLevel.TABLE,
        dbname=table.database,
        tablename=table.table,
        operationType=OPERATIONS[operation],
        isTransactional=True,
        # Which partitions there will be is not known yet: they are told later, by add_dynamic_partitions.
        isDynamicPartitionWrite=partitioned and not partitions,
        catName=table.catalog_field,
    )
    if not partitions:
        return (whole,)
    return tuple(replace(whole, level=LockLevel.PARTITION, partitionname=name) for name in partitions)


def read_components(tables: Sequence[TableName]) -> tuple[LockComponent, ...]:
    """The locks of a read: shared with all but those who drop or overwrite."""
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
