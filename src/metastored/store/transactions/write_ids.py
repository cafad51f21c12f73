"""The write ids of tables: a counter for each table, and the transaction of each id. Snapshots are computed elsewhere.

A counter's row stays locked until the commit, so ids of one table become visible in their order. The ids refer to the
counter, not to the table's name: a rename changes one row. Every change of a counter or its ids sets a new stamp, so
that a cache of them can be validated.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from metastored.model.names import TableName
from metastored.store.engine.stamps import new_stamp
from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.names import NAMED, named


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


_JOINED = "write_ids w JOIN write_id_counters c ON w.counter_id = c.id"

_COUNTER = Statement(f"SELECT id, next, stamp FROM write_id_counters WHERE {NAMED}")
_LOCK = Statement(f"SELECT id, next FROM write_id_counters WHERE {NAMED} FOR UPDATE")
_CREATE = Statement(insert_into("write_id_counters", "cat", "db", "tbl", "next", "stamp") + " RETURNING id")
_SET_NEXT = Statement("UPDATE write_id_counters SET next = :next, stamp = :stamp WHERE id = :counter")
_INSERT = Statement(
    "INSERT INTO write_ids (counter_id, write_id, txn_id) VALUES (:counter_id, :write_id, :txn_id)",
    positions=("counter_id", "write_id", "txn_id"),
)
_CLEAR = Statement("DELETE FROM write_ids WHERE counter_id = :id")
_TAKE_BACK = Statement("DELETE FROM write_ids WHERE counter_id = :id AND txn_id IN :txns")
_OF_TXNS = Statement(
    f"SELECT w.txn_id, w.write_id FROM {_JOINED} WHERE {NAMED} AND w.txn_id IN :txns ORDER BY w.write_id"
)
_OF_TXN = Statement(
    f"SELECT c.cat, c.db, c.tbl, w.write_id FROM {_JOINED} WHERE w.txn_id = :txn_id ORDER BY c.cat, c.db, c.tbl"
)
_TXN_OF = Statement(f"SELECT w.txn_id FROM {_JOINED} WHERE {NAMED} AND w.write_id = :write_id")
_ALL = Statement("SELECT txn_id, write_id FROM write_ids WHERE counter_id = :counter ORDER BY write_id")
_RESTAMP = Statement(
    """
    UPDATE write_id_counters SET stamp = :stamp
    WHERE id IN (SELECT counter_id FROM write_ids WHERE txn_id < :below)
    """
)
_PURGE = Statement("DELETE FROM write_ids WHERE txn_id < :below")

_HISTORY = ("txn_id", "cat", "db", "tbl", "write_id")
_ADD_HISTORY = Statement(insert_into("min_history", *_HISTORY), positions=_HISTORY)


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
