"""Flaky tests, which failed at first and passed alone, from two real runs of pytest; and a build that runs both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Each test runs pytest several times.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TESTS = """
from pathlib import Path

import pytest


def test_steady():
    pass


@pytest.mark.parametrize("name", ["a", "b"])
def test_flaky(name):
    mark = Path(name)
    seen = mark.exists()
    mark.touch()
    assert seen


def test_broken():
    assert Path("mended").exists()
"""
MAKEFILE = """
{others}:
\t@true
test:
\t@{pytest}
retest:
\t@{pytest} --last-failed
"""


def build(folder: Path, fails: str = "") -> subprocess.CompletedProcess[str]:
    """Runs `.ci/run` over a small project, whose target `fails` has an error."""
    (folder / "test_it.py").write_text(TESTS)
    targets = set(re.findall(r"\b(?:step|begin) (\w+)", (ROOT / ".ci/run").read_text())) - {"test", "retest"}
    others = " ".join(targets - {fails})
    makefile = MAKEFILE.format(others=others, pytest=f"{sys.executable} -m pytest -q")
    (folder / "Makefile").write_text(makefile + (f"{fails}:\n\t@echo the error of {fails}; exit 3\n" if fails else ""))
    for name in (".ci/run", "tools/flaky.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST", "MAKE"))}
    return subprocess.run([folder / ".ci/run"], env=environment, capture_output=True, text=True, timeout=120)


def test_a_build_counts_the_tests_that_passed_alone_and_succeeds(tmp_path: Path) -> None:
    (tmp_path / "mended").touch()
    done = build(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    flaky = "test_it.py::test_flaky[a], test_it.py::test_flaky[b]"
    assert f"flaky: 2 tests failed at first and passed alone: {flaky}\n" in done.stdout


def test_a_test_that_fails_twice_is_not_flaky_and_fails_the_build(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert done.returncode != 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("flaky:")]
    assert "2 tests" in line and "test_broken" not in line


@pytest.mark.parametrize("step", ["venv", "setup", "compiled", "check", "dist"])
def test_a_step_that_fails_ends_the_build_before_its_tests(tmp_path: Path, step: str) -> None:
    done = build(tmp_path, fails=step)
    assert done.returncode != 0
    assert f"the error of {step}\n" in done.stdout
    assert re.search(rf"^== make {step}: \d+ s, status 2$", done.stdout, re.MULTILINE)
    assert "== make test" not in done.stdout


@pytest.mark.parametrize("step", ["packages", "system", "peers"])
def test_what_could_not_be_installed_does_not_end_the_build(tmp_path: Path, step: str) -> None:
    (tmp_path / "mended").touch()
    done = build(tmp_path, fails=step)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the error of {step}\n" in done.stdout


def test_a_build_whose_tests_all_pass_runs_them_once(tmp_path: Path) -> None:
    for name in ("mended", "a", "b"):
        (tmp_path / name).touch()
    done = build(tmp_path)
    assert done.returncode == 0
    assert "flaky:" not in done.stdout and "make retest" not in done.stdout
