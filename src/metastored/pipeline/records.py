"""The record of a run: which steps are done, with their figures. Pure: `stores.py` keeps the records.

A record has the digests of steps, never their texts, and values of parameters as they were given: a secret is a
reference.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from metastored.pipeline.model import Step

State = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What became of a step."""

    name: str
    type: str
    digest: str
    state: State
    rows: int | None = None
    bytes: int | None = None
    seconds: float = 0.0
    detail: str = ""
    error: str | None = None
    statements: int = 0
    """How many statements of a sql step are done."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a pipeline. One that was killed has the state `running`."""

    id: str
    pipeline: str
    started: float
    """Seconds since 1970."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    state: State = "running"
    ended: float | None = None
    host: str = ""
    pid: int = 0
    """The process that runs it, or has run it. For people: whether it is at work is known by its lease."""
    steps: Mapping[str, StepRecord] = field(default_factory=dict)

    def with_step(self, step: StepRecord) -> Run:
        return dataclasses.replace(self, steps={**self.steps, step.name: step})

    def finished(self, state: State, ended: float) -> Run:
        return dataclasses.replace(self, state=state, ended=ended)

    def done(self, step: Step) -> StepRecord | None:
        """The record of a step that is done and has not changed since."""
        record = self.steps.get(step.name)
        return record if record is not None and record.state == "done" and record.digest == step.digest else None

    def statements_done(self, step: Step) -> int:
        """How many statements of an interrupted step need not be repeated."""
        record = self.steps.get(step.name)
        return record.statements if record is not None and record.digest == step.digest else 0


def to_json(run: Run) -> str:
    return json.dumps(dataclasses.asdict(run), sort_keys=True)


def from_json(text: str) -> Run:
    """Raises ValueError, TypeError or KeyError for a text that is not a record."""
    values = json.loads(text)
    steps = {name: StepRecord(**each) for name, each in values.pop("steps").items()}
    return Run(**values, steps=steps)


def interrupted(runs: Iterable[Run], pipeline: str, parameters: Mapping[str, str]) -> Run | None:
    """The newest run of a pipeline with these parameters, if it is not done: the next run goes on with it."""
    same = [run for run in runs if run.pipeline == pipeline and run.parameters == dict(parameters)]
    newest = max(same, key=lambda run: (run.started, run.id), default=None)
    return newest if newest is not None and newest.state != "done" else None


def remaining(steps: Iterable[Step], run: Run | None) -> list[tuple[Step, StepRecord | None]]:
    """The steps in their order, with the record of each that is not repeated.

    A step is repeated if it has changed, or if a step that it needs is repeated.
    """
    repeated: set[str] = set()
    todo = []
    for step in steps:
        record = None if run is None else run.done(step)
        if record is None or repeated.intersection(step.needs):
            repeated.add(step.name)
            record = None
        todo.append((step, record))
    return todo
