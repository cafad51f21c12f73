"""What query engines report about themselves: runtime statistics of operators, and metrics of replication policies.

metastored stores them unchanged, for as long as Hive does (`retention.py`), and returns them. They are documents.
"""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from metastored.errors import MetaException
from metastored.service.core.context import Context
from metastored.service.core.documents import Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import Transaction
from metastored.wire.generated.metrics import (
    GetReplicationMetricsRequest,
    GetRuntimeStatsRequest,
    ReplicationMetricList,
    ReplicationMetrics,
    RuntimeStat,
)
from metastored.wire.structs import replace

RUNTIME_STATS: Final = Kind("runtime_stat", RuntimeStat)
"""The number is the time of creation."""
REPLICATION_METRICS: Final = Kind("replication_metrics", ReplicationMetrics)
"""The key is the scheduled execution, the number the time of its first metrics."""
METADATA_LIMIT: Final = 4000
PROGRESS_LIMIT: Final = 10000
"""The widths of Hive's columns; longer texts are replaced by a sentence."""


@method
def add_runtime_stats(ctx: Context, stat: RuntimeStat | None) -> None:
    if stat is None or stat.payload is None:
        raise MetaException("add_runtime_stats needs a statistic with a payload")
    stored: RuntimeStat = replace(stat, createTime=ctx.now())
    ctx.database.run(lambda tx: RUNTIME_STATS.insert(tx, uuid4().hex, stored, at=stored.createTime or 0))


@method
def get_runtime_stats(ctx: Context, rqst: GetRuntimeStatsRequest) -> tuple[RuntimeStat, ...]:
    """The newest, until their weights reach `maxWeight` (negative: all)."""
    most, before = rqst.maxWeight if rqst.maxWeight is not None else -1, rqst.maxCreateTime or 0
    chosen: list[RuntimeStat] = []
    total = 0
    for document in RUNTIME_STATS.newest(ctx.reader()):
        if before > 0 and document.at >= before:
            continue
        chosen.append(document.value)
        total += document.value.weight or 0
        if 0 <= most <= total:
            break
    return tuple(chosen)


@method
def add_replication_metrics(ctx: Context, replicationMetricList: ReplicationMetricList) -> None:
    reported = replicationMetricList.replicationMetricList or ()
    if any(metrics.scheduledExecutionId is None or metrics.policy is None for metrics in reported):
        raise MetaException("replication metrics need a scheduled execution and a policy")

    def add(tx: Transaction) -> None:
        for metrics in reported:
            key = str(metrics.scheduledExecutionId)
            known = REPLICATION_METRICS.find(tx, key)
            if known is None:
                REPLICATION_METRICS.insert(
                    tx, key, _merged(replace(metrics, metadata=None, progress=None), metrics), at=ctx.now()
                )
            else:
                REPLICATION_METRICS.update(tx, known, _merged(known.value, metrics))

    ctx.database.run(add)


def _merged(before: ReplicationMetrics, reported: ReplicationMetrics) -> ReplicationMetrics:
    metadata, progress = before.metadata, before.progress
    if reported.metadata:
        if len(reported.metadata) > METADATA_LIMIT:
            progress = f"RM_Metadata limit exceeded to {len(reported.metadata)}"
        else:
            metadata = reported.metadata
    if reported.progress:
        size = len(reported.progress)
        progress = f"RM_Progress limit exceeded to {size}" if size > PROGRESS_LIMIT else reported.progress
    return replace(before, metadata=metadata, progress=progress, messageFormat=reported.messageFormat)


@method
def get_replication_metrics(ctx: Context, rqst: GetReplicationMetricsRequest) -> ReplicationMetricList:
    """The metrics of a policy, or else of one execution; the latest execution first."""
    all_metrics = [each.value for each in REPLICATION_METRICS.below(ctx.reader())]
    if rqst.policy is not None:
        chosen = [metrics for metrics in all_metrics if metrics.policy == rqst.policy]
    else:
        chosen = [metrics for metrics in all_metrics if metrics.scheduledExecutionId == rqst.scheduledExecutionId]
    chosen.sort(key=lambda metrics: metrics.scheduledExecutionId or 0, reverse=True)
    return ReplicationMetricList(replicationMetricList=tuple(chosen))
