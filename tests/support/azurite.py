"""An Azure Storage that runs on this machine: Microsoft's emulator Azurite, which `make peers` installs with npm.

It has one container, and the environment leads clients to it. It stores blobs only, without hierarchical names.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyarrow import fs

from tests.support.apache import PEERS, MissingPeer
from tests.support.ports import free_port

VERSION = "3.37.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of every Azurite and its key, which its documentation has."""
CONTAINER = "lake"
ROOT = f"abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net"
"""The location of the container."""
START_TIMEOUT = 60.0


class Azurite:
    """A running Azurite."""

    def __init__(self, port: int) -> None:
        self.authority = f"127.0.0.1:{port}"
        settings = {
            "DefaultEndpointsProtocol": "http", "AccountName": ACCOUNT, "AccountKey": KEY,
            "BlobEndpoint": f"http://{self.authority}/{ACCOUNT}",
        }  # fmt: skip
        text = ";".join(f"{name}={value}" for name, value in settings.items())
        self.environment = {"AZURE_STORAGE_CONNECTION_STRING": text}
        self.files: Any = fs.AzureFileSystem(
            ACCOUNT,
            account_key=KEY,
            blob_storage_authority=self.authority,
            dfs_storage_authority=self.authority,
            blob_storage_scheme="http",
            dfs_storage_scheme="http",
        )

    def names(self, folder: str) -> list[str]:
        """The paths of the files below a folder of the container."""
        found = self.files.get_file_info(fs.FileSelector(f"{CONTAINER}/{folder}", recursive=True, allow_not_found=True))
        return sorted(info.path for info in found if info.is_file)


@contextmanager
def running_azurite(folder: Path) -> Iterator[Azurite]:
    """An Azurite with an empty container. Raises MissingPeer if it is not installed."""
    program = PEERS / f"azurite-{VERSION}" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    node = shutil.which("node")
    if node is None or not program.exists():
        raise MissingPeer(f"Azurite {VERSION} is not on this machine: make peers installs it")
    port = free_port()
    command = [
        node, str(program), "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", "127.0.0.1",
        "--blobPort", str(port), "--location", str(folder),
    ]  # fmt: skip
    log = folder / "azurite.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder, start_new_session=True
        )
    try:
        _wait_until_it_listens(port, process, log)
        azurite = Azurite(port)
        azurite.files.create_dir(CONTAINER, recursive=True)
        yield azurite
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


def _wait_until_it_listens(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8", "replace")[-2000:]
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except OSError:  # It does not listen yet.
            time.sleep(0.05)
        else:
            return
