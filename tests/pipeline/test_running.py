"""Runs of pipelines whose steps are Python functions, which need no Spark: order, records, failures, kills, secrets."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import ConfigError
from metastored.pipeline import Pipeline, prepared
from metastored.pipeline.parameters import secrets_of
from metastored.pipeline.planning import texts_of
from metastored.pipeline.records import Run
from metastored.pipeline.running import begun, failure, run
from metastored.pipeline.secrets import secret_lookup
from metastored.pipeline.steps import Context
from metastored.pipeline.stores import DirectoryRuns

FILE = """\
parameters: {date: 2024-01-01, password: "{{ env:RUNNING_PASSWORD }}"}
steps:
  - {name: last, type: python, file: steps.py, function: last, needs: [middle]}
  - {name: first, type: python, file: steps.py, function: first}
  - {name: middle, type: python, file: steps.py, function: middle, needs: [first]}
"""
STEPS = """
import os, pathlib, signal

log = pathlib.Path(__file__).parent / "log"

def noted(name):
    with log.open("a") as file:
        file.write(name + " ")

def first(spark, client, parameters):
    noted("first-" + parameters["date"])
    return 10

def middle(spark, client, parameters):
    noted("middle")
    trouble = pathlib.Path(__file__).parent / "trouble"
    if trouble.exists():
        if trouble.read_text() == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("no login with " + parameters["password"])

def last(spark, client, parameters):
    noted("last")
    return 20
"""
PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.pipeline.test_running import ran
ran(Path(sys.argv[1]))
"""


class Shown:
    """A display that keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tables(self, total: int) -> None: ...
    def table(self, name: str, partitions: int) -> None: ...
    def partitions(self, done: int) -> None: ...
    def table_done(self) -> None: ...
    def line(self, text: str) -> None:
        self.lines.append(text)


def ran(folder: Path, shown: Shown | None = None, restart: bool = False, **given: str) -> tuple[Pipeline, Run]:
    """Runs the pipeline of a folder. Nothing in it uses the session or the client."""
    pipeline, values = prepared((folder / "daily.yml").read_text(), "daily.yml", given)
    lookup = secret_lookup(folder)
    secrets = secrets_of(texts_of(pipeline, values), lookup)
    runs = DirectoryRuns(folder / "state")
    record = begun(runs, pipeline, values, restart, 1_700_000_000.0)
    nothing: Any = None
    resolved = {name: os.environ["RUNNING_PASSWORD"] if "env:" in value else value for name, value in values.items()}
    context = Context(nothing, lambda: object(), folder, resolved)
    return pipeline, run(pipeline, record, runs, context, shown or Shown(), lookup, secrets)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNNING_PASSWORD", "open sesame")
    (tmp_path / "daily.yml").write_text(FILE)
    (tmp_path / "steps.py").write_text(STEPS)
    return tmp_path


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def test_steps_run_in_the_order_of_their_needs_and_are_recorded(folder: Path) -> None:
    _, record = ran(folder)
    assert log(folder) == ["first-2024-01-01", "middle", "last"]
    assert (record.state, [each.rows for each in record.steps.values()]) == ("done", [10, None, 20])
    assert DirectoryRuns(folder / "state").all() == [record]


def test_a_run_that_is_done_is_not_continued(folder: Path) -> None:
    ran(folder)
    ran(folder)
    assert len(log(folder)) == 6
    assert len(DirectoryRuns(folder / "state").all()) == 2


def test_a_failed_step_ends_the_run_and_the_next_run_goes_on_there(folder: Path) -> None:
    (folder / "trouble").write_text("fail")
    _, record = ran(folder)
    assert [(each.name, each.state) for each in record.steps.values()] == [("first", "done"), ("middle", "failed")]
    error = failure(record, ["metastored", "pipeline", "run", "my daily.yml"])
    assert str(error) == (
        "the step 'middle' failed: no login with ***\nto go on: metastored pipeline run 'my daily.yml'"
    )
    (folder / "trouble").unlink()
    shown = Shown()
    _, record = ran(folder, shown)
    assert record.state == "done"
    assert log(folder) == ["first-2024-01-01", "middle", "middle", "last"]
    assert shown.lines == ["first: done in an earlier run"]


def test_other_parameters_are_another_run(folder: Path) -> None:
    (folder / "trouble").write_text("fail")
    ran(folder)
    ran(folder, date="2024-01-02")
    assert log(folder) == ["first-2024-01-01", "middle", "first-2024-01-02", "middle"]


def test_a_run_that_another_process_runs_is_refused(folder: Path) -> None:
    (folder / "trouble").write_text("fail")
    _, record = ran(folder)
    runs = DirectoryRuns(folder / "state")
    runs.put(replace(record, state="running", pid=os.getppid()))
    with pytest.raises(ConfigError, match=f"the process {os.getppid()} runs this pipeline"):
        ran(folder)
    runs.put(replace(record, state="running", pid=os.getppid(), host="another"))
    ran(folder)
    assert log(folder) == ["first-2024-01-01", "middle", "middle"]


def test_a_restart_begins_with_the_first_step(folder: Path) -> None:
    (folder / "trouble").write_text("fail")
    ran(folder)
    ran(folder, restart=True)
    assert log(folder) == ["first-2024-01-01", "middle"] * 2


def test_a_secret_is_in_no_record(folder: Path) -> None:
    (folder / "trouble").write_text("fail")
    ran(folder)
    (file,) = (folder / "state").glob("*.json")
    assert "open sesame" not in file.read_text()
    assert "{{ env:RUNNING_PASSWORD }}" in file.read_text()


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_step_that_was_running(folder: Path) -> None:
    (folder / "trouble").write_text("kill")
    killed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(Path(__file__).parents[2])], timeout=60, env={**os.environ}
    )
    assert killed.returncode == -9
    (record,) = DirectoryRuns(folder / "state").all()
    assert [(each.name, each.state) for each in record.steps.values()] == [("first", "done"), ("middle", "running")]
    (folder / "trouble").unlink()
    _, record = ran(folder)
    assert record.state == "done"
    assert log(folder) == ["first-2024-01-01", "middle", "middle", "last"]


def test_a_function_that_does_not_exist_is_named(folder: Path) -> None:
    (folder / "daily.yml").write_text(FILE.replace("function: middle", "function: nothing"))
    _, record = ran(folder)
    assert (record.steps["middle"].error or "").endswith("steps.py has no function nothing")
