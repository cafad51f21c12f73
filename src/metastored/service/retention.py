"""Deletes records after their retention time: events, write logs of transactions, reports of engines.

Any server runs it.

Everything is removed in short transactions, and running it twice at once does no harm.
"""

from __future__ import annotations

from typing import Final

from metastored.service.core.context import Service
from metastored.service.events.notifications import WRITE_EVENTS
from metastored.service.registry.metrics import REPLICATION_METRICS, RUNTIME_STATS
from metastored.service.registry.scheduled_queries import EXECUTIONS, RUNNING, progressed
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import documents, events
from metastored.wire.generated.scheduled_queries import QueryState, ScheduledQueryProgressInfo

DAY: Final = 86400
RUNTIME_STATS_AGE: Final = 7 * DAY
REPLICATION_METRICS_AGE: Final = 7 * DAY
EXECUTIONS_AGE: Final = 30 * DAY
EXECUTION_TIMEOUT: Final = 120
"""Seconds without a report after which a run of a scheduled query counts as lost. All of these are Hive's defaults."""


def clean(service: Service, event_age: float) -> None:
    """Deletes records that are too old; `event_age` is how many seconds events are kept."""
    database, now = service.database, int(service.clock())
    before = now - int(event_age)
    while database.run(lambda tx: events.expire(tx, before)):
        pass
    database.run(lambda tx: _forget_reports(tx, before, now))
    database.run(lambda tx: _end_lost_runs(tx, now))
    database.run(lambda tx: documents.delete_before(tx, EXECUTIONS.name, now - EXECUTIONS_AGE))


def _forget_reports(tx: Transaction, before: int, now: int) -> None:
    documents.delete_before(tx, WRITE_EVENTS.name, before)
    documents.delete_before(tx, RUNTIME_STATS.name, now - RUNTIME_STATS_AGE)
    documents.delete_before(tx, REPLICATION_METRICS.name, now - REPLICATION_METRICS_AGE)


def _end_lost_runs(tx: Transaction, now: int) -> None:
    for execution in EXECUTIONS.all(tx):
        state = execution.value.state
        if state not in RUNNING or execution.at > now - EXECUTION_TIMEOUT:
            continue
        message = (
            f"Query stuck in: {QueryState.NAMES[state or 0]} state for >{EXECUTION_TIMEOUT} seconds."
            " Execution timed out."
        )
        progressed(tx, execution, ScheduledQueryProgressInfo(state=QueryState.TIMED_OUT, errorMessage=message), now)
