"""`tools/install.sh` installs a lock file with uv, and with pip where uv cannot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.apache import ROOT

PROGRAM = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$RUN"
case "$(basename "$0") $*" in
    *"pip config list"*) echo "${CONFIGURED:-global.timeout='60'}" ;;
    *requirements-uv.lock*) exit "${NO_UV:-0}" ;;
    "uv "*) exit "${UV_FAILS:-0}" ;;
    *) exit "${PIP_FAILS:-0}" ;;
esac
"""
WITH_UV = "python -m pip install --quiet --require-hashes --no-deps --disable-pip-version-check --no-input --no-compile"
WITH_PIP = f"{WITH_UV} -r own.lock"


def installed(folder: Path, **variables: str) -> tuple[int, list[str], str]:
    """The exit status of the script, the programs that it ran, and its output."""
    for name in ("python", "uv"):
        file = folder / "env/bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PROGRAM)
        file.chmod(0o755)
    run = folder / "run"
    env = {"PATH": os.environ["PATH"], "RUN": str(run)} | variables
    command = [str(ROOT / "tools/install.sh"), "env", "own.lock"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    ran = [line for line in run.read_text().splitlines() if "pip config" not in line]
    return done.returncode, ran, done.stdout


def test_uv_installs_what_the_lock_file_names_and_checks_its_hashes(tmp_path: Path) -> None:
    status, (bootstrap, command), output = installed(tmp_path)
    assert status == 0 and output == "uv has installed own.lock\n"
    assert bootstrap == f"{WITH_UV} -r requirements-uv.lock"
    assert command == "uv pip install --quiet --require-hashes --no-deps --python env/bin/python -r own.lock"


@pytest.mark.parametrize("reason", ["NO_UV", "UV_FAILS"])
def test_pip_installs_where_there_is_no_uv_or_it_fails(tmp_path: Path, reason: str) -> None:
    status, ran, output = installed(tmp_path, **{reason: "1"})
    assert status == 0 and ran[-1] == WITH_PIP
    assert output == "uv could not install own.lock: pip installs it\n"


@pytest.mark.parametrize("setting", ["index-url", "extra-index-url", "no-index", "proxy"])
def test_pip_installs_where_only_its_configuration_names_the_index(tmp_path: Path, setting: str) -> None:
    status, ran, output = installed(tmp_path, CONFIGURED=f":env:.{setting}='x'")
    assert status == 0 and ran == [WITH_PIP]
    assert output == "pip installs own.lock, with the index or the proxy of its own configuration\n"


def test_what_neither_can_install_is_an_error(tmp_path: Path) -> None:
    assert installed(tmp_path, UV_FAILS="1", PIP_FAILS="3")[0] == 3
