"""Projects of Spark's declarative pipelines: how they are started, and what is said if they cannot be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from metastored.errors import ConfigError, InvalidOperationException
from metastored.pipeline import dataflow
from metastored.pipeline.dataflow import (
    command,
    completed_flows,
    event,
    missing_modules,
    properties,
    reasons,
    run_program,
    run_project,
    spec_of,
)
from tests.support.processes import is_running


def test_settings_are_given_by_a_file_and_the_master_as_the_remote() -> None:
    words = command(Path("spark-pipelines"), Path("p/spark-pipeline.yml"), Path("s.properties"), "local[2]", False)
    assert words == [
        *("spark-pipelines", "run", "--remote", "local[2]", "--properties-file", "s.properties"),
        *("--load-spark-defaults", "--spec", "p/spark-pipeline.yml"),
    ]


def test_tables_are_refreshed_in_full_if_the_step_says_so() -> None:
    path = Path("s")
    assert command(path, path, path, "local", True)[-1] == "--full-refresh-all"
    assert command(path, path, path, "local", ("a", "b"))[-2:] == ["--full-refresh", "a,b"]


def test_settings_are_written_as_java_properties() -> None:
    assert properties({"spark.a": "C:\\x = y", "k:e y": "two\nlines"}) == "spark.a=C:\\\\x = y\nk\\:e\\ y=two\\nlines\n"


def test_a_folder_without_a_specification_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no spark-pipeline\.yml or spark-pipeline\.yaml"):
        spec_of(tmp_path)


def test_a_module_that_is_not_installed_is_found_missing() -> None:
    assert missing_modules(("json", "no_such_module", "no_such.module")) == ["no_such_module", "no_such.module"]


@pytest.mark.skipif(not missing_modules(), reason="pyspark[pipelines] is installed")
def test_without_the_extra_of_pyspark_the_error_names_the_pip_line(tmp_path: Path) -> None:
    (tmp_path / "spark-pipeline.yml").write_text("name: x\n")
    with pytest.raises(ConfigError, match=r"pip install 'pyspark\[pipelines\]'"):
        run_project(tmp_path, {}, False)


def test_a_run_that_ends_without_an_error_of_spark_is_told_by_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "spark-pipelines"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2026-11-19 00:00:00: Creating Spark session...'\nexit 137\n")
    program.chmod(0o755)
    (tmp_path / "spark-pipeline.yml").write_text("name: x\n")
    monkeypatch.setattr(dataflow, "missing_modules", list)
    monkeypatch.setattr(dataflow, "_pyspark_home", lambda: str(tmp_path))
    with pytest.raises(InvalidOperationException, match=r"failed with exit status 137:\n.*Creating Spark session"):
        run_project(tmp_path, {}, False, lambda text: None)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, BrokenPipeError, SystemExit])
def test_an_interruption_ends_the_program_too(tmp_path: Path, interruption: type[BaseException]) -> None:
    program = "import os, time; print('2026-01-01 10:00:00:', os.getpid(), flush=True); time.sleep(600)"
    pids: list[int] = []

    def show(text: str) -> None:
        pids.append(int(text))
        raise interruption

    with pytest.raises(interruption):
        run_program([sys.executable, "-c", program], tmp_path, os.environ, show)
    assert not is_running(pids[0])


LINES = """\
Setting default log level to "WARN".
26/01/01 10:00:01 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform...
2026-01-01 10:00:09: Starting run...
2026-01-01 10:00:12: Flow spark_catalog.shop.late is RUNNING.
2026-01-01 10:00:13: Flow spark_catalog.shop.late has COMPLETED.
2026-01-01 10:00:14: Flow spark_catalog.shop.late has COMPLETED.
2026-01-01 10:00:15: Run is COMPLETED.
""".splitlines()
"""As Spark 4.3 prints them."""
FAILURE = """\
2026-01-01 10:00:24: Failed to resolve flow: 'spark_catalog.shop.late'.
Error: [TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`nowhere` cannot be found.
Traceback (most recent call last):
  File "cli.py", line 450, in <module>
pyspark.errors.exceptions.connect.AnalysisException:
Failed to resolve flows in the pipeline.

Flows with errors: spark_catalog.shop.late
""".splitlines()


def test_completed_flows_are_counted_once() -> None:
    assert completed_flows(LINES) == 1


def test_events_are_shown_without_their_time_and_sparks_log_is_not() -> None:
    assert [text for line in LINES if (text := event(line)) is not None] == [
        "Starting run...",
        "Flow spark_catalog.shop.late is RUNNING.",
        "Flow spark_catalog.shop.late has COMPLETED.",
        "Flow spark_catalog.shop.late has COMPLETED.",
        "Run is COMPLETED.",
    ]


def test_the_reasons_of_a_failure_are_the_errors_of_flows_and_the_last_error() -> None:
    assert reasons(FAILURE).splitlines() == [
        "Failed to resolve flow: 'spark_catalog.shop.late'.",
        "Error: [TABLE_OR_VIEW_NOT_FOUND] The table or view `shop`.`nowhere` cannot be found.",
        "Failed to resolve flows in the pipeline.",
        "Flows with errors: spark_catalog.shop.late",
    ]


def test_a_failure_without_errors_of_spark_has_the_last_lines() -> None:
    assert reasons(["no Java", "bye"]) == "no Java\nbye"
