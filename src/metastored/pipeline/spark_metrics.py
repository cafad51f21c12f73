"""The rows and bytes that Spark's jobs have written in a part of a program. Never starts a job."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

log = logging.getLogger("metastored.pipeline")


@dataclass(slots=True)
class Figures:
    """None before the end, and where the session has no driver in this process."""

    rows: int | None = None
    bytes: int | None = None


@contextmanager
def measured(spark: Any, description: str) -> Iterator[Figures]:
    """The figures of the jobs that run in this block, in this thread."""
    figures = Figures()
    if not hasattr(spark, "_jsparkSession"):
        yield figures
        return
    context = spark.sparkContext
    group = f"metastored-pipeline-{uuid4().hex}"
    context.setJobGroup(group, description)
    try:
        yield figures
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty("spark.job.description", None)
    try:
        _read(context, group, figures)
    except Exception:
        log.debug("the figures of %s cannot be read", description, exc_info=True)  # The jobs themselves have succeeded.


def _read(context: Any, group: str, figures: Figures) -> None:
    jvm_context = context._jsc.sc()
    jvm_context.listenerBus().waitUntilEmpty()  # Figures arrive as events.
    store, tracker = jvm_context.statusStore(), context.statusTracker()
    stages = {
        stage
        for job in tracker.getJobIdsForGroup(group)
        if (info := tracker.getJobInfo(job)) is not None
        for stage in info.stageIds
    }
    rows = size = 0
    for stage in stages:
        if tracker.getStageInfo(stage) is not None:
            attempt = store.lastStageAttempt(stage)
            rows += attempt.outputRecords()
            size += attempt.outputBytes()
    figures.rows, figures.bytes = (rows, size) if rows or size else (None, None)
