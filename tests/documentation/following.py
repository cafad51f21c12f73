"""Follows a page of docs/start in an empty folder, as a reader would: every block, in order, as it is written.

A `bash` block that begins with `metastored serve` is a server: it is started in the background, and stopped at the end.
Other `bash` blocks and `python` blocks are run to their end; `sql` blocks are given to `metastored sql`. Addresses of
the page are replaced by those of the test.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.apache import ROOT

START = ROOT / "docs/start"
SECONDS = 240.0


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    found = re.findall(r"^```(\w+)\n(.*?)^```$", (START / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [Block(language, text) for language, text in found]


def follow(page: str, folder: Path, replaced: Mapping[str, str] | None = None, file: str = "program.py") -> str:
    """Everything that the blocks of a page print. `file` is the name under which a Python block is stored."""
    port = free_port()
    addresses = {"--port 9083": f"--port {port}", "localhost:9083": f"127.0.0.1:{port}", **(replaced or {})}
    printed = []
    with ExitStack() as servers:
        for language, text in blocks(page):
            for old, new in addresses.items():
                text = text.replace(old, new)
            if text.startswith("metastored serve"):
                servers.enter_context(serving(shlex.split(text), port, folder))
            elif language == "bash":
                printed.append(run(["bash", "-e", "-c", text], folder))
            elif language == "python":
                (folder / file).write_text(text, encoding="utf-8")
                if not file.startswith("test_"):
                    printed.append(run([sys.executable, file], folder))
            elif language == "sql":
                printed.append(run(["metastored", "sql", "--uri", f"thrift://127.0.0.1:{port}", "-e", text], folder))
    return "".join(printed)


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def serving(command: list[str], port: int, folder: Path) -> Iterator[None]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log)
    try:
        limit = time.monotonic() + 60
        while not listens(port):
            assert process.poll() is None and time.monotonic() < limit, (folder / "server.log").read_text("utf-8")
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment() -> dict[str, str]:
    """Without settings of this machine; `metastored` and `pytest` are those of this Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("METASTORED_", "COV_CORE"))}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
