"""Tables that grant by partition: new partitions get the table's grants, and answers for a user say what they may.

A table says so by its parameter PARTITION_LEVEL_PRIVILEGE. What is granted on the table later is not copied, as in
Hive. Nothing here decides whether anybody may do anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from metastored.service.core import rows
from metastored.service.core.context import Context
from metastored.service.security.privileges import privilege_set
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects.tables import TableRow
from metastored.store.security import grants
from metastored.store.security.grants import On
from metastored.wire import binary

PARAMETER: Final = "PARTITION_LEVEL_PRIVILEGE"
_MARK: Final = PARAMETER.encode()


def by_partition(row: TableRow) -> bool:
    """Whether a table grants by partition. Few do, so the bytes of the others are not decoded for it."""
    if _MARK not in row.body:
        return False
    parameters = rows.table_of(row, None, "").parameters or {}
    return parameters.get(PARAMETER, "").lower() == "true"


def copy_grants(ctx: Context, tx: Transaction, row: TableRow, names: Sequence[str]) -> None:
    """Grants on new partitions what is granted on their table and its columns, if the table wants that."""
    if by_partition(row):
        grants.copy_to_partitions(tx, row.id, names, ctx.now())


def with_privileges(
    tx: Transaction,
    row: TableRow,
    found: Iterable[tuple[Row, bytes]],
    user: str | None,
    groups: Sequence[str] | None,
) -> list[bytes]:
    """Partition structs, given with their rows, each with what a user and their groups were granted on it."""
    structs = []
    for part, struct in found:
        on = On(grants.PARTITION, table_id=row.id, partition_id=part[0])
        own = binary.encode(privilege_set(tx, on, user, groups or ()))
        structs.append(rows.with_privileges(struct, own))
    return structs
