"""Runs the quick tests on every Python from 3.11 on that this machine has, each in a virtual environment of its own.

`make versions` calls it. With --list it only prints the interpreters. An environment is `.venv-python3.12` and so on;
it is made again when the lock file changes. Nothing is downloaded but the packages of the lock file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
OLDEST = 11
"""The oldest Python is 3.11, as in pyproject.toml."""
NEWEST = 30
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")


def interpreters() -> dict[str, str]:
    """The programs by version (`3.12`), oldest first: on the PATH, or installed by pyenv."""
    found: dict[str, str] = {}
    for minor in range(OLDEST, NEWEST):
        version = f"3.{minor}"
        program = next((each for each in _candidates(version) if _is(each, version)), None)
        if program is not None:
            found[version] = program
    return found


def _candidates(version: str) -> Iterator[str]:
    for name in (f"python{version}", "python3"):
        program = shutil.which(name)
        if program is not None:
            yield program
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from map(str, sorted(home.glob(f"{version}.*/bin/python{version}")))


def _is(program: str, version: str) -> bool:
    """Whether the program is that version: a shim of pyenv exists for versions that are not enabled."""
    question = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", question], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def environment(version: str, program: str) -> Path:
    """The Python of the virtual environment, which is made when it is missing or older than the lock file."""
    folder = ROOT / f".venv-python{version}"
    python, stamp = folder / "bin/python", folder / ".installed"
    if not stamp.exists() or stamp.stat().st_mtime < LOCK.stat().st_mtime:
        subprocess.run([program, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, *PIP, "--require-hashes", "-r", LOCK], check=True)
        subprocess.run([python, *PIP, "--no-deps", "--no-build-isolation", "--editable", ROOT], check=True)
        stamp.touch()
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="only print the interpreters")
    parser.add_argument("--markers", default="", help="the tests to run, as for pytest -m")
    options, words = parser.parse_known_args()
    found = interpreters()
    if options.list:
        for version, program in found.items():
            print(version, program)
        return 0
    outcomes: dict[str, str] = {}
    for version, program in found.items():
        print(f"== Python {version}", flush=True)
        try:
            python = environment(version, program)
        except subprocess.CalledProcessError:
            outcomes[version] = "the packages could not be installed"
            continue
        done = subprocess.run([python, "-m", "pytest", "-m", options.markers, "-n", "2", *words], cwd=ROOT)
        outcomes[version] = "passed" if done.returncode == 0 else f"failed with exit code {done.returncode}"
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome}")
    return 0 if outcomes and all(outcome == "passed" for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
