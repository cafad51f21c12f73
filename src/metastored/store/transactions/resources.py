"""The rows of transactions, locks and compactions that name a table: a rename updates them, a drop deletes them.

Call these in the transaction that renames or drops. Locks outlive a drop, as in Hive: their clients release them.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, in_list
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import named

_NAMING = (
    schema.txn_components,
    schema.completed_components,
    schema.write_sets,
    schema.write_id_counters,
    schema.min_history,
    schema.locks,
    schema.rebuild_locks,
    schema.compactions,
    schema.compaction_metrics,
)
"""Every database table that names tables."""

_FORGOTTEN = (
    schema.txn_components,
    schema.completed_components,
    schema.compactions,
    schema.compaction_metrics,
)
"""The database tables whose rows are deleted when a partition is dropped."""

_FORGOTTEN_WITH_TABLE = (*_FORGOTTEN, schema.write_id_counters, schema.min_history)


def _named(table: sa.Table) -> sa.ColumnElement[bool]:
    c = table.c
    return sa.and_(c.cat == sa.bindparam("cat_"), c.db == sa.bindparam("db_"), c.tbl == sa.bindparam("tbl_"))


def _all_but(table: sa.Table) -> sa.ColumnElement[bool]:
    """A drop that only hides a table is cleaned up by a compaction of its own, which must stay."""
    if table is not schema.compactions:
        return sa.true()
    return sa.or_(table.c.txn_id.is_(None), table.c.txn_id != sa.bindparam("txn_id"))


_WHICH_NAME = Statement(
    sa.union_all(
        *(
            sa.select(sa.literal_column(f"'{table.name}'")).where(
                sa.exists(sa.select(table.c.tbl).where(_named(table)))
            )
            for table in _NAMING
        )
    )
)
_RENAME_TABLE = {
    table.name: Statement(
        sa.update(table)
        .values(cat=sa.bindparam("cat"), db=sa.bindparam("db"), tbl=sa.bindparam("tbl"))
        .where(_named(table))
    )
    for table in _NAMING
}
_RENAME_PARTITION = tuple(
    Statement(
        sa.update(table).values(part=sa.bindparam("part")).where(_named(table), table.c.part == sa.bindparam("part_"))
    )
    for table in _NAMING
    if "part" in table.c
)
_DROP_DATABASE = tuple(
    Statement(sa.delete(table).where(table.c.cat == sa.bindparam("cat"), table.c.db == sa.bindparam("db")))
    for table in _FORGOTTEN_WITH_TABLE
)
_DROP_TABLE = tuple(
    Statement(sa.delete(table).where(_named(table), _all_but(table))) for table in _FORGOTTEN_WITH_TABLE
)
_DROP_PARTITIONS = tuple(
    Statement(sa.delete(table).where(_named(table), in_list(table.c.part, "parts"))) for table in _FORGOTTEN
)


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
    for statement, of in zip(_DROP_TABLE, _FORGOTTEN_WITH_TABLE, strict=True):
        if of is schema.compactions:
            tx.run(statement, **_old(table), txn_id=txn_id)
        else:
            tx.run(statement, **_old(table))


def partitions_dropped(tx: Transaction, table: TableName, names: Sequence[str]) -> None:
    """Deletes the rows of dropped partitions."""
    for statement in _DROP_PARTITIONS:
        tx.run(statement, **_old(table), parts=tx.list(names))
