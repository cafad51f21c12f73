"""The rows of leases: locks and transactions at remotes that belong to a lock or a transaction of this metastore.

A lease has a remote lock or a remote transaction, and ends with the local lock or transaction that it was taken for. It
never connects to a remote.
"""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
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


_l, _t, _k = schema.remote_leases.c, schema.txns.c, schema.locks.c
_ZERO: sa.ColumnClause[int] = sa.literal_column("0")
_LEASE = sa.select(_l.id, _l.endpoint, _l.txn_id, _l.lock_id, _l.remote_txn, _l.remote_lock, _l.snapshot, _l.user_name)
_COLUMNS = ("endpoint", "txn_id", "lock_id", "remote_txn", "remote_lock", "snapshot", "user_name")
_INSERT = Statement(sa.insert(schema.remote_leases).values(bound(*_COLUMNS)))
_OF = Statement(
    _LEASE.where(
        sa.or_(
            sa.and_(_l.lock_id != _ZERO, in_list(_l.lock_id, "locks")),
            sa.and_(_l.txn_id != _ZERO, in_list(_l.txn_id, "txns")),
        )
    ).order_by(_l.id)
)
_OF_RANGE = Statement(
    _LEASE.where(_l.txn_id != _ZERO, _l.txn_id >= sa.bindparam("low"), _l.txn_id <= sa.bindparam("high"))
)
_OF_TXN = Statement(
    _LEASE.where(_l.txn_id == sa.bindparam("txn_id"), _l.endpoint == sa.bindparam("endpoint"), _l.remote_txn != _ZERO)
)
_DELETE = Statement(sa.delete(schema.remote_leases).where(in_list(_l.id, "ids")))
_ABANDONED = Statement(
    _LEASE.where(
        sa.or_(
            sa.and_(
                _l.txn_id != _ZERO,
                ~sa.exists().where(_t.id == _l.txn_id, _t.state == sa.literal_column(str(TxnState.OPEN.value))),
            ),
            sa.and_(_l.txn_id == _ZERO, ~sa.exists().where(_k.ext_id == _l.lock_id)),
        )
    )
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
