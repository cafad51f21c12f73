"""The tables and partitions that transactions write to.

There are rows of running transactions, of committed ones, and the write sets by which a commit detects conflicts.
Kinds of writes are Hive's letters: i(nsert), u(pdate), d(elete), s(elect), c(ompact).
"""

from collections.abc import Sequence
from typing import NamedTuple

from metastored.model.names import TableName
from metastored.store.engine.statements import POSTGRESQL, SQLITE, Statement, column_list, insert_into
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import NAMED, named
from metastored.store.transactions.transactions import TxnState

INSERT, UPDATE, DELETE, SELECT, COMPACT = "i", "u", "d", "s", "c"


class Component(NamedTuple):
    txn_id: int
    cat: str
    db: str
    tbl: str | None
    part: str | None
    op: str
    write_id: int | None


class Collision(NamedTuple):
    """The transaction that committed a write to the same object, and both operations."""

    txn_id: int
    commit_id: int
    db: str
    tbl: str | None
    part: str | None
    own_op: str
    other_op: str


_COMPONENT = Component._fields
_COMPLETED = ("txn_id", "cat", "db", "tbl", "part", "write_id", "update_delete", "time")
_CHANGES = f"op IN ('{UPDATE}', '{DELETE}')"

_INSERT = Statement(insert_into("txn_components", *_COMPONENT), positions=_COMPONENT)
_OPS = Statement("SELECT DISTINCT op FROM txn_components WHERE txn_id = :txn_id")
_DELETE_OF = Statement("DELETE FROM txn_components WHERE txn_id = :txn_id")
_DELETE_WHOLE_TABLE = Statement(f"DELETE FROM txn_components WHERE txn_id = :txn_id AND {NAMED} AND part IS NULL")


def _complete(dialect: str) -> str:
    """Adds the components of a transaction to the completed ones; on PostgreSQL it deletes them, too."""
    begins, source = "", "txn_components WHERE txn_id = :txn_id AND"
    if dialect == POSTGRESQL:
        begins, source = "WITH ended AS (DELETE FROM txn_components WHERE txn_id = :txn_id RETURNING *)", "ended WHERE"
    return f"""
        {begins} INSERT INTO completed_components ({column_list(*_COMPLETED)})
        SELECT txn_id, cat, db, tbl, part, write_id, CAST(:update_delete AS INTEGER), CAST(:time AS BIGINT)
        FROM {source} op <> '{COMPACT}'
    """


_COMPLETE = Statement(_complete)
_ADD_COMPLETED = Statement(insert_into("completed_components", *_COMPLETED))
_RECORD = Statement(
    f"""
    INSERT INTO write_sets (txn_id, commit_id, cat, db, tbl, part, op)
    SELECT DISTINCT txn_id, CAST(:commit_id AS BIGINT), cat, db, tbl, part, op
    FROM txn_components WHERE txn_id = :txn_id AND {_CHANGES}
    """
)

# The components of a transaction, and the write sets of those that committed since it began.
_OVERLAPPING = f"""
    txn_components c JOIN write_sets s ON s.cat = c.cat AND s.db = c.db AND s.tbl = c.tbl
    WHERE c.txn_id = :txn_id AND c.{_CHANGES} AND s.commit_id >= :txn_id AND s.txn_id <> :txn_id
"""


def _collision(dialect: str) -> str:
    # SQLite has IS NOT DISTINCT FROM since 3.39.
    same_part = "s.part IS c.part" if dialect == SQLITE else "s.part IS NOT DISTINCT FROM c.part"
    return f"""
        SELECT s.txn_id, s.commit_id, s.db, s.tbl, s.part, c.op, s.op FROM {_OVERLAPPING}
            AND {same_part}
            AND (c.op = '{UPDATE}' OR s.op = '{UPDATE}' OR CAST(:deletes AS INTEGER) = 1)
        ORDER BY s.commit_id, s.txn_id LIMIT :limit
    """


_COLLISION = Statement(_collision)
_LATEST = Statement(f"SELECT max(s.txn_id) FROM {_OVERLAPPING} AND (c.part IS NULL OR s.part = c.part)")
_PURGE_SETS = Statement("DELETE FROM write_sets WHERE commit_id < :below")
_CHANGED = Statement(
    f"""
    SELECT DISTINCT txn_id FROM completed_components
    WHERE {NAMED} AND update_delete = 1 AND (write_id > :above OR write_id IN :also) AND txn_id <= :up_to
    """
)

# A bare parameter has no type in PostgreSQL when it is only compared with null.
_IN_PART = "(CAST(:part AS TEXT) IS NULL OR part = CAST(:part AS TEXT))"
_CLEAN_COMPLETED = Statement(
    f"""
    DELETE FROM completed_components
    WHERE {NAMED} AND {_IN_PART}
        AND (CAST(:highest AS BIGINT) = 0 OR write_id <= CAST(:highest AS BIGINT))
    """
)
_CLEAN_ABORTED = Statement(
    f"""
    DELETE FROM txn_components
    WHERE {NAMED} AND {_IN_PART} AND write_id <= CAST(:highest AS BIGINT)
        AND txn_id IN (SELECT id FROM txns WHERE state = {TxnState.ABORTED.value})
    """
)


def add(tx: Transaction, components: Sequence[Component]) -> None:
    """Records the objects that transactions write to."""
    tx.many(_INSERT, [tuple(component) for component in components])


def ops(tx: Transaction, txn_id: int) -> set[str]:
    """The kinds of writes that are recorded for a transaction."""
    return {op for (op,) in tx.all(_OPS, txn_id=txn_id)}


def forget(tx: Transaction, txn_id: int) -> None:
    """Deletes the recorded writes of a transaction."""
    tx.run(_DELETE_OF, txn_id=txn_id)


def forget_table_component(tx: Transaction, txn_id: int, table: TableName) -> None:
    """Deletes the record that a transaction writes to unknown partitions: now they are known."""
    tx.run(_DELETE_WHOLE_TABLE, txn_id=txn_id, **named(table))


def complete(tx: Transaction, txn_id: int, *, update_delete: bool, time: int) -> None:
    """Moves the recorded writes of a transaction to the committed ones; compactions are not recorded."""
    tx.run(_COMPLETE, txn_id=txn_id, update_delete=int(update_delete), time=time)
    if tx.dialect == SQLITE:
        forget(tx, txn_id)


def add_completed(tx: Transaction, written: Sequence[Component], *, update_delete: bool, time: int) -> None:
    """As `complete`, for writes that another metastore reports."""
    rows = [
        {
            **{key: value for key, value in component._asdict().items() if key != "op"},
            "update_delete": int(update_delete),
            "time": time,
        }
        for component in written
    ]
    tx.many(_ADD_COMPLETED, rows)


def collision(tx: Transaction, txn_id: int, *, deletes: bool) -> Collision | None:
    """An overlapping transaction that was committed and changed the same object.

    With `deletes` two deletes conflict too.
    """
    row = tx.one(_COLLISION, txn_id=txn_id, deletes=int(deletes), limit=1)
    return None if row is None else Collision._make(row)


def record(tx: Transaction, txn_id: int, commit_id: int) -> None:
    """Stores the write set of a transaction that commits now."""
    tx.run(_RECORD, txn_id=txn_id, commit_id=commit_id)


def latest_collision(tx: Transaction, txn_id: int) -> int:
    """The latest transaction that `txn_id` conflicts with, 0 if there is none."""
    row = tx.one(_LATEST, txn_id=txn_id)
    return 0 if row is None or row[0] is None else row[0]


def purge_sets(tx: Transaction, below: int) -> int:
    """Deletes the write sets that no open transaction can conflict with any more."""
    return tx.run(_PURGE_SETS, below=below)


def changed_by(tx: Transaction, table: TableName, above: int, also: Sequence[int], up_to: int) -> list[int]:
    """The transactions up to one that updated or deleted rows of a table, by write ids above one or among some."""
    result = tx.all(_CHANGED, **named(table), above=above, also=tx.list(also), up_to=up_to)
    return [txn for (txn,) in result]


def clean(tx: Transaction, table: TableName, part: str | None, highest: int | None) -> None:
    """Deletes records that a compaction up to a write id has made unnecessary; without one, all of them."""
    tx.run(_CLEAN_COMPLETED, **named(table), part=part, highest=highest or 0)
    clean_aborted(tx, table, part, highest)


def clean_aborted(tx: Transaction, table: TableName, part: str | None, highest: int | None) -> None:
    """Deletes the recorded writes of aborted transactions up to a write id: their files are gone."""
    if highest:
        tx.run(_CLEAN_ABORTED, **named(table), part=part, highest=highest)
