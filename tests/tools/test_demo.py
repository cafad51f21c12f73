"""`make demo`, as a newcomer runs it: two metastores, Spark, and every step with its result."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import takewhile

import pytest

import metastored
from metastored.client.retry import Retry
from metastored.errors import TransportError
from tests.support.apache import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def output() -> str:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_old_database_is_a_remote(output: str) -> None:
    assert "CREATE REMOTE DATABASE old_shop CONNECTED TO shop" in output
    assert "old_shop" in output.partition("SHOW REMOTES")[2]


def test_a_query_joins_tables_of_both_metastores(output: str) -> None:
    assert "country | orders" in output
    assert "(6 rows)" in output


def test_a_merge_changes_adds_and_deletes_rows_of_an_acid_table(output: str) -> None:
    assert "gold  |" in output


def test_a_compaction_keeps_the_rows(output: str) -> None:
    before, _, after = output.partition("alter table web.accounts compact 'major'")
    counts = [line for line in before.splitlines() if line.strip().startswith(("gold  |", "new   |"))]
    assert counts
    assert all(line in after for line in counts)


def test_a_vector_search_finds_the_neighbours(output: str) -> None:
    found = output.partition("distance to a lemon")[2].split("(3 rows)")[0]
    assert {"kiwi", "lemon", "mango"} <= set(found.split())


def test_the_time_of_each_step_is_printed(output: str) -> None:
    assert "together" in output


def test_readme_has_a_part_of_the_real_output(output: str) -> None:
    (shown,) = re.findall(r"```text\n(sql> CREATE REMOTE.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    for line in shown.splitlines():
        assert line in output


KEPT = """
import tools.demo.__main__ as demo

demo.run = lambda *_: None
raise SystemExit(demo.main())
"""
"""The demo without its steps, which the tests above run."""


@pytest.mark.apache
def test_with_keep_both_servers_run_until_ctrl_c_and_their_addresses_are_printed() -> None:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "KEEP": "1"}
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", KEPT], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        lines = list(takewhile(lambda line: not line.startswith("Ctrl-C"), process.stdout))
        addresses = dict(re.findall(r"^(The old metastore|metastored): +(thrift://\S+)$", "".join(lines), re.MULTILINE))
        assert set(addresses) == {"The old metastore", "metastored"}
        for uri in addresses.values():
            with metastored.connect(uri) as client:
                assert "default" in client.databases()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
    finally:
        process.kill()
        process.communicate()
    for uri in addresses.values():
        with metastored.connect(uri, retry=Retry(attempts=1)) as client, pytest.raises(TransportError):
            client.databases()
