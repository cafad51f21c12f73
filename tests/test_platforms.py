"""What docs/guide/platforms.md says about systems without POSIX: the client needs none of its modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.forks import running_server

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix_ipc"):
    sys.modules[name] = None
"""
CLIENT = """
import asyncio
import metastored

with metastored.connect(sys.argv[1]) as client:
    client.create_database("shop")
    client.create_table(metastored.table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string"}))
    client.add_partitions("shop.orders", [{"ds": "2024-01-01"}])
    print(client.partition_names("shop.orders"))

async def main():
    async with metastored.aconnect(sys.argv[1]) as client:
        print(await client.tables("shop"))

asyncio.run(main())
"""
COMMAND = """
from metastored.__main__ import main
sys.argv = ["metastored", *sys.argv[2:], "--uri", sys.argv[1]]
main()
"""


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_the_client_and_its_commands_run_without_the_modules_of_posix() -> None:
    with running_server() as server:
        done = run(CLIENT, server.uri)
        assert done.stdout.splitlines() == ["('ds=2024-01-01',)", "('orders',)"], done.stderr
        for words in (["ls", "hive.shop"], ["show", "shop.orders"], ["sql", "-e", "SHOW TABLES IN shop"]):
            done = run(COMMAND, server.uri, *words)
            assert done.returncode == 0, done.stderr
            assert "orders" in done.stdout


@pytest.mark.slow
def test_the_server_needs_posix(tmp_path: Path) -> None:
    done = run(
        "from metastored.__main__ import main\nsys.argv[0] = 'metastored'\nmain()\n", "serve", "--data", str(tmp_path)
    )
    assert done.returncode != 0
    assert "resource" in done.stderr or "fcntl" in done.stderr
