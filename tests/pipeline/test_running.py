"""Runs of pipelines whose steps are Python functions, which need no Spark: order, records, failures, kills, secrets."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import metastored
from metastored.errors import LeaseHeld, LockFailed
from metastored.hive.transactions import leases
from metastored.pipeline import Pipeline, prepared
from metastored.pipeline.parameters import secrets_of
from metastored.pipeline.planning import texts_of
from metastored.pipeline.records import Run
from metastored.pipeline.running import begun, failure, held, run
from metastored.pipeline.secrets import secret_lookup
from metastored.pipeline.steps import Context
from metastored.pipeline.stores import DirectoryRuns
from metastored.testing import RunningServer, running_server
from tests.support.waiting import eventually

FILE = """\
parameters: {date: 2024-01-01, password: "{{ env:RUNNING_PASSWORD }}"}
steps:
  - {name: last, type: python, file: steps.py, function: last, needs: [middle]}
  - {name: first, type: python, file: steps.py, function: first}
  - {name: middle, type: python, file: steps.py, function: middle, needs: [first]}
"""
STEPS = """
import os, pathlib, signal, threading

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
        if trouble.read_text() == "lost":
            return forgets(client)
        raise ValueError("no login with " + parameters["password"])

def forgets(client):
    from metastored.hive.transactions.leases import LEASES
    from metastored.structs import ShowLocksRequest, UnlockRequest
    from tests.support.waiting import eventually
    (lock,) = client.api.show_locks(ShowLocksRequest(dbname=LEASES)).locks
    client.api.unlock(UnlockRequest(lockid=lock.lockid))
    # The next heartbeat is refused, and is the last one. Clients of other tests may have threads of the same name.
    others = os.environ["RUNNING_THREADS"].split()
    eventually(lambda: not any(
        each.name == "metastored-heartbeat" and str(each.ident) not in others for each in threading.enumerate()
    ))

def last(spark, client, parameters):
    noted("last")
    return 20
"""
PROGRAM = """
import sys
import threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from metastored.hive.transactions import leases
leases.HEARTBEAT, leases.EXPIRES = 0.2, 1.5
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
    """Runs the pipeline of a folder. Nothing in it uses the session."""
    pipeline, values = prepared((folder / "daily.yml").read_text(), "daily.yml", given)
    lookup = secret_lookup(folder)
    secrets = secrets_of(texts_of(pipeline, values), lookup)
    runs = DirectoryRuns(folder / "state")
    shown = shown or Shown()
    resolved = {name: os.environ["RUNNING_PASSWORD"] if "env:" in value else value for name, value in values.items()}
    uri = (folder / "uri").read_text()
    with (
        metastored.connect(uri, user="ann", cache=False) as client,
        held(client, pipeline, values, shown.line) as check,
    ):
        record = begun(runs, pipeline, values, restart, 1_700_000_000.0)
        context = Context(client, lambda: object(), folder, resolved)
        return pipeline, run(pipeline, record, runs, context, shown, lookup, secrets, check)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNNING_PASSWORD", "open sesame")
    monkeypatch.setenv("RUNNING_THREADS", " ".join(str(each.ident) for each in threading.enumerate()))
    monkeypatch.setattr(leases, "HEARTBEAT", 0.2)
    monkeypatch.setattr(leases, "EXPIRES", 1.5)
    (tmp_path / "uri").write_text(server.uri)
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


def test_a_second_process_is_told_who_runs_the_pipeline_and_since_when(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other machine"
    other.mkdir()
    for name in ("daily.yml", "steps.py", "uri"):
        (other / name).write_text((folder / name).read_text())
    pipeline, values = prepared(FILE, "daily.yml", {})
    with metastored.connect((folder / "uri").read_text(), user="ben") as client, held(client, pipeline, values, print):
        who = (
            rf"ben on {re.escape(socket.gethostname())}, process {os.getpid()} since 20.* UTC has the pipeline 'daily'"
        )
        for place in (folder, other):
            with pytest.raises(LeaseHeld, match=who):
                ran(place)
        ran(folder, date="2024-01-02")
    ran(other)
    assert log(folder) == ["first-2024-01-02", "middle", "last"]
    assert log(other) == ["first-2024-01-01", "middle", "last"]


def test_a_process_that_has_lost_its_lease_records_nothing_more(folder: Path) -> None:
    (folder / "trouble").write_text("lost")
    with pytest.raises(LockFailed, match="the lease of the pipeline 'daily' with these parameters was lost"):
        ran(folder)
    (record,) = DirectoryRuns(folder / "state").all()
    assert [(each.name, each.state) for each in record.steps.values()] == [("first", "done"), ("middle", "running")]
    assert "last" not in log(folder)


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
    with pytest.raises(LeaseHeld, match="its lease ends 2 s after its last heartbeat"):
        ran(folder)
    found: list[Run] = []

    def adopted() -> bool:
        with suppress(LeaseHeld):
            found.append(ran(folder)[1])
        return bool(found)

    eventually(adopted)
    assert (found[0].state, found[0].id) == ("done", record.id)
    assert log(folder) == ["first-2024-01-01", "middle", "middle", "last"]


def test_a_function_that_does_not_exist_is_named(folder: Path) -> None:
    (folder / "daily.yml").write_text(FILE.replace("function: middle", "function: nothing"))
    _, record = ran(folder)
    assert (record.steps["middle"].error or "").endswith("steps.py has no function nothing")
