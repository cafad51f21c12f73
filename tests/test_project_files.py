"""Files for those who work on metastored: hooks and workflow run the commands of make; packages are complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import metastored
from tools.check_dist import faults
from tools.versions import OLDEST, interpreters

ROOT = Path(__file__).resolve().parent.parent


def commands_of_make_check() -> list[str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    section = re.search(r"^check: .*\n((?:\t.*\n)+)", text, re.MULTILINE)
    assert section is not None
    names = {"$(VENV)": ".venv", "$(PY)": ".venv/bin/python", "$(PYTHON_DIRS)": "src tools tests benchmarks"}
    commands = section[1].strip().split("\n")
    for name, value in names.items():
        commands = [command.strip().replace(name, value) for command in commands]
    return commands


def test_the_hooks_of_pre_commit_are_the_commands_of_make_check() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert [hook["entry"] for hook in hooks] == commands_of_make_check()
    assert {(hook["language"], hook["pass_filenames"]) for hook in hooks} == {("system", False)}
    assert [repository["repo"] for repository in config["repos"]] == ["local"], "nothing is downloaded"


def test_all_files_that_tools_write_are_marked_as_generated() -> None:
    """Pages with parts by hand are not among them: `docs/concepts/performance.md`."""
    listed = subprocess.run(
        ["git", "grep", "-lI", "-e", "DO NOT EDIT", "-e", "; do not edit", "--", "src", "docs/reference"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    if not listed:
        pytest.skip("this is not a checkout of git")
    marks = subprocess.run(
        ["git", "check-attr", "linguist-generated", "--", *listed], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [line for line in marks if not line.endswith(": set")] == []


def test_the_workflow_calls_the_script_of_build_services_on_every_supported_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["ci"]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    classifiers = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text("utf-8"))
    assert job["strategy"]["matrix"]["python"] == classifiers
    assert workflow["permissions"] == {"contents": "read"}


def test_editors_get_the_line_length_of_ruff() -> None:
    text = (ROOT / ".editorconfig").read_text("utf-8")
    limit = re.search(r"^line-length = (\d+)", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert limit is not None and f"[*.py]\nmax_line_length = {limit[1]}\n" in text


@pytest.mark.slow
def test_the_python_of_this_run_is_found_among_the_versions() -> None:
    found = interpreters()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert version in found
    assert all(int(each.partition(".")[2]) >= OLDEST for each in found)


@pytest.mark.slow
def test_the_wheel_and_the_source_package_are_complete(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    assert list(faults(tmp_path, metastored.__version__)) == []


def test_missing_packages_are_faults(tmp_path: Path) -> None:
    assert list(faults(tmp_path, "1.0")) == [
        "there is no metastored-1.0-py3-none-any.whl",
        "there is no metastored-1.0.tar.gz",
    ]


@pytest.mark.slow
def test_the_configuration_of_pre_commit_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_workflow_file_fits_the_schema_of_github(tmp_path: Path) -> None:
    workflow = ROOT / ".github/workflows/ci.yml"
    broken = tmp_path / "broken.yml"
    broken.write_text(workflow.read_text("utf-8").replace("runs-on:", "run-on:"), "utf-8")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    for file, fits in ((workflow, True), (broken, False)):
        done = subprocess.run([*check, str(file)], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode == 0) is fits, done.stdout + done.stderr


def test_build_services_also_build_the_packages_and_try_the_wheel() -> None:
    script = (ROOT / ".ci/run").read_text("utf-8")
    steps = re.findall(r"^(?:if ! )?((?:begin|step|finish) \w+( \|\| true)?)", script, re.MULTILINE)
    # Where the status of a step is not looked at, it cannot fail the build: only what installs peers and packages.
    assert [step for step, _ in steps] == [
        "begin peers", "begin packages", "step venv", "begin setup", "begin compiled", "begin dist", "begin classes",
        "finish packages || true", "step system || true", "step check", "finish dist", "finish setup",
        "finish compiled", "finish classes", "finish peers || true", "step test",
    ]  # fmt: skip
    recipe = re.search(r"^dist: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert recipe is not None
    assert all(tool in recipe[1] for tool in ("twine check", "tools/check_dist.py", "tools/try_wheel.py"))
