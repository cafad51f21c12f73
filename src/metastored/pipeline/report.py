"""What a run did, or would do, as a table and as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from metastored.pipeline.effects import Effects, effects_of
from metastored.pipeline.model import Step
from metastored.pipeline.records import Run, StepRecord

Rows = tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]
"""The names of columns, and rows of texts."""

_UNITS: Final = ("B", "KB", "MB", "GB", "TB", "PB")
_SIZE: Final = 1024


def report_rows(steps: Sequence[Step], run: Run) -> Rows:
    """One row for each step, and the sums."""
    columns = ("step", "type", "state", "rows", "bytes", "seconds", "detail")
    step_rows = [_row(step, run.steps.get(step.name)) for step in steps]
    records = [run.steps[step.name] for step in steps if step.name in run.steps]
    rows, size = _sum(each.rows for each in records), _sum(each.bytes for each in records)
    seconds = sum(each.seconds for each in records)
    step_rows.append(("total", "", run.state, _number(rows), _bytes(size), f"{seconds:.1f}", ""))
    return columns, tuple(step_rows)


def report_json(steps: Sequence[Step], run: Run) -> dict[str, Any]:
    """The same for programs."""
    return {
        "run": run.id,
        "pipeline": run.pipeline,
        "state": run.state,
        "parameters": dict(run.parameters),
        "started": _time(run.started),
        "ended": None if run.ended is None else _time(run.ended),
        "steps": [_json(step, run.steps.get(step.name)) for step in steps],
    }


def runs_rows(runs: Iterable[Run]) -> Rows:
    """Past runs, one row for each."""
    columns = ("run", "pipeline", "parameters", "state", "started", "seconds", "steps", "rows", "bytes")
    rows = []
    for run in runs:
        records = list(run.steps.values())
        rows.append(
            (
                run.id,
                run.pipeline,
                " ".join(f"{name}={value}" for name, value in run.parameters.items()),
                run.state,
                _time(run.started),
                f"{sum(each.seconds for each in records):.1f}",
                _states(records),
                _number(_sum(each.rows for each in records)),
                _bytes(_sum(each.bytes for each in records)),
            )
        )
    return columns, tuple(rows)


def _states(records: Iterable[StepRecord]) -> str:
    """How many of the steps that were begun are in which state: `2 done, 1 failed`."""
    counts = Counter(each.state for each in records)
    return ", ".join(f"{counts[state]} {state}" for state in sorted(counts, key=lambda state: (state != "done", state)))


def plan_rows(steps: Iterable[tuple[Step, StepRecord | None]], changes: dict[str, str]) -> Rows:
    """What a run would do, one row for each step. `changes` has what is known about some steps."""
    columns = ("step", "type", "needs", "reads", "writes", "change")
    rows = []
    for step, record in steps:
        effects = effects_of(step)
        change = f"none: done in {record.seconds:.1f} s" if record is not None else changes.get(step.name, "")
        rows.append((step.name, step.type, ", ".join(step.needs), reads(effects), writes(effects), change))
    return columns, tuple(rows)


def steps_rows(steps: Iterable[Step]) -> Rows:
    """The steps, and what each needs, reads and writes."""
    rows = []
    for step in steps:
        effects = effects_of(step)
        rows.append((step.name, step.type, ", ".join(step.needs), reads(effects), writes(effects)))
    return ("step", "type", "needs", "reads", "writes"), tuple(rows)


def reads(effects: Effects) -> str:
    return "any" if effects.anything else ", ".join(sorted(effects.reads))


def writes(effects: Effects) -> str:
    return "any" if effects.anything else ", ".join(sorted(effects.writes | {f"{db}.*" for db in effects.databases}))


def _row(step: Step, record: StepRecord | None) -> tuple[str | None, ...]:
    if record is None:
        return step.name, step.type, "not run", None, None, None, None
    return (
        step.name,
        step.type,
        record.state,
        _number(record.rows),
        _bytes(record.bytes),
        f"{record.seconds:.1f}",
        record.error or record.detail,
    )


def _json(step: Step, record: StepRecord | None) -> dict[str, Any]:
    common: dict[str, Any] = {"name": step.name, "type": step.type}
    if record is None:
        return {**common, "state": "not run"}
    figures = {"rows": record.rows, "bytes": record.bytes, "seconds": round(record.seconds, 3)}
    return {**common, "state": record.state, **figures, "detail": record.detail, "error": record.error}


def _sum(values: Iterable[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def _number(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def _bytes(value: int | None) -> str | None:
    if value is None:
        return None
    size, unit = float(value), 0
    while size >= _SIZE and unit < len(_UNITS) - 1:
        size, unit = size / _SIZE, unit + 1
    return f"{value} B" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
