"""The conditions of an alter of a table or partitions: properties of its environment, and how a refusal begins. Pure.

Hive has one for tables since 2.3.10 (HIVE-26882): a parameter must still have a value. metastored adds two of its own:
`CHANGES_ONLY` for tables and partitions, and `UNLOCKED` for tables. A server that does not know a property ignores it.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import MetastoreError
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

EXPECTED_KEY: Final = "expected_parameter_key"
"""The name of a parameter that must have a value when the alter takes effect."""
EXPECTED_VALUE: Final = "expected_parameter_value"
CHANGES_ONLY: Final = "metastored.changes_only"
"""The names of the parameters that an alter changes, and the parts (`PARTS`), separated by commas. If the stored table
or partition differs in anything else from the one that was sent, then somebody else has changed it, and the alter is
refused. The names of a table are not compared: they are what a rename changes."""
UNLOCKED: Final = "metastored.unlocked"
"""`true` for an alter that takes effect only if an exclusive lock on the table would be granted at that moment: for a
caller who would otherwise lock the table, alter it and release the lock, in three calls. A lock that another client
requests meanwhile is granted after the alter. A request that waits counts too: the alter does not overtake it."""

OTHER_VALUE: Final = "The table has been modified. The parameter value for key '"
"""How a refusal because of a value begins; the key and the values follow."""
OTHER_TABLE: Final = "The table has been modified. It differs from the one that was sent in more than "
"""How a refusal because of `CHANGES_ONLY` begins."""
IS_LOCKED: Final = "The table is locked by another client: "
"""How a refusal because of `UNLOCKED` begins; the lock follows."""
OTHER_PARTITION: Final = "The partition has been modified. It differs from the one that was sent in more than "
"""The same, for a partition."""

COLUMNS: Final = "@columns"
STORAGE: Final = "@storage"
"""All of the storage but the columns."""
PARTS: Final = {
    "@owner": ("owner", "ownerType"),
    "@keys": ("partitionKeys",),
    "@type": ("tableType",),
    "@view": ("viewOriginalText", "viewExpandedText", "rewriteEnabled"),
}
"""The parts of a table that an alter may change besides parameters and storage, and their fields."""


def having(expected: tuple[str, str] | None) -> dict[str, str]:
    """The environment of an alter that takes effect only if a parameter has a value; {} without a condition."""
    return {} if expected is None else {EXPECTED_KEY: expected[0], EXPECTED_VALUE: expected[1]}


def only(names: set[str]) -> dict[str, str]:
    """The environment of an alter that may change only these parameters and parts."""
    return {CHANGES_ONLY: ",".join(sorted(names))}


def changed_names(before: Table | Partition, after: Table | Partition) -> set[str]:
    """The names of the parameters and parts in which two tables, or two partitions, differ."""
    old, new = before.parameters or {}, after.parameters or {}
    names = {key for key in {*old, *new} if old.get(key) != new.get(key)}
    if isinstance(before, Table):
        names |= {
            part for part, fields in PARTS.items() if any(getattr(before, f) != getattr(after, f) for f in fields)
        }
    one, other = before.sd or StorageDescriptor(), after.sd or StorageDescriptor()
    if one.cols != other.cols:
        names.add(COLUMNS)
    if replace(one, cols=None) != replace(other, cols=None):
        names.add(STORAGE)
    return names


def with_changes_of(before: Table, requested: Table, only: frozenset[str]) -> Table:
    """The stored table with the parts of the requested one that the alter may change; not with its parameters."""
    fields = [field for part in PARTS if part in only for field in PARTS[part]]
    return replace(
        before,
        sd=storage_with_changes_of(before.sd, requested.sd, only),
        **{field: getattr(requested, field) for field in fields},
    )


def storage_with_changes_of(
    before: StorageDescriptor | None, requested: StorageDescriptor | None, only: frozenset[str]
) -> StorageDescriptor | None:
    """The stored storage of a table or partition, with that of the requested one which the alter may change."""
    if before is None or requested is None:
        return before
    sd = replace(requested, cols=before.cols) if STORAGE in only else before
    return replace(sd, cols=requested.cols) if COLUMNS in only else sd


def is_refused(error: MetastoreError) -> bool:
    """Whether an alter was refused because of `CHANGES_ONLY`."""
    return any(text in (error.message or "") for text in (OTHER_TABLE, OTHER_PARTITION))
