"""Python programs as processes of their own. They import the metastored under test (see tests/conftest.py)."""

import os
import subprocess
import sys

TIMEOUT = 120.0
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}
"""The environment of commands without settings of the person who runs the tests."""


def start_python(program: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a program; the caller ends it."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish_python(process: "subprocess.Popen[str]", timeout: float = TIMEOUT) -> str:
    """Wait for a program and return what it printed; its failure is one of the test."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert process.returncode == 0, errors
    return output.strip()


def is_running(pid: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
