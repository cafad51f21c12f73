"""Scheduled queries of Hive 4: a query engine requests the next due query, runs it, and reports.

The server runs nothing.

A query is a document whose parent is its namespace and whose number is the time of its next run. Each run is a document
below it: its id is the execution id that the engine gets, its number the time of the last report.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidInputException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive import quartz
from metastored.service.core.context import Context
from metastored.service.core.documents import Document, Kind
from metastored.service.core.serving import method
from metastored.store.engine.statements import NO_LIMIT
from metastored.store.engine.transaction import ConstraintViolated, Transaction
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
from metastored.wire.structs import replace

QUERIES: Final = Kind("scheduled_query", ScheduledQuery)
EXECUTIONS: Final = Kind("scheduled_execution", ScheduledQueryProgressInfo)
ERROR_LIMIT: Final = 1000
LAST_SECOND: Final = 2**31 - 1
RUNNING: Final = (QueryState.INITED, QueryState.EXECUTING)
_ENDED = (QueryState.FAILED, QueryState.FINISHED, QueryState.TIMED_OUT)


def _shown(key: ScheduledQueryKey) -> str:
    return f"{key.scheduleName}@{key.clusterNamespace}"


def _find(tx: Transaction, key: ScheduledQueryKey) -> Document[ScheduledQuery] | None:
    return QUERIES.find(tx, key.scheduleName or "", key.clusterNamespace or "")


def next_run(schedule: str | None, now: int) -> int | None:
    """When a query is due next, in the time zone of the server; None if never, or later than the API can express."""
    try:
        moment = quartz.parse(schedule or "").after(datetime.fromtimestamp(now))
    except quartz.QuartzError:
        raise InvalidInputException(f"Invalid QUARTZ schedule expression: '{schedule}'") from None
    seconds = int(moment.timestamp()) if moment is not None else LAST_SECOND + 1
    return seconds if seconds <= LAST_SECOND else None


def _at(query: ScheduledQuery) -> int:
    return query.nextExecution if query.nextExecution is not None else NO_LIMIT


@method
def get_scheduled_query(ctx: Context, scheduleKey: ScheduledQueryKey) -> ScheduledQuery:
    query = _find(ctx.reader(), scheduleKey)
    if query is None:
        raise NoSuchObjectException(f"There is no scheduled query for: {_shown(scheduleKey)}")
    return query.value


@method
def scheduled_query_maintenance(ctx: Context, request: ScheduledQueryMaintenanceRequest) -> None:
    requested = request.scheduledQuery
    if requested is None or requested.scheduleKey is None:
        raise MetaException("scheduled_query_maintenance needs a query with its key")
    query, key = requested, requested.scheduleKey
    if request.type == ScheduledQueryMaintenanceRequestType.CREATE:
        _create(ctx, key, query)
    elif request.type == ScheduledQueryMaintenanceRequestType.ALTER:
        ctx.database.run(lambda tx: _alter(ctx, tx, key, query))
    elif request.type == ScheduledQueryMaintenanceRequestType.DROP:
        ctx.database.run(lambda tx: _drop(tx, key))
    else:
        raise MetaException("invalid request")


def _create(ctx: Context, key: ScheduledQueryKey, query: ScheduledQuery) -> None:
    taken = AlreadyExistsException(f"Scheduled query with name: {_shown(key)} already exists.")
    next_one = next_run(query.schedule, ctx.now())
    stored: ScheduledQuery = replace(query, enabled=bool(query.enabled), nextExecution=next_one)

    def create(tx: Transaction) -> None:
        if _find(tx, key) is not None:
            raise taken
        QUERIES.insert(tx, key.scheduleName or "", stored, parent=key.clusterNamespace or "", at=_at(stored))

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None


def _existing(tx: Transaction, key: ScheduledQueryKey) -> Document[ScheduledQuery]:
    QUERIES.lock(tx, key.clusterNamespace or "")
    query = _find(tx, key)
    if query is None:
        raise NoSuchObjectException(f"Scheduled query with name: {_shown(key)} doesn't exists.")
    return query


def _alter(ctx: Context, tx: Transaction, key: ScheduledQueryKey, query: ScheduledQuery) -> None:
    document = _existing(tx, key)
    stored = replace(query, enabled=bool(query.enabled))
    if query.nextExecution is None:
        stored = replace(stored, nextExecution=next_run(query.schedule, ctx.now()))
    QUERIES.update(tx, document, stored, at=_at(stored))


def _drop(tx: Transaction, key: ScheduledQueryKey) -> None:
    query = _existing(tx, key)
    for execution in EXECUTIONS.below(tx, str(query.id)):
        EXECUTIONS.delete(tx, execution)
    QUERIES.delete(tx, query)


# --- running --------------------------------------------------------------------------------------------------------


def _is_running(tx: Transaction, query: Document[ScheduledQuery]) -> bool:
    latest = EXECUTIONS.newest(tx, str(query.id), 1)
    return bool(latest) and latest[0].value.state in RUNNING


@method
def scheduled_query_poll(ctx: Context, request: ScheduledQueryPollRequest) -> ScheduledQueryPollResponse:
    """The query that has been due for the longest time and is not running; an empty reply if there is none."""
    now = ctx.now()

    def poll(tx: Transaction) -> ScheduledQueryPollResponse:
        space = request.clusterNamespace or ""
        QUERIES.lock(tx, space)
        due = [
            document
            for document in reversed(QUERIES.newest(tx, space))
            if document.at <= now and document.value.enabled
        ]
        document = next((each for each in due if not _is_running(tx, each)), None)
        if document is None:
            return ScheduledQueryPollResponse()
        query = document.value
        following = replace(query, nextExecution=next_run(query.schedule, now))
        QUERIES.update(tx, document, following, at=_at(following))
        begun = ScheduledQueryProgressInfo(state=QueryState.INITED)
        # The time alone is not unique: a query may be started twice within a second.
        number = len(EXECUTIONS.below(tx, str(document.id)))
        id = EXECUTIONS.insert(tx, f"{now}.{number}", begun, parent=str(document.id), at=now)
        key = query.scheduleKey
        name = key.scheduleName if key is not None else document.key
        return ScheduledQueryPollResponse(
            scheduleKey=key, executionId=id, query=f"/* schedule: {name} */{query.query}", user=query.user
        )

    return ctx.database.run(poll)


@method
def scheduled_query_progress(ctx: Context, info: ScheduledQueryProgressInfo) -> None:
    def report(tx: Transaction) -> None:
        execution = EXECUTIONS.find_by_id(tx, info.scheduledExecutionId or 0)
        if execution is None:
            raise MetaException(f"No such scheduled execution: {info.scheduledExecutionId}")
        EXECUTIONS.lock(tx, execution.parent)
        latest = EXECUTIONS.find_by_id(tx, execution.id) or execution
        progressed(tx, latest, info, ctx.now())

    ctx.database.run(report)


def progressed(
    tx: Transaction, execution: Document[ScheduledQueryProgressInfo], info: ScheduledQueryProgressInfo, now: int
) -> None:
    """Stores the state of a run, as an engine reports it or as the server sets it."""
    before, state = execution.value.state, info.state
    allowed = state != QueryState.INITED if before == QueryState.INITED else before == QueryState.EXECUTING
    if not allowed or (before == QueryState.EXECUTING and state not in (QueryState.EXECUTING, *_ENDED)):
        raise InvalidOperationException(f"Invalid state change: {_name(before)}=>{_name(state)}")
    if state not in (QueryState.EXECUTING, *_ENDED):
        raise InvalidOperationException(f"invalid state: {_name(state)}")
    after = replace(
        execution.value,
        state=state,
        executorQueryId=info.executorQueryId if info.executorQueryId is not None else execution.value.executorQueryId,
        errorMessage=_abbreviated(info.errorMessage) if info.errorMessage is not None else execution.value.errorMessage,
    )
    EXECUTIONS.update(tx, execution, after, at=now)


def _name(state: int | None) -> str:
    return QueryState.NAMES.get(state, str(state)) if state is not None else "null"


def _abbreviated(text: str) -> str:
    if len(text) < ERROR_LIMIT:
        return text
    first = text.split("\n", 1)[0]
    return first if len(first) <= ERROR_LIMIT else f"{first[: ERROR_LIMIT - 3]}..."
