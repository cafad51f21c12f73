"""What a transaction leaves behind when it ends, by commit or abort: its locks, and the beginning of its snapshot."""

from collections.abc import Sequence

from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.transaction import Transaction


def _forget(dialect: str) -> str:
    history = "DELETE FROM min_history WHERE txn_id IN :ids"
    if dialect == SQLITE:
        return history
    # One statement: a transaction on PostgreSQL spends most of its time on the way there and back.
    return f"""
        WITH released AS (DELETE FROM locks WHERE txn_id IN :ids),
            rebuilt AS (DELETE FROM rebuild_locks WHERE txn_id IN :ids)
        {history}
    """


_LOCKS = Statement("DELETE FROM locks WHERE txn_id IN :ids")
_REBUILDS = Statement("DELETE FROM rebuild_locks WHERE txn_id IN :ids")
_FORGET = Statement(_forget)


def forget(tx: Transaction, ids: Sequence[int]) -> None:
    """Releases all locks that these transactions hold or wait for, and deletes the history that they needed.

    Call it in the transaction that has ended them.
    """
    listed = tx.list(ids)
    if tx.dialect == SQLITE:
        tx.run(_LOCKS, ids=listed)
        tx.run(_REBUILDS, ids=listed)
    tx.run(_FORGET, ids=listed)
