"""The rows of leases: locks and transactions at remotes that belong to a lock or a transaction of this metastore.

A lease has a remote lock or a remote transaction, and ends with the local lock or transaction that it was taken for. It
never connects to a remote.
"""

from collections.abc import Sequence
from typing import NamedTuple

from metastored.store.engine.statements import Statement, column_list, insert_into
from metastored.store.engine.transaction import Transaction
from metastored.store.transactions.transactions import TxnState


class Lease(NamedTuple):
    """Numbers are 0 where there is no such lock or transaction."""

    id: int
    endpoint: str
    """A digest of the endpoint: the remote's numbers mean nothing at another one."""
    txn_id: int
    lock_id: int
    remote_txn: int
    remote_lock: int
    snapshot: str
    """The remote transactions that the transaction sees (a ValidTxnList); empty for a lock."""
    user_name: str


_LEASE = column_list(*Lease._fields)
_COLUMNS = Lease._fields[1:]
_INSERT = Statement(insert_into("remote_leases", *_COLUMNS))
_OF = Statement(
    f"""
    SELECT {_LEASE} FROM remote_leases
    WHERE lock_id <> 0 AND lock_id IN :locks OR txn_id <> 0 AND txn_id IN :txns
    ORDER BY id
    """
)
_OF_RANGE = Statement(f"SELECT {_LEASE} FROM remote_leases WHERE txn_id <> 0 AND txn_id >= :low AND txn_id <= :high")
_OF_TXN = Statement(
    f"SELECT {_LEASE} FROM remote_leases WHERE txn_id = :txn_id AND endpoint = :endpoint AND remote_txn <> 0"
)
_DELETE = Statement("DELETE FROM remote_leases WHERE id IN :ids")
_ABANDONED = Statement(
    f"""
    SELECT {column_list(*Lease._fields, of="r")} FROM remote_leases r
    WHERE r.txn_id <> 0
            AND NOT EXISTS (SELECT * FROM txns t WHERE t.id = r.txn_id AND t.state = {TxnState.OPEN.value})
        OR r.txn_id = 0 AND NOT EXISTS (SELECT * FROM locks l WHERE l.ext_id = r.lock_id)
    """
)


def insert(tx: Transaction, leases: Sequence[Lease]) -> None:
    """Their ids are not looked at."""
    for lease in leases:
        tx.run(_INSERT, **{name: getattr(lease, name) for name in _COLUMNS})


def of(tx: Transaction, locks: Sequence[int], txns: Sequence[int]) -> list[Lease]:
    """The leases of local locks and transactions."""
    return list(map(Lease._make, tx.all(_OF, locks=tx.list(locks), txns=tx.list(txns))))


def of_range(tx: Transaction, low: int, high: int) -> list[Lease]:
    """The leases of all local transactions between two numbers."""
    return list(map(Lease._make, tx.all(_OF_RANGE, low=low, high=high)))


def of_txn(tx: Transaction, txn_id: int, endpoint: str) -> Lease | None:
    """The transaction that a local transaction has at an endpoint."""
    row = tx.one(_OF_TXN, txn_id=txn_id, endpoint=endpoint)
    return None if row is None else Lease._make(row)


def delete(tx: Transaction, ids: Sequence[int]) -> None:
    tx.run(_DELETE, ids=tx.list(ids))


def abandoned(tx: Transaction) -> list[Lease]:
    """Leases whose local transaction or lock has ended."""
    return list(map(Lease._make, tx.all(_ABANDONED)))
