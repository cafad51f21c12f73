"""Commands that are ended by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

COMMAND = """
import os, sys
from pathlib import Path
from metastored.cli.stopping import cleaning_up
from metastored.pipeline.dataflow import run_program

inner = "import time; file = open('alive', 'w'); print('yes', file=file, flush=True); time.sleep(600)"
outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
with cleaning_up():
    run_program([sys.executable, "-c", outer], Path.cwd(), os.environ, print)
"""


def test_a_command_that_is_terminated_ends_the_program_that_it_runs_and_what_that_has_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "alive")
    with (
        subprocess.Popen([sys.executable, "-c", COMMAND], cwd=tmp_path) as command,
        (tmp_path / "alive").open() as alive,
    ):
        assert alive.readline() == "yes\n"
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 128 + signal.SIGTERM
        assert alive.read() == ""  # Nobody has it open for writing any more.


WAITING = """
import os, signal, subprocess, sys
from metastored.cli.stopping import stopping

send = "import os, sys\\nfor line in sys.stdin: os.kill(int(line), 15)"
with subprocess.Popen([sys.executable, "-c", send], stdin=subprocess.PIPE, text=True) as sender:
    for _ in range(300):
        with stopping() as stopped:
            print(os.getpid(), file=sender.stdin, flush=True)
            while not stopped.is_set():
                stopped.wait(0)
            stopped.wait(600)
    sender.stdin.close()
"""


def test_a_signal_ends_a_command_at_whatever_point_of_its_wait_it_comes() -> None:
    assert subprocess.run([sys.executable, "-c", WAITING], timeout=60).returncode == 0
