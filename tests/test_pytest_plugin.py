"""The fixture as other projects get it: by the entry point alone, with no line in their conftest.py."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

# Each test runs pytest in a process of its own.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent

PROJECT = """
import sys

def test_without_the_fixture():
    assert [name for name in sys.modules if name.startswith("metastored")] == ["metastored", "metastored.pytest_plugin"]

def test_with_the_fixture(metastored_server):
    import metastored
    with metastored.connect(metastored_server.uri) as client:
        assert client.databases() == ("default",)
"""


def declared() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, str] = project["entry-points"]["pytest11"]
    return found


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that makes pytest see the entry points of pyproject.toml, as an installation would."""
    metadata = tmp_path / "site" / "metastored_entry-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: metastored-entry\nVersion: 0\n", encoding="utf-8")
    lines = [f"{name} = {target}\n" for name, target in declared().items()]
    (metadata / "entry_points.txt").write_text("[pytest11]\n" + "".join(lines), encoding="utf-8")
    return metadata.parent


def run_pytest(folder: Path, *path: Path, words: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    where = os.pathsep.join([*map(str, path), str(ROOT / "src")])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("METASTORED_", "PYTEST_"))}
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, str(folder)]
    return subprocess.run(
        command,
        cwd=folder,
        env={**environment, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        timeout=200,
    )


def test_the_entry_point_is_the_plugin() -> None:
    assert declared() == {"metastored.pytest_plugin": "metastored.pytest_plugin"}


def test_a_project_gets_the_fixture_from_the_entry_point_and_nothing_is_imported_early(
    tmp_path: Path, installed: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_mine.py").write_text(PROJECT, encoding="utf-8")
    done = run_pytest(project, installed)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_conftest_that_names_the_plugin_gets_it_once(tmp_path: Path, installed: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "conftest.py").write_text('pytest_plugins = ["metastored.pytest_plugin"]\n', encoding="utf-8")
    (project / "test_mine.py").write_text("def test_it(metastored_server): pass\n", encoding="utf-8")
    done = run_pytest(project, installed)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_coverage_of_a_project_is_measured_as_without_the_plugin(tmp_path: Path, installed: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "mine.py").write_text("def one():\n    return 1\n", encoding="utf-8")
    (project / "test_mine.py").write_text("import mine\ndef test_it(): assert mine.one() == 1\n", encoding="utf-8")
    done = run_pytest(project, installed, words=("--cov=mine", "--cov-report=term"))
    assert (done.returncode, "100%" in done.stdout) == (0, True), done.stdout + done.stderr
