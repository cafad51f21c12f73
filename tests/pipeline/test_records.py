"""Runs that are recorded: what an interrupted run repeats, and where records are stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import metastored
from metastored.errors import ConfigError
from metastored.pipeline import Step
from metastored.pipeline.records import Run, StepRecord, from_json, interrupted, remaining, to_json
from metastored.pipeline.report import plan_rows, report_json, report_rows, runs_rows
from metastored.pipeline.stores import DirectoryRuns, MetastoreRuns, Runs
from metastored.testing import running_server

A = Step("a", "sql", 1, keys={"sql": "SELECT 1"})
B = Step("b", "sql", 2, needs=("a",), keys={"sql": "SELECT 2"})
C = Step("c", "sql", 3, keys={"sql": "SELECT 3"})


def done(step: Step) -> StepRecord:
    return StepRecord(step.name, step.type, step.digest, "done", rows=10, bytes=2048, seconds=1.5)


def run(*steps: StepRecord, id: str = "1", started: float = 100.0, state: str = "running") -> Run:
    return Run(id, "daily", started, {"date": "1"}, state, steps={each.name: each for each in steps})  # type: ignore[arg-type]


def repeated(record: Run, *steps: Step) -> list[str]:
    return [step.name for step, known in remaining(steps, record) if known is None]


def test_steps_that_are_done_are_not_repeated() -> None:
    assert repeated(run(done(A)), A, B, C) == ["b", "c"]


def test_a_step_that_has_changed_is_repeated_with_those_that_need_it() -> None:
    changed = Step("a", "sql", 1, keys={"sql": "SELECT 99"})
    assert repeated(run(done(A), done(B), done(C)), changed, B, C) == ["a", "b"]


def test_a_step_that_failed_or_was_killed_is_repeated() -> None:
    for state in ("failed", "running"):
        assert repeated(run(StepRecord("a", "sql", A.digest, state)), A) == ["a"]


def test_statements_of_a_killed_step_that_are_done_are_known() -> None:
    record = run(StepRecord("a", "sql", A.digest, "running", statements=2))
    assert record.statements_done(A) == 2
    assert record.statements_done(Step("a", "sql", 1, keys={"sql": "SELECT 99"})) == 0


def test_the_newest_run_with_the_same_parameters_goes_on_if_it_is_not_done() -> None:
    old, new = run(id="1", state="failed"), run(id="2", started=200.0)
    assert interrupted([new, old], "daily", {"date": "1"}) == new
    assert interrupted([old, run(id="3", started=300.0, state="done")], "daily", {"date": "1"}) is None
    assert interrupted([old], "daily", {"date": "2"}) is None
    assert interrupted([old], "weekly", {"date": "1"}) is None


def test_a_record_is_the_same_after_it_was_stored() -> None:
    record = run(done(A)).finished("done", 200.0)
    assert from_json(to_json(record)) == record


@pytest.fixture(params=["directory", pytest.param("metastored", marks=pytest.mark.slow)])
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runs]:
    if request.param == "directory":
        yield DirectoryRuns(tmp_path / "state")
        return
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        yield MetastoreRuns(client)


def test_runs_are_stored_and_replaced(runs: Runs) -> None:
    assert runs.all() == []
    second, first = run(id="20240102T000000-ab", started=200.0), run(done(A), id="20240101T000000-cd")
    runs.put(second)
    runs.put(first)
    runs.put(first.with_step(done(B)))
    assert runs.all() == [first.with_step(done(B)), second]


def test_a_file_that_is_no_record_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "daily.1.run.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"daily\.1\.run\.json is not a record of a run"):
        DirectoryRuns(tmp_path).all()


def test_the_report_has_rows_bytes_and_times() -> None:
    failed = StepRecord("b", "sql", B.digest, "failed", seconds=0.25, error="no such table")
    record = run(done(A), failed).finished("failed", 200.0)
    columns, rows = report_rows((A, B, C), record)
    assert columns[:4] == ("step", "type", "state", "rows")
    assert rows[0] == ("a", "sql", "done", "10", "2.0 KB", "1.5", "")
    assert rows[1][2] == "failed" and rows[1][6] == "no such table"
    assert rows[2][2] == "not run"
    assert rows[3] == ("total", "", "failed", "10", "2.0 KB", "1.8", "")
    found = report_json((A, B, C), record)
    assert [step["state"] for step in found["steps"]] == ["done", "failed", "not run"]
    assert (found["steps"][0]["rows"], found["ended"]) == (10, "1970-01-01T00:03:20Z")


def test_a_past_run_says_in_which_state_its_steps_are() -> None:
    failed = replace(done(B), state="failed")
    _, rows = runs_rows([run(done(A)), run(done(A), failed), run(failed)])
    assert [row[6] for row in rows] == ["1 done", "1 done, 1 failed", "1 failed"]


def test_past_runs_are_listed_with_their_figures() -> None:
    _, rows = runs_rows([run(done(A)).finished("done", 200.0)])
    assert rows == (("1", "daily", "date=1", "done", "1970-01-01T00:01:40Z", "1.5", "1 done", "10", "2.0 KB"),)


def test_a_plan_says_which_steps_have_been_done() -> None:
    _, rows = plan_rows(remaining((A, B), run(done(A))), {"b": "executes 1 statement"})
    assert [row[-1] for row in rows] == ["none: done in 1.5 s", "executes 1 statement"]
