"""`metastored pipeline` without Spark: drawings, plans, and files that are refused before anything runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.testing import RunningServer
from tests.support.forks import run_command, running_server

pytestmark = pytest.mark.slow

GOOD = """\
parameters: {date: }
steps:
  - {name: fetch, type: copy, from: far.t, to: near.t, partitions: "ds = '{{ date }}'"}
  - {name: totals, type: sql, needs: [fetch], sql: "CREATE TABLE near.totals AS SELECT count(*) AS n FROM near.t"}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as found, metastored.connect(found.uri, cache=False) as client:
        client.create_database("far")
        client.create_database("near")
        client.create_table(metastored.table("far.t", {"id": "int"}, partitioned_by={"ds": "string"}))
        client.add_partitions("far.t", [["1"], ["2"]])
        yield found


def pipeline(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_command("pipeline", *words, environment={**os.environ, **environment}, timeout=60)


def written(folder: Path, text: str) -> str:
    file = folder / "daily.yml"
    file.write_text(text)
    return str(file)


def test_a_pipeline_is_drawn_without_a_server(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    text = pipeline("show", file)
    assert text.stdout.splitlines()[0] == "1. fetch (copy)"
    svg = pipeline("show", file, "--svg", "--param", "date=1")
    assert svg.stdout.startswith("<svg ") and "near.totals" in svg.stdout
    listed = json.loads(pipeline("show", file, "--output", "json").stdout)
    assert listed["columns"] == ["step", "type", "needs", "reads", "writes"]


def test_a_dry_run_shows_the_plan_and_what_would_change(server: RunningServer, tmp_path: Path) -> None:
    done = pipeline(
        "run", written(tmp_path, GOOD), "--uri", server.uri, "--param", "date=1", "--dry-run", "--output", "json"
    )
    assert done.returncode == 0, done.stderr
    fetch, totals = json.loads(done.stdout)["rows"]
    assert fetch == ["fetch", "copy", "", "far.t", "near.t", "partitions: 1 added, 0 unchanged (parquet)"]
    assert totals[-1] == "executes 1 statement"
    assert pipeline("runs", "--uri", server.uri, "--output", "json").stdout.count("daily") == 0


def test_a_dry_run_refuses_a_database_that_no_step_makes(server: RunningServer, tmp_path: Path) -> None:
    flags = ("--uri", server.uri, "--param", "date=1", "--dry-run")
    done = pipeline("run", written(tmp_path, GOOD.replace("near.", "nowhere.")), *flags)
    assert done.returncode == 2
    assert "'fetch' needs the database nowhere" in done.stderr and "CREATE DATABASE nowhere" in done.stderr


def test_a_dry_run_names_what_earlier_steps_make(server: RunningServer, tmp_path: Path) -> None:
    text = """\
steps:
  - {name: begin, type: sql, sql: "CREATE DATABASE fresh; CREATE TABLE fresh.a (id int) USING parquet"}
  - {name: table, type: copy, needs: [begin], from: fresh.a, to: near.a}
  - {name: target, type: copy, needs: [begin], from: far.t, to: fresh.t}
  - {name: database, type: copy, needs: [begin], from: fresh, to: near}
"""
    done = pipeline("run", written(tmp_path, text), "--uri", server.uri, "--dry-run", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert [row[-1] for row in json.loads(done.stdout)["rows"]] == [
        "executes 2 statements",
        "copies a table that an earlier step makes",
        "creates fresh.t, in the database fresh that an earlier step makes",
        "copies a database that an earlier step makes",
    ]


def test_parameters_come_from_a_file(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "values.yml").write_text("date: 2\n")
    flags = ("--uri", server.uri, "--params", str(tmp_path / "values.yml"), "--dry-run")
    assert "1 added" in pipeline("run", written(tmp_path, GOOD), *flags).stdout


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (GOOD.replace("needs", "nedes"), "daily.yml:4: the sql step 'totals' has no key 'nedes'"),
        (GOOD.replace("from: far.t", "from: far.missing"), "daily.yml:3: the step 'fetch' needs the table far.missing"),
        (GOOD.replace("near.", "nowhere."), "daily.yml:3: the step 'fetch' needs the database nowhere, which does not"),
        (GOOD.replace("needs: [fetch]", "needs: [totals]"), "daily.yml:4: the steps need each other in a circle"),
        (GOOD.replace("[fetch]", "fetch"), "daily.yml:4: needs is the text 'fetch'; it has to be a list"),
        (GOOD.replace("{date: }", "{day: }"), "daily.yml:3: there is no parameter 'date'"),
        ("metastore: thrift://elsewhere:1\n" + GOOD, "the file names the metastore thrift://elsewhere:1"),
    ],
)
def test_a_bad_file_is_refused_before_anything_runs(
    server: RunningServer, tmp_path: Path, text: str, error: str
) -> None:
    done = pipeline("run", written(tmp_path, text), "--uri", server.uri, "--param", "date=1")
    assert done.returncode == 2
    assert error in done.stderr
    with metastored.connect(server.uri, cache=False) as client:
        assert client.tables("near") == ()


def test_a_parameter_without_a_value_is_refused(server: RunningServer, tmp_path: Path) -> None:
    done = pipeline("run", written(tmp_path, GOOD), "--uri", server.uri)
    assert (done.returncode, "the parameter 'date' has no value" in done.stderr) == (2, True)


def test_a_secret_is_never_printed(tmp_path: Path) -> None:
    text = 'metastore: "thrift://{{ env:PLACE }}:1"\nsteps: [{name: a, type: sql, sql: SELECT 1}]'
    done = pipeline("run", written(tmp_path, text), PLACE="a-secret-host")
    assert done.returncode == 2
    assert "***" in done.stderr and "a-secret-host" not in done.stderr + done.stdout
