"""The interpreter of Spark's workers. Whole commands are called by their path in tests/pipeline/test_run.py."""

from __future__ import annotations

import os
import sys

import pytest

from metastored.spark.interpreter import SETTING, VARIABLE, interpreter_set, workers_python


def test_the_workers_run_the_interpreter_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert workers_python() == sys.executable


def test_an_interpreter_of_the_user_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/opt/python3.12")
    assert workers_python({"spark.master": "yarn"}) == "/opt/python3.12"
    assert workers_python({SETTING: "/opt/python3.13"}) == "/opt/python3.13"


@pytest.mark.parametrize("before", [None, "/opt/python3.12"])
def test_the_environment_is_as_before_when_spark_has_started(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, before)
    with interpreter_set():
        assert os.environ[VARIABLE] == (before or sys.executable)
    assert os.environ.get(VARIABLE) == before
