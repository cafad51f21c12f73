"""The package as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import metastored

ROOT = Path(__file__).parent.parent


def test_the_package_tells_type_checkers_that_it_is_typed() -> None:
    assert files(metastored).joinpath("py.typed").is_file()


def test_a_built_wheel_has_the_command_and_the_pytest_plugin(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("metastored-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(points).decode()
    assert "[console_scripts]\nmetastored = metastored.cli:main\n" in text
    assert "[pytest11]\nmetastored.pytest_plugin = metastored.pytest_plugin\n" in text
    # It is complete: the command runs from the wheel alone.
    program = "import metastored.cli; print(metastored.__file__); metastored.cli.main()"
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    words = [sys.executable, "-P", "-c", program, "relocate", "--help"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.startswith(str(wheel))) == (0, True), done.stderr
    assert "--dry-run" in done.stdout
