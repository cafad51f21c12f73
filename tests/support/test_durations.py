"""The seconds of a run are recorded; those of the tests that failed, which run again, do not replace them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = """
from tests.support import durations
from tests.support.durations import RecordedDurations

def pytest_configure(config):
    durations.RECORDED = config.rootpath / "recorded" / "durations.json"
    config.pluginmanager.register(RecordedDurations())
"""
TESTS = """
import pathlib

def test_one():
    assert pathlib.Path("mended").exists()

def test_other():
    pass
"""


def run(folder: Path, *options: str) -> dict[str, float]:
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), *options]
    root = Path(__file__).parents[2]
    subprocess.run(command, cwd=folder, env={"PYTHONPATH": f"{root}:{root / 'src'}"}, capture_output=True, check=False)
    recorded: dict[str, float] = json.loads((folder / "recorded" / "durations.json").read_text("utf-8"))
    return recorded


@pytest.mark.slow
def test_a_run_of_the_failed_tests_keeps_the_seconds_of_the_run_before(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(PLUGIN)
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    first = run(tmp_path)
    assert set(first) == {"test_a.py", "test_b.py"}
    (tmp_path / "mended").touch()
    assert run(tmp_path, "--last-failed") == first
    assert run(tmp_path, "test_a.py").keys() == {"test_a.py"}
