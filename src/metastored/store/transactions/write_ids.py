"""The write ids of tables: a counter for each table, and the transaction of each id. Snapshots are computed elsewhere.

A counter's row stays locked until the commit, so ids of one table become visible in their order. The ids refer to the
counter, not to the table's name: a rename changes one row. Every change of a counter or its ids sets a new stamp, so
that a cache of them can be validated.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from metastored.model.names import TableName
from metastored.store.engine import schema
from metastored.store.engine.stamps import new_stamp
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import named


class Counter(NamedTuple):
    """The state of a table's write ids: two that are equal have the same ids."""

    id: int
    next: int
    stamp: int


class TableWriteId(NamedTuple):
    """A transaction's write id of one table."""

    cat: str
    db: str
    tbl: str
    write_id: int


_c, _w, _h = schema.write_id_counters.c, schema.write_ids.c, schema.min_history.c
_NAMED = sa.and_(_c.cat == sa.bindparam("cat"), _c.db == sa.bindparam("db"), _c.tbl == sa.bindparam("tbl"))
_JOINED = schema.write_ids.join(schema.write_id_counters, _w.counter_id == _c.id)

_COUNTER = Statement(sa.select(_c.id, _c.next, _c.stamp).where(_NAMED))
_LOCK = Statement(sa.select(_c.id, _c.next).where(_NAMED).with_for_update())
_CREATE = Statement(
    sa.insert(schema.write_id_counters).values(bound("cat", "db", "tbl", "next", "stamp")).returning(_c.id)
)
_SET_NEXT = Statement(
    sa.update(schema.write_id_counters).values(bound("next", "stamp")).where(_c.id == sa.bindparam("counter"))
)
_INSERT = Statement(
    sa.insert(schema.write_ids).values(bound("counter_id", "write_id", "txn_id")),
    positions=("counter_id", "write_id", "txn_id"),
)
_CLEAR = Statement(sa.delete(schema.write_ids).where(_w.counter_id == sa.bindparam("id")))
_TAKE_BACK = Statement(
    sa.delete(schema.write_ids).where(_w.counter_id == sa.bindparam("id"), in_list(_w.txn_id, "txns"))
)
_OF_TXNS = Statement(
    sa.select(_w.txn_id, _w.write_id)
    .select_from(_JOINED)
    .where(_NAMED, in_list(_w.txn_id, "txns"))
    .order_by(_w.write_id)
)
_OF_TXN = Statement(
    sa.select(_c.cat, _c.db, _c.tbl, _w.write_id)
    .select_from(_JOINED)
    .where(_w.txn_id == sa.bindparam("txn_id"))
    .order_by(_c.cat, _c.db, _c.tbl)
)
_TXN_OF = Statement(sa.select(_w.txn_id).select_from(_JOINED).where(_NAMED, _w.write_id == sa.bindparam("write_id")))
_ALL = Statement(
    sa.select(_w.txn_id, _w.write_id).where(_w.counter_id == sa.bindparam("counter")).order_by(_w.write_id)
)
_RESTAMP = Statement(
    sa.update(schema.write_id_counters)
    .values(bound("stamp"))
    .where(_c.id.in_(sa.select(_w.counter_id).where(_w.txn_id < sa.bindparam("below"))))
)
_PURGE = Statement(sa.delete(schema.write_ids).where(_w.txn_id < sa.bindparam("below")))

_ADD_HISTORY = Statement(
    sa.insert(schema.min_history).values(bound("txn_id", "cat", "db", "tbl", "write_id")),
    positions=("txn_id", "cat", "db", "tbl", "write_id"),
)
_FORGET_HISTORY = Statement(sa.delete(schema.min_history).where(in_list(_h.txn_id, "ids")))


def counter(tx: Transaction, table: TableName) -> Counter | None:
    """The counter of a table; None if it never had a write id."""
    row = tx.one(_COUNTER, **named(table))
    return None if row is None else Counter._make(row)


def seed(tx: Transaction, table: TableName, following: int) -> None:
    """Adds the first counter of a table, with the next id. Raises ConstraintViolated if it has one."""
    tx.insert(_CREATE, **named(table), next=following, stamp=new_stamp())


def allocate(tx: Transaction, table: TableName, txns: Sequence[int], *, first: int | None = None) -> list[int]:
    """Allocates write ids, one for each transaction in their order.

    With `first` they begin there, as at their source.
    """
    row = tx.one(_LOCK, **named(table))
    if row is None:
        start = 1 if first is None else first
        counter = tx.insert(_CREATE, **named(table), next=start + len(txns), stamp=new_stamp())
    else:
        counter, following = row
        start = following if first is None else first
        tx.run(_SET_NEXT, counter=counter, next=start + len(txns), stamp=new_stamp())
        if start != following:
            # The source was written to while its state was copied: the rows from before are stale.
            tx.run(_CLEAR, id=counter)
    ids = list(range(start, start + len(txns)))
    assign(tx, counter, zip(ids, txns, strict=True))
    return ids


def assign(tx: Transaction, counter: int, pairs: Iterable[tuple[int, int]]) -> None:
    """Stores which transaction has which id: pairs of write id and transaction."""
    tx.many(_INSERT, [(counter, write_id, txn) for write_id, txn in pairs])


def take_back(tx: Transaction, table: TableName, txns: Sequence[int]) -> None:
    """Deletes the ids of these transactions; they are not reused."""
    row = tx.one(_LOCK, **named(table))
    if row is not None:
        counter, following = row
        tx.run(_SET_NEXT, counter=counter, next=following, stamp=new_stamp())
        tx.run(_TAKE_BACK, id=counter, txns=tx.list(txns))


def begin_at(tx: Transaction, table: TableName, following: int, pairs: Iterable[tuple[int, int]]) -> None:
    """Adds a counter that another metastore has used already, with the ids that were aborted there."""
    counter = tx.insert(_CREATE, **named(table), next=following, stamp=new_stamp())
    assign(tx, counter, pairs)


def of_txns(tx: Transaction, table: TableName, txns: Sequence[int]) -> dict[int, int]:
    """The write ids of the table that these transactions have, by transaction."""
    return dict(tx.all(_OF_TXNS, **named(table), txns=tx.list(txns)))


def of_txn(tx: Transaction, txn_id: int) -> list[TableWriteId]:
    """All write ids of one transaction."""
    return list(map(TableWriteId._make, tx.all(_OF_TXN, txn_id=txn_id)))


def txn_of(tx: Transaction, table: TableName, write_id: int) -> int | None:
    """The transaction that a write id was given to."""
    row = tx.one(_TXN_OF, **named(table), write_id=write_id)
    return None if row is None else row[0]


def all(tx: Transaction, counter: Counter) -> list[tuple[int, int]]:
    """(transaction, write id) of all stored ids, by write id."""
    return tx.all(_ALL, counter=counter.id)


def purge(tx: Transaction, below: int) -> int:
    """Deletes the ids of transactions below one that every reader sees as committed."""
    tx.run(_RESTAMP, below=below, stamp=new_stamp())
    return tx.run(_PURGE, below=below)


def add_history(tx: Transaction, txn_id: int, lowest: Iterable[tuple[TableName, int]]) -> None:
    """Stores the write ids that a reader still needs: of each table, the lowest one that may not be cleaned."""
    tx.many(_ADD_HISTORY, [(txn_id, *table, write_id) for table, write_id in lowest])


def forget_history(tx: Transaction, txns: Sequence[int]) -> None:
    tx.run(_FORGET_HISTORY, ids=tx.list(txns))
