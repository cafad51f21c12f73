"""Scheduled queries: which one is due, which engine runs it, and runs without reports."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidInputException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.service.registry.scheduled_queries import EXECUTIONS
from metastored.service.retention import EXECUTION_TIMEOUT, EXECUTIONS_AGE, clean
from metastored.wire.generated.scheduled_queries import (
    QueryState,
    ScheduledQuery,
    ScheduledQueryKey,
    ScheduledQueryMaintenanceRequest,
    ScheduledQueryMaintenanceRequestType,
    ScheduledQueryPollRequest,
    ScheduledQueryPollResponse,
    ScheduledQueryProgressInfo,
)
from tests.support.metastore import Metastore

CREATE = ScheduledQueryMaintenanceRequestType.CREATE
ALTER = ScheduledQueryMaintenanceRequestType.ALTER
DROP = ScheduledQueryMaintenanceRequestType.DROP
EVERY_MINUTE = "0 * * * * ? *"


def _maintain(metastore: Metastore, kind: int, name: str = "q", **other: Any) -> None:
    plain: dict[str, Any] = {"enabled": True, "schedule": EVERY_MINUTE, "user": "u", "query": "select 1"}
    query = ScheduledQuery(scheduleKey=ScheduledQueryKey(name, "ns"), **(plain | other))
    metastore.call("scheduled_query_maintenance", ScheduledQueryMaintenanceRequest(kind, query))


def _get(metastore: Metastore, name: str = "q") -> ScheduledQuery:
    result: ScheduledQuery = metastore.call("get_scheduled_query", ScheduledQueryKey(name, "ns"))
    return result


def _poll(metastore: Metastore, space: str = "ns") -> ScheduledQueryPollResponse:
    result: ScheduledQueryPollResponse = metastore.call("scheduled_query_poll", ScheduledQueryPollRequest(space))
    return result


def _report(metastore: Metastore, id: int | None, state: int, **other: Any) -> None:
    info = ScheduledQueryProgressInfo(scheduledExecutionId=id, state=state, executorQueryId="x", **other)
    metastore.call("scheduled_query_progress", info)


def test_a_query_has_the_time_of_its_next_run(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    result = _get(hive_4)
    due = int(hive_4.clock.now) // 60 * 60 + 60
    assert (result.nextExecution, result.enabled, result.query) == (due, True, "select 1")
    _maintain(hive_4, ALTER, nextExecution=5, query="select 2", enabled=False)
    assert _get(hive_4)[1:] == (False, EVERY_MINUTE, "u", "select 2", 5)
    _maintain(hive_4, DROP)
    with pytest.raises(NoSuchObjectException, match="There is no scheduled query for: q@ns"):
        _get(hive_4)


def test_wrong_requests_change_nothing(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    with pytest.raises(AlreadyExistsException, match="Scheduled query with name: q@ns already exists"):
        _maintain(hive_4, CREATE)
    with pytest.raises(InvalidInputException, match="Invalid QUARTZ schedule expression: 'daily'"):
        _maintain(hive_4, ALTER, schedule="daily")
    for kind in (ALTER, DROP):
        with pytest.raises(NoSuchObjectException, match="Scheduled query with name: nope@ns doesn't exists"):
            _maintain(hive_4, kind, "nope")
    with pytest.raises(MetaException, match="invalid request"):
        _maintain(hive_4, 9)
    assert _get(hive_4).schedule == EVERY_MINUTE


def test_a_due_query_is_returned_to_one_engine(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    assert _poll(hive_4) == ScheduledQueryPollResponse()
    hive_4.clock.forward(60)
    assert _poll(hive_4, "other") == ScheduledQueryPollResponse()
    given = _poll(hive_4)
    assert (given.scheduleKey, given.query, given.user) == (
        ScheduledQueryKey("q", "ns"),
        "/* schedule: q */select 1",
        "u",
    )
    hive_4.clock.forward(60)
    assert _poll(hive_4) == ScheduledQueryPollResponse()  # It still runs.
    _report(hive_4, given.executionId, QueryState.EXECUTING)
    _report(hive_4, given.executionId, QueryState.FINISHED)
    again = _poll(hive_4)
    assert again.executionId is not None and again.executionId > (given.executionId or 0)


def test_the_query_that_waits_longest_comes_first_and_disabled_queries_never(hive_4: Metastore) -> None:
    now = int(hive_4.clock.now)
    for name, due, enabled in (("a", now - 5, True), ("b", now - 9, True), ("c", now - 99, False)):
        _maintain(hive_4, CREATE, name)
        _maintain(hive_4, ALTER, name, nextExecution=due, enabled=enabled)
    keys = [_poll(hive_4).scheduleKey for _ in range(3)]
    assert keys == [ScheduledQueryKey("b", "ns"), ScheduledQueryKey("a", "ns"), None]


def test_a_run_goes_only_forward(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    hive_4.clock.forward(60)
    id = _poll(hive_4).executionId
    with pytest.raises(InvalidOperationException, match="Invalid state change: INITED=>INITED"):
        _report(hive_4, id, QueryState.INITED)
    with pytest.raises(InvalidOperationException, match="invalid state: AUTO_DISABLED"):
        _report(hive_4, id, QueryState.AUTO_DISABLED)
    _report(hive_4, id, QueryState.FAILED, errorMessage="first line\n" + "x" * 1000)
    with pytest.raises(InvalidOperationException, match="Invalid state change: FAILED=>EXECUTING"):
        _report(hive_4, id, QueryState.EXECUTING)
    with pytest.raises(MetaException, match="No such scheduled execution: 99"):
        _report(hive_4, 99, QueryState.EXECUTING)
    (result,) = EXECUTIONS.all(hive_4.database.reader())
    assert (result.value.state, result.value.errorMessage) == (QueryState.FAILED, "first line")


def test_a_run_without_reports_is_lost_and_the_next_begins(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    hive_4.clock.forward(60)
    id = _poll(hive_4).executionId
    hive_4.clock.forward(EXECUTION_TIMEOUT)
    clean(hive_4.service, 86400)
    (result,) = EXECUTIONS.all(hive_4.database.reader())
    assert (result.id, result.value.state) == (id, QueryState.TIMED_OUT)
    assert result.value.errorMessage == "Query stuck in: INITED state for >120 seconds. Execution timed out."
    assert _poll(hive_4).executionId is not None
    hive_4.clock.forward(EXECUTIONS_AGE + 1)
    clean(hive_4.service, 86400)
    assert len(EXECUTIONS.all(hive_4.database.reader())) == 1


def test_a_dropped_query_takes_its_runs_with_it(hive_4: Metastore) -> None:
    _maintain(hive_4, CREATE)
    hive_4.clock.forward(60)
    _poll(hive_4)
    _maintain(hive_4, DROP)
    assert EXECUTIONS.all(hive_4.database.reader()) == []
