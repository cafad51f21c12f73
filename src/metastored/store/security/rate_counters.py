"""How many calls each user made in a minute, summed over all servers."""

from collections.abc import Mapping

from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Transaction

_ADD = Statement(
    """
    INSERT INTO rate_counters (principal, minute, calls) VALUES (:principal, :minute, :calls)
    ON CONFLICT (principal, minute) DO UPDATE SET calls = rate_counters.calls + excluded.calls RETURNING calls
    """
)
_FORGET = Statement("DELETE FROM rate_counters WHERE minute < :minute")


def add(tx: Transaction, minute: int, calls: Mapping[str, int]) -> dict[str, int]:
    """Adds calls to a minute's counters and deletes older ones; returns the sums so far of these users."""
    tx.run(_FORGET, minute=minute)
    # In one order, so that two servers never deadlock.
    return {
        principal: tx.insert(_ADD, principal=principal, minute=minute, calls=calls[principal])
        for principal in sorted(calls)
    }
