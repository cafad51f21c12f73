"""The metastore API, metrics. Made by tools/generate.py from api/metrics.toml: DO NOT EDIT."""

# ruff: noqa
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

__all__ = ['GetReplicationMetricsRequest', 'GetRuntimeStatsRequest', 'ReplicationMetricList', 'ReplicationMetrics', 'RuntimeStat']


if TYPE_CHECKING:

    class GetReplicationMetricsRequest(NamedTuple):
        scheduledExecutionId: int | None = None
        policy: str | None = None
        dumpExecutionId: int | None = None

    class GetRuntimeStatsRequest(NamedTuple):
        maxWeight: int | None = None
        maxCreateTime: int | None = None

    class ReplicationMetricList(NamedTuple):
        replicationMetricList: tuple[ReplicationMetrics, ...] | None = None

    class ReplicationMetrics(NamedTuple):
        scheduledExecutionId: int | None = None
        policy: str | None = None
        dumpExecutionId: int | None = None
        metadata: str | None = None
        progress: str | None = None
        messageFormat: str | None = None

    class RuntimeStat(NamedTuple):
        createTime: int | None = None
        weight: int | None = None
        payload: bytes | None = None

else:
    from metastored.wire.structs import Struct, at, new

    class GetReplicationMetricsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i64 scheduledExecutionId in=4.0.0+', '2 string policy in=4.0.0+', '3 i64 dumpExecutionId in=4.0.0+',)

        def __new__(cls, scheduledExecutionId=None, policy=None, dumpExecutionId=None):
            return new(cls, (scheduledExecutionId, policy, dumpExecutionId,))

        scheduledExecutionId = at[0]
        policy = at[1]
        dumpExecutionId = at[2]

    class GetRuntimeStatsRequest(Struct):
        __slots__ = ()
        SPEC = ('1 i32 maxWeight required in=3.1+', '2 i32 maxCreateTime required in=3.1+',)

        def __new__(cls, maxWeight=None, maxCreateTime=None):
            return new(cls, (maxWeight, maxCreateTime,))

        maxWeight = at[0]
        maxCreateTime = at[1]

    class ReplicationMetricList(Struct):
        __slots__ = ()
        SPEC = ('1 list<ReplicationMetrics> replicationMetricList required in=4.0.0+',)

        def __new__(cls, replicationMetricList=None):
            return new(cls, (replicationMetricList,))

        replicationMetricList = at[0]

    class ReplicationMetrics(Struct):
        __slots__ = ()
        SPEC = ('1 i64 scheduledExecutionId required in=4.0.0+', '2 string policy required in=4.0.0+', '3 i64 dumpExecutionId required in=4.0.0+', '4 string metadata in=4.0.0+', '5 string progress in=4.0.0+', '6 string messageFormat in=4.0.0+',)

        def __new__(cls, scheduledExecutionId=None, policy=None, dumpExecutionId=None, metadata=None, progress=None, messageFormat=None):
            return new(cls, (scheduledExecutionId, policy, dumpExecutionId, metadata, progress, messageFormat,))

        scheduledExecutionId = at[0]
        policy = at[1]
        dumpExecutionId = at[2]
        metadata = at[3]
        progress = at[4]
        messageFormat = at[5]

    class RuntimeStat(Struct):
        __slots__ = ()
        SPEC = ('1 i32 createTime in=3.1+', '2 i32 weight required in=3.1+', '3 binary payload required in=3.1+',)

        def __new__(cls, createTime=None, weight=None, payload=None):
            return new(cls, (createTime, weight, payload,))

        createTime = at[0]
        weight = at[1]
        payload = at[2]
