"""The coverage tool, on a small project of which one package is covered and another is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "check_coverage.py"


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command outside of the coverage measurement of the test run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "COV_"))}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    for package, code in (("wire", "a = 1\n"), ("hive", "if 1 > 2:\n    a = 1\n    b = 2\n    c = 3\n")):
        (tmp_path / "metastored" / package).mkdir(parents=True)
        (tmp_path / "metastored" / "__init__.py").touch()
        (tmp_path / "metastored" / package / "__init__.py").touch()
        (tmp_path / "metastored" / package / "code.py").write_text(code)
    (tmp_path / "main.py").write_text("import metastored.wire.code, metastored.hive.code\n")
    done = run(tmp_path, "-m", "coverage", "run", "--branch", "main.py")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_packages_that_are_covered_pass(measured: Path) -> None:
    done = run(measured, str(TOOL), "wire")
    assert (done.returncode, done.stdout) == (0, "coverage of wire: 100.0 %\n")


def test_a_package_below_the_limit_is_reported_with_the_limit(measured: Path) -> None:
    done = run(measured, str(TOOL), "wire", "hive", "gate")
    assert done.returncode == 1
    assert "coverage of hive: 33.3 %, which is less than 90 %" in done.stdout
    assert "coverage of gate: 0.0 %, which is less than 90 %" in done.stdout
