"""The tables and partitions that transactions write to.

There are rows of running transactions, of committed ones, and the write sets by which a commit detects conflicts.
Kinds of writes are Hive's letters: i(nsert), u(pdate), d(elete), s(elect), c(ompact).
"""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list, limited
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import named

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


_c, _d, _s, _t = (
    table.c for table in (schema.txn_components, schema.completed_components, schema.write_sets, schema.txns)
)
_OF_TXN = _c.txn_id == sa.bindparam("txn_id")
_CHANGES = _c.op.in_((sa.literal_column(f"'{UPDATE}'"), sa.literal_column(f"'{DELETE}'")))
_SAME_TABLE = sa.and_(_s.cat == _c.cat, _s.db == _c.db, _s.tbl == _c.tbl)
_NOT_COMPACT = _c.op != sa.literal_column(f"'{COMPACT}'")
_COMPONENT = ("txn_id", "cat", "db", "tbl", "part", "op", "write_id")

_INSERT = Statement(sa.insert(schema.txn_components).values(bound(*_COMPONENT)), positions=_COMPONENT)
_OPS = Statement(sa.select(_c.op).where(_OF_TXN).distinct())
_DELETE_OF = Statement(sa.delete(schema.txn_components).where(_OF_TXN))
_DELETE_WHOLE_TABLE = Statement(
    sa.delete(schema.txn_components).where(
        _OF_TXN,
        _c.cat == sa.bindparam("cat"),
        _c.db == sa.bindparam("db"),
        _c.tbl == sa.bindparam("tbl"),
        _c.part.is_(None),
    )
)
_COMPLETE = Statement(
    sa.insert(schema.completed_components).from_select(
        ["txn_id", "cat", "db", "tbl", "part", "write_id", "update_delete", "time"],
        sa.select(
            *(_c.txn_id, _c.cat, _c.db, _c.tbl, _c.part, _c.write_id),
            sa.bindparam("update_delete", type_=sa.Integer()),
            sa.bindparam("time", type_=sa.BigInteger()),
        ).where(_OF_TXN, _NOT_COMPACT),
    )
)
_ADD_COMPLETED = Statement(
    sa.insert(schema.completed_components).values(
        bound("txn_id", "cat", "db", "tbl", "part", "write_id", "update_delete", "time")
    )
)
_RECORD = Statement(
    sa.insert(schema.write_sets).from_select(
        ["txn_id", "commit_id", "cat", "db", "tbl", "part", "op"],
        sa.select(_c.txn_id, sa.bindparam("commit_id", type_=sa.BigInteger()), _c.cat, _c.db, _c.tbl, _c.part, _c.op)
        .where(_OF_TXN, _CHANGES)
        .distinct(),
    )
)
_OVERLAPS = sa.and_(_OF_TXN, _CHANGES, _s.commit_id >= sa.bindparam("txn_id"), _s.txn_id != sa.bindparam("txn_id"))
_COLLISION = Statement(
    limited(
        sa.select(_s.txn_id, _s.commit_id, _s.db, _s.tbl, _s.part, _c.op, _s.op)
        .select_from(schema.txn_components.join(schema.write_sets, _SAME_TABLE))
        .where(
            _OVERLAPS,
            _s.part.is_not_distinct_from(_c.part),
            sa.or_(
                _c.op == sa.literal_column(f"'{UPDATE}'"),
                _s.op == sa.literal_column(f"'{UPDATE}'"),
                sa.bindparam("deletes", type_=sa.Integer()) == sa.literal_column("1"),
            ),
        )
        .order_by(_s.commit_id, _s.txn_id)
    )
)
_LATEST = Statement(
    sa.select(sa.func.max(_s.txn_id))
    .select_from(schema.txn_components.join(schema.write_sets, _SAME_TABLE))
    .where(_OVERLAPS, sa.or_(_c.part.is_(None), _s.part == _c.part))
)
_PURGE_SETS = Statement(sa.delete(schema.write_sets).where(_s.commit_id < sa.bindparam("below")))
_NAMED_DONE = sa.and_(_d.cat == sa.bindparam("cat"), _d.db == sa.bindparam("db"), _d.tbl == sa.bindparam("tbl"))
_CHANGED = Statement(
    sa.select(_d.txn_id)
    .where(
        _NAMED_DONE,
        _d.update_delete == sa.literal_column("1"),
        sa.or_(_d.write_id > sa.bindparam("above"), in_list(_d.write_id, "also")),
        _d.txn_id <= sa.bindparam("up_to"),
    )
    .distinct()
)
_HIGHEST = sa.cast(sa.bindparam("highest"), sa.BigInteger())
# A bare parameter has no type in PostgreSQL when it is only compared with null.
_PART = sa.cast(sa.bindparam("part"), sa.Text())
_CLEAN_COMPLETED = Statement(
    sa.delete(schema.completed_components).where(
        _NAMED_DONE,
        sa.or_(_PART.is_(None), _d.part == _PART),
        sa.or_(sa.literal_column("0") == _HIGHEST, _d.write_id <= _HIGHEST),
    )
)
_CLEAN_ABORTED = Statement(
    sa.delete(schema.txn_components).where(
        _c.cat == sa.bindparam("cat"),
        _c.db == sa.bindparam("db"),
        _c.tbl == sa.bindparam("tbl"),
        sa.or_(_PART.is_(None), _c.part == _PART),
        _c.write_id <= _HIGHEST,
        _c.txn_id.in_(sa.select(_t.id).where(_t.state == sa.literal_column("2"))),
    )
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
