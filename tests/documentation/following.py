"""Follows a page of docs/ in an empty folder, as a reader would: every block, in order, as it is written.

A line of a `bash` block that begins with `metastored serve` starts a server in the background, which is stopped at the
end. Other lines and `python` blocks are run to their end; `sql` blocks are given to `metastored sql`. Addresses of
the page are replaced by those of the test. Blocks with a comment `not run` are left out.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path

from tests.documentation.blocks import blocks
from tests.support.apache import ROOT

SERVE = "metastored serve"
SECONDS = 240.0


def follow(
    page: str,
    folder: Path,
    replaced: Mapping[str, str] | None = None,
    file: str = "program.py",
    variables: Mapping[str, str] | None = None,
) -> str:
    """Everything that the blocks of a page of docs/ print.

    `replaced` are texts of the page and what is written instead; `file` is the name under which a Python block is
    stored; `variables` are set in the environment of all programs.
    """
    port = free_port()
    addresses = {"--port 9083": f"--port {port}", "localhost:9083": f"127.0.0.1:{port}", **(replaced or {})}
    uri = f"thrift://127.0.0.1:{port}"
    settings = environment() | {"METASTORED_PORT": str(port), "METASTORED_URI": uri} | dict(variables or {})
    printed = []
    with ExitStack() as servers:
        for block in blocks(ROOT / "docs" / page):
            text = block.text
            for old, new in addresses.items():
                text = text.replace(old, new)
            if block.reason is not None:
                continue
            if block.language == "bash":
                for commands in steps(text):
                    if commands.startswith(SERVE):
                        command = shlex.split(commands, comments=True)
                        servers.enter_context(serving(command, port, folder, settings))
                    else:
                        printed.append(run(["bash", "-e", "-c", commands], folder, settings))
            elif block.language == "python":
                (folder / file).write_text(text, encoding="utf-8")
                if not file.startswith("test_"):
                    printed.append(run([sys.executable, file], folder, settings))
            elif block.language == "sql":
                printed.append(run(["metastored", "sql", "--uri", uri, "-e", text], folder, settings))
    return "".join(printed)


def steps(text: str) -> Iterator[str]:
    """The commands of a block, those that start a server alone."""
    for serve, found in groupby(text.splitlines(), lambda line: line.startswith(SERVE)):
        lines = list(found)
        yield from lines if serve else ["\n".join(lines)]


def run(command: list[str], folder: Path, settings: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def serving(command: list[str], port: int, folder: Path, settings: Mapping[str, str]) -> Iterator[None]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log)
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
