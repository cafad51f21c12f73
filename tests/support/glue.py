"""A Glue that runs on this machine: moto's server, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.ports import free_port

START_TIMEOUT = 120.0
KEYS = {"access_key_id": "testing", "secret_access_key": "testing", "region": "us-east-1"}
"""The configuration of its catalog, besides its endpoint."""


@contextmanager
def running_glue(folder: Path) -> Iterator[str]:
    """The endpoint of a Glue with nothing in it."""
    port = free_port()
    log = folder / "moto.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # It is not measured: what it imports is not ours.
            env={key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")},
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"moto's server did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def glue_client(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of AWS for this Glue. Everything that runs in the test finds its keys in the environment."""
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return boto3.client("glue", region_name="eu-central-1", endpoint_url=endpoint)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
