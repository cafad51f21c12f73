"""Runs a pipeline step by step. Each step is recorded, so that an interrupted run goes on where it stopped.

A step that fails ends the run. What the steps before it have done stays, and the record says which steps are done. A
process that runs a pipeline with some parameters holds their lease in the metastore: others are refused, from any host,
and go on with its run when its lease is over. A process that has lost its lease records nothing more.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from metastored.errors import NotSupported, StepFailed
from metastored.pipeline.model import Pipeline, Step
from metastored.pipeline.parameters import Lookup, redacted, with_secrets
from metastored.pipeline.records import Run, StepRecord, interrupted, remaining
from metastored.pipeline.steps import Context, Outcome, run_step
from metastored.pipeline.stores import Runs
from metastored.spark.messages import message_of

if TYPE_CHECKING:
    from metastored.client._sync.client import Client

MAX_ERROR: Final = 2000
"""Signs of an error that are recorded."""


class Shown(Protocol):
    """The display of the progress."""

    def tables(self, total: int) -> None: ...
    def table(self, name: str, partitions: int) -> None: ...
    def partitions(self, done: int) -> None: ...
    def table_done(self) -> None: ...
    def line(self, text: str) -> None: ...


@contextmanager
def held(
    client: Client, pipeline: Pipeline, parameters: Mapping[str, str], warn: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Holds the lease of a pipeline with these parameters. Returns a function that raises LockFailed if it was lost.

    Raises LeaseHeld if another process runs it, with its user, its host and the time.
    """
    name = json.dumps(["pipeline", pipeline.name, dict(parameters)], sort_keys=True)
    lease = client.lease(name, f"the pipeline {pipeline.name!r} with these parameters")
    try:
        lease.__enter__()
    except NotSupported as error:
        warn(f"whether another process runs this pipeline is not known: {error}")
        yield lambda: None
        return
    try:
        yield lease.check
    finally:
        lease.__exit__(None, None, None)


def begun(runs: Runs, pipeline: Pipeline, parameters: Mapping[str, str], restart: bool, now: float) -> Run:
    """The interrupted run of this pipeline with these parameters, or a new one. The caller holds their lease."""
    host, pid = socket.gethostname(), os.getpid()
    earlier = interrupted(runs.all(), pipeline.name, parameters)
    if earlier is not None and not restart:
        return replace(earlier, state="running", ended=None, host=host, pid=pid)
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    return Run(f"{stamp}-{uuid.uuid4().hex[:6]}", pipeline.name, now, dict(parameters), host=host, pid=pid)


def run(
    pipeline: Pipeline,
    record: Run,
    runs: Runs,
    context: Context,
    shown: Shown,
    lookup: Lookup,
    secrets: frozenset[str],
    check: Callable[[], None],
    clock: Callable[[], float] = time.time,
) -> Run:
    """Runs the steps that are not done. Returns the record; its state is `failed` if a step failed.

    `check` raises LockFailed when another process may have taken over the run: nothing is recorded after that.
    """

    def put(record: Run) -> None:
        check()
        runs.put(record)

    todo = remaining(pipeline.steps, record)
    shown.tables(len(todo))
    put(record)
    for step, known in todo:
        if known is not None:
            shown.line(f"{step.name}: done in an earlier run")
            shown.table_done()
            continue
        shown.table(f"{step.name} ({step.type})", 0)
        began = StepRecord(step.name, step.type, step.digest, "running", statements=record.statements_done(step))
        record = record.with_step(began)
        put(record)
        start = clock()

        def statement_done(count: int, began: StepRecord = began) -> None:
            nonlocal record
            record = record.with_step(replace(began, statements=count))
            put(record)

        try:
            outcome = run_step(_with_secrets(step, lookup), context, began.statements, statement_done)
        except Exception as error:
            ended = replace(
                record.steps[step.name],
                state="failed",
                seconds=clock() - start,
                error=redacted(message_of(error), secrets)[:MAX_ERROR],
            )
            record = record.with_step(ended).finished("failed", clock())
            put(record)
            return record
        record = record.with_step(_done(began, outcome, clock() - start))
        put(record)
        shown.table_done()
    record = record.finished("done", clock())
    put(record)
    return record


def failure(record: Run, continuation: Sequence[str]) -> StepFailed:
    """The error of a run that failed: the step, its reason, and the command that goes on."""
    step = next(each for each in record.steps.values() if each.state == "failed")
    return StepFailed(f"the step {step.name!r} failed: {step.error}\nto go on: {shlex.join(continuation)}")


def _done(began: StepRecord, outcome: Outcome, seconds: float) -> StepRecord:
    return replace(
        began,
        state="done",
        rows=outcome.rows,
        bytes=outcome.bytes,
        detail=outcome.detail,
        seconds=seconds,
        statements=0,
    )


def _with_secrets(step: Step, lookup: Lookup) -> Step:
    keys = {
        key: with_secrets(value, lookup)
        if isinstance(value, str)
        else tuple(with_secrets(each, lookup) for each in value)
        if isinstance(value, tuple)
        else value
        for key, value in step.keys.items()
    }
    return replace(step, keys=keys)
