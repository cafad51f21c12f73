"""Forks behave as the processes that they stand for."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import metastored
from metastored.testing import SERVE
from tests.support.forks import run_command, running_server, start

VERSION = f"metastored {metastored.__version__}\n"


def test_a_command_has_its_arguments_output_and_exit_code() -> None:
    done = run_command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, VERSION, "")
    wrong = run_command("nothing-of-this-name")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_a_command_has_its_directory_environment_and_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    added = run_command("user", "add", "maja", "--password-stdin", "--data", "here", input="honey\n")
    assert (added.returncode, added.stdout) == (0, "added the user maja\n")
    assert (tmp_path / "here").is_dir()
    environment = {**os.environ, "METASTORED_DATA": "here"}
    assert run_command("user", "list", environment=environment).stdout == "maja\n"


def test_a_variable_of_the_interpreter_starts_a_new_one() -> None:
    seen = run_command("--version", environment={**os.environ, "PYTHONVERBOSE": "1"})
    assert seen.stdout == VERSION and "import 'metastored.cli'" in seen.stderr


def test_a_server_is_a_process_that_a_signal_ends(tmp_path: Path) -> None:
    with running_server() as server:
        assert server.pid != os.getpid() and "metastored" in server.log
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)
    with (tmp_path / "log").open("wb") as log:
        process = start([*SERVE, "--port", "0", "--data", str(tmp_path / "data")], os.environ, log)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
