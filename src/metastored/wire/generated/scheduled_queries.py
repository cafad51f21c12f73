"""The metastore API, scheduled queries. Made by tools/generate.py from api/scheduled_queries.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['QueryState', 'ScheduledQuery', 'ScheduledQueryKey', 'ScheduledQueryMaintenanceRequest', 'ScheduledQueryMaintenanceRequestType', 'ScheduledQueryPollRequest', 'ScheduledQueryPollResponse', 'ScheduledQueryProgressInfo']


class QueryState:
    INITED = 0
    EXECUTING = 1
    FAILED = 2
    FINISHED = 3
    TIMED_OUT = 4
    AUTO_DISABLED = 5
    NAMES: ClassVar[dict[int, str]] = {0: 'INITED', 1: 'EXECUTING', 2: 'FAILED', 3: 'FINISHED', 4: 'TIMED_OUT', 5: 'AUTO_DISABLED'}


class ScheduledQueryMaintenanceRequestType:
    CREATE = 1
    ALTER = 2
    DROP = 3
    NAMES: ClassVar[dict[int, str]] = {1: 'CREATE', 2: 'ALTER', 3: 'DROP'}


if TYPE_CHECKING:

    class ScheduledQuery(NamedTuple):
        scheduleKey: ScheduledQueryKey | None = None
        enabled: bool | None = None
        schedule: str | None = None
        user: str | None = None
        query: str | None = None
        nextExecution: int | None = None

    class ScheduledQueryKey(NamedTuple):
        scheduleName: str | None = None
        clusterNamespace: str | None = None

    class ScheduledQueryMaintenanceRequest(NamedTuple):
        type: int | None = None
        scheduledQuery: ScheduledQuery | None = None

    class ScheduledQueryPollRequest(NamedTuple):
        clusterNamespace: str | None = None

    class ScheduledQueryPollResponse(NamedTuple):
        scheduleKey: ScheduledQueryKey | None = None
        executionId: int | None = None
        query: str | None = None
        user: str | None = None

    class ScheduledQueryProgressInfo(NamedTuple):
        scheduledExecutionId: int | None = None
        state: int | None = None
        executorQueryId: str | None = None
        errorMessage: str | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class ScheduledQuery(Struct):
        __slots__ = ()
        SPEC = ('1 ScheduledQueryKey scheduleKey required in=4.0.0+', '2 bool enabled in=4.0.0+', '4 string schedule in=4.0.0+', '5 string user @user in=4.0.0+', '6 string query in=4.0.0+', '7 i32 nextExecution in=4.0.0+',)

        def __new__(cls, scheduleKey=None, enabled=None, schedule=None, user=None, query=None, nextExecution=None):
            return new(cls, (scheduleKey, enabled, schedule, user, query, nextExecution,))

        scheduleKey = at[0]
        enabled = at[1]
        schedule = at[2]
        user = at[3]
        query = at[4]
        nextExecution = at[5]

    class ScheduledQueryKey(Struct):
        __slots__ = ()
        SPEC = ('1 string scheduleName required @name in=4.0.0+', '2 string clusterNamespace required in=4.0.0+',)

        def __new__(cls, scheduleName=None, clusterNamespace=None):
            return new(cls, (scheduleName, clusterNamespace,))

        scheduleName = at[0]
        clusterNamespace = at[1]

    class ScheduledQueryMaintenanceRequest(Struct):
        __slots__ = ()
        SPEC = ('1 ScheduledQueryMaintenanceRequestType type required in=4.0.0+', '2 ScheduledQuery scheduledQuery required in=4.0.0+',)

        def __new__(cls, type=None, scheduledQuery=None):
            return new(cls, (type, scheduledQuery,))

        type = at[0]
        scheduledQuery = at[1]

    class ScheduledQueryPollRequest(Struct):
        __slots__ = ()
        SPEC = ('1 string clusterNamespace required in=4.0.0+',)

        def __new__(cls, clusterNamespace=None):
            return new(cls, (clusterNamespace,))

        clusterNamespace = at[0]

    class ScheduledQueryPollResponse(Struct):
        __slots__ = ()
        SPEC = ('1 ScheduledQueryKey scheduleKey in=4.0.0+', '2 i64 executionId in=4.0.0+', '3 string query in=4.0.0+', '4 string user @user in=4.0.0+',)

        def __new__(cls, scheduleKey=None, executionId=None, query=None, user=None):
            return new(cls, (scheduleKey, executionId, query, user,))

        scheduleKey = at[0]
        executionId = at[1]
        query = at[2]
        user = at[3]

    class ScheduledQueryProgressInfo(Struct):
        __slots__ = ()
        SPEC = ('1 i64 scheduledExecutionId required in=4.0.0+', '2 QueryState state required in=4.0.0+', '3 string executorQueryId required in=4.0.0+', '4 string errorMessage in=4.0.0+',)

        def __new__(cls, scheduledExecutionId=None, state=None, executorQueryId=None, errorMessage=None):
            return new(cls, (scheduledExecutionId, state, executorQueryId, errorMessage,))

        scheduledExecutionId = at[0]
        state = at[1]
        executorQueryId = at[2]
        errorMessage = at[3]
