"""What `make demo` installs: the packages of the demo, and no tools of developers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.support.apache import ROOT


def locked(name: str) -> set[str]:
    """`name==version` of each package in a lock file."""
    return set(re.findall(r"^([\w.-]+==[^ ;]+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def planned(folder: Path) -> str:
    """The commands that `make demo` would run in a checkout."""
    locks = ("requirements.lock", "requirements-demo.lock", "requirements-uv.lock")
    for name in ("Makefile", "pyproject.toml", "tools/install.sh", *locks):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)  # With its time: make compares it.
    done = subprocess.run(["make", "-n", "demo"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_lock_of_the_demo_has_the_versions_of_all_others_and_no_tools_of_developers() -> None:
    found = locked("requirements-demo.lock")
    assert found <= locked("requirements.lock")
    names = {each.partition("==")[0] for each in found}
    assert {"pyspark", "pyarrow", "pylance", "sqlglot", "hatchling"} <= names
    assert names.isdisjoint({"pytest", "mypy", "ruff", "mkdocs", "deltalake", "moto", "matplotlib", "hypothesis"})


def test_a_fresh_clone_says_what_it_installs_before_it_installs_only_that(tmp_path: Path) -> None:
    commands = planned(tmp_path)
    assert commands.index("1 GB on") < commands.index("pip install")
    assert "requirements-demo.lock" in commands and "requirements.lock" not in commands
    assert ".venv-demo/bin/python -m tools.demo" in commands


def test_a_complete_environment_is_used_as_it_is(tmp_path: Path) -> None:
    for name in ("bin/python", ".installed", ".project"):
        file = tmp_path / ".venv" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    commands = planned(tmp_path)
    assert ".venv/bin/python -m tools.demo" in commands and "pip install" not in commands
