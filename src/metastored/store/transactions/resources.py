"""The rows of transactions, locks and compactions that name a table: a rename updates them, a drop deletes them.

Call these in the transaction that renames or drops. Locks outlive a drop, as in Hive: their clients release them.
"""

from collections.abc import Sequence

from metastored.model.names import TableName
from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import named

_NAMING = (
    "txn_components",
    "completed_components",
    "write_sets",
    "write_id_counters",
    "min_history",
    "locks",
    "rebuild_locks",
    "compactions",
    "compaction_metrics",
)
"""Every database table that names tables."""

_WITH_PARTITIONS = (
    "txn_components",
    "completed_components",
    "write_sets",
    "locks",
    "compactions",
    "compaction_metrics",
)
"""Those of them that name partitions, too."""

_COMPACTIONS = "compactions"

_FORGOTTEN = ("txn_components", "completed_components", _COMPACTIONS, "compaction_metrics")
"""The database tables whose rows are deleted when a partition is dropped."""

_FORGOTTEN_WITH_TABLE = (*_FORGOTTEN, "write_id_counters", "min_history")

_NAMED = "cat = :cat_ AND db = :db_ AND tbl = :tbl_"

_WHICH_NAME = Statement(
    " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT tbl FROM {table} WHERE {_NAMED})" for table in _NAMING)
)
_RENAME_TABLE = {
    table: Statement(f"UPDATE {table} SET cat = :cat, db = :db, tbl = :tbl WHERE {_NAMED}") for table in _NAMING
}
_RENAME_PARTITION = tuple(
    Statement(f"UPDATE {table} SET part = :part WHERE {_NAMED} AND part = :part_") for table in _WITH_PARTITIONS
)
_DROP_DATABASE = tuple(
    Statement(f"DELETE FROM {table} WHERE cat = :cat AND db = :db") for table in _FORGOTTEN_WITH_TABLE
)
_DROP_TABLE = tuple(
    Statement(f"DELETE FROM {table} WHERE {_NAMED}") for table in _FORGOTTEN_WITH_TABLE if table != _COMPACTIONS
)
# A drop that only hides a table is cleaned up by a compaction of its own, which must stay.
_DROP_COMPACTIONS = Statement(f"DELETE FROM compactions WHERE {_NAMED} AND (txn_id IS NULL OR txn_id <> :txn_id)")
_DROP_PARTITIONS = tuple(Statement(f"DELETE FROM {table} WHERE {_NAMED} AND part IN :parts") for table in _FORGOTTEN)


def _old(table: TableName) -> dict[str, str]:
    return {f"{key}_": value for key, value in named(table).items()}


def table_renamed(tx: Transaction, old: TableName, new: TableName) -> None:
    """Updates the rows after a table was renamed, perhaps to another database."""
    # Most tables are named nowhere: one statement instead of nine.
    for (naming,) in tx.all(_WHICH_NAME, **_old(old)):
        tx.run(_RENAME_TABLE[naming], **_old(old), **named(new))


def partition_renamed(tx: Transaction, table: TableName, old: str, new: str) -> None:
    """Updates the rows after a partition (`k=v/…`) was renamed."""
    for statement in _RENAME_PARTITION:
        tx.run(statement, **_old(table), part_=old, part=new)


def database_dropped(tx: Transaction, cat: str, db: str) -> None:
    """Deletes the rows of a dropped database."""
    for statement in _DROP_DATABASE:
        tx.run(statement, cat=cat, db=db)


def table_dropped(tx: Transaction, table: TableName, *, txn_id: int = 0) -> None:
    """Deletes the rows of a dropped table. A compaction of the dropping transaction stays: it removes the files."""
    for statement in _DROP_TABLE:
        tx.run(statement, **_old(table))
    tx.run(_DROP_COMPACTIONS, **_old(table), txn_id=txn_id)


def partitions_dropped(tx: Transaction, table: TableName, names: Sequence[str]) -> None:
    """Deletes the rows of dropped partitions."""
    for statement in _DROP_PARTITIONS:
        tx.run(statement, **_old(table), parts=tx.list(names))
