"""Tables with grants by partition: new partitions get the table's grants, and replies contain a user's privileges.

The table's parameter PARTITION_LEVEL_PRIVILEGE switches it on. Later grants on the table are not copied, as in Hive.
Nothing is enforced here.
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
from metastored.wire.codec import binary

PARAMETER: Final = "PARTITION_LEVEL_PRIVILEGE"
_MARK: Final = PARAMETER.encode()


def by_partition(row: TableRow) -> bool:
    """Whether a table has grants by partition. Few tables do, so the bytes of the others are not decoded."""
    if _MARK not in row.body:
        return False
    parameters = rows.table_of(row, None, "").parameters or {}
    return parameters.get(PARAMETER, "").lower() == "true"


def copy_grants(ctx: Context, tx: Transaction, row: TableRow, names: Sequence[str]) -> None:
    """Copies the grants on a table and its columns to new partitions, if the table has grants by partition."""
    if by_partition(row):
        grants.copy_to_partitions(tx, row.id, names, ctx.now())


def with_privileges(
    tx: Transaction,
    row: TableRow,
    rows_and_structs: Iterable[tuple[Row, bytes]],
    user: str | None,
    groups: Sequence[str] | None,
) -> list[bytes]:
    """Partition structs, passed with their rows, each with the privileges of a user and their groups."""
    structs = []
    for part, struct in rows_and_structs:
        on = On(grants.PARTITION, table_id=row.id, partition_id=part[0])
        own = binary.encode(privilege_set(tx, on, user, groups or ()))
        structs.append(rows.with_privileges(struct, own))
    return structs
