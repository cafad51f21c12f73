"""Python programs as processes of their own, which import the skep that is being tested and not an installed one."""

import os
import subprocess
import sys
from pathlib import Path

import skep

TIMEOUT = 120.0


def start_python(program: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a program; the caller ends it."""
    source = str(Path(skep.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": source},
    )


def finish_python(process: "subprocess.Popen[str]") -> str:
    """Wait for a program and return what it printed; its failure is one of the test."""
    try:
        output, errors = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert process.returncode == 0, errors
    return output.strip()
