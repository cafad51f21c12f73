"""Random requests to every method: the server continues, and its log has no traceback and no forged line."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import RunningServer
from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from tests.support.client import Client
from tests.support.forks import running_server
from tests.support.fuzz import run
from tests.support.postgres import shared_postgres
from tests.support.soak import SEED, scaled

pytestmark = pytest.mark.slow

MESSAGES = 4_000
SOAK_MESSAGES = scaled(100_000)
ROUND = 20_000
MAX_MEMORY = 400 * 1024 * 1024
"""Bytes that a worker may have resident at the end of a long run."""
SETTINGS: dict[str, Any] = {
    "directories": "off",
    "http_port": 0,
    "http_tls": "off",
    "http_methods": "all",
    "audit": "on",
    "request_timeout": 5,
}
_BANNER = re.compile(r"^metastored \S+ serves the Hive Metastore API at .*\n(?:  .*\n)*", re.MULTILINE)
_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ \[\d+\] ")


def fill(server: RunningServer) -> None:
    """Objects with the names that the messages use, so that their calls come further than a lookup."""
    storage = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "s", {}))
    with Client(server.host, server.port) as client:
        client.call("create_database", Database(name="d"))
        for name in ("t", "v"):
            keys = (FieldSchema("k", "string"), FieldSchema("j", "int"))
            client.call("create_table", Table(name, "d", sd=storage, partitionKeys=keys))
            client.call("add_partitions", tuple(Partition((v, "2"), "d", name, sd=storage) for v in "123"))


def faults(server: RunningServer) -> list[str]:
    """Wrong lines in the log: tracebacks, and lines that are not records."""
    lines = [line for line in _BANNER.sub("", server.log).splitlines() if line]
    return [line for line in lines if not _RECORD.match(line) or "Traceback" in line][:40]


def check(server: RunningServer) -> None:
    found = faults(server)
    assert not found, "\n".join(found)
    assert "failed inside metastored" not in server.log
    with Client(server.host, server.port) as client:
        assert "default" in client.call("get_all_databases")


@pytest.mark.parametrize("compat", ["3.1", "4.2"])
def test_mutated_messages_of_all_methods_leave_no_traceback(compat: str) -> None:
    with running_server(compat=compat, **SETTINGS) as server:
        fill(server)
        assert server.http_port is not None
        assert run(server.host, server.port, server.http_port, seed=11, messages=MESSAGES) >= MESSAGES
        check(server)


@pytest.mark.postgres
def test_mutated_messages_leave_no_traceback_on_postgresql() -> None:
    with (
        shared_postgres().database() as url,
        running_server(database_url=url, **SETTINGS) as server,
    ):
        fill(server)
        assert server.http_port is not None
        assert run(server.host, server.port, server.http_port, seed=12, messages=MESSAGES // 2) >= MESSAGES // 2
        check(server)


@pytest.mark.soak
def test_many_mutated_messages_leave_no_traceback_and_take_bounded_memory() -> None:
    """Each round has a new database: messages that open thousands of transactions make lists of them long."""
    sent, started = 0, time.monotonic()
    while sent < SOAK_MESSAGES:
        # The audit log would have a line for each message.
        with running_server(workers=2, log_level="warning", **SETTINGS | {"audit": "off"}) as server:
            fill(server)
            assert server.http_port is not None
            workers, seed = server.workers, SEED + sent
            sent += run(server.host, server.port, server.http_port, seed=seed, messages=min(ROUND, SOAK_MESSAGES))
            resident = [memory(pid) for pid in workers]
            seconds = time.monotonic() - started
            print(f"{sent} messages in {seconds:.0f} s (seed {seed}), resident {[n >> 20 for n in resident]} MiB")
            assert server.workers == workers, "a worker died"
            check(server)
            assert max(resident) < MAX_MEMORY


def memory(pid: int) -> int:
    """Bytes that a process has resident at most so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
