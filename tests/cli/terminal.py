"""A person at the prompt of `metastored sql`, in a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.processes import ENVIRONMENT

PATIENCE = 120.0


class Terminal:
    """A person at a terminal."""

    def __init__(self, uri: str, home: Path, *words: str, **environment: str) -> None:
        self._screen, other = pty.openpty()
        command = [sys.executable, "-m", "metastored", "sql", "--uri", uri, *words]
        environment = {**ENVIRONMENT, **environment, "HOME": str(home), "TERM": "dumb", "INPUTRC": "/dev/null"}
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment)
        os.close(other)

    def until(self, text: str, *, while_waiting: Callable[[], None] = lambda: None) -> str:
        """Reads what is shown until this text."""
        seen, deadline = b"", time.monotonic() + PATIENCE
        while text.encode() not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([self._screen], [], [], 1.0)[0]:
                seen += os.read(self._screen, 65536)
            else:
                while_waiting()
        return seen.decode()

    def interrupt_until(self, text: str) -> str:
        """Interrupts once a second: an interrupt before readline waits for a key has no effect until the next key."""
        return self.until(text, while_waiting=lambda: self.process.send_signal(signal.SIGINT))

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def close(self) -> int:
        try:
            return self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            os.close(self._screen)
